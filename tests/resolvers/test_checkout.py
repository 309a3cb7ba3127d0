"""The checkout as its customer sees it: every line told, every choice kept, nothing of anybody else's."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest

from resolvers import checkout, payment
from resolvers.checkout import MOST_CODES, MOST_LINES
from resolvers.context import Caller, Context, Role
from schema.cart import CartItem
from schema.checkout import AttemptStatus, Buyer, CheckoutKey, Choice, CodeKind, LineProblem, Notice, Step
from schema.delivery import DeliveryKind
from schema.errors import CartNotFound, CheckoutChanged, Forbidden, InvalidInput, Unauthenticated
from schema.gift_card import GiftCardStatus
from schema.values import Text
from store.clock import clock
from store.codes import grouped, normal
from store.products import AttributeValueRow, ProductAttributeRow
from tests.shop_world import BUYER, DECLINED_CARD, Shop, open_shop

HOME, COLLECT, DIGITAL = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.DIGITAL
NOBODY = CheckoutKey(uuid.UUID(int=1), "x")


async def refused(code: str, call: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        await call
    assert {problem.code for problem in error.value.problems} == {code}
    return error.value


# ---- looking


async def test_a_cart_is_shown_with_the_shops_names_prices_and_brand(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=3)
    honey = await shop.product("8.00", name=Text(en="Honey"), ranking=0)
    _, key, seen = await shop.opened(CartItem(candle.id, 2), return_url="https://x.example/")
    (line,) = seen.lines
    assert line.product is not None
    assert (line.product.name.fr, line.unit_price, line.total, line.problem) == (
        "Bougie",
        Decimal("20.00"),
        Decimal("40.00"),
        None,
    )
    assert [product.id for product in seen.offered] == [honey.id, candle.id]
    assert (seen.key, seen.currency, seen.has_return_url) == (key, "EUR", True)
    assert (seen.brand.name, seen.brand.email) == ("The Shop", "hello@shop.example")
    assert {option.kind for option in seen.deliveries} == {HOME, COLLECT, DIGITAL}
    assert (seen.delivery_id, seen.buyer, seen.codes, seen.notices) == (None, None, (), ())
    assert (seen.totals.total, seen.totals.delivery) == (Decimal("40.00"), None)
    assert seen.reached is Step.CUSTOMIZATION


async def test_each_line_is_told_what_is_wrong_and_the_rest_can_be_ordered(shop: Shop) -> None:
    good, gone, sold_out, few, sized, coloured = [
        await shop.product("10.00", **fields)
        for fields in ({}, {"is_active": False}, {"stock": 0}, {"stock": 1}, {}, {})
    ]
    large = await shop.variant(sized, "12.00")
    retired = await shop.variant(sized, "13.00")
    await shop.execute("UPDATE product_variant SET is_active = false WHERE id = :id", id=retired.id)
    colour = await shop.add(
        ProductAttributeRow(
            partner_id=shop.partner.id, product_id=coloured.id, name=Text(en="Colour"), is_required=True
        )
    )
    await shop.add(
        AttributeValueRow(partner_id=shop.partner.id, attribute_id=colour.id, value="red", label=Text(en="Red"))
    )
    items = [
        (CartItem(good.id, 1), None),
        (CartItem(2_147_483_647, 1), LineProblem.NOT_SOLD),
        (CartItem(2**62, 1), LineProblem.NOT_SOLD),
        (CartItem(gone.id, 1), LineProblem.INACTIVE),
        (CartItem(sold_out.id, 1), LineProblem.OUT_OF_STOCK),
        (CartItem(few.id, 2), LineProblem.NOT_ENOUGH_STOCK),
        (CartItem(sized.id, 1), LineProblem.VARIANT_REQUIRED),
        (CartItem(sized.id, 1, retired.id), LineProblem.UNKNOWN_VARIANT),
        (CartItem(sized.id, 1, 2**62), LineProblem.UNKNOWN_VARIANT),
        (CartItem(sized.id, 1, large.id), None),
        (CartItem(coloured.id, 1), LineProblem.ATTRIBUTE_REQUIRED),
        (CartItem(coloured.id, 1, None, {colour.id: "blue"}), LineProblem.UNKNOWN_ATTRIBUTE_VALUE),
        (CartItem(coloured.id, 1, None, {2**62: "red"}), LineProblem.UNKNOWN_ATTRIBUTE_VALUE),
        (CartItem(coloured.id, 1, None, {colour.id: "red"}), None),
    ]
    _, _, seen = await shop.opened(*(item for item, _ in items))
    assert [line.problem for line in seen.lines] == [problem for _, problem in items]
    assert seen.totals.products == Decimal("32.00")
    assert gone.id not in {product.id for product in seen.offered}


async def test_a_product_whose_versions_are_all_retired_is_not_sold_without_one(shop: Shop) -> None:
    sized = await shop.product("10.00")
    only = await shop.variant(sized, "12.00")
    await shop.execute("UPDATE product_variant SET is_active = false")
    _, _, seen = await shop.opened(CartItem(sized.id, 1), CartItem(sized.id, 1, only.id))
    assert [line.problem for line in seen.lines] == [LineProblem.INACTIVE, LineProblem.INACTIVE]
    assert seen.offered == ()


async def test_products_of_another_shop_are_not_sold_here(shop: Shop) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    theirs = await other.product()
    _, _, seen = await shop.opened(CartItem(theirs.id, 1))
    assert [line.problem for line in seen.lines] == [LineProblem.NOT_SOLD]
    assert seen.offered == ()
    assert {option.id for option in seen.deliveries} == set(shop.modes.values())


async def test_an_empty_cart_offers_the_shop(shop: Shop) -> None:
    candle = await shop.product()
    _, _, seen = await shop.opened()
    assert (seen.lines, [product.id for product in seen.offered]) == ((), [candle.id])
    assert seen.totals.total == 0


# ---- whose cart


async def calls(context: Context, key: CheckoutKey) -> list[Any]:
    return [
        checkout.open_checkout(context, key),
        checkout.price_items(context, key, [], None),
        checkout.choose_items(context, key, [], None),
        checkout.identify_buyer(context, key, BUYER),
        checkout.apply_code(context, key, "WELCOME10"),
        checkout.remove_code(context, key, "WELCOME10"),
    ]


async def test_an_unknown_a_foreign_and_an_expired_cart_are_the_same(shop: Shop) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    foreign = other.key(await other.cart(CartItem(1, 1)))
    expired = shop.key(await shop.cart(CartItem(1, 1)))
    clock.advance(dt.timedelta(hours=2))
    for key in (NOBODY, foreign, expired):
        for call in await calls(shop.context, key):
            with pytest.raises(CartNotFound, match=r"^Cart not found$"):
                await call
    assert await shop.services.customers.load(shop.partner.id, expired.session_id) is None


async def test_looking_does_not_make_a_cart_live_longer(shop: Shop) -> None:
    _, key, _ = await shop.opened()
    clock.advance(dt.timedelta(hours=1, minutes=59))
    await checkout.choose_items(shop.context, key, [], shop.modes[COLLECT])
    clock.advance(dt.timedelta(minutes=1))
    with pytest.raises(CartNotFound):
        await checkout.open_checkout(shop.context, key)


async def test_only_a_customer_uses_a_checkout(shop: Shop) -> None:
    _, key, _ = await shop.opened()
    user = Context(shop.services, dataclasses.replace(shop.context.asking, role=Role.PARTNER, permissions=frozenset()))
    for context, error in ((Context(shop.services), Unauthenticated), (user, Forbidden)):
        for call in await calls(context, key):
            with pytest.raises(error):
                await call


async def test_a_customer_of_no_shop_finds_no_cart(shop: Shop) -> None:
    _, key, _ = await shop.opened()
    nowhere = Context(shop.services, Caller.customer(999_999, 1))
    with pytest.raises(CartNotFound):
        await checkout.open_checkout(nowhere, key)


# ---- choosing


async def test_what_is_chosen_is_kept_for_this_browser_and_no_other(shop: Shop) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    cart, key, _ = await shop.opened(CartItem(candle.id, 1))
    wanted = [Choice(candle.id, 3), Choice(honey.id, 1), Choice(honey.id, 0)]
    chosen = await checkout.choose_items(shop.context, key, wanted, shop.modes[HOME], "be")
    assert [line.choice for line in chosen.lines] == wanted
    assert (chosen.delivery_id, chosen.country, chosen.totals.total) == (shop.modes[HOME], "BE", Decimal("80.00"))
    assert await checkout.open_checkout(shop.context, key) == chosen
    other = await checkout.open_checkout(shop.context, shop.key(cart))
    assert [line.choice.quantity for line in other.lines] == [1]
    unchanged = await shop.services.carts.get(shop.partner.id, cart.id)
    assert unchanged == cart


async def test_a_price_shown_on_the_way_keeps_nothing(shop: Shop) -> None:
    candle = await shop.product("20.00")
    _, key, before = await shop.opened(CartItem(candle.id, 1))
    shown = await checkout.price_items(shop.context, key, [Choice(candle.id, 4)], shop.modes[HOME], "FR")
    assert shown.totals.total == Decimal("85.00")
    assert await checkout.open_checkout(shop.context, key) == before
    assert await shop.services.customers.load(shop.partner.id, key.session_id) is None


@pytest.mark.parametrize(
    ("items", "at", "code"),
    [
        ([Choice(1, 1)] * (MOST_LINES + 1), ("items",), "TOO_MANY"),
        ([Choice(1, 1), Choice(1, -1)], ("items", 1, "quantity"), "OUT_OF_RANGE"),
        ([Choice(1, 10_000)], ("items", 0, "quantity"), "OUT_OF_RANGE"),
    ],
)
async def test_a_choice_out_of_bounds_is_refused_and_not_kept(
    shop: Shop, items: list[Choice], at: tuple[str | int, ...], code: str
) -> None:
    _, key, before = await shop.opened()
    for operation in (checkout.price_items, checkout.choose_items):
        error = await refused(code, operation(shop.context, key, items, None))
        assert [problem.path for problem in error.problems] == [at]
    assert await checkout.open_checkout(shop.context, key) == before


async def test_a_delivery_that_is_not_offered_is_none(shop: Shop) -> None:
    candle = await shop.product()
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    for mode in (other.modes[COLLECT], 999_999, 2**62, -1):
        seen = await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], mode)
        assert (seen.totals.delivery, seen.reached) == (None, Step.CUSTOMIZATION)


async def test_two_tabs_of_one_browser_lose_nothing_of_each_other(shop: Shop) -> None:
    candle = await shop.product("20.00")
    codes = [(await shop.gift_card("1.00")).code for _ in range(4)]
    carts = [await shop.cart(CartItem(candle.id, 1)) for _ in range(3)]
    keys = [shop.key(cart, "one browser") for cart in carts]
    await asyncio.gather(
        *(checkout.apply_code(shop.context, keys[0], code) for code in codes),
        *(checkout.choose_items(shop.context, key, [Choice(candle.id, n)], shop.modes[HOME], "FR") for n, key in enumerate(keys, 2)),
        checkout.identify_buyer(shop.context, keys[1], BUYER),
    )  # fmt: skip
    seen = [await checkout.open_checkout(shop.context, key) for key in keys]
    assert {normal(code.code) for code in seen[0].codes} == {normal(code) for code in codes}
    assert [one.lines[0].choice.quantity for one in seen] == [2, 3, 4]
    assert all(one.buyer == BUYER for one in seen)


async def test_a_session_remembers_ten_carts(shop: Shop) -> None:
    candle = await shop.product()
    keys = [shop.key(await shop.cart(CartItem(candle.id, 1)), "one browser") for _ in range(11)]
    for key in keys:
        await checkout.choose_items(shop.context, key, [Choice(candle.id, 5)], None)
    quantities = [(await checkout.open_checkout(shop.context, key)).lines[0].choice.quantity for key in keys]
    assert quantities == [1, *[5] * 10]


# ---- a cart that was replaced


async def test_a_replaced_cart_begins_again_with_a_notice_until_it_is_seen(shop: Shop) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    card = await shop.gift_card()
    cart, key, _ = await shop.opened(CartItem(candle.id, 1))
    await checkout.choose_items(shop.context, key, [Choice(candle.id, 9)], shop.modes[COLLECT])
    await checkout.identify_buyer(shop.context, key, BUYER)
    paying = await checkout.apply_code(shop.context, key, card.code)
    assert paying.reached is Step.PAYMENT
    await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(honey.id, 2)], "")
    for _ in range(2):
        seen = await checkout.open_checkout(shop.context, key)
        assert seen.notices == (Notice.CART_REPLACED,)
        assert [line.choice for line in seen.lines] == [Choice(honey.id, 2)]
        assert (seen.delivery_id, seen.reached, seen.buyer) == (None, Step.CUSTOMIZATION, BUYER)
        assert [code.kind for code in seen.codes] == [CodeKind.GIFT_CARD]
    with pytest.raises(CheckoutChanged):
        await shop.start(key, paying)
    assert await shop.count("checkout_attempt") == 0
    again = await checkout.choose_items(shop.context, key, [Choice(honey.id, 2)], shop.modes[COLLECT])
    assert (again.notices, again.reached) == ((), Step.PAYMENT)


async def test_a_replacement_nobody_has_edited_before_needs_no_notice(shop: Shop) -> None:
    candle = await shop.product()
    cart, key, _ = await shop.opened(CartItem(candle.id, 1))
    await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(candle.id, 2)], "")
    seen = await checkout.open_checkout(shop.context, key)
    assert (seen.notices, seen.lines[0].choice.quantity) == ((), 2)


# ---- who buys


async def test_a_buyer_is_kept_in_the_session_and_never_in_the_cart(shop: Shop) -> None:
    cart, key, _ = await shop.opened(CartItem((await shop.product()).id, 1))
    seen = await checkout.identify_buyer(shop.context, key, dataclasses.replace(BUYER, first_name="  Ada "))
    assert seen.buyer == BUYER
    assert (await checkout.open_checkout(shop.context, shop.key(cart))).buyer is None
    next_cart = await shop.cart(CartItem(1, 1))
    assert (await checkout.open_checkout(shop.context, shop.key(next_cart, key.session_id))).buyer == BUYER
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    theirs = other.key(await other.cart(), key.session_id)
    assert (await checkout.open_checkout(other.context, theirs)).buyer is None


async def test_a_buyer_that_cannot_be_used_is_not_kept(shop: Shop) -> None:
    candle = await shop.product()
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], shop.modes[HOME], "FR")
    before = await checkout.open_checkout(shop.context, key)
    error = await refused("REQUIRED", checkout.identify_buyer(shop.context, key, Buyer(first_name="Ada")))
    assert {problem.path[0] for problem in error.problems} == {
        "last_name", "email", "address_line_1", "postal_code", "city", "country",
    }  # fmt: skip
    far = dataclasses.replace(BUYER, country="US")
    await refused("NOT_DELIVERED", checkout.identify_buyer(shop.context, key, far))
    assert await checkout.open_checkout(shop.context, key) == before


async def test_delivery_is_priced_for_the_buyers_country(shop: Shop) -> None:
    candle = await shop.product("20.00")
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], shop.modes[HOME], "FR")
    belgian = dataclasses.replace(BUYER, country="BE", postal_code="1000", city="Bruxelles")
    seen = await checkout.identify_buyer(shop.context, key, belgian)
    assert (seen.country, seen.totals.delivery, seen.reached) == ("BE", Decimal("12.00"), Step.PAYMENT)


async def test_a_parcel_too_heavy_for_the_buyers_country_is_refused_there(shop: Shop) -> None:
    await shop.execute("UPDATE delivery_rate SET max_weight_grams = 900 WHERE country = 'BE'")
    candle = await shop.product("20.00", weight_grams=1000)
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], shop.modes[HOME], "FR")
    belgian = dataclasses.replace(BUYER, country="BE")
    error = await refused("NOT_DELIVERED", checkout.identify_buyer(shop.context, key, belgian))
    assert [problem.path for problem in error.problems] == [("country",)]
    assert (await checkout.open_checkout(shop.context, key)).buyer is None


# ---- how far one has come


async def test_steps_are_reached_one_after_the_other(shop: Shop) -> None:
    candle, card = await shop.product("20.00", stock=2), await shop.product("5.00", is_physical=False)
    _, key, seen = await shop.opened(CartItem(candle.id, 1))
    one = [Choice(candle.id, 1)]

    async def choosing(items: list[Choice], mode: DeliveryKind | None, country: str = "") -> Step:
        chosen = shop.modes[mode] if mode else None
        return (await checkout.choose_items(shop.context, key, items, chosen, country)).reached

    assert seen.reached is Step.CUSTOMIZATION
    assert await choosing(one, None) is Step.CUSTOMIZATION
    assert await choosing([], COLLECT) is Step.CUSTOMIZATION
    assert await choosing([Choice(candle.id, 0)], COLLECT) is Step.CUSTOMIZATION
    assert await choosing([Choice(candle.id, 3)], COLLECT) is Step.CUSTOMIZATION
    assert await choosing(one, DIGITAL) is Step.CUSTOMIZATION
    assert await choosing(one, HOME, "US") is Step.CUSTOMIZATION
    assert await choosing(one, HOME) is Step.INFORMATION
    assert await choosing(one, HOME, "FR") is Step.INFORMATION
    assert await choosing([Choice(card.id, 1)], DIGITAL) is Step.INFORMATION
    person = Buyer(first_name="Ada", last_name="Martin", email="ada@example.com")
    assert (await checkout.identify_buyer(shop.context, key, person)).reached is Step.PAYMENT
    assert await choosing(one, COLLECT) is Step.PAYMENT
    assert await choosing(one, HOME, "FR") is Step.INFORMATION, "where to is still missing"
    assert (await checkout.identify_buyer(shop.context, key, BUYER)).reached is Step.PAYMENT
    await shop.execute("UPDATE product SET stock = 0 WHERE id = :id", id=candle.id)
    assert (await checkout.open_checkout(shop.context, key)).reached is Step.CUSTOMIZATION


async def test_more_than_an_order_can_hold_is_refused(shop: Shop) -> None:
    palace = await shop.product("9999999999.99")
    key, seen = await shop.ready(Choice(palace.id, 1))
    await refused("TOO_MANY", checkout.choose_items(shop.context, key, [Choice(palace.id, 2)], shop.modes[COLLECT]))
    assert await checkout.open_checkout(shop.context, key) == seen
    assert seen.reached is Step.PAYMENT
    cart, session = await shop.cart(CartItem(palace.id, 2)), key.session_id
    two = shop.key(cart, session)
    assert (await checkout.open_checkout(shop.context, two)).reached is Step.CUSTOMIZATION


async def test_an_order_that_became_more_than_can_be_held_is_not_begun(shop: Shop) -> None:
    palace = await shop.product("1.00")
    key, seen = await shop.ready(Choice(palace.id, 2))
    await shop.execute("UPDATE product SET price_amount = 9999999999.99")
    again = await checkout.open_checkout(shop.context, key)
    assert again.reached is Step.CUSTOMIZATION
    for shown in (seen, again):
        with pytest.raises(CheckoutChanged):
            await shop.start(key, shown)
    assert await shop.count("checkout_attempt") == 0


# ---- codes


async def test_codes_are_added_once_and_taken_off_again_however_they_are_typed(shop: Shop) -> None:
    candle = await shop.product("20.00")
    coupon, card = await shop.coupon(), await shop.gift_card("5.00")
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    for typed in ("welcome10", " Welcome-10 ", "WEL COME 10"):
        seen = await checkout.apply_code(shop.context, key, typed)
        assert [(c.code, c.kind, c.amount, c.applies) for c in seen.codes] == [
            (coupon.code, CodeKind.COUPON, Decimal("2.00"), True)
        ]
    seen = await checkout.apply_code(shop.context, key, normal(card.code).lower())
    assert [(c.code, c.amount) for c in seen.codes] == [(coupon.code, Decimal("2.00")), (card.code, Decimal("5.00"))]
    assert seen.codes[1].code == grouped(card.code)
    assert (seen.totals.discount, seen.totals.by_card) == (Decimal("2.00"), Decimal("13.00"))
    seen = await checkout.remove_code(shop.context, key, "welcome 10")
    assert [c.code for c in seen.codes] == [card.code]
    seen = await checkout.remove_code(shop.context, key, card.code.lower())
    assert (seen.codes, seen.totals.by_card) == ((), Decimal("20.00"))
    assert await checkout.remove_code(shop.context, key, "never there") == seen


async def test_every_code_that_cannot_be_used_gets_one_answer(shop: Shop) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    _, key, before = await shop.opened(CartItem((await shop.product()).id, 1))
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
        error = await refused("CODE_NOT_USABLE", checkout.apply_code(shop.context, key, code))
        messages |= {(problem.path, problem.message) for problem in error.problems}
    assert len(messages) == 1
    assert await checkout.open_checkout(shop.context, key) == before


async def test_there_is_room_for_ten_codes(shop: Shop) -> None:
    _, key, _ = await shop.opened(CartItem((await shop.product("500.00")).id, 1))
    cards = [await shop.gift_card("1.00") for _ in range(MOST_CODES + 1)]
    for card in cards[:-1]:
        seen = await checkout.apply_code(shop.context, key, card.code)
    await refused("TOO_MANY", checkout.apply_code(shop.context, key, cards[-1].code))
    await refused("TOO_MANY", checkout.apply_code(shop.context, key, "UNKNOWN"))
    assert await checkout.apply_code(shop.context, key, cards[0].code) == seen
    await checkout.remove_code(shop.context, key, cards[0].code)
    assert len((await checkout.apply_code(shop.context, key, cards[-1].code)).codes) == MOST_CODES


async def test_a_code_that_stops_working_is_told_and_takes_nothing(shop: Shop) -> None:
    coupon = await shop.coupon(ends_on=clock.now() + dt.timedelta(minutes=30))
    _, key, _ = await shop.opened(CartItem((await shop.product("20.00")).id, 1))
    assert (await checkout.apply_code(shop.context, key, coupon.code)).notices == ()
    clock.advance(dt.timedelta(minutes=31))
    seen = await checkout.open_checkout(shop.context, key)
    assert seen.notices == (Notice.CODE_NO_LONGER_VALID,)
    assert (seen.codes, seen.totals.total) == ((), Decimal("20.00"))
    assert (await checkout.remove_code(shop.context, key, coupon.code)).notices == ()


async def test_a_code_whose_conditions_do_not_hold_waits(shop: Shop) -> None:
    candle = await shop.product("20.00")
    coupon = await shop.coupon(minimum_basket_amount=Decimal("30.00"))
    _, key, _ = await shop.opened(CartItem(candle.id, 1))
    seen = await checkout.apply_code(shop.context, key, coupon.code)
    assert [(c.applies, c.amount) for c in seen.codes] == [(False, Decimal(0))]
    seen = await checkout.choose_items(shop.context, key, [Choice(candle.id, 2)], None)
    assert [(c.applies, c.amount) for c in seen.codes] == [(True, Decimal("4.00"))]


# ---- a payment that is running


async def test_ones_own_holds_are_given_back_to_oneself_only(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=2)
    card, coupon = await shop.gift_card("5.00"), await shop.coupon(max_usages=1)
    key, seen = await shop.ready(Choice(candle.id, 2), codes=(coupon.code, card.code))
    started = await shop.start(key, seen)
    again = await checkout.open_checkout(shop.context, key)
    assert (again.lines[0].problem, again.totals, again.reached) == (None, seen.totals, Step.PAYMENT)
    assert again.codes == seen.codes
    assert again.pending_attempt == started.attempt_id
    assert again.pending_url == started.redirect_url
    _, other_key, other = await shop.opened(CartItem(candle.id, 1))
    assert other.lines[0].problem is LineProblem.OUT_OF_STOCK
    assert other.pending_attempt is None
    for code in (card.code, coupon.code):
        await refused("CODE_NOT_USABLE", checkout.apply_code(shop.context, other_key, code))


async def test_holds_of_variants_are_given_back_by_variant(shop: Shop) -> None:
    sized = await shop.product("10.00")
    small, large = await shop.variant(sized, "10.00", 1), await shop.variant(sized, "12.00", 1)
    key, seen = await shop.ready(Choice(sized.id, 1, small.id))
    await shop.start(key, seen)
    again = await checkout.open_checkout(shop.context, key)
    assert again.lines[0].problem is None
    offered = {v.id: v.available for v in again.offered[0].variants}
    assert offered == {small.id: 1, large.id: 1}
    assert again.offered[0].available == 2
    _, _, other = await shop.opened(CartItem(sized.id, 1, small.id), CartItem(sized.id, 1, large.id))
    assert [line.problem for line in other.lines] == [LineProblem.OUT_OF_STOCK, None]


async def test_a_link_that_has_ended_is_no_longer_offered(shop: Shop) -> None:
    key, seen = await shop.ready(Choice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    clock.advance(dt.timedelta(minutes=20))
    again = await checkout.open_checkout(shop.context, key)
    assert (again.pending_attempt, again.pending_url) == (started.attempt_id, None)


@pytest.mark.parametrize(
    ("card", "notice"), [(DECLINED_CARD, Notice.PAYMENT_DECLINED), (None, Notice.PAYMENT_CANCELLED)]
)
async def test_what_became_of_a_payment_is_told_until_the_next(shop: Shop, card: str | None, notice: Notice) -> None:
    key, seen = await shop.ready(Choice((await shop.product(stock=1)).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started, card)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert (outcome.status, outcome.notice) == (AttemptStatus.FAILED, notice)
    again = await checkout.open_checkout(shop.context, key)
    assert (again.notices, again.pending_attempt, again.lines[0].problem) == ((notice,), None, None)
    await shop.start(key, again)
    assert (await checkout.open_checkout(shop.context, key)).notices == ()
    _, _, other = await shop.opened(CartItem(1, 1))
    assert other.notices == ()


async def test_a_variant_of_a_product_that_is_taken_off_sale_is_not_sold(shop: Shop) -> None:
    sized = await shop.product("10.00")
    only = await shop.variant(sized, "10.00", 5)
    key, seen = await shop.ready(Choice(sized.id, 1, only.id))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.execute("UPDATE product SET is_active = false")
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is AttemptStatus.REFUNDED
    assert await shop.count("shop_order") == 0
    assert await shop.one("SELECT stock FROM product_variant") == 5
