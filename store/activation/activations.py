"""Payment activations: one durable process each, with the idempotency keys of all its future provider calls."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy import Index, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.activation import ActivationFailureReason, ActivationStatus
from schema.core.columns import datetime_column, enum_column
from schema.partner.parts import CompanyType
from store.activation.account_requests import account_digest, missing_fields
from store.core.clock import now
from store.core.provider_process import LeasedRow
from store.core.row import CreatedOn, PartnerOwned
from store.core.state_machine import StateMachine
from store.partner.partners import PartnerRow

LIVE = (ActivationStatus.PENDING_USER_ACTION, ActivationStatus.PROCESSING)
TRANSITIONS = StateMachine(
    "An activation",
    {
        ActivationStatus.PENDING_USER_ACTION: {ActivationStatus.PROCESSING, ActivationStatus.FAILED},
        ActivationStatus.PROCESSING: {ActivationStatus.COMPLETED, ActivationStatus.FAILED},
        ActivationStatus.COMPLETED: {ActivationStatus.FAILED},
    },
)
"""COMPLETED becomes FAILED only when the provider closes the account. A closed account cannot be reopened."""


class ActivationRow(PartnerOwned, CreatedOn, LeasedRow, table=True):
    """A payment activation. A partner has at most one live activation."""

    __tablename__ = "payment_activation"
    __table_args__ = (
        Index(
            "payment_activation_one_live_key",
            "partner_id",
            unique=True,
            postgresql_where=text("status IN ('PENDING_USER_ACTION', 'PROCESSING')"),
        ),
        Index("payment_activation_latest_idx", "partner_id", "created_on"),
        Index("payment_activation_due_idx", "check_on", postgresql_where=text("check_on IS NOT NULL")),
    )
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    status: ActivationStatus = enum_column(ActivationStatus, "Status.", default=ActivationStatus.PENDING_USER_ACTION)
    ended_on: dt.datetime | None = datetime_column("When it reached a final status.", default=None, nullable=True)

    account_key: UUID = Field(default_factory=uuid4, index=True)
    account_sent_on: dt.datetime | None = datetime_column(
        "When creation of the account was first requested.", default=None, nullable=True
    )
    account_id: str = Field(default="", max_length=128, index=True)
    company_type: CompanyType | None = enum_column(
        CompanyType, "The company type that the account was requested with.", default=None, nullable=True
    )
    told_digest: str = Field(default="", max_length=64, description="Digest of the account request last sent.")

    session_key: UUID | None = Field(default=None, description="Key of a requested session without a response.")
    session_sent_on: dt.datetime | None = datetime_column(
        "When a session was last requested.", default=None, nullable=True
    )
    session_email: str = Field(
        default="", max_length=254, description="The e-mail address that the last session was for."
    )
    redirect_url: str = Field(default="", max_length=2048)
    link_expires_on: dt.datetime | None = datetime_column(
        "When the provider's link expires.", default=None, nullable=True
    )
    enrolled_email: str = Field(default="", max_length=254, description="The e-mail address that has authenticated.")
    enrolled_on: dt.datetime | None = datetime_column(
        "When it authenticated, by the provider's clock.", default=None, nullable=True
    )

    wallet_key: UUID = Field(default_factory=uuid4)
    wallet_sent_on: dt.datetime | None = datetime_column(
        "When creation of the wallet was first requested.", default=None, nullable=True
    )

    failure: ActivationFailureReason | None = enum_column(
        ActivationFailureReason, "Why it failed; for a completed one, the problem since.", default=None, nullable=True
    )
    failure_message: str = Field(default="", max_length=500)
    failure_field: str = Field(default="", max_length=80)
    failure_request_id: str = Field(default="", max_length=128)
    failure_told: bool = Field(
        default=False, description="True once the failure was reported to a caller of the activation."
    )

    inflows_blocked: bool = Field(default=False)
    outflows_blocked: bool = Field(default=False)
    asked_on: dt.datetime | None = datetime_column(
        "When the state was last read from the provider.", default=None, nullable=True
    )

    @property
    def is_live(self) -> bool:
        """True until the status is final."""
        return self.status in LIVE

    def usable_link(self, at: dt.datetime) -> str:
        """The provider's link; empty once it has expired."""
        valid = self.redirect_url and self.link_expires_on is not None and at < self.link_expires_on
        return self.redirect_url if valid else ""

    def clear_link(self) -> None:
        self.redirect_url, self.link_expires_on = "", None


def transition(activation: ActivationRow, to: ActivationStatus) -> None:
    """Change the status of a locked activation. Raises RuntimeError for a transition that is not allowed."""
    activation.status = TRANSITIONS.require(activation.status, to)
    activation.ended_on = None if activation.is_live else now()


def is_still_refused(partner: PartnerRow, activation: ActivationRow) -> bool:
    """True if the provider refused the partner's data and the data have not changed since."""
    refused = activation.failure is ActivationFailureReason.DATA_REFUSED
    return refused and not missing_fields(partner) and account_digest(partner) == activation.told_digest


async def latest_activation(db: AsyncSession, partner_id: int) -> ActivationRow | None:
    """The newest activation of a partner, read from the database."""
    query = select(ActivationRow).where(col(ActivationRow.partner_id) == partner_id)
    return (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()


async def locked_partner(db: AsyncSession, partner_id: int) -> PartnerRow:
    """The partner, locked FOR NO KEY UPDATE: rows that refer to the partner can still be inserted."""
    query = select(PartnerRow).where(col(PartnerRow.id) == partner_id)
    fresh = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    return (await db.exec(fresh)).one()


async def locked_activation(db: AsyncSession, activation_id: UUID) -> tuple[PartnerRow, ActivationRow]:
    """An activation and its partner, both locked. The partner is always locked first."""
    owner = select(ActivationRow.partner_id).where(col(ActivationRow.id) == activation_id)
    partner = await locked_partner(db, (await db.exec(owner)).one())
    query = select(ActivationRow).where(col(ActivationRow.id) == activation_id).with_for_update()
    return partner, (await db.exec(query.execution_options(populate_existing=True))).one()


async def lock_activation(db: AsyncSession, activation: ActivationRow) -> ActivationRow:
    """An activation, locked together with its partner and read again."""
    return (await locked_activation(db, activation.id))[1]


async def partner_of(db: AsyncSession, activation: ActivationRow) -> PartnerRow:
    """The partner of an activation."""
    return await db.get_one(PartnerRow, activation.partner_id)


async def activation_of_account(db: AsyncSession, account_id: str) -> ActivationRow | None:
    """The newest activation for an account id of the provider."""
    query = select(ActivationRow).where(col(ActivationRow.account_id) == account_id)
    return (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()
