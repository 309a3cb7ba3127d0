"""Payments over the API: created, paid at the provider, refunded; every cent in the books."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.payment.creation import cancel_payment, create_payment, update_payment
from resolvers.payment.page.process import ENDS, end_payment, handle_payin_notification, start_payin, sync_payin
from resolvers.payment.refunds.refunds import preview_refund, refund_payment
from schema.core.errors import AppError, GiftCardNotSpendable, InsufficientBalance, InvalidInput
from schema.payment.errors import (
    AlreadyRefunded,
    NotRefundable,
    PaymentEnded,
    PaymentInProgress,
    PaymentsNotActive,
    RefundTooLate,
)
from schema.payment.input import CancelPayment, PreviewRefund, RefundPayment, UpdatePayment
from schema.payment.payment import PaymentStatus, RefundState
from store.core.clock import clock
from store.payment.payments import PaymentRow, RefundRow
from tests.fixtures.payment.api_payment import (
    RETURN_TO_PAGE,
    balances,
    begun,
    books_balance,
    created,
    fee_rule,
    paid,
    paid_at_provider,
    payment_input,
    reread,
    wallet_uuid,
)
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import DECLINED_CARD, Shop

_PARTS = text(
    "SELECT payment_method, transaction_amount, commission_amount FROM payment_transaction WHERE type = 'refund' ORDER BY id"
)


def refund_input(payment: PaymentRow, amount: str, **more: Any) -> RefundPayment:
    made: RefundPayment = RefundPayment.model_validate({"id": payment.id, "amount": amount, **more})
    return made


async def refunded(shop: Shop, payment: PaymentRow, amount: str, **more: Any) -> RefundRow:
    refund = await refund_payment(shop.manager, refund_input(payment, amount, **more))
    assert isinstance(refund, RefundRow)
    return refund


async def test_a_payment_is_paid_and_posted_with_its_commission(shop: Shop) -> None:
    rule = await fee_rule(shop)
    payment = await created(shop)
    assert (payment.status, payment.commission_amount, payment.net_amount) == (
        PaymentStatus.IN_PROGRESS,
        Decimal("6.00"),
        Decimal("94.00"),
    )
    payin = await begun(shop, payment)
    assert payin.redirect_url
    await paid_at_provider(shop, payin)
    await asyncio.gather(*(sync_payin(shop.services, payin.id) for _ in range(5)))
    payment = await reread(shop, payment.id)
    assert (payment.status, payment.fee_rule_id) == (PaymentStatus.OK, rule.id)
    assert await balances(shop) == {
        "wallet": 9400,
        "fees_wallet": 600,
        "partner": 9400,
        "commission": 500,
        "vat_on_commission": 100,
    }
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payment.succeeded'") == 1
    await books_balance(shop)


async def test_pressing_many_times_begins_one_pay_in(shop: Shop) -> None:
    payment = await created(shop)
    payins = await asyncio.gather(
        *(start_payin(shop.services, payment, RETURN_TO_PAGE) for _ in range(10)), return_exceptions=True
    )
    assert {payin.id for payin in payins if not isinstance(payin, BaseException)} == {1}
    assert await shop.count("payment_transaction") == 1
    assert (await shop.control("GET", "/stats")).json()["calls"]["POST /payins/card/web"] <= 10
    again = await begun(shop, payment)
    await paid_at_provider(shop, again)
    await asyncio.gather(
        *(handle_payin_notification(shop.services, again.provider_id) for _ in range(5)),
        *(sync_payin(shop.services, again.id) for _ in range(5)),
    )
    assert (await reread(shop, payment.id)).status is PaymentStatus.OK
    with pytest.raises(PaymentEnded):
        await start_payin(shop.services, await reread(shop, payment.id), RETURN_TO_PAGE)
    await books_balance(shop)


async def test_a_declined_card_can_be_followed_by_another(shop: Shop) -> None:
    payment = await created(shop)
    first = await begun(shop, payment)
    await paid_at_provider(shop, first, DECLINED_CARD)
    await sync_payin(shop.services, first.id)
    declined = await reread(shop, payment.id)
    assert declined.status is PaymentStatus.ERROR
    assert declined.payin_result_code
    second = await begun(shop, declined)
    assert second.id != first.id
    assert (await reread(shop, payment.id)).status is PaymentStatus.IN_PROGRESS
    await paid_at_provider(shop, second)
    await sync_payin(shop.services, second.id)
    done = await reread(shop, payment.id)
    assert (done.status, done.payin_result_code) == (PaymentStatus.OK, "")
    await books_balance(shop)


async def test_a_gift_card_pays_a_part_when_the_card_has_paid(shop: Shop) -> None:
    card = await shop.gift_card("30.00")
    payment = await created(shop, extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="30.00")
    assert await balances(shop) == {"issued": 3000, "card_held": 3000}
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin)
    await sync_payin(shop.services, payin.id)
    assert await balances(shop) == {"wallet": 7000, "partner": 7000}
    assert await shop.one("SELECT status FROM gift_card WHERE id = :id", id=card.id) == "used"
    assert await shop.one("SELECT count(*) FROM transfer WHERE type = 'payment' AND transfer_amount = 30") == 1
    await books_balance(shop)


async def test_a_payment_that_a_gift_card_covers_is_paid_at_once(shop: Shop) -> None:
    card = await shop.gift_card("50.00")
    uuid = await wallet_uuid(shop, card)
    payment = await created(shop, "50.00", extra_source_wallet_uuid=uuid, extra_source_amount="50.00")
    assert (payment.status, payment.card_amount) == (PaymentStatus.OK, Decimal("0.00"))
    with pytest.raises(PaymentEnded):
        await start_payin(shop.services, payment, RETURN_TO_PAGE)
    with pytest.raises(GiftCardNotSpendable):
        await created(shop, "50.00", extra_source_wallet_uuid=uuid, extra_source_amount="1.00")
    await books_balance(shop)


@pytest.mark.parametrize("paid_late", [False, True])
async def test_a_payment_ends_after_a_day_and_releases_its_gift_card(shop: Shop, paid_late: bool) -> None:
    card = await shop.gift_card("30.00")
    payment = await created(shop, extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="30.00")
    if paid_late:
        await paid_at_provider(shop, await begun(shop, payment))
    clock.advance(dt.timedelta(days=1, minutes=1))
    assert await ENDS.sweep(shop.services) == 1
    await end_payment(shop.services, payment.id)
    ended = await reread(shop, payment.id)
    assert ended.status is (PaymentStatus.OK if paid_late else PaymentStatus.CANCELLED)
    left = await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id)
    assert left == (Decimal(0) if paid_late else Decimal(30))
    await books_balance(shop)


async def test_cancelling_waits_for_who_is_paying(shop: Shop) -> None:
    payment, other = await created(shop), await paid(shop)
    assert (await cancel_payment(shop.manager, CancelPayment(id=payment.id))).status is PaymentStatus.CANCELLED
    assert (await cancel_payment(shop.manager, CancelPayment(id=payment.id))).status is PaymentStatus.CANCELLED
    with pytest.raises(PaymentEnded):
        await cancel_payment(shop.manager, CancelPayment(id=other.id))
    third = await created(shop)
    await begun(shop, third)
    with pytest.raises(PaymentInProgress):
        await cancel_payment(shop.manager, CancelPayment(id=third.id))
    await books_balance(shop)


async def test_the_date_of_the_payout_can_be_changed(shop: Shop) -> None:
    payment, day = await created(shop), dt.datetime(2027, 1, 4, tzinfo=dt.UTC)
    await shop.execute("UPDATE partner SET freeze_payout = true")
    await update_payment(shop.manager, UpdatePayment(id=payment.id, freeze_payout_date=day))
    assert (await reread(shop, payment.id)).freeze_payout_date == day


async def test_refunds_are_proportional_and_exact_at_the_end(shop: Shop) -> None:
    await fee_rule(shop)
    card = await shop.gift_card("33.33")
    payment = await paid(shop, extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="33.33")
    assert payment.commission_amount == Decimal("4.00")
    first = await refunded(shop, payment, "10.01")
    assert first.state is RefundState.PENDING
    parts = await shop.services.db.rows(_PARTS)
    assert [(row.payment_method, str(row.transaction_amount), str(row.commission_amount)) for row in parts] == [
        ("gift_card", "3.33", "0.00"),
        ("credit_card", "6.68", "0.40"),
    ]
    assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id) == Decimal("3.33")
    await books_balance(shop)
    await send_refunds(shop.services)
    assert await shop.one("SELECT state FROM refund") == "done"
    await refunded(shop, payment, "89.99")
    clock.advance(dt.timedelta(days=1))
    for _ in range(2):  # the key that was never sent is too old by now, and is replaced first
        await send_refunds(shop.services)
    done = await reread(shop, payment.id)
    assert (done.refunded_amount, done.status) == (Decimal("100.00"), PaymentStatus.OK)
    assert await balances(shop) == {"issued": 3333, "card": 3333}
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payment.refunded'") == 1
    with pytest.raises(AlreadyRefunded):
        await refunded(shop, payment, "0.01")
    await books_balance(shop)


async def test_a_split_decides_and_never_takes_more_than_is_left(shop: Shop) -> None:
    card = await shop.gift_card("30.00")
    payment = await paid(shop, extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="30.00")
    split = {"extra_source_amount": "25.00", "additional_payin_amount": "0"}
    await refunded(shop, payment, "25.00", split=split)
    with pytest.raises(InvalidInput) as refused:
        await refunded(shop, payment, "25.00", split=split)
    assert [problem.path for problem in refused.value.problems] == [("split", "extra_source_amount")]
    with pytest.raises(InvalidInput):
        await refunded(shop, payment, "26.00", split=split)
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("25.00")
    await books_balance(shop)


async def test_a_preview_changes_nothing(shop: Shop) -> None:
    await fee_rule(shop)
    payment = await paid(shop)
    before = await balances(shop)
    seen = await preview_refund(shop.manager, PreviewRefund(id=payment.id, amount=Decimal("40.00")))
    assert (seen.by_card.amount, seen.commission_back.amount, seen.left.amount) == (
        Decimal("40.00"),
        Decimal("2.40"),
        Decimal("60.00"),
    )
    assert await balances(shop) == before
    assert await shop.count("refund") == 0
    assert (await reread(shop, payment.id)).refunded_amount == 0
    await books_balance(shop)


async def test_many_refunds_at_once_never_exceed_the_payment(shop: Shop) -> None:
    """Sixty at once: more than a process has connections."""
    payment = await paid(shop)
    outcomes = await asyncio.gather(*(refunded(shop, payment, "2.50") for _ in range(60)), return_exceptions=True)
    failures = [each for each in outcomes if isinstance(each, BaseException)]
    assert len(failures) == 20
    assert all(isinstance(each, AppError) for each in failures), failures
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("100.00")
    assert await shop.one("SELECT sum(refund_amount) FROM refund") == Decimal("100.00")
    assert await balances(shop) == {"wallet": 10000, "refund_due": 10000}
    await books_balance(shop)


async def test_what_cannot_be_refunded(shop: Shop) -> None:
    waiting, payment = await created(shop), await paid(shop)
    with pytest.raises(NotRefundable):
        await refunded(shop, waiting, "1.00")
    with pytest.raises(InvalidInput) as refused:  # what is wrong in the request comes before the state
        await refunded(shop, waiting, "1.00", split={"extra_source_amount": "1.00", "additional_payin_amount": "1.00"})
    assert [problem.path for problem in refused.value.problems] == [("split",)]
    with pytest.raises(InvalidInput):
        await refunded(shop, payment, "100.01")
    clock.advance(dt.timedelta(days=340))
    with pytest.raises(RefundTooLate):
        await refunded(shop, payment, "1.00")
    await books_balance(shop)


async def test_bancontact_is_refunded_for_half_a_year(shop: Shop) -> None:
    payment = await paid(shop)
    await shop.execute("UPDATE payment_transaction SET method = 'bancontact'")
    clock.advance(dt.timedelta(days=178))
    await refunded(shop, payment, "1.00")
    clock.advance(dt.timedelta(days=2))
    with pytest.raises(RefundTooLate):
        await refunded(shop, payment, "2.00")
    assert await shop.one("SELECT refunded_amount FROM payment WHERE id = :id", id=payment.id) == 1


async def test_a_payment_needs_an_active_partner_and_a_known_wallet(shop: Shop) -> None:
    card = await shop.gift_card("30.00")
    uuid = await wallet_uuid(shop, card)
    for wrong, error in (
        (
            {"extra_source_wallet_uuid": "018f2f8e-0000-7000-8000-000000000000", "extra_source_amount": "1"},
            InvalidInput,
        ),
        ({"extra_source_amount": "1.00"}, InvalidInput),
        ({"extra_source_wallet_uuid": uuid, "extra_source_amount": "100.01"}, InvalidInput),
        ({"extra_source_wallet_uuid": uuid, "extra_source_amount": "30.01"}, InsufficientBalance),
        ({"partner_uuid": "018f2f8e-0000-7000-8000-000000000000"}, InvalidInput),
    ):
        with pytest.raises(error):
            await create_payment(shop.manager, payment_input(shop, **wrong))
    async with shop.services.db.sessions() as db, db.begin():
        db.add(shop.partner)
        shop.partner.payments_active = False
    with pytest.raises(PaymentsNotActive):
        await created(shop)
    assert await shop.count("payment") == 0
    await books_balance(shop)
