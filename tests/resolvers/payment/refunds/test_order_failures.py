"""Refunds of lines that do not go as promised: they fail for good, or somebody refunds at the provider instead."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from resolvers.payment import refund_notifications
from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.voucher.updates import add_voucher_rental, update_voucher
from schema.checkout.checkout import ProductChoice
from schema.core.errors import InsufficientFunds
from schema.delivery.delivery import DeliveryKind
from schema.payment.errors import (
    AlreadyRefunded,
    GoodsUsed,
    NothingToRefund,
    OrderLineRefunded,
    PaymentDisputed,
    VoucherRefunded,
)
from schema.payment.input import RefundPayment
from schema.voucher.input import AddVoucherRental, UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from tests.fixtures.basket import Experiences, bought, card_of, columns, for_two
from tests.fixtures.payment.dispute import books_are_right, bought_disputably, open_dispute
from tests.fixtures.payment.order_refund import ordered, refund_wish, refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_refunds import fail_refunds, made_at_provider

TOO_LATE = "001403"


async def refunded_at_provider(shop: Shop, cents: int, reference: str = "by hand") -> None:
    """Somebody refunds the payment in the provider's dashboard, and the provider tells, twice."""
    payment: Any = SimpleNamespace(id=await shop.one("SELECT id FROM payment"))
    made = await made_at_provider(shop, payment, cents, reference)
    for _ in range(2):
        await refund_notifications.handle_refund_notification(shop.services, made)


async def lines(shop: Shop) -> list[tuple[int, str]]:
    """What was refunded of the lines, pieces and amount."""
    return [
        (n, str(amount)) for n, amount in await columns(shop, "order_product", "refunded_quantity", "refunded_amount")
    ]


async def refunds(shop: Shop) -> list[tuple[str, str]]:
    rows = await columns(shop, "refund", "state", "refund_amount", "created_on")
    return [(state, str(amount)) for state, amount, _ in sorted(rows, key=lambda row: row[2])]


# ---- for good


async def test_lines_of_a_refund_that_failed_can_be_refunded_again(shop: Shop, sold: Experiences) -> None:
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), for_two(sold), codes=(card.code,))
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, 0)
    await send_refunds(shop.services)
    assert await columns(shop, "order_product", "refunded_quantity", "refunded_amount") == [
        (0, Decimal("48.50")),
        (0, Decimal("0.00")),
    ]
    assert await columns(shop, "voucher", "state", "refunded_on") == [("error", None), ("paid", None)]
    again = await refunded(shop, 0)
    assert again.refund_amount == Decimal("145.50")
    await refunded(shop, 1)
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    assert await columns(shop, "order_product", "refunded_amount") == [(Decimal("194.00"),)] * 2
    await books_are_right(shop)


async def test_delivery_of_a_refund_that_failed_can_be_refunded_again(shop: Shop) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, (0, 1), include_delivery=True)
    await send_refunds(shop.services)
    assert await columns(shop, "order_product", "refunded_quantity", "refunded_amount") == [(0, Decimal("0.00"))]
    assert await columns(shop, "shop_order", "delivery_refunded_amount") == [(Decimal("0.00"),)]
    refund = await refunded(shop, 0, include_delivery=True)
    assert refund.refund_amount == Decimal("45.00")
    await send_refunds(shop.services)
    await books_are_right(shop)


# ---- at the provider instead


