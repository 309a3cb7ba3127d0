"""Who issues an invoice and whom it is for, and what is missing about them."""

from collections.abc import Iterator, Mapping
from typing import Any

from schema.invoice.invoice import VatCategory
from schema.validation.vat import is_reverse_charge
from store.partner.partners import MarketplaceRow, PartnerRow


def issuer_columns(marketplace: MarketplaceRow) -> Mapping[str, Any]:
    """The columns of an invoice about a marketplace that issues it."""
    names = ("company_name", "address_line_1", "postal_code", "city", "country_code", "registration_number", "vat_id")
    return {f"issuer_{name}": getattr(marketplace, f"invoicer_{name}") for name in names}


def customer_columns(partner: PartnerRow) -> Mapping[str, Any]:
    """The columns of an invoice about a partner that it is for."""
    return {
        "customer_company_name": partner.name or partner.commercial_name,
        "customer_address_line_1": partner.hq_address_line_1,
        "customer_address_line_2": partner.hq_address_line_2,
        "customer_postal_code": partner.hq_postal_code,
        "customer_city": partner.hq_city,
        "customer_country_code": partner.hq_country_code,
        "customer_registration_number": partner.siret_number,
        "customer_vat_id": partner.vat_id,
    }


def untaxed_category(marketplace: MarketplaceRow, partner: PartnerRow) -> VatCategory:
    """The category of fees on which no VAT was charged."""
    if is_reverse_charge(marketplace.invoicer_vat_id, partner.vat_id):
        return VatCategory.REVERSE_CHARGE
    return VatCategory.EXEMPT if marketplace.invoicer_vat_id else VatCategory.OUTSIDE


def missing_of_marketplace(marketplace: MarketplaceRow) -> Iterator[str]:
    """What is missing before a marketplace can issue invoices, as the names of its fields."""
    for name in ("company_name", "address_line_1", "postal_code", "city", "country_code", "registration_number"):
        if not getattr(marketplace, f"invoicer_{name}"):
            yield f"invoicing.{name}"


def missing_of_partner(partner: PartnerRow) -> Iterator[str]:
    """What is missing before invoices can be issued to a partner, as the names of its fields."""
    for name in ("hq_address_line_1", "hq_postal_code", "hq_city", "hq_country_code"):
        if not getattr(partner, name):
            yield f"head_office.{name.removeprefix('hq_')}"


def missing_for(marketplace: MarketplaceRow, partner: PartnerRow, categories: set[VatCategory]) -> Iterator[str]:
    """What is missing before an invoice with lines of these categories can be issued, as the names of fields."""
    yield from missing_of_marketplace(marketplace)
    yield from missing_of_partner(partner)
    if VatCategory.STANDARD in categories and not marketplace.invoicer_vat_id:
        yield "invoicing.vat_id"
    if categories & {VatCategory.EXEMPT, VatCategory.OUTSIDE} and not marketplace.invoicer_exemption_reason:
        yield "invoicing.exemption_reason"
