"""Which offers count: at which partners a box's vouchers are accepted, and what a box's products are."""

import pathlib
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.text import Text
from schema.network.box import OfferStatus
from store.network.offers import (
    NEWEST_OF_BOX,
    accepted_offers,
    accepts_vouchers_of,
    admits_partner,
    newest_offers,
    products_of,
)
from tests.fixtures.box import link_partners, new_box, new_offer, new_prototype, new_range
from tests.fixtures.tenants import Tenants, open_tenants

ACCEPTED = OfferStatus.ACCEPTED


@pytest_asyncio.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners, which take part in the vouchers of their networks."""
    async with open_tenants(database_url, tmp_path) as found:
        await link_partners(found, "a1", "a2", "b1")
        yield found


async def accepts(tenants: Tenants, box: Any, name: str) -> tuple[bool, bool]:
    """Whether a box admits a partner, and whether the partner accepts its vouchers."""
    partner_id = tenants.partners[name].id
    async with tenants.services.db.sessions() as db:
        return await admits_partner(db, box.id, partner_id), await accepts_vouchers_of(db, box.id, partner_id)


@pytest.mark.parametrize("status", OfferStatus)
async def test_only_an_accepted_active_offer_counts(tenants: Tenants, status: OfferStatus) -> None:
    box = await new_box(tenants)
    await new_offer(tenants, box, "a1", status)
    await new_offer(tenants, box, "a2", status, is_active=False)
    await new_offer(tenants, await new_box(tenants), "a2", ACCEPTED)
    assert await accepts(tenants, box, "a1") == (True, status is ACCEPTED)
    assert await accepts(tenants, box, "a2") == (True, False)
    assert await accepts(tenants, box, "b1") == (False, False)


async def test_a_partner_has_to_be_admitted(tenants: Tenants) -> None:
    anybody, limited = await new_box(tenants), await new_box(tenants, partners=["a2"])
    for box in (anybody, limited):
        for name in ("a1", "a2"):
            await new_offer(tenants, box, name, ACCEPTED)
    assert await accepts(tenants, limited, "a1") == (False, False)
    assert await accepts(tenants, limited, "a2") == (True, True)
    assert await accepts(tenants, anybody, "a1") == (True, True)
    await tenants.execute("UPDATE box SET is_active = false")
    assert await accepts(tenants, anybody, "a1") == (True, True), "vouchers that are sold stay valid"
    for status, admitted in {"a": True, "t": True, "n": True, "i": False}.items():
        await tenants.execute("UPDATE partner SET status = :status", status=status)
        assert await accepts(tenants, anybody, "a1") == (admitted, admitted)
    await tenants.execute("UPDATE partner SET status = 'a'")
    await link_partners(tenants, "a2", linked=False)
    assert await accepts(tenants, limited, "a2") == (False, False)


async def test_the_offers_of_a_partner_are_by_ranking(tenants: Tenants) -> None:
    box = await new_box(tenants)
    last, first = [await new_offer(tenants, box, "a1", ACCEPTED, ranking=ranking) for ranking in (2, 1)]
    await new_offer(tenants, box, "a1")
    await new_offer(tenants, box, "a1", ACCEPTED, is_active=False)
    await new_offer(tenants, box, "a2", ACCEPTED)
    async with tenants.services.db.sessions() as db:
        found = await accepted_offers(db, box.id, tenants.partners["a1"].id)
    assert [row.id for row in found] == [first.id, last.id]


async def ranges_of(tenants: Tenants, *boxes: Any) -> list[list[tuple[int, int | None]]]:
    """The products of boxes, each with the id of its price range."""
    async with tenants.services.db.sessions() as db:
        found = await products_of(db, [box.id for box in boxes])
    return [[(product.id, product.price_range_id) for product in found.get(box.id, [])] for box in boxes]


async def test_the_products_of_a_box(tenants: Tenants) -> None:
    box, other = await new_box(tenants), await new_box(tenants, partners=["a2"])
    one, two, three = [await new_prototype(tenants, name) for name in ("a1", "a2", "a1")]
    await new_offer(tenants, box, "a1", ACCEPTED, product_id=one.id, ranking=5)
    await new_offer(tenants, box, "a1", ACCEPTED, product_id=one.id, ranking=4)
    await new_offer(tenants, box, "a2", ACCEPTED, product_id=two.id, ranking=3)
    await new_offer(tenants, box, "a2", ACCEPTED)
    for status in set(OfferStatus) - {ACCEPTED}:
        await new_offer(tenants, box, "a1", status, product_id=three.id)
    await new_offer(tenants, box, "a1", ACCEPTED, product_id=three.id, is_active=False)
    await new_offer(tenants, other, "a1", ACCEPTED, product_id=one.id)
    await new_offer(tenants, other, "a2", ACCEPTED, product_id=two.id)
    assert await ranges_of(tenants, box, other) == [[(two.id, None), (one.id, None)], [(two.id, None)]]
    await link_partners(tenants, "a2", linked=False)
    assert await ranges_of(tenants, box, other) == [[(one.id, None)], []]


async def test_the_price_range_of_a_product(tenants: Tenants) -> None:
    box = await new_box(tenants)
    ranges = {
        least: (await new_range(tenants, "a", least, most, **more)).id
        for least, most, more in [
            ("0.00", "50.00", {}),
            ("50.00", "100.00", {"ranking": 2}),
            ("60.00", None, {"ranking": 3}),
            ("10.00", None, {"is_active": False, "ranking": 0}),
        ]
    }
    await new_range(tenants, "b", "0.00", None, ranking=0)
    stay, persons = VoucherPrototypeType.STAY, {"price_scope": 1, "min_capacity": 2, "adults_price_amount": Decimal(30)}
    for price, more, least in [
        ("49.99", {}, "0.00"),
        ("50.00", {}, "50.00"),
        ("70.00", {}, "50.00"),
        ("100.00", {}, "60.00"),
        ("40.00", {"type": stay, "nb_nights": 3}, "60.00"),
        ("40.00", persons, "50.00"),
    ]:
        product = await new_prototype(tenants, "a1", price, **more)
        row = await new_offer(tenants, box, "a1", ACCEPTED, product_id=product.id)
        assert await ranges_of(tenants, box) == [[(product.id, ranges[least])]], (price, more)
        await tenants.execute("DELETE FROM offer WHERE id = :id", id=row.id)


async def test_the_newest_offers_of_each_box(tenants: Tenants) -> None:
    boxes = [await new_box(tenants) for _ in range(3)]
    partner = tenants.partners["a1"]
    await tenants.execute(
        "INSERT INTO offer (name, description, terms_of_use, status, is_active, ranking, created_on, edited_on, "
        "rejection_reason, box_id, partner_id, marketplace_id) SELECT '{}', '{}', '{}', 'DRAFT', true, 1, "
        "now() - n * interval '1 hour', now(), '', :box, :partner, :market FROM generate_series(1, 130) n",
        box=boxes[0].id,
        partner=partner.id,
        market=partner.marketplace_id,
    )
    newest = await new_offer(tenants, boxes[0], "a1", name=Text(en="Newest"))
    only = await new_offer(tenants, boxes[1], "a1")
    async with tenants.services.db.sessions() as db:
        found = await newest_offers(db, [box.id for box in boxes], [])
    assert [len(found[box.id]) for box in boxes] == [NEWEST_OF_BOX, 1, 0]
    times = [row.created_on for row in found[boxes[0].id]]
    assert found[boxes[0].id][0].id == newest.id
    assert times == sorted(times, reverse=True)
    assert [row.id for row in found[boxes[1].id]] == [only.id]
