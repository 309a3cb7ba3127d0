"""How a shop is reached, as its documents tell it."""

from store.core.localization.formats import Formats
from store.partner.partners import PartnerRow


def contact_of(partner: PartnerRow, language: str) -> list[str]:
    """The contact lines of a shop: its address, then telephone, e-mail and site."""
    country = partner.hq_country_code
    place = (
        partner.hq_address_line_1,
        partner.hq_address_line_2,
        f"{partner.hq_postal_code} {partner.hq_city}".strip(),
        Formats(language).country(country) if country else "",
    )
    lines = (", ".join(filter(None, place)), reached_at(partner))
    return [line for line in lines if line]


def reached_at(partner: PartnerRow) -> str:
    """Telephone, e-mail and site in one line; empty if none is known."""
    site = partner.website.partition("://")[2].rstrip("/")
    return "  ·  ".join(filter(None, (partner.agency_phone, partner.agency_email, site)))
