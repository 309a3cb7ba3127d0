"""The venue page takes gift cards of the shop's network, puts back what it took, and spends nothing twice."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.core.caller import Role
from schema.checkout.checkout import CheckoutKey, ProductChoice
from schema.checkout.view import Checkout
from schema.core.errors import CheckoutChanged
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus
from store.core.clock import clock
from store.core.codes import generate_code
from tests.fixtures.network_prints import usage_of
from tests.fixtures.payment.api_payment import created, wallet_uuid
from tests.fixtures.payment.payout import let_it_fail, put_into_payout
from tests.fixtures.shop import Shop, open_shop
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.redemption.fixtures import ROOT, Venue, buttons, note, press, verdict
from tests.funnel.redemption.network import card_state, is_proved, link, network_card, usage_rows
from tests.funnel.redemption.sending import api_token, network_use, sent_at_once
from tests.servers.production import OTHER_HOST

P = Permission
LEFT = Decimal


@pytest.fixture(autouse=True)
async def linked(venue: Venue) -> None:
    """The shop takes part."""
    await link(venue.shop)


async def test_an_amount_is_taken_once_and_put_back(venue: Venue) -> None:
    card = await network_card(venue.shop)
    staff = await venue.staff(card.code.lower())
    assert staff.h1 == "€100.00 left"
    network = await venue.shop.one("SELECT name FROM marketplace WHERE id = :id", id=card.network_id)
    assert f"Gift card of {network} · Not used yet" in staff.page.one("main").text
    check_headings(staff.page)
    check_controls(staff.page)
    assert await sent_at_once(staff, "/redeem/network-gift-card/", 4, amount="12,50 €", reference="Table 7") == {303}
    await staff.open(f"{ROOT}?code={card.normal_code}")
    assert note(staff) == "€12.50 taken Left on the card: €87.50."
    assert await card_state(venue.shop, card) == ("using", LEFT("87.50"))
    assert "Table 7" in staff.page.one("ul", class_="taken").text
    assert await venue.shop.one("SELECT partner_id FROM network_gift_card_usage") == venue.shop.partner.id
    assert await venue.shop.one("SELECT reservation_id FROM network_gift_card_usage") == "Table 7"
    transports = (
        "SELECT count(*) FROM audit_entry WHERE operation = 'use_network_gift_card' AND username = 'user0@shop.example'"
    )
    assert await venue.shop.one(transports) == 1
    await press(staff, "Put back")
    assert note(staff) == "€12.50 put back Left on the card: €100.00."
    assert await card_state(venue.shop, card) == ("paid", LEFT("100.00"))
    assert buttons(staff)[:1] == ["Take it off the card"]
    assert "put back" in staff.page.one("ul", class_="taken").text
    assert await is_proved(venue)


async def test_what_is_no_amount_is_told_at_the_field_and_takes_nothing(venue: Venue) -> None:
    card = await network_card(venue.shop, "37.50")
    staff = await venue.staff(card.code)
    for amount, why in (
        ("", "Enter an amount."),
        ("twelve", "Enter an amount like 12.50."),
        ("0", "Enter an amount like 12.50."),
        ("-5", "Enter an amount like 12.50."),
        ("1.005", "Enter an amount like 12.50."),
        ("999999999", "There is less left on the card. Nothing was taken."),
        ("37.51", "There is less left on the card. Nothing was taken."),
    ):
        await press(staff, "Take it off", amount=amount, reference="Table\n7")
        assert staff.errors == [why], amount
        assert staff.page.one("input", id="amount").attributes["value"] == amount
        assert staff.page.one("input", id="reference").attributes["value"] == "Table 7"
        assert (await card_state(venue.shop, card), await usage_rows(venue)) == (("paid", LEFT("37.50")), 0)
    await press(staff, "Take it off", amount="37.50")
    assert verdict(await staff.open(staff.path)) == "Cannot be used All of it has been spent."
    assert buttons(staff) == ["Put back €37.50", "Another code"]


async def test_a_card_that_is_not_splittable_is_taken_whole(venue: Venue) -> None:
    card = await network_card(venue.shop, "60.00", is_splittable=False)
    staff = await venue.staff(card.code)
    assert verdict(staff) == "Can be used It is used whole, and not in parts."
    assert buttons(staff) == ["Take all of it: €60.00", "Another code"]
    for amount in ("59.99", "60.01"):
        await press(staff, "Take all of it", amount=amount)
        assert note(staff) + " ".join(staff.errors), amount
        assert (await card_state(venue.shop, card), await usage_rows(venue)) == (("paid", LEFT("60.00")), 0)
    await press(staff, "Take all of it")
    assert await card_state(venue.shop, card) == ("used", LEFT("0.00"))


async def test_only_usages_at_this_shop_are_shown(venue: Venue) -> None:
    """What another partner took is in the balance, and nowhere else on the page."""
    card = await network_card(venue.shop, "150.00")
    other = await open_shop(venue.shop.services, venue.shop.sandbox, OTHER_HOST)
    await usage_of(other, card, reservation_id="R-1")
    await usage_of(venue.shop, card, reservation_id="R-2")
    staff = await venue.staff(card.code)
    (shown,) = staff.page.one("ul", class_="taken").all("li")
    assert "R-2" in shown.text
    assert "R-1" not in staff.page.one("main").text


async def test_what_cannot_be_used_says_why(venue: Venue) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    staff = await venue.staff()
    for more, why in (
        ({"status": GiftCardStatus.DRAFT}, "It has not been paid for."),
        ({"status": GiftCardStatus.CANCELLED}, "It was cancelled."),
        ({"expires_on": now - day}, "Its time was over on "),
        ({"status": GiftCardStatus.EXPIRED, "expires_on": None}, "Its time is over."),
        ({"starts_on": now + day}, "The card works from "),
        ({"is_active": False}, "Its network does not let it be used at the moment."),
        ({"frozen_on": now}, "The buyer's bank disputes the payment."),
    ):
        card = await network_card(venue.shop, **more)
        await staff.open(f"{ROOT}?code={card.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), more
        assert buttons(staff) == ["Another code"]
    card = await network_card(venue.shop)
    for status, why in (("t", "This shop is for tests: "), ("i", "This shop does not take part at the moment.")):
        await venue.shop.execute(
            "UPDATE partner SET status = :status WHERE id = :id", status=status, id=venue.shop.partner.id
        )
        await staff.open(f"{ROOT}?code={card.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), status


async def test_what_has_changed_since_takes_nothing(venue: Venue) -> None:
    """A page that is older than what the network has decided, or than the end of the partner's part in it."""
    card = await network_card(venue.shop)
    staff = await venue.staff(card.code)
    seen = staff.page
    await venue.shop.execute("UPDATE gift_card SET is_active = false WHERE id = :id", id=card.id)
    await press(staff, "Take it off", amount="5")
    assert "Somebody else has just changed this gift card. Nothing was taken" in note(staff)
    assert verdict(staff).startswith("Cannot be used Its network ")
    await venue.shop.execute("UPDATE gift_card SET is_active = true WHERE id = :id", id=card.id)
    await link(venue.shop, linked=False)
    staff.page = seen
    await press(staff, "Take it off", amount="5", once="A" * 22)
    assert (staff.response.status_code, staff.errors) == (404, ["No voucher or gift card of this shop has this code."])
    assert (await card_state(venue.shop, card), await usage_rows(venue)) == (("paid", LEFT("100.00")), 0)


