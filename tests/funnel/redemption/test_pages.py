"""The venue page: staff look codes up, use them, take that back; whoever may not, may not here either."""

import asyncio
import datetime as dt
from decimal import Decimal
from urllib.parse import quote

import pytest

from resolvers.core.caller import Role
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import generate_code
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.redemption.fixtures import LOG_IN, ROOT, Venue, buttons, note, press, verdict
from tests.funnel.redemption.sending import sent_at_once
from tests.servers.production import NOBODYS_URL, SHOP_URL

P = Permission


# ---- vouchers ------------------------------------------------------------------------------------------------------------


async def test_a_voucher_is_used_in_part_and_whole_and_brought_back(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(
        row.code.lower(), only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.UPDATE_VOUCHER, P.REOPEN_VOUCHER}
    )
    assert buttons(staff) == ["Start using it", "Mark as used", "Another code"]
    await press(staff, "Start using it")
    assert (note(staff), await venue.state(row)) == ("It is in use now.", "using")
    assert buttons(staff) == ["Mark as used", "Undo: not used yet", "Another code"]
    await staff.open(staff.path)
    assert note(staff) == ""
    await press(staff, "Mark as used")
    assert (note(staff), await venue.state(row)) == ("It is marked as used.", "used")
    assert verdict(await staff.open(staff.path)).startswith("Cannot be used It was used on ")
    assert buttons(staff) == ["Undo: used in part only", "Undo: not used yet", "Another code"]
    await press(staff, "Undo: used in part")
    assert (note(staff), await venue.state(row)) == ("It is in use now.", "using")
    await press(staff, "Undo: not used yet")
    assert (note(staff), await venue.state(row)) == ("It counts as not used again.", "paid")


async def test_who_cannot_take_it_back_is_asked_first(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(row.normal_code)
    await press(staff, "Mark as used")
    assert "With your log-in this cannot be undone." in staff.page.one("main").text
    assert await venue.state(row) == "paid"
    check_headings(staff.page)
    await press(staff, "Yes, mark as used")
    assert (note(staff), await venue.state(row), buttons(staff)) == ("It is marked as used.", "used", ["Another code"])


async def test_the_booking_of_a_stay_is_noted_with_its_use_and_goes_with_it(venue: Venue) -> None:
    """Optional, in a folded form that needs no script; a voucher without nights is not asked for one."""
    row = await venue.voucher()
    await venue.shop.execute("UPDATE voucher SET prototype_type = 'stay' WHERE id = :id", id=row.id)
    staff = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.REOPEN_VOUCHER})
    folded = staff.page.one("details", class_="booking")
    assert "open" not in folded.attributes
    await press(staff, "Mark as used", starts_on="2030-07-03", ends_on="2030-07-01", reference="B-7 <b>")
    assert staff.errors == ["The last day cannot be before the first."]
    assert "open" in staff.page.one("details", class_="booking").attributes
    assert staff.page.one("input", id="reference").attributes["value"] == "B-7 <b>"
    check_controls(staff.page)
    await press(staff, "Mark as used", starts_on="", comment="Late")
    assert staff.errors == ["Enter the first day of the booking."]
    await press(staff, "Mark as used", starts_on="2030-13-01")
    assert staff.errors == ["Enter a date, such as 2030-12-31."]
    assert (await venue.state(row), await venue.shop.one("SELECT count(*) FROM voucher_rental")) == ("paid", 0)
    filled = {"starts_on": "2030-07-01", "ends_on": "2030-07-03", "reference": "B-7 <b>", "comment": "Late"}
    await press(staff, "Mark as used", **filled)
    assert (note(staff), await venue.state(row)) == ("It is marked as used.", "used")
    assert "Bookings 1–3 Jul 2030 · B-7 <b> Late" in " ".join(staff.page.one("dl", class_="good-for").text.split())
    id = await venue.shop.one("SELECT id FROM voucher_rental")
    assert staff.page.all("input", name=f"off-{id}")[0].attributes.get("checked") is not None
    await press(staff, "Undo: not used yet")
    assert (await venue.state(row), await venue.shop.one("SELECT count(*) FROM voucher_rental")) == ("paid", 0)
    asked = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.USE_VOUCHER})
    await press(asked, "Mark as used", ends_on="2030-07-03", reference="B-7 <b>")
    assert "With your log-in this cannot be undone." in asked.page.one("main").text
    assert asked.page.one("input", id="reference").attributes["value"] == "B-7 <b>", "what was typed is not lost"
    await press(asked, "Yes, mark as used")
    assert (asked.errors, buttons(asked)[0]) == (["Enter the first day of the booking."], "Yes, mark as used")
    await press(asked, "Yes, mark as used", **filled)
    assert await venue.state(row) == "used"
    without = await venue.staff((await venue.voucher()).normal_code)
    assert without.page.all("details", class_="booking") == []


