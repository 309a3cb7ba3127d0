"""What a bulk action is bound to: a form of the list, and what the preview has told of each object."""

from urllib.parse import urlencode

import orjson
import pytest

from admin.bulk.objects import CHANGED, BulkObjects
from admin.sales import packing_slips
from schema.network.box import OfferStatus
from tests.admin.office import ROOT, Office, notices, send, typed
from tests.admin.test_bulk import CARDS, rows_of
from tests.fixtures.box import link_partners, new_box, new_offer
from tests.fixtures.gift_card import gift_card
from tests.fixtures.payment.payout import make_ready
from tests.resolvers.payment.payouts.test_payouts import opened

OFFERS, PAYOUTS = f"{ROOT}offers/", f"{ROOT}payout-requests/"


@pytest.mark.parametrize("every", [{"all": "1", "page": "1"}, {"all": "list", "_list": ""}])
async def test_an_address_alone_tries_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch, every: dict[str, str]
) -> None:
    card = await gift_card(office.tenants)
    tried = []
    monkeypatch.setattr(BulkObjects, "preview", lambda *_: tried.append(1))
    chosen = {"action": "cancel-gift-card", "id": str(card.id), **every}
    staff = await office.open("a1", f"{CARDS}bulk/?{urlencode(chosen)}")
    assert staff.path == CARDS
    await staff.post(f"{CARDS}bulk/", chosen)
    assert (staff.response.status_code, tried) == (403, []), "a form of another page has no token"


async def offers(office: Office) -> list[int]:
    """Two offers of a1 that wait for their marketplace."""
    tenants = office.tenants
    await link_partners(tenants, "a1")
    boxes = [await new_box(tenants, "a", ("a1",)) for _ in range(2)]
    return [(await new_offer(tenants, box, "a1", OfferStatus.SUBMITTED)).id for box in boxes]


async def test_offers_are_accepted_as_their_preview_has_told(office: Office) -> None:
    tenants, (first, second) = office.tenants, await offers(office)
    staff = await office.choose("market a", OFFERS, "accept-offer", first, second)
    basis = typed(staff)["_basis"]
    await tenants.execute("UPDATE offer SET edited_on = edited_on + interval '1 second' WHERE id = :id", id=second)
    await send(staff, _consent="1")
    assert notices(staff) == ["1 is done.", "1 was refused."]
    assert rows_of(staff)[f"{OFFERS}{second}/"] == ("Refused This offer has changed since you read it. Read it again.")
    statuses = [(await tenants.row("offer", id))["status"] for id in (first, second)]
    assert statuses == [OfferStatus.ACCEPTED, OfferStatus.SUBMITTED]
    assert set(orjson.loads(basis)) == {str(first), str(second)}
    for changed in ("", f'{{"{first}":{{}}}}'):
        await office.choose("market a", OFFERS, "accept-offer", second)
        await send(staff, _consent="1", _basis=changed)
        assert rows_of(staff)[f"{OFFERS}{second}/"] == f"Refused {CHANGED}", "nobody has read it"
    for changed in ("[]", "{", '{"1":1}'):
        await office.choose("market a", OFFERS, "accept-offer", second)
        assert (await send(staff, _consent="1", _basis=changed)).response.status_code == 400
    assert (await tenants.row("offer", second))["status"] == OfferStatus.SUBMITTED


async def test_a_payout_of_another_amount_than_previewed_is_refused(office: Office) -> None:
    tenants = office.tenants
    id = await opened(tenants)
    await make_ready(tenants, "a1")
    staff = await office.choose("market a", PAYOUTS, "validate-payout-request", id)
    assert "Sum: €30.00" in staff.page.one("main").text
    basis = typed(staff)["_basis"]
    assert basis == f'{{"{id}":{{"amount":"30.00 EUR"}}}}'
    for other in (basis.replace("30", "20"), basis.replace("EUR", "CHF"), ""):
        await office.choose("market a", PAYOUTS, "validate-payout-request", id)
        before = await tenants.snapshot()
        await send(staff, _consent="1", _basis=other)
        assert rows_of(staff)[f"{PAYOUTS}{id}/"] == f"Refused {CHANGED}"
        assert await tenants.snapshot() == before
    await office.choose("market a", PAYOUTS, "validate-payout-request", id)
    await send(staff, _consent="1")
    assert notices(staff) == ["1 is done."]
    assert await tenants.one("SELECT status FROM payout_request") == "validated"


async def test_the_first_validation_of_two_moves_nothing_yet(office: Office) -> None:
    tenants = office.tenants
    await tenants.execute("UPDATE marketplace SET payout_second_validation_from_amount = 0")
    id = await opened(tenants)
    await make_ready(tenants, "a1")
    staff = await office.choose("market a", PAYOUTS, "validate-payout-request", id)
    assert "Sum" not in staff.page.one("main").text
    await send(staff, _consent="1")
    assert notices(staff) == ["1 is done."]
    assert "Sum" not in staff.page.one("main").text
    assert "A second" in rows_of(staff)[f"{PAYOUTS}{id}/"]
    assert await tenants.one("SELECT status FROM payout_request") != "validated"


async def test_packing_slips_are_printed_in_parts(office: Office) -> None:
    orders = f"{ROOT}orders/"
    staff = await office.choose("a1", orders, "sheets", *range(10**6, 10**6 + 101))
    assert (staff.response.status_code, notices(staff)) == (400, [packing_slips.TOO_MANY])
    staff = await office.choose("a1", orders, "sheets", *range(10**6, 10**6 + 100))
    assert (staff.response.status_code, notices(staff)) == (200, [])
