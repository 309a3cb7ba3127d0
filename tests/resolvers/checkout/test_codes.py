"""Codes at the checkout: typed in any spelling, refused in one way, kept or waiting as their conditions want."""

import datetime as dt
from decimal import Decimal

from resolvers.checkout import steps
from resolvers.checkout.steps import MOST_CODES
from schema.cart.cart import CartItem
from schema.checkout.checkout import CheckoutNotice, ProductChoice
from schema.checkout.codes import CodeKind
from schema.gift_card.gift_card import GiftCardStatus
from store.core.clock import clock
from store.core.codes import format_code, normalize
from tests.fixtures.shop import Shop, open_shop
from tests.resolvers.checkout.fixtures import catch_refusal


async def test_codes_are_added_once_and_taken_off_again_however_they_are_typed(shop: Shop) -> None:
    candle = await shop.product("20.00")
    coupon, card = await shop.coupon(), await shop.gift_card("5.00")
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    for typed in ("welcome10", " Welcome-10 ", "WEL COME 10"):
        seen = await steps.apply_code(shop.context, key, typed)
        assert [(c.code, c.kind, c.amount, c.applies) for c in seen.codes] == [
            (coupon.code, CodeKind.COUPON, Decimal("2.00"), True)
        ]
    seen = await steps.apply_code(shop.context, key, normalize(card.code).lower())
    assert [(c.code, c.amount) for c in seen.codes] == [(coupon.code, Decimal("2.00")), (card.code, Decimal("5.00"))]
    assert seen.codes[1].code == format_code(card.code)
    assert (seen.totals.discount, seen.totals.by_card) == (Decimal("2.00"), Decimal("13.00"))
    seen = await steps.remove_code(shop.context, key, "welcome 10")
    assert [c.code for c in seen.codes] == [card.code]
    seen = await steps.remove_code(shop.context, key, card.code.lower())
    assert (seen.codes, seen.totals.by_card) == ((), Decimal("20.00"))
    assert await steps.remove_code(shop.context, key, "never there") == seen


async def test_every_code_that_cannot_be_used_gets_one_answer(shop: Shop) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    _, key, before = await shop.open_checkout(CartItem((await shop.product()).id, 1))
    cards = [
        await shop.gift_card(expires_on=now - day),
        await shop.gift_card(status=GiftCardStatus.CANCELLED),
        await shop.gift_card(status=GiftCardStatus.DRAFT),
        await shop.gift_card(status=GiftCardStatus.USED),
        await shop.gift_card(status=GiftCardStatus.EXPIRED),
        await shop.gift_card("0.00"),
        await other.gift_card(),
    ]
    coupons = [
        await shop.coupon("ENDED", ends_on=now - day),
        await shop.coupon("LATER", starts_on=now + day),
        await other.coupon("THEIRS"),
        await shop.coupon("ELSEWHERE", targets=[]),
    ]
    typed = ["", "   ", "---", "UNKNOWN", "\x00", "A\x00B", "\ud800", "a" * 100_000, "%", "' OR 1=1 --"]
    messages = set()
    for code in [*typed, *(card.code for card in cards), *(coupon.code for coupon in coupons)]:
        error = await catch_refusal("CODE_NOT_USABLE", steps.apply_code(shop.context, key, code))
        messages |= {(problem.path, problem.message) for problem in error.problems}
    assert len(messages) == 1
    assert await steps.open_checkout(shop.context, key) == before


async def test_there_is_room_for_ten_codes(shop: Shop) -> None:
    _, key, _ = await shop.open_checkout(CartItem((await shop.product("500.00")).id, 1))
    cards = [await shop.gift_card("1.00") for _ in range(MOST_CODES + 1)]
    for card in cards[:-1]:
        seen = await steps.apply_code(shop.context, key, card.code)
    await catch_refusal("TOO_MANY", steps.apply_code(shop.context, key, cards[-1].code))
    await catch_refusal("TOO_MANY", steps.apply_code(shop.context, key, "UNKNOWN"))
    assert await steps.apply_code(shop.context, key, cards[0].code) == seen
    await steps.remove_code(shop.context, key, cards[0].code)
    assert len((await steps.apply_code(shop.context, key, cards[-1].code)).codes) == MOST_CODES


async def test_a_code_that_stops_working_is_told_and_takes_nothing(shop: Shop) -> None:
    coupon = await shop.coupon(ends_on=clock.now() + dt.timedelta(minutes=30))
    _, key, _ = await shop.open_checkout(CartItem((await shop.product("20.00")).id, 1))
    assert (await steps.apply_code(shop.context, key, coupon.code)).notices == ()
    clock.advance(dt.timedelta(minutes=31))
    seen = await steps.open_checkout(shop.context, key)
    assert seen.notices == (CheckoutNotice.CODE_NO_LONGER_VALID,)
    assert (seen.codes, seen.totals.total) == ((), Decimal("20.00"))
    assert (await steps.remove_code(shop.context, key, coupon.code)).notices == ()


async def test_a_code_whose_conditions_do_not_hold_waits(shop: Shop) -> None:
    candle = await shop.product("20.00")
    coupon = await shop.coupon(minimum_basket_amount=Decimal("30.00"))
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    seen = await steps.apply_code(shop.context, key, coupon.code)
    assert [(c.applies, c.amount) for c in seen.codes] == [(False, Decimal(0))]
    seen = await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 2)], None)
    assert [(c.applies, c.amount) for c in seen.codes] == [(True, Decimal("4.00"))]