async def test_a_form_does_its_work_once_and_never_on_what_others_changed(venue: Venue) -> None:
    row = await venue.voucher()
    ada, bob = (
        await venue.staff(row.normal_code, role=Role.MASTER),
        await venue.staff(row.normal_code, role=Role.MASTER),
    )
    (form,) = ada.page.one("main").all("form")
    fields = {i.attributes["name"]: i.attributes["value"] for i in form.all("input")} | {"to": "used"}
    told = {"Origin": SHOP_URL, "Sec-Fetch-Site": "same-origin"}
    answers = await asyncio.gather(*(ada.http.post("/redeem/voucher/", data=fields, headers=told) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {303}
    await ada.open(f"{ROOT}?code={row.normal_code}")
    assert (note(ada), await venue.state(row)) == ("It is marked as used.", "used")
    for label in ("Mark as used", "Start using it"):
        seen = bob.page
        await press(bob, label)
        assert "Somebody else has just changed this voucher." in note(bob)
        assert await venue.state(row) == "used"
        bob.page = seen
    moves = "SELECT count(*) FROM event WHERE type = 'voucher.state_changed'"
    assert await venue.shop.one(moves) == 1


async def test_what_cannot_be_used_says_why(venue: Venue) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    staff = await venue.staff()
    for state, more, why in (
        (VoucherState.DRAFT, {}, "It has not been paid for."),
        (VoucherState.ERROR, {"activated_on": None}, "It has not been paid for."),
        (VoucherState.ERROR, {"activated_on": now - day}, "It was withdrawn."),
        (VoucherState.EXPIRED, {"expires_on": now - day}, "Its time was over on "),
        (VoucherState.PAID, {"expires_on": now - day}, "Its time was over on "),
        (VoucherState.PAID, {"activated_on": now + day}, "It works from "),
        (VoucherState.PAID, {"frozen_on": now}, "The buyer's bank disputes the payment."),
        (VoucherState.USING, {"frozen_on": now}, "The buyer's bank disputes the payment."),
        (VoucherState.ERROR, {"refunded_on": now}, "It was refunded on "),
        (VoucherState.USED, {"refunded_on": now}, "It was refunded on "),
    ):
        row = await venue.voucher(state, **more)
        await staff.open(f"{ROOT}?code={row.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), (state, verdict(staff))
        assert buttons(staff) == ["Another code"]


async def test_permissions_are_those_of_the_user(venue: Venue) -> None:
    row, card = await venue.voucher(), await venue.shop.gift_card()
    looker = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.VIEW_GIFT_CARD})
    assert buttons(looker) == ["Another code"]
    assert buttons(await looker.open(f"{ROOT}?code={card.normal_code}")) == ["Another code"]
    user = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.REOPEN_VOUCHER})
    assert (await user.open(f"{ROOT}?code={card.normal_code}")).response.status_code == 404
    await user.open(f"{ROOT}?code={row.normal_code}")
    await venue.shop.execute("UPDATE app_user SET permissions = '{view_voucher}'")
    venue.shop.services.authenticator.invalidate(partner_id=venue.shop.partner.id)
    await press(user, "Mark as used")
    assert (user.response.status_code, user.h1) == (403, "You are not allowed to do this")
    assert await venue.state(row) == "paid"
    nothing = await venue.staff(row.normal_code, only={P.VIEW_ORDER})
    assert (nothing.response.status_code, nothing.h1) == (403, "You are not allowed to do this")


