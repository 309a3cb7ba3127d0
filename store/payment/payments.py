"""The tables of payments, their sources and movements, and refunds."""

import datetime as dt
import secrets
from decimal import Decimal
from typing import cast
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Column, Computed, Index, Numeric, String, Table, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from schema.checkout.checkout import ShopKind
from schema.core.columns import amount_column, datetime_column
from schema.payment.payment import (
    Payment,
    PaymentCustomer,
    PaymentSource,
    PaymentStatus,
    PaymentTransaction,
    PaymentTransactionStatus,
    Refund,
    RefundState,
)
from store.core.clock import now
from store.core.codes import document_token
from store.core.provider_process import CheckedRow, ReferencedRow
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, PartnerOwned
from store.core.state_machine import StateMachine
from store.database.text_search import GENERATED_COLUMN, declare_searchable


def link_token() -> str:
    """A new token of a payment page: 192 random bits."""
    return secrets.token_urlsafe(24)


class ModifiedOn(SQLModel):
    """A row that knows when it was last changed."""

    modified_on: dt.datetime = datetime_column(
        "When it was last changed.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )


class PaymentRow(PartnerOwned, InCurrency, CreatedOn, ModifiedOn, PaymentCustomer, Payment, CheckedRow, table=True):
    """A payment. `check_on` is when the worker ends it, unless it is paid before."""

    __tablename__ = "payment"
    __table_args__ = (
        UniqueConstraint("attempt_id", name="payment_attempt_key"),
        UniqueConstraint("link_token", name="payment_link_token_key"),
        UniqueConstraint("document_token", name="payment_document_token_key"),
        Index("payment_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("payment_status_list_idx", "partner_id", "status", "created_on", "id"),
        Index("payment_newest_idx", "created_on", "id"),
        Index("payment_payment_amount_list_idx", "partner_id", "payment_amount", "id"),
        Index(
            "payment_of_request_key",
            "payment_request_id",
            unique=True,
            postgresql_where=text("status IN ('ip', 'err')"),
        ),
        Index("payment_smallest_idx", "payment_amount", "id"),
        Index("payment_due_idx", "check_on", postgresql_where=text("status IN ('ip', 'err')")),
        CheckConstraint("payment_amount > 0", name="pays_something"),
        CheckConstraint("payment_amount = card_amount + extra_amount", name="adds_up"),
        CheckConstraint("refunded_amount BETWEEN 0 AND payment_amount", name="refunds_no_more"),
        CheckConstraint("net_amount = payment_amount - commission_amount", name="is_net"),
        CheckConstraint(
            "partner_share_amount BETWEEN 0 AND card_amount AND (partner_share_amount = 0 OR is_for_marketplace)",
            name="shares_no_more",
        ),
    )
    book_id: int = Field(foreign_key="ledger_book.id")
    wallet_id: int | None = Field(default=None, foreign_key="wallet.id", index=True)
    extra_wallet_id: int | None = Field(default=None, foreign_key="wallet.id", index=True)
    order_id: int | None = Field(default=None, foreign_key="shop_order.id", index=True)
    attempt_id: UUID | None = Field(default=None, foreign_key="checkout_attempt.id")
    customer_id: int | None = Field(default=None, foreign_key="customer.id", index=True)
    payment_request_id: int | None = Field(default=None, foreign_key="payment_request.id", index=True)
    fee_rule_id: int | None = Field(default=None, foreign_key="fee_rule.id")
    commission_vat_amount: Decimal = amount_column(default=Decimal("0.00"))
    commission_vat_rate: Decimal = Field(default=Decimal("0.00"), sa_type=Numeric(5, 2))
    """In percent."""
    is_reverse_charge: bool = False
    """Whether no VAT was added because the partner owes it."""
    link_token: str | None = Field(default=None, max_length=64)
    """The token of its page; None if it is paid in a checkout."""
    document_token: str = Field(default_factory=document_token, max_length=64)
    round: int = Field(default=0)
    """How often amounts of its wallets were held."""

    @property
    def is_refill(self) -> bool:
        """True if it fills the marketplace's own wallet, and sells nothing."""
        return self.is_for_marketplace and self.attempt_id is None

    @property
    def is_mixed(self) -> bool:
        """True if it is for what the network sells and what is the partner's own."""
        return self.is_for_marketplace and self.product == ShopKind.MIXED


REFUND_STATUS = """CASE WHEN refunded_amount = 0 THEN 'none' WHEN refunded_amount < payment_amount THEN 'partial'
    ELSE 'full' END"""
SEARCH_COLUMNS = {
    "customer_first_name_text": ("f", "search_text(customer_first_name)"),
    "customer_last_name_text": ("l", "search_text(customer_last_name)"),
    "customer_email_text": ("e", "search_text(customer_email)"),
}
"""The columns for text search: the parts of the customer's name, and the e-mail address."""
_PAYMENTS = cast("Table", PaymentRow.__table__)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
declare_searchable(_PAYMENTS, SEARCH_COLUMNS)
_REFUNDED = Column("refund_status", String(10), Computed(REFUND_STATUS, persisted=True), nullable=False)
_REFUNDED.info = dict(GENERATED_COLUMN)
_PAYMENTS.append_column(_REFUNDED)
Index("payment_refund_status_list_idx", _PAYMENTS.c.partner_id, _REFUNDED, _PAYMENTS.c.created_on, _PAYMENTS.c.id)
Index("payment_refund_status_idx", _REFUNDED, _PAYMENTS.c.created_on, _PAYMENTS.c.id)


class PaymentSourceRow(PartnerIndexed, InCurrency, PaymentSource, table=True):
    """A source of a payment. It changes only under the lock of its payment."""

    __tablename__ = "payment_source"
    __table_args__ = (
        CheckConstraint("source_amount > 0", name="pays_something"),
        CheckConstraint("refunded_amount BETWEEN 0 AND source_amount", name="refunds_no_more"),
        CheckConstraint("(kind = 'credit_card') = (wallet_id IS NULL)", name="has_wallet"),
        CheckConstraint("partner_share_back_amount BETWEEN 0 AND refunded_amount", name="gives_back_no_more"),
    )
    payment_id: UUID = Field(foreign_key="payment.id", index=True)
    wallet_id: int | None = Field(default=None, foreign_key="wallet.id", index=True)
    commission_back_amount: Decimal = amount_column(default=Decimal("0.00"))
    """The commission that went back with refunds."""
    partner_share_back_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What refunds gave back of the payment's `partner_share_amount`."""
    commission_vat_back_amount: Decimal = amount_column(default=Decimal("0.00"))


class RefundRow(PartnerOwned, InCurrency, CreatedOn, Refund, table=True):
    """A refund. Its transactions carry the calls to the provider."""

    __tablename__ = "refund"
    __table_args__ = (
        CheckConstraint("refund_amount > 0", name="refunds_something"),
        CheckConstraint("delivery_amount BETWEEN 0 AND refund_amount", name="delivers_no_more"),
        Index("refund_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("refund_newest_idx", "created_on", "id"),
        Index("refund_open_idx", "state", "created_on", postgresql_where=text("state IN ('pending', 'needs_action')")),
    )
    payment_id: UUID = Field(foreign_key="payment.id", index=True)


class PaymentTransactionRow(
    PartnerIndexed, InCurrency, CreatedOn, PaymentTransaction, CheckedRow, ReferencedRow, table=True
):
    """A pay-in or a part of a refund, stored with its key before the provider is called."""

    __tablename__ = "payment_transaction"
    __table_args__ = (
        Index("payment_transaction_due_idx", "check_on", postgresql_where=text("status = 'ip'")),
        Index(
            "payment_transaction_provider_key",
            "type",
            "provider_id",
            unique=True,
            postgresql_where=text("provider_id <> ''"),
        ),
        Index(
            "payment_transaction_one_payin_key",
            "payment_id",
            unique=True,
            postgresql_where=text("type = 'payin' AND payment_method = 'credit_card' AND status = 'ip'"),
        ),
        Index(
            "payment_transaction_payin_idx",
            "partner_id",
            "executed_on",
            postgresql_where=text("type = 'payin' AND status = 'ok'"),
        ),
        CheckConstraint("transaction_amount > 0", name="moves_something"),
        CheckConstraint("net_amount = transaction_amount - commission_amount", name="is_net"),
        CheckConstraint("partner_share_amount BETWEEN 0 AND transaction_amount", name="shares_no_more"),
    )
    payment_id: UUID = Field(foreign_key="payment.id", index=True)
    refund_id: UUID | None = Field(default=None, foreign_key="refund.id", index=True)
    source_id: int = Field(foreign_key="payment_source.id")
    commission_vat_amount: Decimal = amount_column(default=Decimal("0.00"))
    partner_share_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What of it is of the payment's `partner_share_amount`."""
    key: UUID = Field(default_factory=uuid4)
    sent_at: dt.datetime = datetime_column("When the key was stored.", default_factory=now)
    tries: int = Field(default=0)
    """How many keys were used up."""
    payer_id: str = Field(default="", max_length=128)
    """Of a pay-in: who paid, at the provider."""
    redirect_url: str = Field(default="", max_length=2048)
    failure_reason: str = Field(default="", max_length=40)
    """Why it failed, independent of the provider; empty if it did not."""
    link_expires_on: dt.datetime | None = datetime_column(
        "When the provider's link expires.", default=None, nullable=True
    )

    @property
    def payin_key(self) -> UUID:
        """The key, of a pay-in."""
        return self.key

    @payin_key.setter
    def payin_key(self, key: UUID) -> None:
        self.key = key


PAYABLE = (PaymentStatus.IN_PROGRESS, PaymentStatus.ERROR)
"""The states of a payment that can be paid."""
PAYMENT_STATES = StateMachine(
    "A payment",
    {
        PaymentStatus.IN_PROGRESS: {PaymentStatus.OK, PaymentStatus.ERROR, PaymentStatus.CANCELLED},
        PaymentStatus.ERROR: {PaymentStatus.IN_PROGRESS, PaymentStatus.OK, PaymentStatus.CANCELLED},
        PaymentStatus.CANCELLED: {PaymentStatus.OK},
    },
)
"""A cancelled payment can still be paid on a page of the provider that was open: the money counts."""
TRANSACTION_STATES = StateMachine(
    "A transaction",
    {
        PaymentTransactionStatus.IN_PROGRESS: {PaymentTransactionStatus.OK, PaymentTransactionStatus.ERROR},
        PaymentTransactionStatus.ERROR: {PaymentTransactionStatus.OK},
    },
)
REFUND_STATES = StateMachine(
    "A refund",
    {
        RefundState.PENDING: {RefundState.NEEDS_ACTION, RefundState.DONE, RefundState.FAILED},
        RefundState.NEEDS_ACTION: {RefundState.PENDING, RefundState.DONE, RefundState.FAILED},
    },
    asked_for=True,
)