async def test_the_rest_of_a_refund_that_was_given_up_has_its_lines(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    await refunded(shop, 0)
    await refunded_at_provider(shop, 10000)
    assert sorted(await refunds(shop)) == [("done", "100.00"), ("failed", "194.00"), ("pending", "94.00")]
    assert await lines(shop) == [(1, "194.00")]
    of_refunds = "SELECT string_agg(l.line_amount::text, ' ' ORDER BY l.id) FROM refund_line l JOIN refund r ON r.id = l.refund_id"
    assert await shop.one(of_refunds) == "194.00 94.00"
    await books_are_right(shop)
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert sorted(await refunds(shop)) == [("done", "100.00"), ("failed", "194.00"), ("failed", "94.00")]
    assert await lines(shop) == [(0, "100.00")]
    assert await columns(shop, "voucher", "state", "refunded_on") == [("error", None)]
    await books_are_right(shop)
    assert (await refunded(shop, 0)).refund_amount == Decimal("94.00")
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_what_the_provider_has_paid_instead_is_not_paid_again_out_of_other_lines(
    shop: Shop, sold: Experiences
) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    await refunded(shop, 0)
    await refunded_at_provider(shop, 38800)
    assert sorted(await refunds(shop)) == [("done", "388.00"), ("failed", "194.00")]
    assert await lines(shop) == [(1, "194.00"), (0, "0.00")]
    for at, error in ((0, OrderLineRefunded), (1, AlreadyRefunded)):
        with pytest.raises(error):
            await refund_order(shop.manager, await refund_wish(shop, at))
    await books_are_right(shop)


async def test_delivery_goes_on_with_the_rest(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=10)
    await ordered(shop, ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    await refunded(shop, (0, 1), include_delivery=True, restock=True)
    await refunded_at_provider(shop, 3000)
    assert sorted(await refunds(shop)) == [("done", "30.00"), ("failed", "25.00"), ("pending", "15.00")]
    assert await lines(shop) == [(1, "20.00")]
    assert sorted(await columns(shop, "refund", "delivery_amount", "state")) == [
        (Decimal("0.00"), "done"),
        (Decimal("5.00"), "failed"),
        (Decimal("5.00"), "pending"),
    ]
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert await lines(shop) == [(0, "10.00")]
    assert await columns(shop, "shop_order", "delivery_refunded_amount") == [(Decimal("0.00"),)]
    last = await refunded(shop, 0, include_delivery=True, restock=True)
    assert (last.refund_amount, last.delivery_amount) == (Decimal("15.00"), Decimal("0.00"))
    assert await columns(shop, "product", "stock") == [(10,)]
    await send_refunds(shop.services)
    await books_are_right(shop)


async def test_lines_are_open_again_if_the_rest_cannot_be_promised(
    shop: Shop, sold: Experiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    await refunded(shop, 0)
    await refunded(shop, 1)
    monkeypatch.setattr("resolvers.payment.refunds.recording.refund_journal", no_money)
    await refunded_at_provider(shop, 30000)
    assert sorted(state for state, _ in await refunds(shop)) == ["done", "failed", "failed"]
    assert await shop.one("SELECT sum(refunded_amount) FROM order_product") <= Decimal("300.00")
    assert await shop.one("SELECT refunded_amount FROM payment") == Decimal("300.00")
    reopened = "SELECT count(*) FROM voucher v JOIN order_product l ON l.voucher_id = v.id WHERE (l.refunded_quantity = 0) <> (v.refunded_on IS NULL)"
    assert await shop.one(reopened) == 0
    await books_are_right(shop)


async def test_what_a_gift_card_had_back_stays_counted(shop: Shop, sold: Experiences) -> None:
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), codes=(card.code,))
    await refunded(shop, 0)
    await refunded_at_provider(shop, 5000)
    assert sorted(await refunds(shop)) == [("done", "50.00"), ("failed", "194.00"), ("pending", "47.00")]
    assert await lines(shop) == [(1, "194.00")]
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert await lines(shop) == [(0, "147.00")]
    assert (await refunded(shop, 0)).refund_amount == Decimal("47.00")
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_a_dispute_that_is_not_recorded_yet_opens_the_lines_again(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold), for_two(sold))
    dispute = await open_dispute(shop)
    await refunded(shop, 0)
    await refunded(shop, 1)
    await send_refunds(shop.services)
    assert [state for state, _ in await refunds(shop)] == ["failed", "failed"]
    assert await lines(shop) == [(0, "0.00"), (0, "0.00")]
    assert await columns(shop, "voucher", "state", "refunded_on") == [("error", None), ("error", None)]
    await dispute.follow()
    with pytest.raises(PaymentDisputed):
        await refund_order(shop.manager, await refund_wish(shop, 0))
    for (code,) in await columns(shop, "voucher", "code"):
        await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.PAID))
    assert await columns(shop, "voucher", "state", "frozen_on IS NOT NULL") == [("paid", True)] * 2
    await books_are_right(shop)


def no_money(*_: object) -> None:
    raise InsufficientFunds


# ---- stock


