"""Refunds of lines by many at once, and against those who use what is refunded: one wins, nothing is lost or doubled."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import text

from resolvers.gift_card.spending import spend_gift_card
from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import ProductChoice
from schema.core.errors import CheckoutChanged, GiftCardNotSpendable, InvalidInput, InvalidTransition
from schema.gift_card.input import SpendGiftCard
from schema.payment.errors import AlreadyRefunded, GoodsUsed, OrderLineRefunded
from schema.payment.input import RefundPayment
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from tests.fixtures.basket import Experiences, bought, card_of, columns, for_two
from tests.fixtures.payment.dispute import books_are_right
from tests.fixtures.payment.order_refund import ordered, refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop


async def outcomes(*calls: Awaitable[Any]) -> Sequence[str]:
    """What became of calls at the same time: `done`, or the name of the error."""
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return [type(each).__name__ if isinstance(each, BaseException) else "done" for each in ended]


async def test_fifty_refunds_of_a_line_are_one(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    wish = await refund_wish(shop, 0)
    ended = Counter(await outcomes(*(refund_order(shop.manager, wish) for _ in range(50))))
    assert ended == {"done": 1, OrderLineRefunded.__name__: 49}
    assert await columns(shop, "refund", "refund_amount") == [(Decimal("194.00"),)]
    assert await columns(shop, "voucher", "state") == [("error",), ("paid",)]
    assert await shop.one("SELECT count(*) FROM mail WHERE kind = 'order_refunded'") == 1
    await send_refunds(shop.services)
    await books_are_right(shop)


async def test_pieces_are_refunded_as_often_as_they_were_bought(shop: Shop) -> None:
    candle = await shop.product("3.33", stock=20)
    coupon = await shop.coupon(percentage="10.00")
    await ordered(shop, ProductChoice(candle.id, 7), codes=(coupon.code,))
    wish = await refund_wish(shop, (0, 1), restock=True)
    ended = Counter(await outcomes(*(refund_order(shop.manager, wish) for _ in range(30))))
    assert ended["done"] == 7
    assert ended.keys() == {"done", OrderLineRefunded.__name__}
    assert await shop.one("SELECT sum(refund_amount) = 20.98 FROM refund")
    assert await shop.one("SELECT refunded_amount = payment_amount FROM payment")
    assert await shop.one("SELECT stock FROM product") == 20
    await books_are_right(shop)


async def test_a_voucher_is_refunded_or_used(shop: Shop, sold: Experiences) -> None:
    await bought(shop, *(for_two(sold) for _ in range(8)))
    codes = [row[0] for row in await columns(shop, "voucher", "code")]
    refunds = [refund_order(shop.manager, await refund_wish(shop, at)) for at in range(8)]
    uses = [update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED)) for code in codes]
    ended = await outcomes(*(call for pair in zip(uses, refunds, strict=True) for call in pair))
    for used, back in zip(ended[::2], ended[1::2], strict=True):
        assert (used, back) in {("done", GoodsUsed.__name__), (InvalidTransition.__name__, "done")}
    states = [row[0] for row in await columns(shop, "voucher", "state")]
    assert states == ["used" if used == "done" else "error" for used in ended[::2]]
    assert await shop.one("SELECT coalesce(sum(refund_amount), 0) FROM refund") == 194 * ended[1::2].count("done")
    await books_are_right(shop)


async def test_a_gift_card_is_refunded_or_spent(shop: Shop) -> None:
    await bought(shop, *(card_of("50.00") for _ in range(8)))
    codes = [row[0] for row in await columns(shop, "gift_card", "code")]
    refunds = [refund_order(shop.manager, await refund_wish(shop, at)) for at in range(8)]
    spendings = [spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("20.00"))) for code in codes]
    ended = await outcomes(*(call for pair in zip(spendings, refunds, strict=True) for call in pair))
    for spent, back in zip(ended[::2], ended[1::2], strict=True):
        assert (spent, back) in {("done", GoodsUsed.__name__), (GiftCardNotSpendable.__name__, "done")}
    expected = [("using", Decimal(30)) if spent == "done" else ("cncld", Decimal(50)) for spent in ended[::2]]
    assert await columns(shop, "gift_card", "status", "remaining_amount") == expected
    await books_are_right(shop)


async def test_a_gift_card_is_refunded_or_pays(shop: Shop) -> None:
    """A customer pays with gift cards, in the checkout, while they are refunded to who bought them."""
    await bought(shop, *(card_of("50.00") for _ in range(4)))
    codes = [row[0] for row in await columns(shop, "gift_card", "code")]
    wishes = [await refund_wish(shop, at) for at in range(4)]
    candle = await shop.product("40.00", stock=9)
    checkouts = [await shop.ready(ProductChoice(candle.id, 1), codes=(code,)) for code in codes]
    calls: list[Awaitable[Any]] = []
    for (key, seen), wish in zip(checkouts, wishes, strict=True):
        calls += [shop.start(key, seen), refund_order(shop.manager, wish)]
    ended = await outcomes(*calls)
    for paid, back in zip(ended[::2], ended[1::2], strict=True):
        assert (paid, back) in {("done", GoodsUsed.__name__), (CheckoutChanged.__name__, "done")}
    assert await shop.one("SELECT stock FROM product") == 9 - ended[::2].count("done")
    await books_are_right(shop)


async def test_lines_and_amounts_are_refunded_at_once(shop: Shop, sold: Experiences) -> None:
    """Refunds of lines, of amounts, and the worker that sends them: together never more than was paid."""
    card = await shop.gift_card("200.00")
    await bought(shop, *(for_two(sold) for _ in range(4)), codes=(card.code,))
    id = await shop.one("SELECT id FROM payment")
    wishes = [await refund_wish(shop, at) for at in range(4)] * 3
    amounts = [RefundPayment(id=id, amount=Decimal(cents).scaleb(-2)) for cents in range(1000, 20000, 1900)]
    calls = [
        *(refund_order(shop.manager, wish) for wish in wishes),
        *(refund_payment(shop.manager, amount) for amount in amounts),
        *(send_refunds(shop.services) for _ in range(3)),
    ]
    ended = Counter(await outcomes(*calls))
    known = {"done", *(error.__name__ for error in (OrderLineRefunded, AlreadyRefunded, InvalidInput))}
    assert ended.keys() <= known
    paid = text("SELECT payment_amount, refunded_amount FROM payment")
    ((amount, back),) = await shop.services.db.rows(paid)
    assert await shop.one("SELECT sum(refund_amount) FROM refund") == back <= amount
    assert await shop.one("SELECT sum(refunded_amount) FROM order_product") <= back
    await send_refunds(shop.services)
    await books_are_right(shop)
