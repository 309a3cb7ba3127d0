"""The tables of partner identification (KYC): levels, documents without their files, identity checks."""

import datetime as dt
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ColumnElement, Index, cast, text
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column, enum_column
from schema.kyc.document import KycDocument
from schema.kyc.kyc import KycCheckStatus
from store.core.document_steps import SubmittedRow
from store.core.provider_process import KEY_LIFE, CheckedRow, ReferencedRow
from store.core.return_paths import PATH_LENGTH, new_path
from store.core.row import CreatedOn, PartnerOwned
from store.core.typed_json import TypedJson, typed_json_column
from store.partner.partners import PartnerRow
from store.providers.accounts import KycLevel, OwnerCheck, Refusal

IDENTITY_SESSION_LIFE = dt.timedelta(days=7)
"""How long an identity check session can be used."""
RETRY_INTERVAL = dt.timedelta(hours=1)
"""Interval before a partner is checked again, so that failed checks do not block others."""


REFUSALS = TypedJson(tuple[Refusal, ...])
OWNERS = TypedJson(tuple[OwnerCheck, ...])


class PartnerKycRow(CheckedRow, table=True):
    """The identification state of a partner. Lock it to change the partner's documents, checks or accounts.

    `version` counts the writes: a state read from the provider before a concurrent write is discarded.
    """

    __tablename__ = "partner_kyc"
    __table_args__ = (Index("partner_kyc_check_on_idx", "check_on", postgresql_where=text("check_on IS NOT NULL")),)
    partner_id: int = Field(foreign_key="partner.id", primary_key=True)
    account_id: str = Field(default="", max_length=128)
    """The partner's account at the provider that this state is about. State of other accounts does not count."""
    level: KycLevel = enum_column(KycLevel, "Level reported by the provider.", default=KycLevel.LIGHT)
    version: int = Field(default=0)
    renew_by: dt.date | None = Field(default=None)
    """The last day (UTC) on which the identity can be verified again before the provider lowers the level; null: no day
    is known."""
    checked_on: dt.datetime | None = datetime_column(
        "When the provider last reported; null: never.", default=None, nullable=True
    )


class KycDocumentRow(PartnerOwned, CreatedOn, KycDocument, SubmittedRow, table=True):
    """A document."""

    __tablename__ = "kyc_document"
    __table_args__ = (
        Index("kyc_document_id_list_idx", "partner_id", "id"),
        Index(
            "kyc_document_unfinished_key",
            "partner_id",
            "account_id",
            "document_type",
            "digest",
            unique=True,
            postgresql_where=text("step IN ('begun', 'made', 'filed')"),
        ),
        Index("kyc_document_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")),
        CheckConstraint("step IN ('begun', 'abandoned') OR provider_id <> ''", name="known_once_made"),
    )
    account_id: str = Field(max_length=128)
    request: UUID | None = Field(default=None, unique=True)
    refusals: tuple[Refusal, ...] = typed_json_column(REFUSALS, "Why it was refused.", default=())

    def abandon(self) -> None:
        super().abandon()
        self.request = None


class IdentityCheckRow(PartnerOwned, CreatedOn, ReferencedRow, table=True):
    """An identity check session of a representative. The provider's URL is read when it is needed, except those of
    owners: a requirement names them.
    """

    __tablename__ = "identity_check"
    __table_args__ = (
        Index("identity_check_of_partner_idx", "partner_id", "id"),
        Index("identity_check_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")),
        Index(
            "identity_check_one_begun_key",
            "partner_id",
            "account_id",
            unique=True,
            postgresql_where=text("provider_id = ''"),
        ),
    )
    account_id: str = Field(max_length=128)
    id: int = Field(default=None, primary_key=True)
    path: str = Field(default_factory=new_path, max_length=PATH_LENGTH, unique=True)
    key: UUID = Field(default_factory=uuid4)
    status: KycCheckStatus = enum_column(KycCheckStatus, "Status.", default=KycCheckStatus.PENDING)
    refusals: tuple[Refusal, ...] = typed_json_column(REFUSALS, "Why it was refused.", default=())
    owners: tuple[OwnerCheck, ...] = typed_json_column(OWNERS, "The checks of a business's owners.", default=())


