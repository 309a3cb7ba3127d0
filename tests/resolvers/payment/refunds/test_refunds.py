"""Refunds that the provider cannot make now, and those that somebody makes at the provider."""

import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy import text

from resolvers.gift_card.issuing import cancel_gift_card
from resolvers.payment import refund_notifications
from resolvers.payment.page.process import handle_payin_notification, sync_payin
from resolvers.payment.refunds import sending
from resolvers.payment.refunds.refunds import refund_payment, retry_refund
from schema.core.errors import GiftCardNotSpendable, InvalidTransition
from schema.gift_card.input import CancelGiftCard
from schema.payment.errors import AlreadyRefunded
from schema.payment.input import RefundPayment, RefundSplit, RetryRefund
from schema.payment.payment import PaymentStatus, RefundState
from store.core.clock import clock
from store.payment.payments import PaymentRow, RefundRow
from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount
from store.providers.transactions import CardRefundRequest, TransactionKind
from tests.fixtures.payment.api_payment import (
    balances,
    begun,
    books_balance,
    created,
    paid,
    paid_at_provider,
    reread,
    wallet_uuid,
    wallets_agree,
)
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop

EMPTY_WALLET = "001001"
TOO_LATE = "001403"


async def promised(shop: Shop, payment: PaymentRow, amount: str) -> RefundRow:
    """A refund that is accepted."""
    refund = await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal(amount)))
    assert isinstance(refund, RefundRow)
    return refund


async def state_of(shop: Shop, refund: RefundRow) -> RefundState:
    return RefundState(await shop.one("SELECT state FROM refund WHERE id = :id", id=refund.id))


async def fail_refunds(shop: Shop, code: str, times: int) -> None:
    """Make coming refunds fail at the provider."""
    fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": code, "times": times}
    assert (await shop.control("POST", "/faults", fault)).status_code == 200


async def made_at_provider(shop: Shop, payment: PaymentRow, cents: int, reference: str = "by hand") -> str:
    """Somebody refunds a payment in the provider's dashboard; with our reference, it is a call of ours that came late."""
    payin_id = await shop.one(
        "SELECT provider_id FROM payment_transaction WHERE payment_id = :id AND type = 'payin' AND provider_id <> ''",
        id=payment.id,
    )
    provider = shop.services.provider
    payin = await provider.get_transaction(TransactionKind.PAYIN, payin_id)
    amount, nothing = MinorAmount("EUR", cents), MinorAmount("EUR", 0)
    request = CardRefundRequest(reference, payin_id, payin.payer_id, amount, nothing)
    return (await provider.refund(request, key=new_idempotency_key(), sent_at=clock.now())).id


async def test_a_refund_that_fails_for_days_is_given_to_a_person(shop: Shop) -> None:
    payment = await paid(shop)
    refund = await promised(shop, payment, "40.00")
    await fail_refunds(shop, EMPTY_WALLET, 7)
    for _ in range(7):
        await send_refunds(shop.services)
        clock.advance(dt.timedelta(days=1))
    assert await state_of(shop, refund) is RefundState.NEEDS_ACTION
    assert "does not hold enough" in await shop.one("SELECT detail FROM refund")
    assert await sending.CHECKS.sweep(shop.services) == 0
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'refund.needs_action'") == 1
    assert (await balances(shop))["refund_due"] == 4000
    await retry_refund(shop.manager, RetryRefund(id=refund.id))
    with pytest.raises(InvalidTransition):
        await retry_refund(shop.manager, RetryRefund(id=refund.id))
    await send_refunds(shop.services)
    assert await state_of(shop, refund) is RefundState.DONE
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_refund_that_is_refused_for_good_is_undone(shop: Shop) -> None:
    payment = await paid(shop)
    refund = await promised(shop, payment, "40.00")
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert await state_of(shop, refund) is RefundState.FAILED
    assert (await reread(shop, payment.id)).refunded_amount == 0
    assert await balances(shop) == {"wallet": 10000, "partner": 10000}
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'refund.failed'") == 1
    await books_balance(shop)


