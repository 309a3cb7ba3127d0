"""The brand of a partner, and of a network, for customer pages, with accessible colours."""

from typing import Protocol

from schema.checkout.brand import Brand
from schema.checkout.legal import LegalLink
from schema.partner.partner import Partner
from schema.theme import BrandTheme, CornerRadius, HeadingFont
from store.core.brand_colours import build_brand
from store.partner.partners import MarketplaceRow

DEFAULT_ACCENT = str(Partner.model_fields["accent_colour"].default)


class ThemeColumns(Protocol):
    """The columns of a theme."""

    @property
    def heading_font(self) -> HeadingFont: ...
    @property
    def corner_radius(self) -> CornerRadius: ...
    @property
    def page_tint(self) -> str: ...


class BrandColumns(ThemeColumns, Protocol):
    """The columns of a partner that its brand is made of: those of the row, or of a statement."""

    @property
    def commercial_name(self) -> str: ...
    @property
    def accent_colour(self) -> str: ...
    @property
    def logo_url(self) -> str: ...
    @property
    def website(self) -> str: ...
    @property
    def agency_email(self) -> str: ...
    @property
    def agency_phone(self) -> str: ...
    @property
    def legal_links(self) -> tuple[LegalLink, ...]: ...


def theme_of(columns: ThemeColumns) -> BrandTheme:
    """The theme of a partner or a marketplace."""
    return BrandTheme(columns.heading_font, columns.corner_radius, columns.page_tint)


def brand_of(partner: BrandColumns, accent: str = "") -> Brand:
    """The brand of a partner, in the colour of a design or its own one."""
    return build_brand(
        partner.commercial_name,
        accent or partner.accent_colour,
        logo_url=partner.logo_url,
        website=partner.website,
        email=partner.agency_email,
        phone=partner.agency_phone,
        legal=partner.legal_links,
        theme=theme_of(partner),
    )


def brand_of_marketplace(marketplace: MarketplaceRow, accent: str = "") -> Brand:
    """The brand of a network with its theme, in the colour of a design or the default one."""
    website = f"https://{marketplace.domain}" if marketplace.domain else ""
    return build_brand(
        marketplace.name,
        accent or DEFAULT_ACCENT,
        website=website,
        email=marketplace.email,
        theme=theme_of(marketplace),
    )