async def test_pieces_go_back_into_stock_once(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=10)
    await ordered(shop, ProductChoice(candle.id, 5))
    await refunded(shop, (0, 1))  # broken: it is not sold again
    await send_refunds(shop.services)
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, (0, 2), restock=True)
    await send_refunds(shop.services)
    assert await lines(shop) == [(1, "20.00")]
    assert await columns(shop, "product", "stock") == [(7,)]
    await refunded(shop, (0, 1), restock=True)
    assert await columns(shop, "product", "stock") == [(7,)]
    await refunded(shop, (0, 2), restock=True)
    assert await columns(shop, "product", "stock") == [(8,)]
    assert await columns(shop, "order_product", "quantity", "refunded_quantity", "restocked_quantity") == [(5, 4, 3)]
    await refunded(shop, (0, 1))
    assert await columns(shop, "product", "stock") == [(8,)]
    await books_are_right(shop)


# ---- vouchers and gift cards


@pytest.mark.parametrize("used", [VoucherState.USING, VoucherState.USED])
async def test_a_used_voucher_stays_barred_when_its_refund_fails(
    shop: Shop, sold: Experiences, used: VoucherState
) -> None:
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), codes=(card.code,))
    code = await shop.one("SELECT code FROM voucher")
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=used))
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, 0, include_used=True)
    await send_refunds(shop.services)
    assert await columns(shop, "voucher", "state", "refunded_on IS NULL") == [(used.value, False)]
    for state in {VoucherState.PAID, VoucherState.USING, VoucherState.USED} - {used}:
        with pytest.raises(VoucherRefunded):
            await update_voucher(shop.manager, UpdateVoucher(code=code, state=state))
    with pytest.raises(VoucherRefunded):
        await add_voucher_rental(shop.manager, AddVoucherRental(code=code, starts_on=clock.now().date()))
    with pytest.raises(GoodsUsed):
        await refund_order(shop.manager, await refund_wish(shop, 0))
    assert (await refunded(shop, 0, include_used=True)).refund_amount == Decimal("97.00")
    await send_refunds(shop.services)
    await books_are_right(shop)


async def test_an_unspent_gift_card_is_refunded_again_after_a_failure(shop: Shop) -> None:
    await bought(shop, card_of("50.00"), card_of("50.00"))
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, 0)
    await send_refunds(shop.services)
    assert await lines(shop) == [(0, "0.00"), (0, "0.00")]
    await refunded(shop, 0)
    assert sorted(await columns(shop, "gift_card", "status")) == [("cncld",), ("paid",)]
    await send_refunds(shop.services)
    await books_are_right(shop)


# ---- amounts


async def test_what_a_line_is_still_owed_is_refunded_later(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("300.00")))
    await refunded(shop, 0, 1)
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert sorted(await refunds(shop)) == [("done", "88.00"), ("failed", "300.00")]
    assert await lines(shop) == [(1, "88.00"), (1, "0.00")]
    with pytest.raises(OrderLineRefunded):
        await refund_order(shop.manager, await refund_wish(shop, (0, 1)))
    when = await columns(shop, "voucher", "refunded_on")
    assert (await refunded(shop, 0)).refund_amount == Decimal("106.00")
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert await lines(shop) == [(1, "88.00"), (1, "0.00")]
    assert await columns(shop, "voucher", "refunded_on") == when
    assert (await refunded(shop, 0, 1)).refund_amount == Decimal("300.00")
    await send_refunds(shop.services)
    assert await lines(shop) == [(1, "194.00"), (1, "194.00")]
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_after_a_failure_in_part_a_piece_says_what_is_left(shop: Shop) -> None:
    candle = await shop.product("20.00")
    card = await shop.gift_card("20.00")
    await ordered(shop, ProductChoice(candle.id, 2), codes=(card.code,))
    await fail_refunds(shop, TOO_LATE, 1)
    await refunded(shop, 0)
    await send_refunds(shop.services)
    assert await lines(shop) == [(0, "20.00")]
    with pytest.raises(NothingToRefund, match="gone back"):
        await refund_order(shop.manager, await refund_wish(shop, (0, 1)))
    assert (await refunded(shop, 0)).refund_amount == Decimal("20.00")
    await books_are_right(shop)
