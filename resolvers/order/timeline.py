"""The timeline of orders, put together from the orders, their payments, requests and mails, and from the audit log."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import tuple_
from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from schema.audit import AuditEntry
from schema.core.money import Money
from schema.core.permission import Permission
from schema.mail import MailKind, MailState
from schema.order.order import Order
from schema.order.timeline import OrderTimelineEntry, OrderTimelineKind
from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType
from store.audit.entries import AuditEntryRow
from store.database.loaders import is_any_of
from store.mail.content import GiftRole
from store.mail.rows import KINDS_ABOUT_ORDERS, MailRow
from store.order.orders import OrderProductRow, OrderRow
from store.order.refund_requests import RefundRequestRow
from store.payment.payments import PaymentRow, PaymentTransactionRow, RefundRow

STAFF_MOVES: Mapping[str, OrderTimelineKind] = {
    "mark_order_ready": OrderTimelineKind.READY,
    "mark_order_collected": OrderTimelineKind.COLLECTED,
    "mark_order_sent": OrderTimelineKind.SENT,
    "mark_order_delivered": OrderTimelineKind.DELIVERED,
    "cancel_order_fulfilment": OrderTimelineKind.CANCELLED,
    "reopen_order_fulfilment": OrderTimelineKind.REOPENED,
    "update_order_details": OrderTimelineKind.DETAILS_CORRECTED,
}
"""What staff do to an order, by the operation in the audit log."""
MOVES = {
    "fulfilment_ready_on": OrderTimelineKind.READY,
    "fulfilment_collected_on": OrderTimelineKind.COLLECTED,
    "fulfilment_sent_on": OrderTimelineKind.SENT,
    "fulfilment_delivered_on": OrderTimelineKind.DELIVERED,
    "fulfilment_cancelled_on": OrderTimelineKind.CANCELLED,
}
"""The times that an order has itself. They stay when entries of the audit log are deleted."""
SAME_MOVE = dt.timedelta(seconds=30)
"""An operation notes its time when it begins, and the order when it moves."""
MAIL_STATES = {
    MailState.QUEUED: OrderTimelineKind.MAIL_QUEUED,
    MailState.SENT: OrderTimelineKind.MAIL_SENT,
    MailState.FAILED: OrderTimelineKind.MAIL_FAILED,
}
ISSUED = {
    "voucher_id": MailKind.VOUCHER,
    "gift_card_id": MailKind.GIFT_CARD,
    "network_gift_card_id": MailKind.NETWORK_GIFT_CARD,
    "network_voucher_id": MailKind.NETWORK_VOUCHER,
}
"""The mail that brings what a line has issued."""
Entries = defaultdict[int, list[OrderTimelineEntry]]
"""Entries by the id of their order."""


@dataclass(frozen=True, slots=True)
class TimelineReader:
    """Reads the entries of orders for a caller, a table at a time."""

    db: AsyncSession
    orders: Mapping[int, OrderRow]
    sees_users: bool
    entries: Entries

    def add(self, order_id: int, at: dt.datetime, kind: OrderTimelineKind, **more: object) -> None:
        """Add an entry."""
        self.entries[order_id].append(OrderTimelineEntry.model_validate({"occurred_on": at, "kind": kind, **more}))

    def who(self, entry: AuditEntry | None) -> Mapping[str, object]:
        """Who did what an entry of the audit log says."""
        if entry is None:
            return {}
        return {"actor": entry.actor, "username": entry.username if self.sees_users else ""}

    async def audit_entries(self, subject: str, ids: Iterable[object]) -> Sequence[AuditEntry]:
        """What was done to objects of a type, oldest first."""
        row = AuditEntryRow
        about = col(row.subject_type) == subject, is_any_of(col(row.subject_id), [str(id) for id in ids])
        query = select(row).where(*about, col(row.refused).is_(None)).order_by(col(row.occurred_on), col(row.id))
        return (await self.db.exec(query)).all()

    async def add_fulfilment(self) -> None:
        """What was done with the orders themselves."""
        audited = defaultdict[int, list[AuditEntry]](list)
        for entry in await self.audit_entries("Order", self.orders):
            if entry.operation in STAFF_MOVES and entry.changes:
                audited[int(entry.subject_id)].append(entry)
        for id, order in self.orders.items():
            self.add(id, order.created_on, OrderTimelineKind.PLACED)
            for entry in audited[id]:
                self.add(id, entry.occurred_on, STAFF_MOVES[entry.operation], **self.who(entry))
            for name, kind in MOVES.items():
                at = getattr(order, name)
                if at is not None and not any(_is_about(entry, kind, at) for entry in audited[id]):
                    self.add(id, at, kind)

    async def add_money(self) -> None:
        """The pay-ins and refunds."""
        payment, part, refund = PaymentRow, PaymentTransactionRow, RefundRow
        of_order = is_any_of(col(payment.order_id), list(self.orders))
        paid = select(payment.order_id, part).join(part, col(part.payment_id) == payment.id)
        is_in = part.type == PaymentTransactionType.PAYIN, part.status == PaymentTransactionStatus.OK
        for order_id, row in (await self.db.exec(paid.where(of_order, *is_in))).all():
            money = Money(amount=row.transaction_amount, currency=row.currency)
            self.add(order_id or 0, row.executed_on or row.created_on, OrderTimelineKind.PAID, amount=money)
        query = select(payment.order_id, refund).join(refund, col(refund.payment_id) == payment.id)
        refunds = (await self.db.exec(query.where(of_order))).all()
        audited = {
            entry.subject_id: entry for entry in await self.audit_entries("Refund", [row.id for _, row in refunds])
        }
        for order_id, made in refunds:
            more = {"amount": Money(amount=made.refund_amount, currency=made.currency), "text": made.reason}
            who = self.who(audited.get(str(made.id)))
            self.add(order_id or 0, made.created_on, OrderTimelineKind.REFUNDED, **more, **who)

    async def add_requests(self) -> None:
        """What buyers have asked for, and the answers."""
        row = RefundRequestRow
        requests = (await self.db.exec(select(row).where(is_any_of(col(row.order_id), list(self.orders))))).all()
        audited = {
            entry.subject_id: entry for entry in await self.audit_entries("RefundRequest", [it.id for it in requests])
        }
        for each in requests:
            self.add(each.order_id, each.requested_on, OrderTimelineKind.REFUND_REQUESTED, text=each.reason)
            if each.answered_on is not None:
                who = self.who(audited.get(str(each.id)))
                self.add(each.order_id, each.answered_on, OrderTimelineKind.REQUEST_ANSWERED, text=each.answer, **who)

    async def add_mails(self) -> None:
        """The mails about the orders, and those that bring what they have issued."""
        numbers = {(order.partner_id, str(order.number)): id for id, order in self.orders.items()}
        bringing = dict(await self._keys_of_gift_mails())
        row = MailRow
        about = tuple_(col(row.partner_id), row.__table__.c.order_number).in_(list(numbers))  # type: ignore[attr-defined]
        is_about = about & col(row.kind).in_(KINDS_ABOUT_ORDERS)
        number = row.__table__.c.order_number.label("number")  # type: ignore[attr-defined]
        query = select(row, number).where(or_(is_about, is_any_of(col(row.once), list(bringing))))
        for mail, told in (await self.db.exec(query)).all():
            order_id = bringing.get(mail.once or "") or numbers[mail.partner_id or 0, told]
            more = {"mail_id": mail.id, "mail_kind": mail.kind, "recipient": mail.recipient, "text": mail.last_error}
            self.add(order_id, mail.sent_on or mail.created_on, MAIL_STATES[mail.state], **more)

    async def _keys_of_gift_mails(self) -> Sequence[tuple[str, int]]:
        """The keys that mails with vouchers and gift cards of the orders may have, with the orders' ids."""
        row = OrderProductRow
        query = select(row).where(is_any_of(col(row.order_id), list(self.orders)))
        return [key for line in (await self.db.exec(query)).all() for key in _keys_of_line(line)]


