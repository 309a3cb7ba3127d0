"""The table of payment requests."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint, func, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payment import PaymentCustomer, PaymentTransactionStatus
from schema.payment.request import PaymentRequest, PaymentRequestStatus
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.core.state_machine import StateMachine
from store.database.text_search import declare_searchable
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.payments import ModifiedOn, PaymentRow, PaymentTransactionRow, link_token

PENDING = PaymentRequestStatus.PENDING


class PaymentRequestRow(PartnerOwned, InCurrency, CreatedOn, ModifiedOn, PaymentCustomer, PaymentRequest, table=True):
    """A payment request. It changes only under its lock."""

    __tablename__ = "payment_request"
    __table_args__ = (
        UniqueConstraint("link_token", name="payment_request_link_token_key"),
        Index("payment_request_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("payment_request_newest_idx", "created_on", "id"),
        Index("payment_request_due_idx", "expires_on", "id", postgresql_where=text("status = 'pending'")),
        CheckConstraint("request_amount > 0", name="asks_for_something"),
    )
    link_token: str = Field(default_factory=link_token, max_length=64)
    invoicing_marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id")


SEARCHED = (
    "search_text(reference || chr(10) || description || chr(10) || code || chr(10) || customer_first_name || ' ' "
    "|| customer_last_name || chr(10) || customer_email)"
)
SEARCH_COLUMNS = {"request_text": ("p", SEARCHED)}
"""The column for text search: reference, description, code and customer."""
declare_searchable(cast("Table", PaymentRequestRow.__table__), SEARCH_COLUMNS)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__

REQUEST_STATES = StateMachine(
    "A payment request",
    {
        PaymentRequestStatus.PENDING: {
            PaymentRequestStatus.PAID,
            PaymentRequestStatus.EXPIRED,
            PaymentRequestStatus.CANCELLED,
        },
        PaymentRequestStatus.EXPIRED: {PaymentRequestStatus.PAID},
        PaymentRequestStatus.CANCELLED: {PaymentRequestStatus.PAID},
    },
    asked_for=True,
)
"""What was paid on a page of the provider that was still open counts, whatever came before."""


async def lock_request(db: AsyncSession, id: int) -> PaymentRequestRow:
    """Lock and reload a payment request."""
    query = select(PaymentRequestRow).where(col(PaymentRequestRow.id) == id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def lock_due_requests(db: AsyncSession, now: dt.datetime, most: int) -> Sequence[PaymentRequestRow]:
    """Lock at most `most` pending requests whose time is over, oldest first. Those with an open pay-in are left."""
    row, payin = PaymentRequestRow, PaymentTransactionRow
    open_payins = (
        select(col(payin.id))
        .join(PaymentRow, col(PaymentRow.id) == col(payin.payment_id))
        .where(
            col(PaymentRow.payment_request_id) == col(row.id),
            col(payin.status) == PaymentTransactionStatus.IN_PROGRESS,
        )
    )
    due = select(row).where(col(row.status) == PENDING, col(row.expires_on) <= now, ~open_payins.exists())
    return await _lock_some(db, due, most)


async def lock_requests_to_remind(db: AsyncSession, now: dt.datetime, most: int) -> Sequence[PaymentRequestRow]:
    """Lock at most `most` pending requests whose customer is to be reminded. Each marketplace says how early."""
    row, days = PaymentRequestRow, col(MarketplaceRow.payment_request_reminder_days)
    reminds_on = col(row.expires_on) - func.make_interval(0, 0, 0, days)
    due = (
        select(row)
        .join(PartnerRow, col(PartnerRow.id) == col(row.partner_id))
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(col(row.status) == PENDING, col(row.reminded_on).is_(None), days > 0)
        .where(col(row.expires_on) > now, reminds_on <= now, reminds_on > col(row.created_on))
    )
    return await _lock_some(db, due, most)


async def _lock_some(db: AsyncSession, due: Any, most: int) -> Sequence[PaymentRequestRow]:
    """Lock the first of some requests. Those that are locked by others are skipped."""
    row = PaymentRequestRow
    ordered = due.order_by(col(row.expires_on), col(row.id)).limit(most)
    rows: Sequence[PaymentRequestRow] = (await db.exec(ordered.with_for_update(of=row, skip_locked=True))).all()
    return rows
