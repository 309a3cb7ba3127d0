"""The brand of a partner for customer pages, with accessible colours."""

from schema.checkout.checkout import Brand
from store.core.brand_colours import build_brand
from store.partner.partners import PartnerRow


def brand_of(partner: PartnerRow) -> Brand:
    return build_brand(
        partner.commercial_name,
        partner.accent_colour,
        logo_url=partner.logo_url,
        website=partner.website,
        email=partner.agency_email,
        phone=partner.agency_phone,
    )
