"""The brand of a partner for customer pages, with accessible colours."""

from typing import Protocol

from schema.checkout.checkout import Brand
from store.core.brand_colours import build_brand


class BrandColumns(Protocol):
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


def brand_of(partner: BrandColumns) -> Brand:
    return build_brand(
        partner.commercial_name,
        partner.accent_colour,
        logo_url=partner.logo_url,
        website=partner.website,
        email=partner.agency_email,
        phone=partner.agency_phone,
    )
