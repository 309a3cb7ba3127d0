"""Links to the legal texts of a partner, as its pages show them."""

from dataclasses import dataclass
from uuid import UUID

from schema.core.text import Text
from schema.legal.legal_document import LEGAL_PATH, LegalDocumentKind
from schema.validation.languages import LANGUAGES


@dataclass(frozen=True, slots=True)
class LegalLink:
    """A link to a version of a legal text."""

    id: int
    kind: LegalDocumentKind
    address: Text
    """In each language that has a text: its address, or the path of its page on this service."""


def legal_path(uuid: UUID | str) -> str:
    """The path of the page of a version."""
    return f"{LEGAL_PATH}{uuid}/"


def spoken_language(content: Text, website: Text, language: str) -> str:
    """The language in which a version is shown: the visitor's if it has it, else English, else its first."""
    has = [code for code in LANGUAGES if getattr(content, code) or getattr(website, code)]
    return next(code for code in (language, "en", *has) if code in has)


def link_to(id: int, uuid: UUID, kind: LegalDocumentKind, content: Text, website: Text) -> LegalLink:
    """The link to a version: in each language to where it is."""
    own = {language: legal_path(uuid) for language in LANGUAGES if getattr(content, language)}
    elsewhere = website.model_dump(exclude_none=True)
    return LegalLink(id, kind, Text(**own | elsewhere))
