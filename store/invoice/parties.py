"""Who issues an invoice and whom it is for, and what is missing about them."""

from collections.abc import Iterator, Mapping
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from schema.invoice.invoice import VatCategory
from schema.validation.vat import normal_vat_number, vat_number
from store.invoice.fees import FeeSums, PostedFee
from store.partner.partners import MarketplaceRow, PartnerRow


def issuer_columns(marketplace: MarketplaceRow) -> Mapping[str, Any]:
    """The columns of an invoice about a marketplace that issues it."""
    names = ("company_name", "address_line_1", "postal_code", "city", "country_code", "registration_number")
    columns = {f"issuer_{name}": getattr(marketplace, f"invoicer_{name}") for name in names}
    return {**columns, "issuer_vat_id": vat_number(marketplace.invoicer_vat_id)}


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
        "customer_vat_id": vat_number(partner.vat_id) or partner.vat_id,
    }


def category_of(marketplace: MarketplaceRow, fee: PostedFee | FeeSums) -> VatCategory:
    """How VAT applies to a fee, or to fees: as when it was taken."""
    if fee.vat_rate:
        return VatCategory.STANDARD
    if fee.is_reverse_charge:
        return VatCategory.REVERSE_CHARGE
    return VatCategory.EXEMPT if marketplace.invoicer_vat_id else VatCategory.OUTSIDE


def missing_of_marketplace(marketplace: MarketplaceRow) -> Iterator[str]:
    """What is missing before a marketplace can issue invoices, as the names of its fields in GraphQL."""
    for name in ("company_name", "address_line_1", "postal_code", "city", "country_code", "registration_number"):
        if not getattr(marketplace, f"invoicer_{name}"):
            yield f"invoicing.{to_camel_case(name)}"


def missing_of_partner(partner: PartnerRow) -> Iterator[str]:
    """What is missing before invoices can be issued to a partner, as the names of its fields in GraphQL."""
    for name in ("hq_address_line_1", "hq_postal_code", "hq_city", "hq_country_code"):
        if not getattr(partner, name):
            yield f"headOffice.{to_camel_case(name.removeprefix('hq_'))}"


def missing_for(marketplace: MarketplaceRow, partner: PartnerRow, categories: set[VatCategory]) -> Iterator[str]:
    """What is missing before an invoice with lines of these categories can be issued, as the names of fields in GraphQL."""
    yield from missing_of_marketplace(marketplace)
    yield from missing_of_partner(partner)
    needs_number = marketplace.invoicer_vat_id or categories & {VatCategory.STANDARD, VatCategory.REVERSE_CHARGE}
    if needs_number and not vat_number(marketplace.invoicer_vat_id):
        yield "invoicing.vatId"
    if VatCategory.REVERSE_CHARGE in categories and not normal_vat_number(partner.vat_id):
        yield "vatId of the partner"
    if categories & {VatCategory.EXEMPT, VatCategory.OUTSIDE} and not marketplace.invoicer_exemption_reason:
        yield "invoicing.exemptionReason"