NEWEST_DOCUMENT = (col(KycDocumentRow.created_on).desc(), col(KycDocumentRow.id).desc())
NEWEST_CHECK = (col(IdentityCheckRow.created_on).desc(), col(IdentityCheckRow.id).desc())


async def get_or_create_kyc(db: AsyncSession, partner_id: int, *, lock: bool = False) -> PartnerKycRow:
    """The identification state of a partner, created on first access."""
    await db.exec(
        insert(PartnerKycRow).values(partner_id=partner_id, level=KycLevel.LIGHT, version=0).on_conflict_do_nothing()
    )
    query = select(PartnerKycRow).where(col(PartnerKycRow.partner_id) == partner_id)
    return (await db.exec(query.with_for_update() if lock else query)).one()


async def documents_of(db: AsyncSession, partner: PartnerRow) -> Sequence[KycDocumentRow]:
    """The documents of a partner's current account, newest first."""
    return (
        await db.exec(
            select(KycDocumentRow).where(*of_current_account(KycDocumentRow, partner)).order_by(*NEWEST_DOCUMENT)
        )
    ).all()


async def lock_document(db: AsyncSession, row: KycDocumentRow) -> KycDocumentRow:
    """The document, locked and read again."""
    return (await db.exec(select(KycDocumentRow).where(col(KycDocumentRow.id) == row.id).with_for_update())).one()


async def identity_checks_of(db: AsyncSession, partner: PartnerRow) -> Sequence[IdentityCheckRow]:
    """The identity checks of a partner's current account, newest first."""
    query = select(IdentityCheckRow).where(*of_current_account(IdentityCheckRow, partner))
    return (await db.exec(query.order_by(*NEWEST_CHECK))).all()


async def partner_of_owner(db: AsyncSession, owner_id: str) -> int | None:
    """The partner of a business's owner, by the provider's id of the owner's check."""
    named = col(IdentityCheckRow.owners).op("@>")(cast([{"id": owner_id}], JSONB))
    return (await db.exec(select(IdentityCheckRow.partner_id).where(named).limit(1))).first()


def of_current_account(table: Any, partner: PartnerRow) -> list[ColumnElement[bool]]:
    """Conditions for the rows of the partner's current account at the provider."""
    columns = table.__table__.c
    return [columns.partner_id == partner.id, columns.account_id == partner.provider_user_id]


async def get_or_create_check(db: AsyncSession, partner: PartnerRow, moment: dt.datetime) -> IdentityCheckRow:
    """The partner's session that has no provider id yet, created if there is none. The partner must be locked."""
    begun = *of_current_account(IdentityCheckRow, partner), col(IdentityCheckRow.provider_id) == ""
    row = (await db.exec(select(IdentityCheckRow).where(*begun))).one_or_none()
    if row is None:
        row = IdentityCheckRow(partner_id=partner.id, account_id=partner.provider_user_id, created_on=moment)
        db.add(row)
    elif moment - row.created_on >= KEY_LIFE:
        # The outcome of the old key can no longer be looked up. Nobody was redirected to that session.
        row.key, row.path, row.created_on = uuid4(), new_path(), moment
    await db.flush()
    return row


async def add_unchecked_partners(db: AsyncSession, moment: dt.datetime, most: int) -> None:
    """Make partners due that have a provider account and no identification state yet."""
    never = (
        select(col(PartnerRow.id))
        .outerjoin(PartnerKycRow, col(PartnerKycRow.partner_id) == col(PartnerRow.id))
        .where(col(PartnerRow.provider_user_id) != "", col(PartnerKycRow.partner_id).is_(None))
        .limit(most)
    )
    for partner_id in (await db.exec(never)).all():
        (await get_or_create_kyc(db, partner_id, lock=True)).check_on = moment


HAS_ACCOUNT = col(PartnerKycRow.partner_id).in_(
    select(col(PartnerRow.id)).where(col(PartnerRow.provider_user_id) != "")
)
"""The condition for partners with a provider account."""
