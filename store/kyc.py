"""What is kept of how partners are identified: levels, documents without their files, identity checks; and who changes it."""

import datetime as dt
import enum
import secrets
import string
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ColumnElement, Index, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import choice, json_column, moment
from schema.kyc.document import KycDocument
from schema.kyc.kyc import KycCheckStatus
from store.core.clock import now
from store.partner.partners import PartnerRow
from store.providers.accounts import KycLevel

KEYS_GOOD_FOR = dt.timedelta(hours=23)
"""How long after it was written down a call can be made again with its key: the provider forgets keys after a day."""
IDENTITY_LASTS = dt.timedelta(days=7)
"""How long an identity check can be done after it was opened."""
LOOKED_AT_AGAIN = dt.timedelta(hours=1)
"""After a look that failed."""
PATH_LENGTH = 8
_CHARACTERS = string.ascii_letters + string.digits


def new_path() -> str:
    """The end of the address that somebody comes back to from the provider: eight characters, 47 random bits."""
    return "".join(secrets.choice(_CHARACTERS) for _ in range(PATH_LENGTH))


def is_path(path: str) -> bool:
    """Whether a text could be such an end. What could not be one is looked for nowhere: no database takes every text."""
    return len(path) == PATH_LENGTH and set(path) <= set(_CHARACTERS)


class Step(enum.StrEnum):
    """How far the handing in of a document has come: the call that comes next is made with its key, however often."""

    BEGUN = "begun"
    """Written down here."""
    MADE = "made"
    """The provider has it, without its file."""
    FILED = "filed"
    """With its file."""
    SUBMITTED = "submitted"
    """The provider was asked to examine it, or knows it from elsewhere."""
    ABANDONED = "abandoned"
    """It will never be handed in: refused at once, or its keys are too old. Another one takes its place."""


UNFINISHED = (Step.BEGUN, Step.MADE, Step.FILED)


class PartnerKycRow(SQLModel, table=True):
    """How far a partner is identified. Its lock is held by whoever changes the partner's documents, checks or accounts.

    `version` counts what was written, so that what was read from the provider before another one wrote is thrown away.
    """

    __tablename__ = "partner_kyc"
    __table_args__ = (Index("partner_kyc_check_on_idx", "check_on", postgresql_where=text("check_on IS NOT NULL")),)
    partner_id: int = Field(foreign_key="partner.id", primary_key=True)
    account_id: str = Field(default="", max_length=128)
    """The partner's account at the provider that it is about: what another one was told counts for nothing."""
    level: KycLevel = choice(KycLevel, "What the provider says.", default=KycLevel.LIGHT)
    version: int = Field(default=0)
    checked_on: dt.datetime | None = moment("When the provider last told; null: never.", default=None, nullable=True)
    check_on: dt.datetime | None = moment("When the sweep asks next; null: it does not.", default=None, nullable=True)


class KycDocumentRow(KycDocument, table=True):
    """A document. Its file is nowhere; its digest tells whether the same file comes again."""

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
    partner_id: int = Field(foreign_key="partner.id")
    account_id: str = Field(max_length=128)
    id: int = Field(default=None, primary_key=True)
    request: UUID | None = Field(default=None, unique=True)
    reference: UUID = Field(default_factory=uuid4)
    provider_id: str = Field(default="", max_length=128)
    step: Step = choice(Step, "How far it has come.", default=Step.BEGUN)
    digest: str = Field(default="", max_length=64)
    create_key: UUID = Field(default_factory=uuid4)
    page_key: UUID = Field(default_factory=uuid4)
    refusals: list[dict[str, str]] = json_column("Each with `reason`, `code`, `message`.", default_factory=list)
    created_on: dt.datetime = moment("When it was handed in.", default_factory=now)


class IdentityCheckRow(SQLModel, table=True):
    """A session in which a representative proves an identity. The provider's address of it is read when it is needed."""

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
    partner_id: int = Field(foreign_key="partner.id")
    account_id: str = Field(max_length=128)
    id: int = Field(default=None, primary_key=True)
    provider_id: str = Field(default="", max_length=128)
    path: str = Field(default_factory=new_path, max_length=PATH_LENGTH, unique=True)
    key: UUID = Field(default_factory=uuid4)
    status: KycCheckStatus = choice(KycCheckStatus, "Where it stands.", default=KycCheckStatus.PENDING)
    refusals: list[dict[str, str]] = json_column("Each with `reason`, `code`, `message`.", default_factory=list)
    created_on: dt.datetime = moment("When it was opened.", default_factory=now)


