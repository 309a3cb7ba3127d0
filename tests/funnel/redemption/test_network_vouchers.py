"""The venue page takes vouchers of the shop's network with one of the shop's offers, and uses none more often than it can be."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus
from store.core.clock import clock
from tests.fixtures.payment.payout import put_into_payout
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.redemption.fixtures import ROOT, Venue, buttons, note, press, verdict
from tests.funnel.redemption.network import (
    box_of,
    is_proved,
    link,
    network_voucher,
    offer_of,
    usage_rows,
    voucher_state,
)
from tests.funnel.redemption.sending import api_token, network_use, sent_at_once

P = Permission


@pytest.fixture(autouse=True)
async def linked(venue: Venue) -> None:
    """The shop takes part."""
    await link(venue.shop)


async def test_the_only_offer_is_chosen_and_a_use_is_undone(venue: Venue) -> None:
    box = await box_of(venue.shop, max_usages=3, max_days_after_first_usage=30)
    offer = await offer_of(venue.shop, box, description=Text(en="Fifty minutes."))
    voucher = await network_voucher(venue.shop, box)
    staff = await venue.staff(voucher.code.lower())
    assert (staff.h1, verdict(staff)) == ("Spa day for two", "Can be used Nothing of it has been used.")
    said = " ".join(staff.page.one("dl", class_="good-for").text.split())
    assert "Uses left 3 of 3 Persons 2 After the first use 30 days Valid until " in said
    assert "Bought by Ada" in said
    choice = staff.page.one("fieldset", id="offer")
    assert "A massage Fifty minutes. From Monday to Thursday." in " ".join(choice.text.split())
    assert "checked" in choice.one("input").attributes
    check_headings(staff.page)
    check_controls(staff.page)
    sent = {"offer": str(offer.id), "reference": "Table 7"}
    assert await sent_at_once(staff, "/redeem/network-voucher/", 4, **sent) == {303}
    await staff.open(f"{ROOT}?code={voucher.normal_code}")
    assert note(staff) == "It is marked as used. Uses left: 2 of 3."
    assert await voucher_state(venue.shop, voucher) == ("using", 1)
    used = " ".join(staff.page.one("ul", class_="taken").text.split())
    assert used.startswith("A massage ")
    assert "Table 7" in used
    assert "After the first use until" in staff.page.one("dl", class_="good-for").text
    columns = "SELECT concat_ws(' ', offer_id, partner_id, reservation_id) FROM network_voucher_usage"
    assert await venue.shop.one(columns) == f"{offer.id} {venue.shop.partner.id} Table 7"
    audited = (
        "SELECT count(*) FROM audit_entry WHERE operation = 'use_network_voucher' AND username = 'user0@shop.example'"
    )
    assert await venue.shop.one(audited) == 1
    assert buttons(staff) == ["Use it once", "Undo A massage", "Another code"]
    await press(staff, "Undo")
    assert note(staff) == "The use is undone. Uses left: 3 of 3."
    assert await voucher_state(venue.shop, voucher) == ("paid", 0)
    assert await is_proved(venue)


async def test_one_of_several_offers_is_chosen(venue: Venue) -> None:
    box = await box_of(venue.shop)
    massage = await offer_of(venue.shop, box, ranking=2)
    await offer_of(venue.shop, box, "A dinner", ranking=1)
    await offer_of(venue.shop, box, "A sauna", status=OfferStatus.SUBMITTED, accepted_on=None)
    voucher = await network_voucher(venue.shop, box)
    staff = await venue.staff(voucher.code)
    choice = staff.page.one("fieldset", id="offer")
    assert [label.text for label in choice.all("label")] == ["A dinner", "A massage"]
    assert not [each for each in choice.all("input") if "checked" in each.attributes]
    assert buttons(staff) == ["Mark as used", "Another code"]
    await press(staff, "Mark as used", offer="", reference="R-9")
    assert staff.errors == ["Choose what the guest takes."]
    assert staff.page.one("input", id="reference").attributes["value"] == "R-9"
    check_controls(staff.page)
    await press(staff, "Mark as used", offer="4711")
    assert staff.errors == ["This offer is no longer there. Nothing was done: choose another one."]
    assert (await voucher_state(venue.shop, voucher), await usage_rows(venue)) == (("paid", 0), 0)
    await press(staff, "Mark as used", offer=str(massage.id))
    assert await venue.shop.one("SELECT offer_id FROM network_voucher_usage") == massage.id
    assert verdict(await staff.open(staff.path)) == "Cannot be used It has been used as often as it can be."
    assert buttons(staff) == ["Undo A massage", "Another code"]


async def test_what_cannot_be_used_says_why(venue: Venue) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    box = await box_of(venue.shop, max_usages=2, max_days_after_first_usage=1)
    offer = await offer_of(venue.shop, box)
    staff = await venue.staff()
    for more, why in (
        ({"status": NetworkVoucherStatus.DRAFT}, "It has not been paid for."),
        ({"status": NetworkVoucherStatus.CANCELLED}, "The voucher was cancelled."),
        ({"expires_on": now - day}, "Its time was over on "),
        ({"starts_on": now + day}, "It works from "),
        ({"is_active": False}, "Its network does not let it be used at the moment."),
        ({"frozen_on": now}, "The buyer's bank disputes the payment."),
    ):
        voucher = await network_voucher(venue.shop, box, **more)
        await staff.open(f"{ROOT}?code={voucher.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), more
        assert buttons(staff) == ["Another code"]
    voucher = await network_voucher(venue.shop, box)
    await staff.open(f"{ROOT}?code={voucher.normal_code}")
    await press(staff, "Use it once", offer=str(offer.id))
    await venue.shop.execute("UPDATE network_voucher SET usable_until = :past WHERE id = :id", past=now, id=voucher.id)
    assert verdict(await staff.open(staff.path)).startswith("Cannot be used Because of its first use it could be used ")
    unused = await network_voucher(venue.shop, box)
    await venue.shop.execute("UPDATE offer SET is_active = false")
    await staff.open(f"{ROOT}?code={unused.normal_code}")
    assert verdict(staff) == "Cannot be used This shop has no offer for it at the moment."


async def test_what_has_changed_since_uses_nothing(venue: Venue) -> None:
    box = await box_of(venue.shop)
    offer = await offer_of(venue.shop, box)
    voucher = await network_voucher(venue.shop, box)
    staff = await venue.staff(voucher.code)
    seen = staff.page
    await venue.shop.execute("UPDATE offer SET is_active = false")
    await press(staff, "Mark as used", offer=str(offer.id))
    assert "Somebody else has just changed this voucher. Nothing was done" in note(staff)
    assert verdict(staff) == "Cannot be used This shop has no offer for it at the moment."
    await link(venue.shop, linked=False)
    staff.page = seen
    await press(staff, "Mark as used", offer=str(offer.id), once="A" * 22)
    assert (staff.response.status_code, staff.errors) == (404, ["No voucher or gift card of this shop has this code."])
    assert (await voucher_state(venue.shop, voucher), await usage_rows(venue)) == (("paid", 0), 0)


async def test_permissions_are_those_of_the_user(venue: Venue) -> None:
    box = await box_of(venue.shop, max_usages=2)
    offer = await offer_of(venue.shop, box)
    voucher = await network_voucher(venue.shop, box)
    without = await venue.staff(voucher.normal_code, only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.USE_NETWORK_GIFT_CARD})
    assert without.response.status_code == 404
    looker = await venue.staff(voucher.normal_code, only={P.VIEW_NETWORK_VOUCHER})
    assert (verdict(looker), buttons(looker)) == ("Can be used Nothing of it has been used.", ["Another code"])
    may = await venue.staff(voucher.normal_code, only={P.VIEW_NETWORK_VOUCHER, P.USE_NETWORK_VOUCHER})
    await press(may, "Use it once", offer=str(offer.id))
    assert note(may).startswith("It is marked as used.")
    assert buttons(await looker.open(looker.path)) == ["Another code"]
    seen = may.page
    await venue.shop.execute("UPDATE app_user SET permissions = '{view_network_voucher}'")
    venue.shop.services.authenticator.invalidate(partner_id=venue.shop.partner.id)
    for label in ("Use it once", "Undo"):
        may.page = seen
        await press(may, label, offer=str(offer.id))
        assert (may.response.status_code, may.h1) == (403, "You are not allowed to do this")
    assert await voucher_state(venue.shop, voucher) == ("using", 1)


async def test_what_is_in_a_payout_stays_used(venue: Venue) -> None:
    box = await box_of(venue.shop)
    offer = await offer_of(venue.shop, box)
    voucher = await network_voucher(venue.shop, box)
    staff = await venue.staff(voucher.code)
    await press(staff, "Mark as used", offer=str(offer.id))
    await put_into_payout(venue.shop.services, venue.shop.partner.id)
    await press(staff, "Undo")
    assert "This cannot be undone any more: it is in a payout." in note(staff)
    assert buttons(staff) == ["Another code"]
    assert await voucher_state(venue.shop, voucher) == ("used", 1)


async def test_two_hundred_uses_at_once_on_the_page_and_over_the_api(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many happen as the voucher has."""
    monkeypatch.setattr(venue.shop.services.settings, "guesses_per_user", "9999/hour")
    box = await box_of(venue.shop, max_usages=3)
    offer = await offer_of(venue.shop, box)
    voucher = await network_voucher(venue.shop, box)
    staff, token = await venue.staff(voucher.code), await api_token(venue)
    of = {"code": voucher.code, "partnerId": venue.shop.partner.id}
    outcomes: list[set[Any]] = await asyncio.gather(
        *(
            network_use(staff, token, "Voucher", of)
            if n % 2
            else sent_at_once(staff, "/redeem/network-voucher/", 1, offer=str(offer.id), once=f"{n:022}")
            for n in range(200)
        )
    )
    assert {frozenset(each) for each in outcomes} <= {frozenset({303}), frozenset(), frozenset({"NO_USAGE_LEFT"})}
    assert await voucher_state(venue.shop, voucher) == ("used", 3)
    assert await usage_rows(venue) == 3
    assert await is_proved(venue)
