"""Refunds of lines that were given up, or handed to a person, and that the provider has made all the same."""

import datetime as dt
from decimal import Decimal

import pytest

from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.payment.errors import AlreadyRefunded, OrderLineRefunded
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.payment.payments import RefundRow
from tests.fixtures.basket import Experiences, bought, columns, for_two
from tests.fixtures.payment.dispute import books_are_right
from tests.fixtures.payment.order_refund import ordered, refund_wish, refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_order_failures import TOO_LATE, lines, refunded_at_provider, refunds
from tests.resolvers.payment.refunds.test_refunds import EMPTY_WALLET, fail_refunds


async def given_up(shop: Shop, *lines: int | tuple[int, int], **more: bool | str) -> RefundRow:
    """A refund that the provider has refused for good, as far as its answer told."""
    refund = await refunded(shop, *lines, **more)
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    return refund


async def test_it_has_the_lines_of_the_refund_that_was_given_up(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    refund = await given_up(shop, 0, reason="Ill")
    (code, *_), *_ = await columns(shop, "voucher", "code")
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.PAID))
    assert await lines(shop) == [(0, "0.00"), (0, "0.00")]
    await refunded_at_provider(shop, 19400, str(refund.id))
    assert sorted(await refunds(shop)) == [("done", "194.00"), ("failed", "194.00")]
    assert await lines(shop) == [(1, "194.00"), (0, "0.00")]
    assert await columns(shop, "voucher", "state", "refunded_on IS NOT NULL") == [("error", True), ("paid", False)]
    assert await columns(shop, "refund", "origin", "reason") == [("staff", "Ill")] * 2
    of_event = "SELECT data -> 'lines' -> 0 ->> 'quantity' FROM event WHERE type = 'refund.succeeded'"
    assert await shop.one(of_event) == "1"
    with pytest.raises(OrderLineRefunded):
        await refund_order(shop.manager, await refund_wish(shop, 0))
    clock.advance(dt.timedelta(days=1))
    await refunded(shop, 1)
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_its_delivery_and_stock_go_with_it(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=10)
    await ordered(shop, ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    refund = await given_up(shop, (0, 1), include_delivery=True, restock=True)
    await refunded_at_provider(shop, 2500, str(refund.id))
    assert await lines(shop) == [(1, "20.00")]
    assert await columns(shop, "shop_order", "delivery_refunded_amount") == [(Decimal("5.00"),)]
    assert await columns(shop, "refund_line", "quantity", "restocked_quantity") == [(1, 0), (1, 1)]
    await refunded(shop, 0, restock=True)
    assert await columns(shop, "product", "stock") == [(10,)]
    await books_are_right(shop)


async def test_lines_that_were_refunded_meanwhile_are_counted_once(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    refund = await given_up(shop, 0)
    clock.advance(dt.timedelta(days=1))
    await refunded(shop, 0)
    await send_refunds(shop.services)
    clock.advance(dt.timedelta(days=1))
    await refunded_at_provider(shop, 19400, str(refund.id))
    assert sorted(await refunds(shop)) == [("done", "194.00"), ("done", "194.00"), ("failed", "194.00")]
    assert await lines(shop) == [(1, "194.00"), (0, "0.00")]
    with pytest.raises(AlreadyRefunded):
        await refund_order(shop.manager, await refund_wish(shop, 1))
    await books_are_right(shop)


async def test_of_less_than_was_promised_the_lines_are_owed_the_rest(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    refund = await given_up(shop, 0)
    await refunded_at_provider(shop, 10000, str(refund.id))
    assert await lines(shop) == [(1, "100.00")]
    assert (await refunded(shop, 0)).refund_amount == Decimal("94.00")
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_one_that_was_handed_to_a_person_is_done(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    refund = await refunded(shop, 0)
    await fail_refunds(shop, EMPTY_WALLET, 7)
    for _ in range(7):
        await send_refunds(shop.services)
        clock.advance(dt.timedelta(days=1))
    assert await refunds(shop) == [("needs_action", "194.00")]
    await refunded_at_provider(shop, 19400, str(refund.id))
    assert await refunds(shop) == [("done", "194.00")]
    assert await lines(shop) == [(1, "194.00")]
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)
