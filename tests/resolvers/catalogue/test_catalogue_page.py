"""The shop window: what is sold today, at the least that it costs, filtered, sorted, a page at a time."""

import contextlib
import datetime as dt
import random
import uuid
from decimal import Decimal
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from resolvers.catalogue.catalogue_page import get_catalogue_page
from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery, CatalogueSort, Facet
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import InvalidInput
from schema.core.text import Text
from schema.media import ResponsivePicture
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.catalogue_page import PAGE_SIZE
from store.catalogue.prices import Party, PrototypeRates, rent_price
from store.core.clock import clock
from store.media.media import MediaRow
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.statements import record_statements

CHOSEN, CHEAPEST, DEAREST, NEWEST = CatalogueSort


async def look(shop: Shop, **criteria: Any) -> CataloguePage:
    """Look at the window."""
    return await get_catalogue_page(shop.context, CatalogueQuery(**criteria))


def ids(window: CataloguePage) -> list[int]:
    """What it shows."""
    return [prototype.id for prototype in window.prototypes]


def counts(facets: tuple[Facet, ...]) -> dict[str, int]:
    """How many there are of each."""
    return {facet.name.in_language("en"): facet.count for facet in facets}


async def copies(shop: Shop, of: VoucherPrototypeRow, many: int, **changes: Any) -> list[VoucherPrototypeRow]:
    """More like it."""
    others = {*of.__table__.columns.keys()} - {"id", "created_on", "updated_on"}  # type: ignore[attr-defined]
    kept = {name: getattr(of, name) for name in others}
    return [await shop.add(VoucherPrototypeRow(**kept | {"slug": uuid4().hex} | changes)) for _ in range(many)]


def cheapest(row: VoucherPrototypeRow) -> Decimal | None:
    """The least that any party of the fewest persons pays; None where none can come."""
    least, prices = max(row.min_capacity, 1), []
    for children in range(least):
        for babies in range(least - children):
            with contextlib.suppress(InvalidInput):
                prices.append(
                    rent_price(row, PrototypeRates.from_row(row), Party(least - children - babies, children, babies))
                )
    return min(prices, default=None)


async def test_prices_are_the_least_that_anybody_pays(shop: Shop, sold: Experiences) -> None:
    draw = random.Random(20)
    rates = (None, Decimal("0.00"), Decimal("7.50"), Decimal("40.00"))
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    made = {
        row.id: row
        for _ in range(60)
        for row in await copies(
            shop,
            sold.massage,
            1,
            is_active=True,
            type=draw.choice(list(VoucherPrototypeType)),
            price_scope=draw.randint(0, 4),
            min_capacity=draw.randint(0, 4),
            max_capacity=draw.choice((0, 4)),
            nb_nights=draw.randint(0, 3),
            adults_price_amount=draw.choice(rates),
            children_price_amount=draw.choice(rates),
            baby_price_amount=draw.choice(rates),
        )
    }
    pages = [await look(shop, page=number, sort=CHEAPEST) for number in (1, 2, 3)]
    shown = [prototype for page in pages for prototype in page.prototypes]
    assert len({prototype.id for prototype in shown}) == len(made)
    known = {id: price for id, row in made.items() if (price := cheapest(row)) is not None}
    assert len(known) > 30
    assert {p.id: p.price_from for p in shown if p.id in known} == known
    prices = [prototype.price_from for prototype in shown]
    assert prices == sorted(prices)


async def test_what_is_sold_today_is_shown_as_the_shop_arranges_it(shop: Shop, sold: Experiences) -> None:
    seen = await look(shop)
    assert (seen.total, seen.match_count, seen.pages, seen.currency) == (3, 3, 1, "EUR")
    assert [(p.id, p.price_from) for p in seen.prototypes] == [
        (sold.massage.id, Decimal("90.00")),
        (sold.stay.id, Decimal("240.00")),
        (sold.meal.id, Decimal("110.00")),
    ]
    assert ids(await look(shop, sort=CHEAPEST)) == [sold.massage.id, sold.meal.id, sold.stay.id]
    assert ids(await look(shop, sort=DEAREST)) == [sold.stay.id, sold.meal.id, sold.massage.id]
    assert ids(await look(shop, sort=NEWEST)) == [sold.meal.id, sold.stay.id, sold.massage.id]
    today = clock.now().astimezone(ZoneInfo("Europe/Paris")).date()
    await shop.execute("UPDATE voucher_prototype SET last_active_day = :day WHERE id = :id", day=today, id=sold.meal.id)
    await shop.execute("UPDATE voucher_prototype SET is_active = false WHERE id = :id", id=sold.stay.id)
    assert ids(await look(shop)) == [sold.massage.id, sold.meal.id]
    clock.advance(dt.timedelta(days=2))
    seen = await look(shop)
    assert (ids(seen), counts(seen.universes)) == ([sold.massage.id], {"Spa": 1})


