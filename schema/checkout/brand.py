"""A partner as customers see it: its name, logo, colours, contact and legal texts."""

from dataclasses import dataclass

from schema.checkout.legal import LegalLink
from schema.legal.legal_document import LegalDocumentKind
from schema.theme import DEFAULT_THEME, BrandTheme


@dataclass(frozen=True, slots=True)
class Brand:
    """The partner as customers see it. `accent_ink` is a text colour that is readable on the accent."""

    name: str
    logo_url: str
    accent: str
    accent_ink: str
    accent_text: str
    """The accent, darkened until it is readable as text on the page."""
    website: str
    email: str
    phone: str
    legal: tuple[LegalLink, ...] = ()
    """The legal texts in force."""
    theme: BrandTheme = DEFAULT_THEME

    @property
    def order_documents(self) -> tuple[LegalLink, ...]:
        """The legal texts that an order is placed under."""
        return tuple(link for link in self.legal if link.kind is not LegalDocumentKind.IMPRINT)

    def legal_link(self, kind: LegalDocumentKind) -> LegalLink | None:
        """The legal text of this kind; None if there is none."""
        return next((link for link in self.legal if link.kind is kind), None)
