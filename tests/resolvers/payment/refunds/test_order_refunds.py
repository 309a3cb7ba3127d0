"""Refunds of single lines: what goes back for each, what becomes of what was sold, and what is refused."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.gift_card.holds import hold_gift_card
from resolvers.gift_card.issuing import cancel_gift_card
from resolvers.gift_card.spending import reverse_gift_card_capture, spend_gift_card
from resolvers.payment.refunds.order_refunds import preview_order_refund, refund_order
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.redemption.codes import RedeemableVoucher, find_redeemable
from resolvers.voucher.updates import extend_voucher, update_voucher
from schema.checkout.basket import VoucherChoice
from schema.checkout.checkout import ProductChoice
from schema.core.errors import (
    AppError,
    FrozenByDispute,
    GiftCardNotSpendable,
    InvalidInput,
    InvalidTransition,
    NotExtendable,
)
from schema.delivery.delivery import DeliveryKind
from schema.gift_card.input import CancelGiftCard, HoldGiftCard, ReverseGiftCardCapture, SpendGiftCard
from schema.mail import MailKind
from schema.payment.errors import (
    AlreadyRefunded,
    GoodsUsed,
    NothingToRefund,
    NotRefundable,
    OrderLineRefunded,
    PaymentDisputed,
    RefundTooLate,
    VoucherRefunded,
)
from schema.payment.input import PreviewOrderRefund, RefundOrder, RefundOrderLine, RefundPayment, RefundSplit
from schema.voucher.input import ExtendVoucher, UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.mail.content import OrderRefundContent, content_of
from tests.fixtures.basket import Experiences, bought, card_of, columns, for_two, sale_coupon
from tests.fixtures.payment.dispute import books_are_right, bought_disputably, open_dispute
from tests.fixtures.payment.order_refund import ordered, refund_wish, refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop


async def line_ids(shop: Shop) -> list[int]:
    return [row[0] for row in await columns(shop, "order_product", "id")]


async def refused(shop: Shop, error: type[AppError], *lines: int | tuple[int, int], **more: Any) -> AppError:
    """It is refused, changes nothing, and the preview says the same."""
    before = await state(shop)
    with pytest.raises(error) as raised:
        await refund_order(shop.manager, await refund_wish(shop, *lines, **more))
    wish = PreviewOrderRefund(**(await refund_wish(shop, *lines, **more)).model_dump())
    with pytest.raises(error):
        await preview_order_refund(shop.manager, wish)
    assert await state(shop) == before
    return raised.value


async def state(shop: Shop) -> Sequence[Any]:
    """All that a refund changes."""
    return [
        await columns(shop, "order_product", "refunded_quantity", "refunded_amount"),
        await columns(shop, "shop_order", "status", "delivery_refunded_amount"),
        await columns(shop, "voucher", "state", "refunded_on"),
        await columns(shop, "gift_card", "status", "remaining_amount"),
        await columns(shop, "product", "stock"),
        await columns(shop, "payment", "refunded_amount"),
        [await shop.count(table) for table in ("refund", "refund_line", "mail", "event", "ledger_journal")],
    ]


async def use(shop: Shop, state: VoucherState, at: int = 0) -> str:
    """Use a voucher, or stop using it."""
    code = str((await columns(shop, "voucher", "code"))[at][0])
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=state))
    return code


# ---- amounts


async def test_the_pieces_of_a_line_sum_to_what_was_paid_for_it(shop: Shop) -> None:
    candle, honey = await shop.product("3.33"), await shop.product("8.00")
    coupon = await shop.coupon(percentage="10.00")
    delivery = DeliveryKind.HOME_DELIVERY
    choices = ProductChoice(candle.id, 3), ProductChoice(honey.id, 1)
    await ordered(shop, *choices, codes=(coupon.code,), delivery=delivery)
    assert await columns(shop, "order_product", "discount_amount") == [(Decimal("1.00"),), (Decimal("0.80"),)]
    amounts = [(await refunded(shop, (0, 1))).refund_amount for _ in range(3)]
    assert amounts == [Decimal("3.00"), Decimal("2.99"), Decimal("3.00")]
    await refused(shop, OrderLineRefunded, 0)
    last = await refunded(shop, 1, include_delivery=True, reason="Never sent")
    assert (last.refund_amount, last.delivery_amount) == (Decimal("12.20"), Decimal("5.00"))
    assert await columns(shop, "shop_order", "status") == [("paid",)]
    for _ in range(2):  # the provider takes the same amount once a day
        await send_refunds(shop.services)
        clock.advance(dt.timedelta(days=1))
    assert await columns(shop, "shop_order", "status", "delivery_refunded_amount") == [("refunded", Decimal("5.00"))]
    assert await shop.one("SELECT refunded_amount = payment_amount FROM payment")
    await books_are_right(shop)


async def test_delivery_is_refunded_on_its_own_and_once(shop: Shop) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    refund = await refunded(shop, include_delivery=True)
    assert (refund.refund_amount, refund.delivery_amount) == (Decimal("5.00"), Decimal("5.00"))
    error = await refused(shop, OrderLineRefunded, 0, include_delivery=True)
    assert error.path == ("include_delivery",)
    await refunded(shop, 0)
    await send_refunds(shop.services)
    await books_are_right(shop)


async def test_never_more_than_what_is_left_of_the_payment(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("300.00")))
    refund = await refunded(shop, 0, 1)
    assert refund.refund_amount == Decimal("88.00")
    assert await columns(shop, "refund_line", "line_amount") == [(Decimal("88.00"),), (Decimal("0.00"),)]
    assert await columns(shop, "voucher", "state") == [("error",), ("error",)]
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_the_money_goes_back_to_its_sources(shop: Shop, sold: Experiences) -> None:
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), for_two(sold), codes=(card.code,))
    wish = (await refund_wish(shop, 0)).model_dump()
    before = await state(shop)
    seen = await preview_order_refund(shop.manager, PreviewOrderRefund(**wish))
    assert await state(shop) == before
    assert (seen.amount.amount, seen.by_card.amount) == (Decimal("194.00"), Decimal("145.50"))
    assert (seen.by_gift_card.amount, seen.left.amount) == (Decimal("48.50"), Decimal("194.00"))
    assert [(line.quantity, line.amount.amount) for line in seen.lines] == [(1, Decimal("194.00"))]
    split = RefundSplit(extra_source_amount=Decimal(0), additional_payin_amount=Decimal("194.00"))
    await refunded(shop, 0, split=split)
    assert await columns(shop, "gift_card", "remaining_amount") == [(Decimal("0.00"),)]
    await refunded(shop, 1)
    assert await columns(shop, "gift_card", "remaining_amount") == [(Decimal("97.00"),)]
    await send_refunds(shop.services)
    assert await columns(shop, "payment_source", "refunded_amount") == [(Decimal("97.00"),), (Decimal("291.00"),)]
    await books_are_right(shop)


async def test_what_was_free_is_refunded_with_the_rest_only(shop: Shop, sold: Experiences) -> None:
    free = await sale_coupon(shop, "FREESTAY", percentage="100.00", voucher_prototype_ids=[sold.massage.id])
    await bought(shop, for_two(sold), VoucherChoice(sold.stay.id, adults=2), codes=(free.code,))
    await refused(shop, NothingToRefund, 0)
    refund = await refunded(shop, 0, 1)
    assert refund.refund_amount == Decimal("240.00")
    assert await columns(shop, "voucher", "state") == [("error",), ("error",)]
    await books_are_right(shop)


async def test_an_order_that_cost_nothing_is_not_refunded(shop: Shop, sold: Experiences) -> None:
    free = await sale_coupon(shop, percentage="100.00")
    await bought(shop, for_two(sold), codes=(free.code,))
    await refused(shop, NotRefundable, 0)


async def test_the_buyer_and_the_shops_systems_are_told_the_lines(shop: Shop) -> None:
    candle, bath = await shop.product("20.00"), await shop.product("8.00")
    large = await shop.variant(candle, "30.00")
    card = await shop.gift_card("33.00")
    choices = ProductChoice(bath.id, 1), ProductChoice(candle.id, 2, large.id)
    await ordered(shop, *choices, codes=(card.code,), delivery=DeliveryKind.HOME_DELIVERY)
    refund = await refunded(shop, (1, 1), include_delivery=True)
    told = text("SELECT recipient, language, content FROM mail WHERE kind = 'order_refunded'")
    ((to, language, content),) = await shop.services.db.rows(told)
    about = content_of(MailKind.ORDER_REFUNDED, content)
    assert isinstance(about, OrderRefundContent)
    assert (to, language, about.order_number, about.first_name) == ("ada@example.com", "en", 1, "Ada")
    assert (about.card_amount, about.gift_card_amount) == (Decimal("19.18"), Decimal("15.82"))
    assert (about.delivery_amount, about.is_withdrawn) == (Decimal("5.00"), False)
    lines = [(line.name.en, line.details[0].en, line.quantity, line.total) for line in about.lines]
    assert lines == [("Candle", "Large", 1, Decimal("30.00"))]
    statement = text("SELECT data FROM event WHERE type = 'refund.created'")
    ((data,),) = await shop.services.db.rows(statement)
    id = (await columns(shop, "order_product", "id"))[1][0]
    assert data["lines"] == [{"id": id, "quantity": 1, "amount": {"amount": "30.00", "currency": "EUR"}}]
    assert (data["id"], data["delivery"]) == (str(refund.id), {"amount": "5.00", "currency": "EUR"})
    await send_refunds(shop.services)
    await books_are_right(shop)


# ---- vouchers


async def test_a_voucher_is_withdrawn_with_its_line_only(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold))
    refund = await refunded(shop, 1, reason="Too old")
    assert (refund.refund_amount, refund.reason) == (Decimal("194.00"), "Too old")
    assert await columns(shop, "voucher", "state", "refunded_on IS NULL") == [("paid", True), ("error", False)]
    assert await columns(shop, "order_product", "refunded_quantity", "refunded_amount") == [
        (0, Decimal("0.00")),
        (1, Decimal("194.00")),
    ]
    codes = [row[0] for row in await columns(shop, "voucher", "code")]
    for state in (VoucherState.USED, VoucherState.USING):
        with pytest.raises(InvalidTransition):
            await update_voucher(shop.manager, UpdateVoucher(code=codes[1], state=state))
    with pytest.raises(VoucherRefunded):
        await update_voucher(shop.manager, UpdateVoucher(code=codes[1], state=VoucherState.PAID))
    await update_voucher(shop.manager, UpdateVoucher(code=codes[0], state=VoucherState.USED))
    await refused(shop, OrderLineRefunded, 1)
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("paid",)]
    await books_are_right(shop)


@pytest.mark.parametrize("used", [VoucherState.USING, VoucherState.USED])
async def test_a_used_voucher_is_refunded_on_explicit_wish(shop: Shop, sold: Experiences, used: VoucherState) -> None:
    await bought(shop, for_two(sold))
    code = await use(shop, used)
    error = await refused(shop, GoodsUsed, 0)
    assert (error.path, error.status) == (("lines", 0, "id"), 409)
    assert "include_used" in str(error)
    await refunded(shop, 0, include_used=True)
    assert await columns(shop, "voucher", "state", "refunded_on IS NOT NULL") == [(used.value, True)]
    for new in {VoucherState.PAID, VoucherState.USING, VoucherState.USED} - {used}:
        with pytest.raises(VoucherRefunded):
            await update_voucher(shop.manager, UpdateVoucher(code=code, state=new))
    found = await find_redeemable(shop.manager, code)
    assert isinstance(found, RedeemableVoucher)
    assert (found.usable, found.moves) == (False, [])
    with pytest.raises(NotExtendable):
        await extend_voucher(shop.manager, ExtendVoucher(code=code, expires_on=clock.now() + dt.timedelta(days=2000)))
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_a_voucher_that_is_over_is_refunded_on_explicit_wish(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    await shop.execute("UPDATE voucher SET expires_on = now() - interval '1 day'")
    await refused(shop, GoodsUsed, 0)
    await refunded(shop, 0, include_used=True)
    await books_are_right(shop)


# ---- gift cards


async def test_an_unspent_gift_card_is_cancelled(shop: Shop) -> None:
    await bought(shop, card_of("50.00"), card_of("80.00"))
    await refunded(shop, 0)
    assert await columns(shop, "gift_card", "status", "remaining_amount") == [
        ("cncld", Decimal("50.00")),
        ("paid", Decimal("80.00")),
    ]
    await send_refunds(shop.services)
    await books_are_right(shop)


async def test_a_spent_gift_card_is_cancelled_with_its_rest_on_explicit_wish(shop: Shop) -> None:
    await bought(shop, card_of("50.00"))
    code = await shop.one("SELECT code FROM gift_card")
    spent = await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("20.00")))
    await refused(shop, GoodsUsed, 0)
    refund = await refunded(shop, 0, include_used=True)
    assert refund.refund_amount == Decimal("50.00")
    assert await columns(shop, "gift_card", "status", "remaining_amount") == [("cncld", Decimal("30.00"))]
    with pytest.raises(GiftCardNotSpendable):
        await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("1.00")))
    with pytest.raises(GiftCardNotSpendable):
        await reverse_gift_card_capture(shop.manager, ReverseGiftCardCapture(hold_id=spent.id))
    await books_are_right(shop)


async def test_a_gift_card_that_is_used_up_gets_nothing_back_after_its_refund(shop: Shop) -> None:
    await bought(shop, card_of("50.00"))
    code = await shop.one("SELECT code FROM gift_card")
    spent = await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("50.00")))
    await refunded(shop, 0, include_used=True)
    with pytest.raises(GiftCardNotSpendable):
        await reverse_gift_card_capture(shop.manager, ReverseGiftCardCapture(hold_id=spent.id))
    assert await columns(shop, "gift_card", "status", "remaining_amount") == [("cncld", Decimal("0.00"))]
    await books_are_right(shop)


async def test_a_gift_card_on_hold_counts_as_used(shop: Shop) -> None:
    await bought(shop, card_of("50.00"))
    code = await shop.one("SELECT code FROM gift_card")
    await hold_gift_card(shop.manager, HoldGiftCard(code=code, amount=Decimal("20.00")))
    await refused(shop, GoodsUsed, 0)
    await refunded(shop, 0, include_used=True)
    assert await columns(shop, "gift_card_hold", "state") == [("released",)]
    assert await columns(shop, "gift_card", "status", "remaining_amount") == [("cncld", Decimal("50.00"))]
    await books_are_right(shop)


async def test_a_gift_card_that_has_paid_and_is_cancelled_takes_no_part(shop: Shop, sold: Experiences) -> None:
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), codes=(card.code,))
    await cancel_gift_card(shop.manager, CancelGiftCard(id=card.id))
    await refused(shop, GiftCardNotSpendable, 0)
    await books_are_right(shop)


# ---- products


async def test_products_go_back_into_stock_on_wish(shop: Shop) -> None:
    candle, bath = await shop.product("20.00", stock=10), await shop.product("5.00")
    large = await shop.variant(candle, "30.00", stock=4)
    await ordered(shop, ProductChoice(candle.id, 3, large.id), ProductChoice(bath.id, 2))
    assert await columns(shop, "product_variant", "stock") == [(1,)]
    await refunded(shop, (0, 1))
    assert await columns(shop, "product_variant", "stock") == [(1,)]
    await refunded(shop, (0, 2), (1, 2), restock=True)
    assert await columns(shop, "product_variant", "stock") == [(3,)]
    assert await columns(shop, "product", "stock") == [(10,), (None,)]
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


# ---- what is refused


async def test_what_makes_no_sense_is_refused(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    order, line = await shop.one("SELECT id FROM shop_order"), (await line_ids(shop))[0]
    wrong: dict[tuple[str | int, ...], dict[str, Any]] = {
        ("lines",): {},
        ("lines", 0, "id"): {"lines": [RefundOrderLine(id=line + 1)]},
        ("lines", 1, "id"): {"lines": [RefundOrderLine(id=line), RefundOrderLine(id=line)]},
        ("lines", 0, "quantity"): {"lines": [RefundOrderLine(id=line, quantity=2)]},
        ("split",): {"lines": [RefundOrderLine(id=line)], "split": RefundSplit()},
    }
    before = await state(shop)
    for path, values in wrong.items():
        with pytest.raises(InvalidInput) as error:
            await refund_order(shop.manager, RefundOrder(id=order, **values))
        assert [problem.path for problem in error.value.problems] == [path]
    assert await state(shop) == before


async def test_what_a_refund_of_the_whole_payment_has_given_back_is_not_refunded(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("194.00")))
    await refused(shop, AlreadyRefunded, 0)


async def test_after_eleven_months_the_bank_card_is_not_refunded(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    clock.advance(dt.timedelta(days=331))
    await refused(shop, RefundTooLate, 0)


async def test_disputed_goods_are_not_refunded(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    code = await shop.one("SELECT code FROM voucher")
    dispute = await open_dispute(shop)
    await dispute.follow()
    await refused(shop, PaymentDisputed, 0)
    await refused(shop, PaymentDisputed, 0, include_used=True)
    with pytest.raises(FrozenByDispute):
        await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED))
    await dispute.decide("void")
    await dispute.follow()
    await refunded(shop, 0)
    await send_refunds(shop.services)
    assert await columns(shop, "shop_order", "status") == [("refunded",)]
    await books_are_right(shop)


async def test_a_dispute_after_a_refund_finds_what_is_left(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold), for_two(sold))
    await refunded(shop, 0)
    await send_refunds(shop.services)
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    await dispute.check()
    assert await columns(shop, "voucher", "state", "refunded_on IS NULL") == [("error", False), ("error", True)]
    assert await columns(shop, "shop_order", "status") == [("charged_back",)]
    await books_are_right(shop)