async def test_what_no_page_of_ours_sends_is_refused_and_changes_nothing(venue: Venue) -> None:
    card, row = await venue.shop.gift_card("50.00"), await venue.voucher()
    staff = await venue.staff(card.code)
    form = staff.page.one("form", class_="take")
    for action, changes in (
        ("/redeem/gift-card/", {"code": "", "amount": "5"}),
        ("/redeem/gift-card/", {"code": "A" * 41, "amount": "5"}),
        ("/redeem/gift-card/", {"code": card.code, "amount": "5", "once": ""}),
        ("/redeem/gift-card/back/", {"code": card.code, "hold": "0"}),
        ("/redeem/voucher/", {"code": "", "to": "used", "from": "paid"}),
        ("/redeem/voucher/", {"code": row.code, "to": "lost", "from": "paid"}),
    ):
        fields = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")} | changes
        await staff.post(action, fields)
        assert staff.response.status_code == 400, (action, changes)
        assert (await venue.remaining_amount(card.id), await venue.state(row)) == (Decimal("50.00"), "paid")
    for pasted in ("http://[::1?code=x", "https://[bad/?code=", "code=", "?code=%ff"):
        await staff.open(f"{ROOT}?code={quote(pasted)}")
        assert staff.response.status_code in {400, 404}, pasted
    assert (await staff.open(f"{ROOT}?code={quote(f'http://[x/?code={card.code}#top')}")).h1 == "€50.00 left"


# ---- gift cards ------------------------------------------------------------------------------------------------------------


async def test_an_amount_is_taken_once_and_put_back(venue: Venue) -> None:
    card = await venue.shop.gift_card("50.00")
    staff = await venue.staff(card.code)
    assert staff.h1 == "€50.00 left"
    check_headings(staff.page)
    check_controls(staff.page)
    assert await sent_at_once(staff, "/redeem/gift-card/", 4, amount="12,50 €", reference="Table 7") == {303}
    await staff.open(f"{ROOT}?code={card.normal_code}")
    assert (note(staff), await venue.remaining_amount(card.id)) == (
        "€12.50 taken Left on the card: €37.50.",
        Decimal("37.50"),
    )
    assert "Table 7" in staff.page.one("ul", class_="taken").text
    await press(staff, "Put back")
    assert (note(staff), await venue.remaining_amount(card.id)) == (
        "€12.50 put back Left on the card: €50.00.",
        Decimal("50.00"),
    )
    assert "put back" in staff.page.one("ul", class_="taken").text


async def test_what_is_no_amount_is_told_at_the_field_and_takes_nothing(venue: Venue) -> None:
    card = await venue.shop.gift_card("37.50")
    staff = await venue.staff(card.code)
    for amount, why in (
        ("", "Enter an amount."),
        ("twelve", "Enter an amount like 12.50."),
        ("0", "Enter an amount like 12.50."),
        ("-5", "Enter an amount like 12.50."),
        ("1.005", "Enter an amount like 12.50."),
        ("37.51", "There is less left on the card. Nothing was taken."),
    ):
        await press(staff, "Take it off", amount=amount)
        assert staff.errors == [why], amount
        assert staff.page.one("input", id="amount").attributes["value"] == amount
        assert await venue.remaining_amount(card.id) == Decimal("37.50")


