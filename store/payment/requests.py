"""The table of payment requests."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field

from schema.payment.payment import PaymentCustomer
from schema.payment.request import PaymentRequest, PaymentRequestStatus
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.core.state_machine import StateMachine
from store.payment.payments import ModifiedOn, link_token


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
