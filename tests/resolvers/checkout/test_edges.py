"""The checkout at its edges: prices that follow the address, sums beyond what an order holds, labels nobody wrote."""

import base64
import dataclasses
import datetime as dt
import hmac
from decimal import Decimal
from urllib.parse import urlsplit

import pytest

from resolvers.checkout import steps
from resolvers.partner import return_secrets
from resolvers.payment.checkout import payment
from schema.cart.cart import CartItem
from schema.checkout.checkout import CheckoutStep, LineProblem, ProductChoice
from schema.core.errors import CheckoutChanged, InvalidInput
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.partner.return_secret import RotateReturnSecret
from store.core.clock import clock
from store.partner.partners import PartnerRow
from store.product.products import AttributeValueRow, ProductAttributeRow
from tests.fixtures.shop import BUYER, Shop

HOME = DeliveryKind.HOME_DELIVERY


async def test_delivery_is_paid_to_where_it_goes(shop: Shop) -> None:
    """Belgium costs 12, France 5: choosing France after giving an address in Belgium leads back to the address."""
    candle = await shop.product()
    key, _ = await shop.ready(ProductChoice(candle.id, 1), delivery=HOME)
    there = dataclasses.replace(BUYER, country="BE", postal_code="1000")
    seen = await steps.identify_buyer(shop.context, key, there)
    assert (seen.totals.delivery, seen.furthest_step) == (Decimal("12.00"), CheckoutStep.PAYMENT)
    seen = await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[HOME], "FR")
    assert (seen.totals.delivery, seen.furthest_step) == (Decimal("5.00"), CheckoutStep.INFORMATION)
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    seen = await steps.identify_buyer(shop.context, key, there)
    assert (seen.totals.delivery, seen.furthest_step) == (Decimal("12.00"), CheckoutStep.PAYMENT)


async def test_a_country_that_does_not_matter_leads_nowhere(shop: Shop) -> None:
    candle = await shop.product()
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    key, _ = await shop.ready(ProductChoice(candle.id, 1))
    seen = await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], collect, "BE")
    assert seen.furthest_step is CheckoutStep.PAYMENT


async def test_more_than_an_order_holds_is_refused(shop: Shop) -> None:
    """Whatever a coupon takes off: the products' own sum is kept as well."""
    dear = await shop.product("9999999999.99")
    coupon = await shop.coupon("ALL", "100.00")
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    key, seen = await shop.ready(ProductChoice(dear.id, 1), codes=(coupon.code,))
    assert (seen.totals.total, seen.furthest_step) == (Decimal("0.00"), CheckoutStep.PAYMENT)
    for choices in ([ProductChoice(dear.id, 2)], [ProductChoice(dear.id, 9999) for _ in range(200)]):
        with pytest.raises(InvalidInput) as refused:
            await steps.choose_items(shop.context, key, choices, collect, "FR")
        assert [(p.path, p.code) for p in refused.value.problems] == [(("items",), "TOO_MANY")]
        shown = await steps.price_items(shop.context, key, choices, collect, "FR")
        assert shown.furthest_step is CheckoutStep.CUSTOMIZATION
    assert [line.choice.quantity for line in (await steps.open_checkout(shop.context, key)).lines] == [1]


async def test_a_cart_that_comes_to_more_cannot_be_paid(shop: Shop) -> None:
    dear, small = await shop.product("9999999999.99"), await shop.product("0.01")
    key = shop.key(await shop.cart(CartItem(dear.id, 1), CartItem(small.id, 1)))
    seen = await steps.open_checkout(shop.context, key)
    assert [line.problem for line in seen.lines] == [None, LineProblem.TOO_MUCH]
    assert seen.totals.total == Decimal("9999999999.99")
    assert seen.furthest_step is CheckoutStep.CUSTOMIZATION
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0