async def test_what_was_taken_can_be_put_back_for_a_while_only(venue: Venue) -> None:
    card = await venue.shop.gift_card("50.00")
    staff = await venue.staff(card.code)
    await press(staff, "Take it off", amount="50")
    assert verdict(await staff.open(staff.path)) == "Cannot be used All of it has been spent."
    assert await venue.shop.one("SELECT status FROM gift_card WHERE id = :id", id=card.id) == "used"
    clock.advance(dt.timedelta(hours=11))
    await staff.open(ROOT)
    clock.advance(dt.timedelta(hours=11))
    seen = (await staff.open(f"{ROOT}?code={card.normal_code}")).page
    clock.advance(dt.timedelta(hours=3))
    staff.page = seen
    await press(staff, "Put back")
    assert "cannot be put back any more" in note(staff)
    assert await venue.remaining_amount(card.id) == Decimal("0.00")


async def test_what_gift_cards_cannot_be_spent_say_why(venue: Venue) -> None:
    staff = await venue.staff()
    yesterday = clock.now() - dt.timedelta(days=1)
    for more, why in (
        ({"status": GiftCardStatus.DRAFT}, "It has not been paid for."),
        ({"status": GiftCardStatus.CANCELLED}, "It was cancelled."),
        ({"expires_on": yesterday}, "Its time was over on "),
        ({"status": GiftCardStatus.EXPIRED}, "Its time is over."),
        ({"frozen_on": clock.now()}, "The buyer's bank disputes the payment."),
    ):
        card = await venue.shop.gift_card(**more)
        await staff.open(f"{ROOT}?code={card.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), more
        assert buttons(staff) == ["Another code"]


# ---- codes and forms ---------------------------------------------------------------------------------------------------------


async def test_codes_are_found_in_every_spelling_and_never_guessed(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await venue.voucher()
    staff = await venue.staff()
    assert staff.response.headers["permissions-policy"].startswith("camera=(self)")
    check_headings(staff.page)
    check_controls(staff.page)
    for typed in (
        row.code,
        f" {row.code.lower().replace('-', ' ')} ",
        f"{SHOP_URL}/redeem/?code={row.normal_code}",
    ):
        await staff.open(ROOT)
        await staff.open(f"{ROOT}?code={quote(typed)}")
        assert staff.h1 == "Massage by the fire", typed
        assert staff.response.headers["permissions-policy"].startswith("camera=()")
    for typed, status, why in (
        ("", 400, "Enter a code."),
        ("%00" * 3, 400, "No voucher or gift card of this shop has this code."),
        ("A" * 200, 400, "No voucher or gift card of this shop has this code."),
        (generate_code(), 404, "No voucher or gift card of this shop has this code."),
        (
            "2222-2222-2222-2223",
            404,
            "This code has a typing mistake. Compare it with the voucher, character by character.",
        ),
    ):
        await staff.open(f"{ROOT}?code={typed}")
        assert (staff.response.status_code, staff.errors) == (status, [why]), typed
    monkeypatch.setattr(venue.shop.services.settings, "guesses_per_user", "3/hour")
    for _ in range(4):
        await staff.open(f"{ROOT}?code={generate_code()}")
    assert (staff.response.status_code, staff.h1) == (429, "Too many attempts")
    await staff.open(f"{ROOT}?code={row.normal_code}")
    assert staff.response.status_code == 429, "what is asked for then tells nothing"


async def test_forms_of_others_and_of_nobody(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(row.normal_code, role=Role.MASTER)
    seen = staff.page
    for more in ({"csrf": "x"}, {"once": "x"}, {"to": "lost"}, {"from": ""}):
        staff.page = seen
        await press(staff, "Mark as used", **more)
        assert staff.response.status_code in {400, 403}, more
        assert await venue.state(row) == "paid"
    assert (await staff.open("/redeem/nothing/")).response.status_code == 404
    staff.page = seen
    staff.http.cookies.delete("__Host-coffret-staff")
    await press(staff, "Mark as used")
    assert staff.path == f"{LOG_IN}?code={row.normal_code}"
    assert await venue.state(row) == "paid"
    await staff.send("/redeem/language/", button=("language", "de"))
    assert staff.path == f"{LOG_IN}?code={row.normal_code}"
    assert staff.page.one("html").attributes["lang"] == "de"
    nobody = await venue.browsers().open(f"{NOBODYS_URL}/redeem/")
    assert nobody.response.status_code == 404
