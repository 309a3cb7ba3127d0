"""Requests that are sent, answered and taken back at once, while their lines are refunded or used."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from resolvers.order.withdrawal import cancel_refund_request, request_refund
from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.payment.refunds.request_answers import approve_withdrawal
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from tests.fixtures.basket import Experiences, bought, columns, for_two
from tests.fixtures.payment.dispute import books_are_right
from tests.fixtures.payment.order_refund import ordered, refund_wish
from tests.fixtures.payment.refund_request import approved, asked, buyer_wish, declined, mails_of, token_of
from tests.fixtures.shop import Shop

REFUSED = "InvalidTransition"


async def outcomes(*calls: Awaitable[Any]) -> list[str]:
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return [type(each).__name__ if isinstance(each, BaseException) else "done" for each in ended]


async def with_candles(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 3), delivery=DeliveryKind.HOME_DELIVERY)


async def state_of(shop: Shop, id: int) -> str:
    return str(await shop.one("SELECT state FROM refund_request WHERE id = :id", id=id))


async def test_a_form_that_is_sent_eight_times_at_once_is_one_request(shop: Shop) -> None:
    await with_candles(shop)
    wish, token = buyer_wish({0: 2}), await token_of(shop)
    assert await outcomes(*(request_refund(shop.context, token, wish) for _ in range(8))) == ["done"] * 8
    assert (await shop.count("refund_request"), await shop.count("refund_request_line")) == (1, 1)
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]


async def test_two_forms_about_the_same_pieces_are_one_request(shop: Shop) -> None:
    await with_candles(shop)
    token = await token_of(shop)
    ended = await outcomes(*(request_refund(shop.context, token, buyer_wish({0: 2})) for _ in range(6)))
    assert (ended.count("done"), ended.count("InvalidInput")) == (1, 5)
    assert await columns(shop, "refund_request_line", "quantity") == [(2,)]


async def test_it_is_approved_eight_times_and_refunded_once(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop, {0: 3})
    assert await outcomes(*(approved(shop, id) for _ in range(8))) == ["done"] * 8
    assert (await shop.count("refund"), await state_of(shop, id)) == (1, "approved")
    await books_are_right(shop)


async def test_it_is_approved_declined_or_taken_back(shop: Shop) -> None:
    for _ in range(6):
        await with_candles(shop)
        id, token = await asked(shop, {0: 3}), await token_of(shop)
        before = await shop.count("refund")
        yes, no, back = await outcomes(
            approved(shop, id), declined(shop, id), cancel_refund_request(shop.context, token, id)
        )
        state, refunds = await state_of(shop, id), await shop.count("refund") - before
        assert back == "done"
        assert (yes, no, refunds) == {
            "approved": ("done", REFUSED, 1),
            "declined": (REFUSED, "done", 0),
            "cancelled": (REFUSED, REFUSED, 0),
        }[state]
    await books_are_right(shop)


async def test_staff_refund_it_by_the_order_or_by_the_request(shop: Shop) -> None:
    for _ in range(6):
        await with_candles(shop)
        id, wish = await asked(shop, {0: 3}), await refund_wish(shop, 0)
        before = await shop.count("refund")
        by_request, by_order = await outcomes(approved(shop, id), refund_order(shop.manager, wish))
        assert (by_request, by_order) in {("done", "done"), ("done", "OrderLineRefunded")}
        assert (await state_of(shop, id), await shop.count("refund") - before) == ("approved", 1)
    await books_are_right(shop)


async def test_it_is_used_or_refunded_by_rule(shop: Shop, sold: Experiences) -> None:
    await shop.execute("UPDATE partner SET approves_withdrawals = true")
    for _ in range(4):
        await bought(shop, for_two(sold))
        id = await asked(shop)
        code = str(await shop.one("SELECT code FROM voucher ORDER BY id DESC LIMIT 1"))
        used, *ran = await outcomes(
            update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED)),
            *(approve_withdrawal(shop.services, id) for _ in range(3)),
        )
        assert ran == ["done"] * 3
        state = await shop.one("SELECT state FROM voucher WHERE code = :code", code=code)
        assert (await state_of(shop, id), state) == (("pending", "used") if used == "done" else ("approved", "error"))
        told = await shop.one(
            "SELECT count(*) FROM mail WHERE kind = 'new_request' AND once = :key", key=f"new_request:{id}"
        )
        assert told == 1
    await books_are_right(shop)
