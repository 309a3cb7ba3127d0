"""Reads the legal texts that an order was placed under, as documents."""

from collections.abc import Sequence
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.legal import spoken_language
from schema.legal.legal_document import LegalDocumentKind
from store.core.localization.formats import Formats
from store.core.localization.legal_texts import LEGAL_NAMES
from store.document.contact import contact_of
from store.document.legal.sheet import LegalSheet
from store.document.rich import blocks_of_text
from store.document.sheet import SheetBrand
from store.document.source import DocumentSource, stored_picture
from store.document.words import N_, translate
from store.legal import LegalDocumentRow
from store.order.orders import OrderRow
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow, partner_with_time_zone

ENCLOSED = (LegalDocumentKind.TERMS, LegalDocumentKind.WITHDRAWAL)
"""What a buyer gets on a durable medium: the contract's terms, and the right of withdrawal."""
VERSION = N_("Version of %(date)s")


async def legal_sources_of(db: AsyncSession, order_uuid: UUID) -> Sequence[DocumentSource]:
    """The terms and the withdrawal policy that an order was placed under, in the language of their pages. What is on the
    seller's own site is not ours to copy, and left out.
    """
    order = (await db.exec(select(OrderRow).where(col(OrderRow.uuid) == order_uuid))).one_or_none()
    if order is None:
        return []
    partner, time_zone = await partner_with_time_zone(db, order.partner_id)
    ids = [id for id in (order.terms_id, order.withdrawal_policy_id) if id is not None]
    rows = (await db.exec(select(LegalDocumentRow).where(col(LegalDocumentRow.id).in_(ids)))).all()
    logo = await stored_picture(db, partner.logo_url)
    spoken = [(row, spoken_language(row.content, row.website, order.language)) for row in rows]
    return [
        DocumentSource(
            f"documents/legal/{row.uuid}-{language}.pdf",
            _sheet(row, partner, language, time_zone),
            row.created_on,
            None,
            logo,
        )
        for row, language in sorted(spoken, key=lambda version: ENCLOSED.index(version[0].kind))
        if getattr(row.content, language)
    ]


def _sheet(row: LegalDocumentRow, partner: PartnerRow, language: str, time_zone: str) -> LegalSheet:
    formats = Formats(language)
    return LegalSheet(
        language=language,
        look=SheetBrand.from_brand(brand_of(partner)),
        overline=formats.translate(LEGAL_NAMES[row.kind]),
        version=translate(language, VERSION) % {"date": formats.date(row.created_on, time_zone)},
        blocks=blocks_of_text(getattr(row.content, language)),
        contact=contact_of(partner, language),
    )
