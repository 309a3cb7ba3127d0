"""Legal texts of partners: versions, publication, and their pages."""

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, collect_owner
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.checkout.legal import legal_path
from schema.checkout.legal_page import LegalPage
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, NotFound
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.text import Text, TextInput
from schema.legal.input import PublishLegalDocument, RetireLegalDocument
from schema.legal.legal_document import LegalDocument, LegalDocumentKind
from schema.validation.html import plain_text
from schema.validation.languages import LANGUAGES
from store.legal import LegalDocumentRow, documents_in_force, replace_document
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow, partner_with_time_zone


@graphql_enum
class LegalDocumentSort(DescribedEnum):
    """Sort order of legal texts."""

    NEWEST = "-id", "The newest first."


@graphql_input_for(LegalDocument)
class LegalDocumentFilter(OfPartner):
    """Filter for legal texts."""

    kind: Annotated[LegalDocumentKind | None, Where("kind")] = None
    is_replaced: Annotated[bool | None, Where("replaced_on", "set")] = Field(
        default=None, description="True for versions that were replaced or retired, false for those in force."
    )


legal_documents = Listing(
    LegalDocument,
    LegalDocumentFilter,
    LegalDocumentSort,
    Permission.VIEW_PARTNER,
    "The versions of legal texts visible to you, newest first.",
)
legal_document = Lookup(
    LegalDocument, "id", "legal document", Permission.VIEW_PARTNER, "A version of a legal text by its id."
)
_document = ById(LegalDocumentRow, "legal document")


@operation(Permission.UPDATE_PARTNER)
async def publish_legal_document(call: Call, input: PublishLegalDocument) -> LegalDocument:
    """Publish a legal text of a partner, or its next version.

    The partner's pages and mails link to it at once. Orders name the versions that were in force when their buyers paid;
    these stay readable at `pageUrl`. If nothing changes, the current version is returned.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        _check_languages(input)
    findings.raise_problems()
    await find_visible(call.db, call.caller, PartnerRow, "partner", lock=True, id=partner.id)
    in_force = await documents_in_force(call.db, partner.id)
    current = next((row for row in in_force if row.kind is input.kind), None)
    content, website = _next_texts(current, input)
    if not any((content.model_dump(exclude_none=True), website.model_dump(exclude_none=True))):
        raise InvalidInput.at("content", "Send a text or an address in at least one language.", "REQUIRED")
    if current is not None and (content, website) == (current.content, current.website):
        return current
    new = LegalDocumentRow(partner_id=partner.id, kind=input.kind, content=content, website=website)
    await replace_document(call.db, partner, current, new, call.services.clock.now())
    return new


@operation(Permission.UPDATE_PARTNER, exists=_document)
async def retire_legal_document(call: Call, input: RetireLegalDocument) -> LegalDocument:
    """Take a legal text out of force without a next version. One that was replaced or retired stays as it is."""
    row = await _document.find(call, input.id)
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", lock=True, id=row.partner_id)
    await call.db.refresh(row)
    if row.replaced_on is None:
        await replace_document(call.db, partner, row, None, call.services.clock.now())
    return row


def _next_texts(current: LegalDocumentRow | None, input: PublishLegalDocument) -> tuple[Text, Text]:
    """The texts and addresses of the next version. What is sent for a language takes the place of the other."""
    content, website = (current.content, current.website) if current is not None else (Text(), Text())
    content, website = _merge(content, input.content), _merge(website, input.website)
    for language in LANGUAGES:
        text, address = _change_of(input.content, language), _change_of(input.website, language)
        if text or (text == "" and not address):
            website = website.model_copy(update={language: None})
        if not text and address is not None:
            content = content.model_copy(update={language: None})
    return content, website


def _check_languages(input: PublishLegalDocument) -> None:
    """Raise InvalidInput for a language with both a text and an address, or with a text that shows nothing."""
    for language in LANGUAGES:
        text = _change_of(input.content, language)
        if text and _change_of(input.website, language):
            raise InvalidInput.at(("website", language), "Send a text or an address, not both.")
        if text and not plain_text(text):
            raise InvalidInput.at(("content", language), "Write a text: this one shows nothing.")


def _merge(text: Text, changes: TextInput | None) -> Text:
    return text if changes is None else text.merge(changes)


def _change_of(changes: TextInput | None, language: str) -> str | None:
    """What was sent for a language; empty if it is to be removed, None if it was left out."""
    said = getattr(changes, language, None)
    return None if said is None else (said.value or "").strip()


@derives(LegalDocument, "page_url")
def _page_url(context: Context, uuid: UUID | str) -> str:
    return f"{context.services.public_url}{legal_path(uuid)}"


async def find_legal_page(context: Context, uuid: UUID) -> LegalPage:
    """The page of a version. Anybody may read it. Raises NotFound."""
    async with context.services.db.sessions() as db:
        row = (await db.exec(select(LegalDocumentRow).where(col(LegalDocumentRow.uuid) == uuid))).one_or_none()
        if row is None:
            raise NotFound(thing="page")
        partner, time_zone = await partner_with_time_zone(db, row.partner_id)
    brand = brand_of(partner)
    current = brand.legal_link(row.kind)
    return LegalPage(
        path=legal_path(row.uuid),
        brand=brand,
        site_domain=partner.site_domain,
        kind=row.kind,
        content=row.content,
        website=row.website,
        time_zone=time_zone,
        published_on=row.created_on,
        replaced_on=row.replaced_on,
        current=current.address if current is not None and current.id != row.id else None,
    )