async def test_codes_of_networks_that_the_shop_is_not_linked_to_are_unknown(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = await network_card(venue.shop)
    await link(venue.shop, linked=False)
    monkeypatch.setattr(venue.shop.services.settings, "guesses_per_user", "4/hour")
    for role in (Role.PARTNER, Role.MARKETPLACE):
        staff = await venue.staff(role=role)
        for code in (card.code, generate_code()):
            await staff.open(f"{ROOT}?code={code}")
            assert staff.response.status_code == 404, (role, code)
            assert staff.errors == ["No voucher or gift card of this shop has this code."]
    await staff.open(f"{ROOT}?code={card.code}")
    assert staff.response.status_code == 429, "a foreign code is a guess, whoever looks it up"


async def test_permissions_are_those_of_the_user(venue: Venue) -> None:
    card = await network_card(venue.shop)
    without = await venue.staff(card.normal_code, only={P.VIEW_VOUCHER, P.VIEW_GIFT_CARD, P.MANAGE_GIFT_CARD})
    assert without.response.status_code == 404
    may = await venue.staff(card.normal_code, only={P.USE_NETWORK_GIFT_CARD})
    await press(may, "Take it off", amount="10")
    assert note(may).startswith("€10.00 taken")
    seen = may.page
    await venue.shop.execute("UPDATE app_user SET permissions = '{view_voucher}'")
    venue.shop.services.authenticator.invalidate(partner_id=venue.shop.partner.id)
    for label, more in (("Take it off", {"amount": "5"}), ("Put back", {})):
        may.page = seen
        await press(may, label, **more)
        assert (may.response.status_code, may.h1) == (403, "You are not allowed to do this")
    assert await card_state(venue.shop, card) == ("using", LEFT("90.00"))


async def test_what_is_in_a_payout_or_of_a_cancelled_card_stays(venue: Venue) -> None:
    card = await network_card(venue.shop)
    staff = await venue.staff(card.code)
    await press(staff, "Take it off", amount="10")
    seen = staff.page
    payout = await put_into_payout(venue.shop.services, venue.shop.partner.id)
    await press(staff, "Put back")
    assert "This cannot be put back any more: it is in a payout." in note(staff)
    assert buttons(staff)[:1] == ["Take it off the card"]
    await let_it_fail(venue.shop.services, payout)
    await venue.shop.execute("UPDATE gift_card SET status = 'cncld' WHERE id = :id", id=card.id)
    staff.page = seen
    await press(staff, "Put back")
    assert "Somebody else has just changed this gift card." in note(staff)
    assert buttons(staff) == ["Another code"]
    assert await card_state(venue.shop, card) == ("cncld", LEFT("90.00"))


async def test_what_a_payment_has_taken_is_not_put_back_here(venue: Venue) -> None:
    """It is refunded. A page that was sent all the same changes nothing."""
    shop = venue.shop
    card = await network_card(shop)
    wallet = {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": "30.00"}
    await created(shop, "30.00", **wallet)
    staff = await venue.staff(card.code)
    assert "Put back €30.00" not in buttons(staff)
    assert await card_state(shop, card) == ("using", Decimal("70.00"))
    assert await is_proved(venue)


async def test_what_no_page_of_ours_sends_is_refused_and_changes_nothing(venue: Venue) -> None:
    card = await network_card(venue.shop)
    staff = await venue.staff(card.code)
    form = staff.page.one("form", class_="take")
    seen = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")}
    for action, changes, status in (
        ("network-gift-card", {"code": "", "amount": "5"}, 400),
        ("network-gift-card", {"once": "", "amount": "5"}, 400),
        ("network-gift-card", {"csrf": "x", "amount": "5"}, 403),
        ("network-gift-card/back", {"usage": "0"}, 400),
        ("network-gift-card/back", {"usage": "x"}, 400),
        ("network-voucher", {"code": ""}, 400),
        ("network-voucher/back", {"usage": ""}, 400),
    ):
        await staff.post(f"/redeem/{action}/", seen | changes)
        assert staff.response.status_code == status, (action, changes)
    await staff.post("/redeem/network-gift-card/back/", seen | {"usage": "4711"})
    assert staff.h1 == "€100.00 left", "a usage of others, or none: nothing is told of it"
    await staff.post("/redeem/network-voucher/", seen)
    assert staff.h1 == "€100.00 left", "a gift card is no voucher"
    assert (await card_state(venue.shop, card), await usage_rows(venue)) == (("paid", LEFT("100.00")), 0)


async def test_two_hundred_usages_at_once_on_the_page_over_the_api_and_in_checkouts(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many happen as the card has money for."""
    monkeypatch.setattr(venue.shop.services.settings, "guesses_per_user", "9999/hour")
    card, candle = await network_card(venue.shop), await venue.shop.product("7.00")
    staff, token = await venue.staff(card.code), await api_token(venue)
    partner = {"code": card.code, "value": "7.00", "partnerId": venue.shop.partner.id}
    ready = [await venue.shop.ready(ProductChoice(candle.id, 1), codes=(card.code,)) for _ in range(40)]
    outcomes: list[set[Any]] = await asyncio.gather(
        *(network_use(staff, token, "GiftCard", partner) for _ in range(80)),
        *(sent_at_once(staff, "/redeem/network-gift-card/", 1, amount="7", once=f"{n:022}") for n in range(80)),
        *(paid_with_cards(venue.shop, key, seen) for key, seen in ready),
    )
    refused = {"INSUFFICIENT_BALANCE"}, {"CheckoutChanged"}
    assert {frozenset(outcome) for outcome in outcomes} <= {frozenset(each) for each in ({303}, set(), *refused)}
    assert await card_state(venue.shop, card) == ("using", LEFT("2.00"))
    assert await usage_rows(venue) == 14
    assert await is_proved(venue)


async def paid_with_cards(shop: Shop, key: CheckoutKey, seen: Checkout) -> set[Any]:
    """Pay a checkout that gift cards cover; what refuses it."""
    try:
        await shop.start(key, seen)
    except CheckoutChanged:
        return {"CheckoutChanged"}
    return set()
