"""What was bought with a disputed payment cannot be used on any path, and can again once the dispute is won."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.checkout import steps
from resolvers.core.operation import Operation
from resolvers.gift_card.holds import capture_gift_card, hold_gift_card, release_gift_card
from resolvers.gift_card.spending import reverse_gift_card_capture, spend_gift_card
from resolvers.payment.checkout import payment
from resolvers.payment.creation import create_payment
from resolvers.redemption.codes import RedeemableCard, RedeemableVoucher, find_redeemable
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import PaymentAttemptStatus, ProductChoice
from schema.core.errors import CheckoutChanged, FrozenByDispute, GiftCardNotSpendable, InvalidInput
from schema.core.text import Text
from schema.gift_card.input import CaptureGiftCard, HoldGiftCard, ReleaseGiftCard, ReverseGiftCardCapture, SpendGiftCard
from schema.network.voucher import NetworkVoucherStatus
from schema.payment.input import CreatePayment, PaymentCustomerInput
from schema.payment.payment import PaymentType
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.network.boxes import BoxRow
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.vouchers import NetworkVoucherRow
from tests.fixtures.basket import Experiences, card_of, columns, for_two
from tests.fixtures.payment.dispute import OpenedDispute, books_are_right, bought_disputably, open_dispute
from tests.fixtures.shop import GOOD_CARD, Shop


async def sold_card(shop: Shop) -> str:
    """The code of a gift card that was bought with a card that can be disputed."""
    await bought_disputably(shop, card_of("100.00"))
    return str(await shop.one("SELECT code FROM gift_card WHERE order_id IS NOT NULL"))


async def frozen(shop: Shop) -> OpenedDispute:
    """The payment is disputed."""
    dispute = await open_dispute(shop)
    await dispute.follow()
    return dispute


async def won(dispute: OpenedDispute) -> None:
    """The dispute is over."""
    await dispute.contest()
    await dispute.decide("win")
    await dispute.follow()


async def refused(shop: Shop, operation: Operation[Any, Any], input: Any) -> None:
    """The operation is refused, with the way out."""
    with pytest.raises(FrozenByDispute, match="Once the dispute is won"):
        await operation(shop.manager, input)


async def test_a_gift_card_is_neither_held_nor_spent(shop: Shop) -> None:
    code = await sold_card(shop)
    dispute = await frozen(shop)
    await refused(shop, hold_gift_card, HoldGiftCard(code=code, amount=Decimal("10.00")))
    await refused(shop, spend_gift_card, SpendGiftCard(code=code, amount=Decimal("10.00")))
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 100
    await won(dispute)
    await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("10.00")))
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 90
    await books_are_right(shop)


async def test_a_hold_from_before_is_not_captured_but_released_or_reversed(shop: Shop) -> None:
    code = await sold_card(shop)
    spent = await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("5.00")))
    first = await hold_gift_card(shop.manager, HoldGiftCard(code=code, amount=Decimal("10.00")))
    second = await hold_gift_card(shop.manager, HoldGiftCard(code=code, amount=Decimal("20.00")))
    dispute = await frozen(shop)
    await refused(shop, capture_gift_card, CaptureGiftCard(hold_id=first.id))
    await release_gift_card(shop.manager, ReleaseGiftCard(hold_id=second.id))
    await reverse_gift_card_capture(shop.manager, ReverseGiftCardCapture(hold_id=spent.id))
    await won(dispute)
    await capture_gift_card(shop.manager, CaptureGiftCard(hold_id=first.id))
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 90
    await books_are_right(shop)


async def test_a_lost_dispute_releases_holds_and_cancels_the_card(shop: Shop) -> None:
    code = await sold_card(shop)
    await hold_gift_card(shop.manager, HoldGiftCard(code=code, amount=Decimal("10.00")))
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    assert await columns(shop, "gift_card", "status", "remaining_amount") == [("cncld", 100)]
    assert await shop.one("SELECT state FROM gift_card_hold") == "released"
    await books_are_right(shop)


async def test_a_used_up_card_gets_nothing_back_when_the_dispute_is_lost(shop: Shop) -> None:
    code = await sold_card(shop)
    spent = await spend_gift_card(shop.manager, SpendGiftCard(code=code, amount=Decimal("100.00")))
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    with pytest.raises(GiftCardNotSpendable):
        await reverse_gift_card_capture(shop.manager, ReverseGiftCardCapture(hold_id=spent.id))
    assert await columns(shop, "gift_card", "status", "remaining_amount", "frozen_on") == [("cncld", 0, None)]


async def test_the_checkout_does_not_take_the_card(shop: Shop) -> None:
    code = await sold_card(shop)
    await frozen(shop)
    candle = await shop.product("30.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    with pytest.raises(InvalidInput) as error:
        await steps.apply_code(shop.context, key, code)
    assert [problem.path for problem in error.value.problems] == [("code",)]
    assert seen.totals.by_card == Decimal("30.00")


async def test_a_checkout_that_is_ready_to_pay_is_refused(shop: Shop) -> None:
    code = await sold_card(shop)
    candle = await shop.product("30.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(code,))
    assert seen.totals.by_card == 0
    await frozen(shop)
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)


async def test_what_the_card_should_have_paid_for_is_refunded(shop: Shop) -> None:
    """The dispute comes while the customer types the number of a bank card: no order, and all goes back."""
    code = await sold_card(shop)
    candle = await shop.product("130.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(code,))
    dispute = await open_dispute(shop)
    started = await shop.start(key, seen)
    await dispute.follow()
    await shop.pay(started, GOOD_CARD)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is not PaymentAttemptStatus.COMPLETED
    assert await shop.count("shop_order") == 1
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 100
    await books_are_right(shop)


async def test_a_payment_over_the_api_does_not_take_the_card(shop: Shop) -> None:
    await sold_card(shop)
    await frozen(shop)
    wallet = await shop.one("SELECT w.uuid FROM wallet w JOIN gift_card c ON c.wallet_id = w.id")
    await refused(
        shop,
        create_payment,
        CreatePayment(
            partner_uuid=shop.partner.uuid,
            customer=PaymentCustomerInput(first_name="Ada", last_name="Martin", email="ada@example.com"),
            amount=Decimal("50.00"),
            discount=Decimal("0.00"),
            product="spa",
            type=PaymentType.CREDIT_CARD,
            extra_source_wallet_uuid=wallet,
            extra_source_amount=Decimal("20.00"),
        ),
    )


async def test_a_voucher_is_not_used(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    code = await shop.one("SELECT code FROM voucher")
    dispute = await open_dispute(shop)
    await dispute.follow()
    for state in (VoucherState.USING, VoucherState.USED):
        await refused(shop, update_voucher, UpdateVoucher(code=code, state=state))
    assert await columns(shop, "voucher", "state") == [("paid",)]
    await dispute.contest("194.00")
    await dispute.decide("win")
    await dispute.follow()
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED))
    assert await columns(shop, "voucher", "state") == [("used",)]


async def test_the_use_of_a_voucher_can_be_undone_while_it_is_frozen(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    code = await shop.one("SELECT code FROM voucher")
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED))
    await frozen(shop)
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.PAID))
    await refused(shop, update_voucher, UpdateVoucher(code=code, state=VoucherState.USED))


async def test_the_venue_page_says_so(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    await frozen(shop)
    found = await find_redeemable(shop.manager, await shop.one("SELECT code FROM voucher"))
    assert isinstance(found, RedeemableVoucher)
    assert (found.usable, found.moves) == (False, [])
    await bought_disputably(shop, card_of("100.00"))
    clock.advance(dt.timedelta(minutes=1))
    await frozen(shop)
    card = await find_redeemable(shop.manager, await shop.one("SELECT code FROM gift_card"))
    assert isinstance(card, RedeemableCard)
    assert not card.spendable


async def test_other_orders_are_left_alone(shop: Shop) -> None:
    other = await shop.gift_card("30.00")
    await sold_card(shop)
    await frozen(shop)
    await spend_gift_card(shop.manager, SpendGiftCard(code=other.code, amount=Decimal("10.00")))
    assert await shop.one("SELECT count(*) FROM gift_card WHERE frozen_on IS NOT NULL") == 1


async def test_network_vouchers_of_the_order_are_frozen_and_withdrawn(shop: Shop) -> None:
    """A dispute freezes the network vouchers that were sold with its order; a lost one cancels them."""
    await sold_card(shop)
    order_id = await shop.one("SELECT max(id) FROM shop_order")
    voucher_id = await sold_network_voucher(shop, order_id)
    dispute = await frozen(shop)
    shown = "SELECT frozen_on IS NOT NULL FROM network_voucher WHERE id = :id"
    assert await shop.one(shown, id=voucher_id)
    await dispute.contest()
    await dispute.decide("win")
    await dispute.follow()
    assert not await shop.one(shown, id=voucher_id)


async def test_network_vouchers_of_an_order_whose_money_is_gone_are_cancelled(shop: Shop) -> None:
    await sold_card(shop)
    voucher_id = await sold_network_voucher(shop, await shop.one("SELECT max(id) FROM shop_order"))
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    assert await columns(shop, "network_voucher", "status", "frozen_on", "unowed_amount") == [("cncld", None, 120)]
    assert (
        await shop.one(
            "SELECT balance FROM ledger_account WHERE role = 'network_voucher' AND owner_id = :id", id=voucher_id
        )
        == 0
    )


async def sold_network_voucher(shop: Shop, order_id: int) -> int:
    """The id of a network voucher that was sold with an order."""
    marketplace_id = await shop.one("SELECT id FROM marketplace LIMIT 1")
    async with shop.services.db.sessions() as db, db.begin():
        box = BoxRow(
            marketplace_id=marketplace_id,
            name=Text(en="Calm"),
            short_description=Text(),
            long_description=Text(),
            price_amount=Decimal("120.00"),
        )
        db.add(box)
        await db.flush()
        values: dict[str, Any] = {"code": "", "normal_code": "", "status": NetworkVoucherStatus.PAID}
        voucher = NetworkVoucherRow(**values, created_on=clock.now(), order_id=order_id)
        copy_box(voucher, box)
        await network_vouchers.issue(db, voucher)
        return voucher.id
