"""The table of legal texts. Versions are only added: orders name those that their buyers accepted."""

import datetime as dt
from collections.abc import Iterable, Sequence

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.legal import LegalLink, link_to
from schema.legal.legal_document import LegalDocument, LegalDocumentKind
from store.core.row import CreatedOn, PartnerOwned
from store.partner.partners import PartnerRow

ACCEPTED = {
    LegalDocumentKind.TERMS: "terms_id",
    LegalDocumentKind.PRIVACY: "privacy_policy_id",
    LegalDocumentKind.WITHDRAWAL: "withdrawal_policy_id",
}
"""The columns of the legal texts that an order is placed under."""


class AcceptedDocuments(SQLModel):
    """The versions of the seller's legal texts that were in force, and linked to, when a buyer paid."""

    terms_id: int | None = Field(default=None, foreign_key="legal_document.id")
    privacy_policy_id: int | None = Field(default=None, foreign_key="legal_document.id")
    withdrawal_policy_id: int | None = Field(default=None, foreign_key="legal_document.id")

    @property
    def document_ids(self) -> tuple[int | None, ...]:
        """The ids of the versions."""
        return self.terms_id, self.privacy_policy_id, self.withdrawal_policy_id

    def set_documents(self, legal: Iterable[LegalLink]) -> None:
        """Set the versions from the links of `Brand.order_documents`."""
        for link in legal:
            setattr(self, ACCEPTED[link.kind], link.id)

    def copy_documents(self, other: "AcceptedDocuments") -> None:
        """Set the versions of another row."""
        self.terms_id, self.privacy_policy_id, self.withdrawal_policy_id = other.document_ids


class LegalDocumentRow(PartnerOwned, CreatedOn, LegalDocument, table=True):
    """A version of a legal text. A partner has at most one in force of each kind."""

    __tablename__ = "legal_document"
    __table_args__ = (
        Index("legal_document_id_list_idx", "partner_id", "id"),
        Index(
            "legal_document_in_force_key",
            "partner_id",
            "kind",
            unique=True,
            postgresql_where=text("replaced_on IS NULL"),
        ),
    )


async def documents_in_force(db: AsyncSession, partner_id: int) -> Sequence[LegalDocumentRow]:
    """The legal texts in force of a partner."""
    query = select(LegalDocumentRow).where(
        col(LegalDocumentRow.partner_id) == partner_id, col(LegalDocumentRow.replaced_on).is_(None)
    )
    return (await db.exec(query)).all()


async def replace_document(
    db: AsyncSession,
    partner: PartnerRow,
    current: LegalDocumentRow | None,
    new: LegalDocumentRow | None,
    now: dt.datetime,
) -> None:
    """End one version and begin the next one, of a locked partner, whose pages link to what is then in force."""
    if current is not None:
        current.replaced_on = now
        await db.flush()
    if new is not None:
        db.add(new)
        await db.flush()
    in_force = await documents_in_force(db, partner.id)
    partner.legal_links = tuple(_link(row) for row in sorted(in_force, key=_rank))
    await db.flush()


async def links_of(db: AsyncSession, ids: Iterable[int | None]) -> tuple[LegalLink, ...]:
    """Links to these versions, in the order of their kinds."""
    wanted = [id for id in ids if id is not None]
    if not wanted:
        return ()
    rows = (await db.exec(select(LegalDocumentRow).where(col(LegalDocumentRow.id).in_(wanted)))).all()
    return tuple(_link(row) for row in sorted(rows, key=_rank))


def _rank(row: LegalDocumentRow) -> int:
    return list(LegalDocumentKind).index(row.kind)


def _link(row: LegalDocumentRow) -> LegalLink:
    return link_to(row.id, row.uuid, row.kind, row.content, row.website)
