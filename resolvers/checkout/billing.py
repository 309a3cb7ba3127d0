"""Validation of what a buyer says about the company that buys: its name, VAT number and address, for the invoice."""

from collections.abc import Mapping

from schema.checkout.checkout import Buyer
from schema.core.errors import Problem
from schema.core.message_names import TemplatedMessage
from schema.validation.countries import COUNTRIES
from schema.validation.postal_codes import example_postal_code, is_postal_code
from schema.validation.vat import buyer_vat_number

COMPANY, VAT_ID = "company_name", "vat_id"
ADDRESS = ("billing_line_1", "billing_line_2", "billing_postal_code", "billing_city", "billing_country")
REQUIRED = ("billing_line_1", "billing_postal_code", "billing_city", "billing_country")
LENGTHS = {
    COMPANY: 160,
    VAT_ID: 40,
    "billing_line_1": 120,
    "billing_line_2": 120,
    "billing_postal_code": 20,
    "billing_city": 80,
    "billing_country": 2,
}
PRESELECTED = "billing_country"
"""A field that the page fills in: alone it says nothing."""


def missing_of_company(buyer: Buyer, *, has_address: bool) -> list[str]:
    """What is missing for an invoice. `has_address`: the order is sent to an address of the buyer, which is that of the
    company too, unless another is given.
    """
    given = {name for name in LENGTHS if name != PRESELECTED and getattr(buyer, name)}
    if not given:
        return []
    required = REQUIRED if not has_address or given & set(ADDRESS) else ()
    return [name for name in (COMPANY, *required) if not getattr(buyer, name)]


def check_company(fields: Mapping[str, str], address_country: str) -> tuple[dict[str, str], list[Problem]]:
    """The fields of a company, without what the page has filled in for a person, and the problems with them. `fields` are
    cleaned, and not longer than LENGTHS.

    `address_country` is where the order is sent, if that can be the address of the company; empty if not, or unknown.
    """
    checked = {name: fields[name] for name in LENGTHS}
    if not any(checked[name] for name in LENGTHS if name != PRESELECTED):
        return dict.fromkeys(LENGTHS, ""), []
    if address_country and not any(checked[name] for name in ADDRESS if name != PRESELECTED):
        checked[PRESELECTED] = ""
    country, problems = checked[PRESELECTED], []
    if country and country not in COUNTRIES:
        problems.append(Problem((PRESELECTED,), "INVALID", "Choose a country."))
    elif checked["billing_postal_code"] and not is_postal_code(checked["billing_postal_code"], country):
        text = TemplatedMessage(
            "Write a postal code of this country, such as {example}.", example=example_postal_code(country)
        )
        problems.append(Problem(("billing_postal_code",), "INVALID_POSTAL_CODE", text))
    if checked[VAT_ID]:
        number = buyer_vat_number(checked[VAT_ID], country or address_country)
        if not number:
            problems.append(Problem((VAT_ID,), "INVALID_VAT_ID", "Write a VAT number, such as FR40303265045."))
        checked[VAT_ID] = number or checked[VAT_ID]
    return checked, problems
