"""The checkout as its customer sees it: every line told, every choice kept, nothing of anybody else's."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest

from resolvers.checkout import steps
from resolvers.checkout.steps import MOST_LINES
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.payment.checkout import payment
from schema.cart.cart import CartItem
from schema.checkout.checkout import (
    CheckoutKey,
    CheckoutNotice,
    CheckoutStep,
    LineProblem,
    PaymentAttemptStatus,
    ProductChoice,
)
from schema.checkout.codes import CodeKind
from schema.core.errors import CartNotFound, CheckoutChanged, Forbidden, Unauthenticated
from schema.core.text import Text
from store.core.clock import clock
from store.core.codes import normalize
from store.product.products import AttributeValueRow, ProductAttributeRow
from tests.fixtures.shop import BUYER, DECLINED_CARD, Shop, open_shop
from tests.resolvers.checkout.fixtures import COLLECT, DIGITAL, HOME, catch_refusal

NOBODY = CheckoutKey(uuid.UUID(int=1), "x")


# ---- looking


async def test_a_cart_is_shown_with_the_shops_names_prices_and_brand(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=3)
    honey = await shop.product("8.00", name=Text(en="Honey"), ranking=0)
    _, key, seen = await shop.open_checkout(CartItem(candle.id, 2), return_url="https://x.example/")
    (line,) = seen.lines
    assert line.product is not None
    assert (line.product.name.fr, line.unit_price, line.total, line.problem) == (
        "Bougie",
        Decimal("20.00"),
        Decimal("40.00"),
        None,
    )
    assert [product.id for product in seen.offered_products] == [honey.id, candle.id]
    assert (seen.key, seen.currency, seen.has_return_url) == (key, "EUR", True)
    assert (seen.brand.name, seen.brand.email) == ("The Shop", "hello@shop.example")
    assert {option.kind for option in seen.deliveries} == {HOME, COLLECT, DIGITAL}
    assert (seen.delivery_id, seen.buyer, seen.codes, seen.notices) == (None, None, (), ())
    assert (seen.totals.total, seen.totals.delivery) == (Decimal("40.00"), None)
    assert seen.furthest_step is CheckoutStep.CUSTOMIZATION


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
    _, _, seen = await shop.open_checkout(*(item for item, _ in items))
    assert [line.problem for line in seen.lines] == [problem for _, problem in items]
    assert seen.totals.products == Decimal("32.00")
    assert gone.id not in {product.id for product in seen.offered_products}


async def test_a_product_whose_versions_are_all_retired_is_not_sold_without_one(shop: Shop) -> None:
    sized = await shop.product("10.00")
    only = await shop.variant(sized, "12.00")
    await shop.execute("UPDATE product_variant SET is_active = false")
    _, _, seen = await shop.open_checkout(CartItem(sized.id, 1), CartItem(sized.id, 1, only.id))
    assert [line.problem for line in seen.lines] == [LineProblem.INACTIVE, LineProblem.INACTIVE]
    assert seen.offered_products == ()


async def test_products_of_another_shop_are_not_sold_here(shop: Shop) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    theirs = await other.product()
    _, _, seen = await shop.open_checkout(CartItem(theirs.id, 1))
    assert [line.problem for line in seen.lines] == [LineProblem.NOT_SOLD]
    assert seen.offered_products == ()
    assert {option.id for option in seen.deliveries} == set(shop.modes.values())


async def test_an_empty_cart_offers_the_shop(shop: Shop) -> None:
    candle = await shop.product()
    _, _, seen = await shop.open_checkout()
    assert (seen.lines, [product.id for product in seen.offered_products]) == ((), [candle.id])
    assert seen.totals.total == 0


# ---- whose cart


async def calls(context: Context, key: CheckoutKey) -> list[Any]:
    return [
        steps.open_checkout(context, key),
        steps.price_items(context, key, [], None),
        steps.choose_items(context, key, [], None),
        steps.identify_buyer(context, key, BUYER),
        steps.apply_code(context, key, "WELCOME10"),
        steps.remove_code(context, key, "WELCOME10"),
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
    assert await shop.services.customer_sessions.load(shop.partner.id, expired.session_id) is None


async def test_looking_does_not_make_a_cart_live_longer(shop: Shop) -> None:
    _, key, _ = await shop.open_checkout()
    clock.advance(dt.timedelta(hours=1, minutes=59))
    await steps.choose_items(shop.context, key, [], shop.modes[COLLECT])
    clock.advance(dt.timedelta(minutes=1))
    with pytest.raises(CartNotFound):
        await steps.open_checkout(shop.context, key)


async def test_only_a_customer_uses_a_checkout(shop: Shop) -> None:
    _, key, _ = await shop.open_checkout()
    user = Context(
        shop.services, dataclasses.replace(shop.context.required_caller, role=Role.PARTNER, permissions=frozenset())
    )
    for context, error in ((Context(shop.services), Unauthenticated), (user, Forbidden)):
        for call in await calls(context, key):
            with pytest.raises(error):
                await call


async def test_a_customer_of_no_shop_finds_no_cart(shop: Shop) -> None:
    _, key, _ = await shop.open_checkout()
    nowhere = Context(shop.services, Caller.customer(999_999, 1))
    with pytest.raises(CartNotFound):
        await steps.open_checkout(nowhere, key)


# ---- choosing


async def test_what_is_chosen_is_kept_for_this_browser_and_no_other(shop: Shop) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    cart, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    wanted = [ProductChoice(candle.id, 3), ProductChoice(honey.id, 1), ProductChoice(honey.id, 0)]
    chosen = await steps.choose_items(shop.context, key, wanted, shop.modes[HOME], "be")
    assert [line.choice for line in chosen.lines] == wanted
    assert (chosen.delivery_id, chosen.country, chosen.totals.total) == (shop.modes[HOME], "BE", Decimal("80.00"))
    assert await steps.open_checkout(shop.context, key) == chosen
    other = await steps.open_checkout(shop.context, shop.key(cart))
    assert [line.choice.quantity for line in other.lines] == [1]
    unchanged = await shop.services.carts.get(shop.partner.id, cart.id)
    assert unchanged == cart


async def test_a_price_shown_on_the_way_keeps_nothing(shop: Shop) -> None:
    candle = await shop.product("20.00")
    _, key, before = await shop.open_checkout(CartItem(candle.id, 1))
    shown = await steps.price_items(shop.context, key, [ProductChoice(candle.id, 4)], shop.modes[HOME], "FR")
    assert shown.totals.total == Decimal("85.00")
    assert await steps.open_checkout(shop.context, key) == before
    assert await shop.services.customer_sessions.load(shop.partner.id, key.session_id) is None


@pytest.mark.parametrize(
    ("items", "at", "code"),
    [
        ([ProductChoice(1, 1)] * (MOST_LINES + 1), ("items",), "TOO_MANY"),
        ([ProductChoice(1, 1), ProductChoice(1, -1)], ("items", 1, "quantity"), "OUT_OF_RANGE"),
        ([ProductChoice(1, 10_000)], ("items", 0, "quantity"), "OUT_OF_RANGE"),
    ],
)
async def test_a_choice_out_of_bounds_is_refused_and_not_kept(
    shop: Shop, items: list[ProductChoice], at: tuple[str | int, ...], code: str
) -> None:
    _, key, before = await shop.open_checkout()
    for operation in (steps.price_items, steps.choose_items):
        error = await catch_refusal(code, operation(shop.context, key, items, None))
        assert [problem.path for problem in error.problems] == [at]
    assert await steps.open_checkout(shop.context, key) == before


async def test_a_delivery_that_is_not_offered_is_none(shop: Shop) -> None:
    candle = await shop.product()
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    for mode in (other.modes[COLLECT], 999_999, 2**62, -1):
        seen = await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], mode)
        assert (seen.totals.delivery, seen.furthest_step) == (None, CheckoutStep.CUSTOMIZATION)


async def test_two_tabs_of_one_browser_lose_nothing_of_each_other(shop: Shop) -> None:
    candle = await shop.product("20.00")
    codes = [(await shop.gift_card("1.00")).code for _ in range(4)]
    carts = [await shop.cart(CartItem(candle.id, 1)) for _ in range(3)]
    keys = [shop.key(cart, "one browser") for cart in carts]
    await asyncio.gather(
        *(steps.apply_code(shop.context, keys[0], code) for code in codes),
        *(steps.choose_items(shop.context, key, [ProductChoice(candle.id, n)], shop.modes[HOME], "FR") for n, key in enumerate(keys, 2)),
        steps.identify_buyer(shop.context, keys[1], BUYER),
    )  # fmt: skip
    seen = [await steps.open_checkout(shop.context, key) for key in keys]
    assert {normalize(code.code) for code in seen[0].codes} == {normalize(code) for code in codes}
    assert [one.lines[0].choice.quantity for one in seen] == [2, 3, 4]
    assert all(one.buyer == BUYER for one in seen)


async def test_a_session_remembers_ten_carts(shop: Shop) -> None:
    candle = await shop.product()
    keys = [shop.key(await shop.cart(CartItem(candle.id, 1)), "one browser") for _ in range(11)]
    for key in keys:
        await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 5)], None)
    quantities = [(await steps.open_checkout(shop.context, key)).lines[0].choice.quantity for key in keys]
    assert quantities == [1, *[5] * 10]


# ---- a cart that was replaced


async def test_a_replaced_cart_begins_again_with_a_notice_until_it_is_seen(shop: Shop) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    card = await shop.gift_card()
    cart, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 9)], shop.modes[COLLECT])
    await steps.identify_buyer(shop.context, key, BUYER)
    paying = await steps.apply_code(shop.context, key, card.code)
    assert paying.furthest_step is CheckoutStep.PAYMENT
    await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(honey.id, 2)], "")
    for _ in range(2):
        seen = await steps.open_checkout(shop.context, key)
        assert seen.notices == (CheckoutNotice.CART_REPLACED,)
        assert [line.choice for line in seen.lines] == [ProductChoice(honey.id, 2)]
        assert (seen.delivery_id, seen.furthest_step, seen.buyer) == (None, CheckoutStep.CUSTOMIZATION, BUYER)
        assert [code.kind for code in seen.codes] == [CodeKind.GIFT_CARD]
    with pytest.raises(CheckoutChanged):
        await shop.start(key, paying)
    assert await shop.count("checkout_attempt") == 0
    again = await steps.choose_items(shop.context, key, [ProductChoice(honey.id, 2)], shop.modes[COLLECT])
    assert (again.notices, again.furthest_step) == ((), CheckoutStep.PAYMENT)


async def test_a_replacement_nobody_has_edited_before_needs_no_notice(shop: Shop) -> None:
    candle = await shop.product()
    cart, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(candle.id, 2)], "")
    seen = await steps.open_checkout(shop.context, key)
    assert (seen.notices, seen.lines[0].choice.quantity) == ((), 2)


# ---- a payment that is running


async def test_ones_own_holds_are_given_back_to_oneself_only(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=2)
    card, coupon = await shop.gift_card("5.00"), await shop.coupon(max_usages=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 2), codes=(coupon.code, card.code))
    started = await shop.start(key, seen)
    again = await steps.open_checkout(shop.context, key)
    assert (again.lines[0].problem, again.totals, again.furthest_step) == (None, seen.totals, CheckoutStep.PAYMENT)
    assert again.codes == seen.codes
    assert again.pending_payment_id == started.attempt_id
    assert again.pending_payment_url == started.redirect_url
    _, other_key, other = await shop.open_checkout(CartItem(candle.id, 1))
    assert other.lines[0].problem is LineProblem.OUT_OF_STOCK
    assert other.pending_payment_id is None
    for code in (card.code, coupon.code):
        await catch_refusal("CODE_NOT_USABLE", steps.apply_code(shop.context, other_key, code))


async def test_holds_of_variants_are_given_back_by_variant(shop: Shop) -> None:
    sized = await shop.product("10.00")
    small, large = await shop.variant(sized, "10.00", 1), await shop.variant(sized, "12.00", 1)
    key, seen = await shop.ready(ProductChoice(sized.id, 1, small.id))
    await shop.start(key, seen)
    again = await steps.open_checkout(shop.context, key)
    assert again.lines[0].problem is None
    offered = {v.id: v.available for v in again.offered_products[0].variants}
    assert offered == {small.id: 1, large.id: 1}
    assert again.offered_products[0].available == 2
    _, _, other = await shop.open_checkout(CartItem(sized.id, 1, small.id), CartItem(sized.id, 1, large.id))
    assert [line.problem for line in other.lines] == [LineProblem.OUT_OF_STOCK, None]


async def test_a_link_that_has_ended_is_no_longer_offered(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    clock.advance(dt.timedelta(minutes=20))
    again = await steps.open_checkout(shop.context, key)
    assert (again.pending_payment_id, again.pending_payment_url) == (started.attempt_id, None)


@pytest.mark.parametrize(
    ("card", "notice"), [(DECLINED_CARD, CheckoutNotice.PAYMENT_DECLINED), (None, CheckoutNotice.PAYMENT_CANCELLED)]
)
async def test_what_became_of_a_payment_is_told_until_the_next(
    shop: Shop, card: str | None, notice: CheckoutNotice
) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product(stock=1)).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started, card)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert (outcome.status, outcome.notice) == (PaymentAttemptStatus.FAILED, notice)
    again = await steps.open_checkout(shop.context, key)
    assert (again.notices, again.pending_payment_id, again.lines[0].problem) == ((notice,), None, None)
    await shop.start(key, again)
    assert (await steps.open_checkout(shop.context, key)).notices == ()
    _, _, other = await shop.open_checkout(CartItem(1, 1))
    assert other.notices == ()


async def test_a_variant_of_a_product_that_is_taken_off_sale_is_not_sold(shop: Shop) -> None:
    sized = await shop.product("10.00")
    only = await shop.variant(sized, "10.00", 5)
    key, seen = await shop.ready(ProductChoice(sized.id, 1, only.id))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.execute("UPDATE product SET is_active = false")
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.REFUNDED
    assert await shop.count("shop_order") == 0
    assert await shop.one("SELECT stock FROM product_variant") == 5


# ---- looking ahead


async def test_a_buyer_is_checked_and_priced_without_being_saved(shop: Shop) -> None:
    candle = await shop.product("20.00")
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[HOME])
    before = await steps.open_checkout(shop.context, key)
    wrong = dataclasses.replace(BUYER, email="ada", postal_code="7501")
    seen, problems = await steps.preview_buyer(shop.context, key, wrong)
    assert {problem.path[0] for problem in problems} == {"email", "postal_code"}
    seen, problems = await steps.preview_buyer(shop.context, key, BUYER)
    assert not problems
    assert seen.totals.delivery is not None
    nowhere = dataclasses.replace(BUYER, country="AQ", postal_code="")
    _, problems = await steps.preview_buyer(shop.context, key, nowhere)
    assert "country" in {problem.path[0] for problem in problems}
    after = await steps.open_checkout(shop.context, key)
    assert (after.buyer, after.totals) == (None, before.totals)