NEWEST_DOCUMENT = (col(KycDocumentRow.created_on).desc(), col(KycDocumentRow.id).desc())
NEWEST_CHECK = (col(IdentityCheckRow.created_on).desc(), col(IdentityCheckRow.id).desc())


async def kyc_of(db: AsyncSession, partner_id: int, *, lock: bool = False) -> PartnerKycRow:
    """How far a partner is identified, written down when it is asked for first."""
    await db.exec(
        insert(PartnerKycRow).values(partner_id=partner_id, level=KycLevel.LIGHT, version=0).on_conflict_do_nothing()
    )
    query = select(PartnerKycRow).where(col(PartnerKycRow.partner_id) == partner_id)
    return (await db.exec(query.with_for_update() if lock else query)).one()


async def documents_of(db: AsyncSession, partner: PartnerRow) -> Sequence[KycDocumentRow]:
    """All documents of a partner, the newest first."""
    return (
        await db.exec(select(KycDocumentRow).where(*of_account(KycDocumentRow, partner)).order_by(*NEWEST_DOCUMENT))
    ).all()


async def locked_document(db: AsyncSession, id: int) -> KycDocumentRow:
    """A document, locked."""
    return (await db.exec(select(KycDocumentRow).where(col(KycDocumentRow.id) == id).with_for_update())).one()


def abandon(document: KycDocumentRow) -> None:
    """Give a document up: the request that began it may begin another."""
    document.step, document.request = Step.ABANDONED, None


async def identity_checks_of(db: AsyncSession, partner: PartnerRow) -> Sequence[IdentityCheckRow]:
    """All identity checks of a partner, the newest first."""
    query = select(IdentityCheckRow).where(*of_account(IdentityCheckRow, partner))
    return (await db.exec(query.order_by(*NEWEST_CHECK))).all()


def of_account(table: Any, partner: PartnerRow) -> list[ColumnElement[bool]]:
    """The tests of rows that are about the account that a partner has now."""
    columns = table.__table__.c
    return [columns.partner_id == partner.id, columns.account_id == partner.provider_user_id]


async def begun_check(db: AsyncSession, partner: PartnerRow, moment: dt.datetime) -> IdentityCheckRow:
    """The session of a partner whose answer is awaited, written now where there is none. The partner is locked."""
    begun = *of_account(IdentityCheckRow, partner), col(IdentityCheckRow.provider_id) == ""
    row = (await db.exec(select(IdentityCheckRow).where(*begun))).one_or_none()
    if row is None:
        row = IdentityCheckRow(partner_id=partner.id, account_id=partner.provider_user_id, created_on=moment)
        db.add(row)
    elif (
        moment - row.created_on >= KEYS_GOOD_FOR
    ):  # nobody can say any more whether there is one, and nobody was sent there
        row.key, row.path, row.created_on = uuid4(), new_path(), moment
    await db.flush()
    return row


async def due(db: AsyncSession, moment: dt.datetime, most: int) -> Sequence[int]:
    """The partners that are to be looked at, each put off by an hour so that some whose looks fail never hold the others up.

    A partner that the provider knows and of whom nothing was ever asked is due at once.
    """
    never = (
        select(col(PartnerRow.id))
        .outerjoin(PartnerKycRow, col(PartnerKycRow.partner_id) == col(PartnerRow.id))
        .where(col(PartnerRow.provider_user_id) != "", col(PartnerKycRow.partner_id).is_(None))
        .limit(most)
    )
    for partner_id in (await db.exec(never)).all():
        (await kyc_of(db, partner_id, lock=True)).check_on = moment
    await db.flush()
    known = select(col(PartnerRow.id)).where(col(PartnerRow.provider_user_id) != "")
    query = (
        select(PartnerKycRow)
        .where(col(PartnerKycRow.check_on) <= moment, col(PartnerKycRow.partner_id).in_(known))
        .order_by(col(PartnerKycRow.check_on))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(query)).all()
    for row in rows:
        row.check_on = moment + LOOKED_AT_AGAIN
    return [row.partner_id for row in rows]