async def test_it_is_narrowed_down_to_what_a_customer_wants(shop: Shop, sold: Experiences) -> None:
    of: dict[str, Any] = {"marketplace_id": shop.partner.marketplace_id}
    table = await shop.add(UniverseRow(**of, name=Text(en="Table"), ranking=0))
    await shop.add(UniverseRow(**of, name=Text(en="Nothing of it is sold")))
    lake = await shop.add(EnvironmentRow(**of, name=Text(en="Lake")))
    cheap = await shop.add(
        PriceRangeRow(**of, name=Text(en="Small"), minimum_amount=Decimal(0), maximum_amount=Decimal(110))
    )
    middle = await shop.add(
        PriceRangeRow(**of, name=Text(en="Middle"), minimum_amount=Decimal(100), maximum_amount=Decimal(240), ranking=2)
    )
    dear = await shop.add(PriceRangeRow(**of, name=Text(en="Large"), minimum_amount=Decimal(200), ranking=3))
    off = await shop.add(PriceRangeRow(**of, name=Text(en="Off"), minimum_amount=Decimal(0), is_active=False))
    change = "UPDATE voucher_prototype SET universe_id = :universe, environment_id = :environment WHERE id = :id"
    await shop.execute(change, universe=table.id, environment=lake.id, id=sold.meal.id)
    await shop.execute(change, universe=sold.stay.universe_id, environment=lake.id, id=sold.stay.id)

    seen = await look(shop)
    assert counts(seen.universes) == {"Table": 1, "Spa": 2}
    assert [facet.id for facet in seen.universes] == [table.id, sold.stay.universe_id], "as they are ranked"
    assert counts(seen.environments) == {"Lake": 2}
    assert counts(seen.price_ranges) == {"Small": 1, "Middle": 1, "Large": 1}, "240.00 is no longer below 240.00"
    assert not seen.query.is_filtered

    seen = await look(shop, universe_id=sold.stay.universe_id)
    assert (ids(seen), seen.total, seen.match_count) == ([sold.massage.id, sold.stay.id], 3, 2)
    assert counts(seen.universes) == {"Table": 1, "Spa": 2}, "what another choice would show"
    assert counts(seen.price_ranges) == {"Small": 1, "Middle": 0, "Large": 1}
    assert ids(await look(shop, environment_id=lake.id, sort=CHEAPEST)) == [sold.meal.id, sold.stay.id]
    assert ids(await look(shop, price_range_id=cheap.id)) == [sold.massage.id]
    assert ids(await look(shop, price_range_id=middle.id)) == [sold.meal.id]
    assert ids(await look(shop, price_range_id=dear.id, environment_id=lake.id)) == [sold.stay.id]

    empty = await look(shop, universe_id=table.id, price_range_id=dear.id)
    assert (empty.prototypes, empty.match_count, empty.total, empty.pages) == ((), 0, 3, 1)
    old = await look(shop, universe_id=999999, environment_id=-1, price_range_id=off.id, page=9)
    assert (old.query, old.match_count) == (CatalogueQuery(), 3), "what nothing on sale has is not looked for"


async def test_hundreds_take_as_many_statements_as_few_and_are_shown_in_pages(shop: Shop, sold: Experiences) -> None:
    with record_statements(shop.services.db) as few:
        await look(shop)
    more = await copies(shop, sold.meal, 2 * PAGE_SIZE, is_highlight=False)
    media = [
        await shop.add(
            MediaRow(
                partner_id=shop.partner.id,
                name="One",
                content_type="image/webp",
                size=1,
                width=width,
                height=600,
                digest="0" * 64,
            )
        )
        for width in (1, 2, 3)
    ]
    for row, cover in ((sold.massage, 2), (sold.stay, 9)):
        await shop.execute("UPDATE voucher_prototype SET cover_image = :at WHERE id = :id", at=cover, id=row.id)
        for position, picture in enumerate(media, 1):
            of = {"partner_id": shop.partner.id, "voucher_prototype_id": row.id, "media_id": picture.id}
            await shop.add(PrototypeImageRow(**of, position=position))
    with record_statements(shop.services.db) as many:
        first = await look(shop)
    assert len(many) == len(few)
    assert [p.cover.width if p.cover else 0 for p in first.prototypes[:3]] == [2, 1, 0], "the cover, else the first"
    second, last = await look(shop, page=2), await look(shop, page=99)
    assert (first.pages, len(first.prototypes), second.query.page, last.query.page) == (3, PAGE_SIZE, 2, 3)
    assert ids(first) + ids(second) + ids(last) == [
        sold.massage.id,
        sold.stay.id,
        sold.meal.id,
        *(row.id for row in more),
    ]


def test_a_picture_is_offered_in_each_size_that_it_is_kept_in() -> None:
    picture = ResponsivePicture(uuid.uuid4(), 1500, 1000)
    sizes = [source.rpartition("/")[2] for source in picture.srcset.split(", ")]
    assert sizes == ["thumb.webp 320w", "card.webp 800w", "cover.webp 1500w"], "the full one is the same"
