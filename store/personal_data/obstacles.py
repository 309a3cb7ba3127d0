"""What keeps data from being erased: what is not paid, not delivered, or not decided yet."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind, MailState
from schema.order.fulfilment import FulfilmentState
from schema.order.refund_request import RefundRequestState
from schema.payment.dispute import DisputeState
from schema.payment.payment import PaymentStatus, PaymentTransactionStatus, RefundState
from schema.payment.request import PaymentRequestStatus
from schema.voucher.voucher import ExpeditionStatus
from store.database.loaders import is_any_of
from store.mail.content import GiftRole
from store.mail.rows import MailRow
from store.payment.attempts import UNSETTLED, AttemptState
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentTransactionRow, RefundRow
from store.personal_data.reach import ABOUT_LOG_INS, ISSUED_IN, brings, is_to, mails_about
from store.personal_data.rows import GiftRow, PersonRows, kind_of
from store.personal_data.scrubbing import PersonalTexts
from store.personal_data.traces import contains, of_person
from store.voucher.vouchers import VoucherRow

RUNNING_PAYMENT = "a payment is running"
OPEN_PAYMENT_REQUEST = "a payment request is open"
OPEN_REFUND = "a refund is on its way"
OPEN_REFUND_REQUEST = "a withdrawal or a request for a refund is open"
OPEN_DISPUTE = "a dispute is open"
UNDELIVERED_ORDER = "an order is not handed over or sent"
UNDELIVERED_GIFT = "a present is not delivered"
UNSENT_MAIL = "a mail about it is not sent"
PAID_LATE = dt.timedelta(days=2)
"""For how long the provider may tell that a payment that had failed is paid after all."""
BEING_CHANGED = "something of it is being changed at this moment"


async def find_obstacles(db: AsyncSession, person_rows: PersonRows, now: dt.datetime) -> Sequence[str]:
    """Why locked rows cannot be erased now, as parts of a sentence; empty if they can."""
    waits = {FulfilmentState.TO_PREPARE, FulfilmentState.READY_TO_COLLECT}
    conditions = {
        RUNNING_PAYMENT: await _is_payment_running(db, person_rows, now),
        OPEN_PAYMENT_REQUEST: any(each.status is PaymentRequestStatus.PENDING for each in person_rows.payment_requests),
        OPEN_REFUND: await _is_refund_open(db, person_rows),
        OPEN_REFUND_REQUEST: any(each.state is RefundRequestState.PENDING for each in person_rows.refund_requests),
        OPEN_DISPUTE: await _is_dispute_open(db, person_rows),
        UNDELIVERED_ORDER: any(order.fulfilment_state in waits for order in person_rows.orders),
        UNDELIVERED_GIFT: await _is_gift_undelivered(db, person_rows.gifts),
        UNSENT_MAIL: await _is_mail_unsent(db, person_rows),
    }
    return [reason for reason, holds in conditions.items() if holds]


async def _is_payment_running(db: AsyncSession, person_rows: PersonRows, now: dt.datetime) -> bool:
    for each in person_rows.attempts:
        may_be_paid = each.state is AttemptState.FAILED and each.payin_id and each.created_on > now - PAID_LATE
        if may_be_paid or each.state in {*UNSETTLED, AttemptState.REFUNDING}:
            return True
    if any(
        each.status is PaymentStatus.IN_PROGRESS or (each.status is PaymentStatus.ERROR and each.check_on is not None)
        for each in person_rows.payments
    ):
        return True
    row = PaymentTransactionRow
    running = select(row.id).where(
        is_any_of(col(row.payment_id), [payment.id for payment in person_rows.payments]),
        col(row.status) == PaymentTransactionStatus.IN_PROGRESS,
        col(row.refund_id).is_(None),
    )
    return (await db.exec(running.limit(1))).first() is not None


async def _is_refund_open(db: AsyncSession, person_rows: PersonRows) -> bool:
    query = select(RefundRow.id).where(
        is_any_of(col(RefundRow.payment_id), [payment.id for payment in person_rows.payments]),
        col(RefundRow.state).in_([RefundState.PENDING, RefundState.NEEDS_ACTION]),
    )
    return (await db.exec(query.limit(1))).first() is not None


async def _is_dispute_open(db: AsyncSession, person_rows: PersonRows) -> bool:
    query = select(DisputeRow.id).where(
        is_any_of(col(DisputeRow.payment_id), [payment.id for payment in person_rows.payments]),
        col(DisputeRow.state).in_([DisputeState.OPEN, DisputeState.NEEDS_RESPONSE, DisputeState.UNDER_REVIEW]),
    )
    return (await db.exec(query.limit(1))).first() is not None


async def _is_gift_undelivered(db: AsyncSession, gifts: Sequence[GiftRow]) -> bool:
    """Whether one that is not taken back is still to be posted, waits for its day, or whose last mail is not sent."""
    gifts = [gift for gift in gifts if not _is_taken_back(gift)]
    if any(isinstance(gift, VoucherRow) and gift.expedition_status is ExpeditionStatus.TO_SEND for gift in gifts):
        return True
    if not gifts:
        return False
    query = select(MailRow).where(or_(*map(brings, gifts))).order_by(col(MailRow.id))
    last: dict[tuple[MailKind, int], MailState] = {}
    for mail in (await db.exec(query)).all():
        if mail.state is MailState.QUEUED:
            return True
        if GiftRole(mail.content["role"]).attaches_documents:
            last |= {(mail.kind, item["id"]): mail.state for item in mail.content["items"]}
    return any(last.get((ISSUED_IN[kind_of(gift)], gift.id)) is MailState.FAILED for gift in gifts)


async def _is_mail_unsent(db: AsyncSession, person_rows: PersonRows) -> bool:
    """Whether a mail to somebody else, which would say less, is still to be sent."""
    person = person_rows.person
    if person is None:
        return False
    texts, row = PersonalTexts(person.email), MailRow
    query = select(row).where(
        col(row.state) == MailState.QUEUED,
        ~is_to(person.email),
        col(row.kind).not_in(ABOUT_LOG_INS),
        of_person(row, person),
        or_(contains(row.content, texts.needle), mails_about(person_rows)),
    )
    about = set(await db.exec(select(row.id).where(col(row.state) == MailState.QUEUED, mails_about(person_rows))))
    return any(mail.id in about or texts.has_email(mail.content) for mail in (await db.exec(query)).all())


def _is_taken_back(gift: GiftRow) -> bool:
    if isinstance(gift, VoucherRow):
        return gift.refunded_on is not None
    return gift.status.value == GiftCardStatus.CANCELLED.value
