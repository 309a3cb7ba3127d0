"""What keeps data from being erased: what is not paid, not delivered, or not decided yet."""

from collections.abc import Mapping, Sequence

from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind, MailState
from schema.order.fulfilment import FulfilmentState
from schema.order.refund_request import RefundRequestState
from schema.payment.dispute import DisputeState
from schema.payment.payment import PaymentStatus, PaymentTransactionStatus, RefundState
from schema.payment.request import PaymentRequestStatus
from schema.personal_data.export import PersonalGiftKind
from schema.voucher.voucher import ExpeditionStatus
from store.database.loaders import is_any_of
from store.mail.rows import MailRow
from store.payment.attempts import UNSETTLED, AttemptState
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentTransactionRow, RefundRow
from store.personal_data.rows import GiftRow, PersonRows, kind_of
from store.voucher.vouchers import VoucherRow

RUNNING_PAYMENT = "a payment is running"
OPEN_PAYMENT_REQUEST = "a payment request is open"
OPEN_REFUND = "a refund is on its way"
OPEN_REFUND_REQUEST = "a withdrawal or a request for a refund is open"
OPEN_DISPUTE = "a dispute is open"
UNDELIVERED_ORDER = "an order is not handed over or sent"
UNDELIVERED_GIFT = "a present is not delivered"
BEING_CHANGED = "something of it is being changed at this moment"

_GIFT_MAILS: Mapping[PersonalGiftKind, MailKind] = {
    PersonalGiftKind.VOUCHER: MailKind.VOUCHER,
    PersonalGiftKind.GIFT_CARD: MailKind.GIFT_CARD,
    PersonalGiftKind.NETWORK_GIFT_CARD: MailKind.NETWORK_GIFT_CARD,
    PersonalGiftKind.NETWORK_VOUCHER: MailKind.NETWORK_VOUCHER,
}


async def find_obstacles(db: AsyncSession, found: PersonRows) -> Sequence[str]:
    """Why locked rows cannot be erased now, as parts of a sentence; empty if they can."""
    waits = {FulfilmentState.TO_PREPARE, FulfilmentState.READY_TO_COLLECT}
    conditions = {
        RUNNING_PAYMENT: await _is_payment_running(db, found),
        OPEN_PAYMENT_REQUEST: any(each.status is PaymentRequestStatus.PENDING for each in found.payment_requests),
        OPEN_REFUND: await _is_refund_open(db, found),
        OPEN_REFUND_REQUEST: any(each.state is RefundRequestState.PENDING for each in found.refund_requests),
        OPEN_DISPUTE: await _is_dispute_open(db, found),
        UNDELIVERED_ORDER: any(order.fulfilment_state in waits for order in found.orders),
        UNDELIVERED_GIFT: await _is_gift_undelivered(db, found.gifts),
    }
    return [reason for reason, holds in conditions.items() if holds]


async def _is_payment_running(db: AsyncSession, found: PersonRows) -> bool:
    if any(each.state in {*UNSETTLED, AttemptState.REFUNDING} for each in found.attempts):
        return True
    if any(
        each.status is PaymentStatus.IN_PROGRESS or (each.status is PaymentStatus.ERROR and each.check_on is not None)
        for each in found.payments
    ):
        return True
    row = PaymentTransactionRow
    running = select(row.id).where(
        is_any_of(col(row.payment_id), [payment.id for payment in found.payments]),
        col(row.status) == PaymentTransactionStatus.IN_PROGRESS,
        col(row.refund_id).is_(None),
    )
    return (await db.exec(running.limit(1))).first() is not None


async def _is_refund_open(db: AsyncSession, found: PersonRows) -> bool:
    query = select(RefundRow.id).where(
        is_any_of(col(RefundRow.payment_id), [payment.id for payment in found.payments]),
        col(RefundRow.state).in_([RefundState.PENDING, RefundState.NEEDS_ACTION]),
    )
    return (await db.exec(query.limit(1))).first() is not None


async def _is_dispute_open(db: AsyncSession, found: PersonRows) -> bool:
    query = select(DisputeRow.id).where(
        is_any_of(col(DisputeRow.payment_id), [payment.id for payment in found.payments]),
        col(DisputeRow.state).in_([DisputeState.OPEN, DisputeState.NEEDS_RESPONSE, DisputeState.UNDER_REVIEW]),
    )
    return (await db.exec(query.limit(1))).first() is not None


async def _is_gift_undelivered(db: AsyncSession, gifts: Sequence[GiftRow]) -> bool:
    """Whether one that is not taken back is still to be posted, waits for its day, or has a mail that is not sent."""
    gifts = [gift for gift in gifts if not _is_taken_back(gift)]
    if any(isinstance(gift, VoucherRow) and gift.expedition_status is ExpeditionStatus.TO_SEND for gift in gifts):
        return True
    if not gifts:
        return False
    about = or_(
        *(
            (col(MailRow.kind) == _GIFT_MAILS[kind_of(gift)])
            & col(MailRow.content).contains({"items": [{"id": gift.id}]})
            for gift in gifts
        )
    )
    query = select(MailRow.id).where(col(MailRow.state) == MailState.QUEUED, about)
    return (await db.exec(query.limit(1))).first() is not None


def _is_taken_back(gift: GiftRow) -> bool:
    if isinstance(gift, VoucherRow):
        return gift.refunded_on is not None
    return gift.status.value == GiftCardStatus.CANCELLED.value