def _is_about(entry: AuditEntry, kind: OrderTimelineKind, at: dt.datetime) -> bool:
    """Whether an entry of the audit log is about a move that the order has made at a time."""
    return STAFF_MOVES[entry.operation] is kind and abs(entry.occurred_on - at) < SAME_MOVE


def _keys_of_line(line: OrderProductRow) -> Iterator[tuple[str, int]]:
    for name, kind in ISSUED.items():
        if (id := getattr(line, name)) is not None:
            yield from ((f"{kind}:{role}:{id}", line.order_id) for role in GiftRole)


@computes(Order, "timeline")
async def timeline_of_orders(context: Context, ids: Sequence[int]) -> Mapping[int, list[OrderTimelineEntry]]:
    """What has happened to orders, oldest first. Who may not see mails, does not see them here."""
    caller, entries = context.required_caller, Entries(list)
    async with context.db.read_sessions() as db:
        orders = (await db.exec(select(OrderRow).where(is_any_of(col(OrderRow.id), list(ids))))).all()
        sees_users = caller.may(Permission.VIEW_AUDIT)
        reader = TimelineReader(db, {order.id: order for order in orders}, sees_users, entries)
        await reader.add_fulfilment()
        await reader.add_money()
        await reader.add_requests()
        if caller.may(Permission.VIEW_MAIL):
            await reader.add_mails()
    return {id: sorted(entries[id], key=lambda entry: entry.occurred_on) for id in ids}