async def test_a_refund_made_at_the_provider_ends_up_in_the_books(shop: Shop) -> None:
    payment = await paid(shop)
    refund_id = await made_at_provider(shop, payment, 3000)
    for _ in range(2):
        await refund_notifications.handle_refund_notification(shop.services, refund_id)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("30.00")
    assert await shop.one("SELECT origin FROM refund") == "provider"
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'refund.succeeded'") == 1
    await books_balance(shop)
    await wallets_agree(shop)


async def test_what_is_promised_makes_room_for_what_has_happened(shop: Shop) -> None:
    """90 are promised; before they are sent, somebody refunds 40 at the provider: 60 are left to promise."""
    payment = await paid(shop)
    refund = await promised(shop, payment, "90.00")
    await refund_notifications.handle_refund_notification(shop.services, await made_at_provider(shop, payment, 4000))
    assert await state_of(shop, refund) is RefundState.FAILED
    await send_refunds(shop.services)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("100.00")
    assert await shop.one("SELECT count(*) FROM refund WHERE state = 'done'") == 2
    assert await balances(shop) == {}
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_gift_card_that_paid_nothing_gets_nothing_back(shop: Shop) -> None:
    """It was cancelled while it was on hold: the bank card has its money back, and nothing else is left to refund."""
    card = await shop.gift_card("30.00")
    wallet = await wallet_uuid(shop, card)
    payment = await created(shop, extra_source_wallet_uuid=wallet, extra_source_amount="30.00")
    await cancel_gift_card(shop.manager, CancelGiftCard(id=card.id))
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin)
    await sync_payin(shop.services, payin.id)
    await send_refunds(shop.services)
    done = await reread(shop, payment.id)
    assert (done.payment_amount, done.refunded_amount) == (Decimal("70.00"), Decimal("70.00"))
    with pytest.raises(AlreadyRefunded):
        await promised(shop, payment, "30.00")
    assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id) == Decimal("30.00")
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_refund_that_was_given_up_and_made_all_the_same_is_recorded(shop: Shop) -> None:
    payment = await paid(shop)
    refund = await promised(shop, payment, "90.00")
    by_hand = await made_at_provider(shop, payment, 4000)
    await refund_notifications.handle_refund_notification(shop.services, by_hand)
    assert await state_of(shop, refund) is RefundState.FAILED
    late = await made_at_provider(shop, payment, 3000, str(refund.id))
    for _ in range(2):
        await refund_notifications.handle_refund_notification(shop.services, late)
    for _ in range(2):
        await send_refunds(shop.services)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("100.00")
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_refund_that_is_done_and_made_once_more_is_recorded(shop: Shop) -> None:
    """The answer of the first call was lost, and the provider did not list its refund yet when it was sent again."""
    payment = await paid(shop)
    refund = await promised(shop, payment, "40.00")
    await send_refunds(shop.services)
    assert await state_of(shop, refund) is RefundState.DONE
    clock.advance(dt.timedelta(days=1))
    late = await made_at_provider(shop, payment, 4000, str(refund.id))
    for _ in range(2):
        await refund_notifications.handle_refund_notification(shop.services, late)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("80.00")
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_try_that_failed_and_was_paid_after_all_pays(shop: Shop) -> None:
    payment = await created(shop)
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE payment_transaction SET status = 'err', check_on = NULL"))
        await (await db.connection()).execute(text("UPDATE payment SET status = 'err'"))
    for _ in range(2):
        await handle_payin_notification(shop.services, payin.provider_id)
    assert (await reread(shop, payment.id)).status is PaymentStatus.OK
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_cancelled_gift_card_takes_no_refund(shop: Shop) -> None:
    card = await shop.gift_card("30.00")
    payment = await paid(shop, extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="20.00")
    await cancel_gift_card(shop.manager, CancelGiftCard(id=card.id))
    with pytest.raises(GiftCardNotSpendable):
        await promised(shop, payment, "50.00")
    split = RefundSplit(extra_source_amount=Decimal(0), additional_payin_amount=Decimal("50.00"))
    refund = RefundPayment(id=payment.id, amount=Decimal("50.00"), split=split)
    assert await refund_payment(shop.manager, refund)
    await books_balance(shop)
