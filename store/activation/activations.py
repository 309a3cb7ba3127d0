"""Activations of payments: each a durable process with the keys of all provider calls to come."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import choice, moment
from schema.onboarding import ActivationFailureReason, ActivationStatus
from schema.partner.parts import CompanyType
from store.activation.account_requests import digest, missing
from store.core.clock import now
from store.partner.partners import PartnerRow

LIVE = (ActivationStatus.PENDING_USER_ACTION, ActivationStatus.PROCESSING)
MOVES: dict[ActivationStatus, frozenset[ActivationStatus]] = {
    ActivationStatus.PENDING_USER_ACTION: frozenset({ActivationStatus.PROCESSING, ActivationStatus.FAILED}),
    ActivationStatus.PROCESSING: frozenset({ActivationStatus.COMPLETED, ActivationStatus.FAILED}),
    ActivationStatus.COMPLETED: frozenset({ActivationStatus.FAILED}),
    ActivationStatus.FAILED: frozenset(),
}
"""COMPLETED fails only when the provider's account is closed: a closed one is never opened again."""


class ActivationRow(SQLModel, table=True):
    """An activation. A partner has at most one that is live."""

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
    partner_id: int = Field(foreign_key="partner.id")
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    status: ActivationStatus = choice(
        ActivationStatus, "Where it stands.", default=ActivationStatus.PENDING_USER_ACTION
    )
    created_on: dt.datetime = moment("When it was begun.", default_factory=now)
    ended_on: dt.datetime | None = moment("When it became final.", default=None, nullable=True)

    account_key: UUID = Field(default_factory=uuid4, index=True)
    account_sent_on: dt.datetime | None = moment("When the account was first asked for.", default=None, nullable=True)
    account_id: str = Field(default="", max_length=128, index=True)
    company_type: CompanyType | None = choice(
        CompanyType, "What the account was asked for as.", default=None, nullable=True
    )
    told_digest: str = Field(
        default="", max_length=64, description="Of what the provider was last told of the partner."
    )

    session_key: UUID | None = Field(default=None, description="Of a session that was asked for and not answered yet.")
    session_sent_on: dt.datetime | None = moment("When a session was last asked for.", default=None, nullable=True)
    session_email: str = Field(default="", max_length=254, description="Whom the last session was for.")
    redirect_url: str = Field(default="", max_length=2048)
    link_expires_on: dt.datetime | None = moment("When the provider's link ends.", default=None, nullable=True)
    enrolled_email: str = Field(default="", max_length=254, description="Who has authenticated.")
    enrolled_on: dt.datetime | None = moment("When, by the provider's clock.", default=None, nullable=True)

    wallet_key: UUID = Field(default_factory=uuid4)
    wallet_sent_on: dt.datetime | None = moment("When the wallet was first asked for.", default=None, nullable=True)

    failure: ActivationFailureReason | None = choice(
        ActivationFailureReason, "Why it failed; of a completed one, what is wrong since.", default=None, nullable=True
    )
    failure_message: str = Field(default="", max_length=500)
    failure_field: str = Field(default="", max_length=80)
    failure_request_id: str = Field(default="", max_length=128)
    failure_told: bool = Field(default=False, description="Whether somebody who activated has been told of it.")

    inflows_blocked: bool = Field(default=False)
    outflows_blocked: bool = Field(default=False)
    busy_until: dt.datetime | None = moment(
        "Until when somebody asks the provider for it.", default=None, nullable=True
    )
    asked_on: dt.datetime | None = moment("When the provider was last read for it.", default=None, nullable=True)
    check_on: dt.datetime | None = moment("When the worker looks at it next.", default=None, nullable=True)

    @property
    def live(self) -> bool:
        """Whether it is not final."""
        return self.status in LIVE

    def link(self, at: dt.datetime) -> str:
        """The provider's link, while it can be used; empty afterwards."""
        valid = self.redirect_url and self.link_expires_on is not None and at < self.link_expires_on
        return self.redirect_url if valid else ""

    def forget_link(self) -> None:
        """Give nobody this link any more."""
        self.redirect_url, self.link_expires_on = "", None


def move(activation: ActivationRow, to: ActivationStatus) -> None:
    """Change the status of a locked activation. A move that the table does not know is a bug, not a refusal."""
    if to not in MOVES[activation.status]:
        raise RuntimeError(f"An activation does not go from {activation.status} to {to}.")
    activation.status = to
    activation.ended_on = None if activation.live else now()


def still_refused(partner: PartnerRow, activation: ActivationRow) -> bool:
    """Whether the provider did not take the data of a partner, and they are still the same."""
    refused = activation.failure is ActivationFailureReason.DATA_REFUSED
    return refused and not missing(partner) and digest(partner) == activation.told_digest


async def latest(db: AsyncSession, partner_id: int) -> ActivationRow | None:
    """The last activation of a partner, as it is now."""
    query = select(ActivationRow).where(col(ActivationRow.partner_id) == partner_id)
    return (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()


async def locked_partner(db: AsyncSession, partner_id: int) -> PartnerRow:
    """A partner, locked against whoever else is activating it. Orders may be written meanwhile."""
    query = select(PartnerRow).where(col(PartnerRow.id) == partner_id)
    fresh = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    return (await db.exec(fresh)).one()


async def locked_activation(db: AsyncSession, activation_id: UUID) -> tuple[PartnerRow, ActivationRow]:
    """An activation and its partner, both locked: the partner first, always."""
    owner = select(ActivationRow.partner_id).where(col(ActivationRow.id) == activation_id)
    partner = await locked_partner(db, (await db.exec(owner)).one())
    query = select(ActivationRow).where(col(ActivationRow.id) == activation_id).with_for_update()
    return partner, (await db.exec(query.execution_options(populate_existing=True))).one()


async def of_account(db: AsyncSession, account_id: str) -> ActivationRow | None:
    """The last activation that is about an account of the provider's."""
    query = select(ActivationRow).where(col(ActivationRow.account_id) == account_id)
    return (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()


async def due(db: AsyncSession, at: dt.datetime, limit: int) -> list[ActivationRow]:
    """Activations whose time to be looked at has come, locked; those that another worker is at are left out."""
    query = select(ActivationRow).where(col(ActivationRow.check_on) <= at).order_by(col(ActivationRow.check_on))
    return list((await db.exec(query.limit(limit).with_for_update(skip_locked=True))).all())