async def test_a_value_without_a_label_is_shown_as_it_is_sent(shop: Shop) -> None:
    candle = await shop.product()
    colour = await shop.add(
        ProductAttributeRow(partner_id=shop.partner.id, product_id=candle.id, name=Text(en="Colour"), is_required=True)
    )
    for value, label in (("sage", Text()), ("gold", Text(en="Gold", fr="Or"))):
        await shop.add(AttributeValueRow(partner_id=shop.partner.id, attribute_id=colour.id, value=value, label=label))
    key = shop.key(await shop.cart(CartItem(candle.id, 1, None, {colour.id: "sage"})))
    seen = await steps.open_checkout(shop.context, key)
    values = seen.offered_products[0].attributes[0].values
    assert [value.label.in_language("fr") for value in values] == ["sage", "Or"]
    await steps.choose_items(
        shop.context, key, [line.choice for line in seen.lines], shop.modes[DeliveryKind.CLICK_AND_COLLECT], "FR"
    )
    card = await shop.gift_card("50.00")
    await steps.identify_buyer(shop.context, key, BUYER)
    await shop.start(key, await steps.apply_code(shop.context, key, card.code))
    assert (await shop.one("SELECT choices ->> 'fr' FROM order_variant")) == "Colour\N{NO-BREAK SPACE}: sage"


@pytest.mark.parametrize(
    ("return_url", "back"),
    [
        ("https://x.example/a", "https://x.example/a?order=1"),
        (
            "https://x.example/a?caf%E9=%2F+%20&flag&s=a%2Cb#top",
            "https://x.example/a?caf%E9=%2F+%20&flag&s=a%2Cb&order=1#top",
        ),
    ],
)
async def test_the_way_back_is_the_shop_s_own_address(shop: Shop, return_url: str, back: str) -> None:
    """Unchanged, for it may be signed; the order's number, where wanted, comes behind."""
    async with shop.services.db.sessions() as db, db.begin():
        (await db.get_one(PartnerRow, shop.partner.id)).return_with_order_number = True
    card = await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1), codes=(card.code,), return_url=return_url)
    await shop.start(key, seen)
    assert (await payment.payment_outcome(shop.context, key)).return_url == back


async def test_the_way_back_is_signed_for_the_cart_and_the_order(shop: Shop) -> None:
    """With the partner's secret; for a day after a rotation with the one before as well."""
    async with shop.services.db.sessions() as db, db.begin():
        (await db.get_one(PartnerRow, shop.partner.id)).return_with_order_number = True
    card = await shop.gift_card("50.00")
    back = "https://x.example/a?s=a%2Cb#top"
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1), codes=(card.code,), return_url=back)
    await shop.start(key, seen)

    async def signatures() -> list[str]:
        parts = urlsplit((await payment.payment_outcome(shop.context, key)).return_url)
        assert parts.query.startswith("s=a%2Cb&order=1&signature=")
        assert parts.fragment == "top"
        return parts.query.partition("signature=")[2].split(".")

    def signed_with(secret: str) -> str:
        of_key = base64.b64decode(secret.removeprefix("retsec_"))
        return hmac.new(of_key, f"{key.cart_id}.1".encode(), "sha256").hexdigest()

    first = await return_secrets.rotate_return_secret(shop.manager, RotateReturnSecret())
    assert first.previous_secret_until is None
    assert await signatures() == [signed_with(first.secret)]
    second = await return_secrets.rotate_return_secret(shop.manager, RotateReturnSecret())
    assert second.previous_secret_until is not None
    assert await signatures() == [signed_with(second.secret), signed_with(first.secret)]
    clock.advance(dt.timedelta(hours=24, seconds=1))
    assert await signatures() == [signed_with(second.secret)]
    third = await return_secrets.rotate_return_secret(shop.manager, RotateReturnSecret(revoke_previous=True))
    assert third.previous_secret_until is None
    assert await signatures() == [signed_with(third.secret)]
    assert len({first.secret, second.secret, third.secret}) == 3
