"""Buying vouchers and gift cards: what tests of selling them share."""

import dataclasses
import uuid
from decimal import Decimal
from typing import Any

from sqlalchemy import text

from resolvers import attempt_watch, checkout, payment, sales
from schema.checkout import CheckoutKey, PaymentStarted, ShopKind
from schema.checkout_outcome import Outcome
from schema.coupon import CouponTarget, ReceptionMode
from schema.sale import BagCheckout, BagChoice, GiftCardChoice, Giftee, VoucherChoice
from store.coupons import CouponRow
from store.providers.base import TransactionKind
from store.sessions import new_session_id
from tests.funnel.bag_world import Experiences
from tests.shop_world import BUYER, GOOD_CARD, Shop

GIFTEE = Giftee(
    first_name="Grace",
    last_name="Hopper",
    email="grace@example.com",
    address_line_1="2 rue du Lac",
    postal_code="1000",
    city="Bruxelles",
    country="BE",
)


def new_key(kind: ShopKind) -> CheckoutKey:
    """A bag of a new customer."""
    return CheckoutKey(uuid.uuid4(), new_session_id(), kind)


def kind_of(choice: BagChoice) -> ShopKind:
    """The shop that sells it."""
    return ShopKind.VOUCHERS if isinstance(choice, VoucherChoice) else ShopKind.GIFT_CARDS


def card_of(value: str, **more: Any) -> GiftCardChoice:
    """A gift card of a value."""
    return GiftCardChoice(Decimal(value), **more)


async def filled(
    shop: Shop,
    *choices: BagChoice,
    reception: ReceptionMode = ReceptionMode.PRINT_AT_HOME,
    codes: tuple[str, ...] = (),
    key: CheckoutKey | None = None,
) -> tuple[CheckoutKey, BagCheckout]:
    """A bag that only needs paying."""
    key = key or new_key(kind_of(choices[0]))
    for choice in choices:
        await sales.put_line(shop.context, key, uuid.uuid4(), choice)
    await sales.choose_reception(shop.context, key, reception, country="FR")
    seen = await checkout.identify_buyer(shop.context, key, BUYER)
    for code in codes:
        seen = await checkout.apply_code(shop.context, key, code)
    assert isinstance(seen, BagCheckout)
    return key, seen


async def settled(shop: Shop, key: CheckoutKey, started: PaymentStarted, card: str = GOOD_CARD) -> Outcome:
    """Pay at the provider, and come back."""
    await shop.pay(started, card)
    return await payment.settle_payment(shop.context, key.session_id, started.attempt_id)


async def bought(shop: Shop, *choices: BagChoice, **more: Any) -> Outcome:
    """An order."""
    key, seen = await filled(shop, *choices, **more)
    started = await shop.start(key, seen)
    if started.redirect_url is None:
        return await payment.payment_outcome(shop.context, key)
    return await settled(shop, key, started)


async def all_at_once(shop: Shop, key: CheckoutKey, started: PaymentStarted) -> list[Any]:
    """What the browser, the worker and the provider's notification do, each several times."""
    payin = await shop.payin_of(started.attempt_id)
    return [
        *(payment.settle_payment(shop.context, key.session_id, started.attempt_id) for _ in range(10)),
        *(attempt_watch.settle_attempt(shop.services, started.attempt_id) for _ in range(10)),
        *(attempt_watch.follow_hint(shop.services, TransactionKind.PAYIN, payin) for _ in range(5)),
    ]


async def sale_coupon(shop: Shop, code: str = "SPA10", **more: Any) -> CouponRow:
    """A coupon for vouchers and gift cards, ten per cent by default."""
    return await shop.coupon(code, **{"targets": [CouponTarget.VOUCHERS, CouponTarget.GIFT_CARDS], **more})


async def untouched(shop: Shop) -> None:
    """Nothing has been begun or sold."""
    for table in ("checkout_attempt", "shop_order", "voucher", "event"):
        assert await shop.count(table) == 0, table


def for_two(sold: Experiences, **more: object) -> VoucherChoice:
    """A massage for two with tea and rose oil: 90 + 80 + 12 + 2 x 6 = 194."""
    choice = VoucherChoice(sold.massage.id, adults=2, options={sold.rose.id: 1, sold.tea.id: 2}, giftee=GIFTEE)
    return dataclasses.replace(choice, **more)  # type: ignore[arg-type]


async def columns(shop: Shop, table: str, *names: str) -> list[tuple[Any, ...]]:
    """Some columns of all rows."""
    found = await shop.services.db.rows(text(f"SELECT {', '.join(names)} FROM {table} ORDER BY id"))  # noqa: S608
    return [tuple(row) for row in found]
