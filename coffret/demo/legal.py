"""The legal texts of the demo's shops, from `content/legal.toml`."""

import datetime as dt
import html

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.content import FOLDER, Texts, read_toml
from schema.core.text import Text
from schema.legal.legal_document import LegalDocumentKind
from store.legal import LegalDocumentRow, replace_document
from store.partner.partners import PartnerRow


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class DemoLegalTexts:
    """The texts by kind, with the places of what is different for each shop."""

    terms: Texts
    privacy: Texts
    withdrawal: Texts
    imprint: Texts


async def insert_legal_texts(db: AsyncSession, partner: PartnerRow, now: dt.datetime) -> None:
    """Publish the legal texts of a partner."""
    texts = read_toml(DemoLegalTexts, FOLDER / "legal.toml")
    facts = {
        "name": partner.name,
        "address": f"{partner.hq_address_line_1}, {partner.hq_postal_code} {partner.hq_city}",
        "email": partner.agency_email,
        "phone": partner.agency_phone,
    }
    shown = {name: html.escape(fact) for name, fact in facts.items()}
    for kind in LegalDocumentKind:
        content = {language: said.format(**shown) for language, said in getattr(texts, kind.value).items()}
        row = LegalDocumentRow(
            partner_id=partner.id, kind=kind, content=Text(**content), website=Text(), created_on=now
        )
        await replace_document(db, partner, None, row, now)
