"""Account data that the payment provider requires of a partner: mapping, missing fields and refused fields."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from strawberry.utils.str_converters import to_camel_case

from schema.onboarding import OnboardingField as F
from schema.partner.parts import CompanyType
from store.partner.partners import PartnerRow
from store.providers.accounts import AccountRequest, Address, LegalKind, Representative

LEGAL_KINDS = {
    CompanyType.BUSINESS: LegalKind.BUSINESS,
    CompanyType.ORGANIZATION: LegalKind.ORGANIZATION,
    CompanyType.SOLE_TRADER: LegalKind.SOLE_TRADER,
    CompanyType.INDIVIDUAL: LegalKind.INDIVIDUAL,
}
COMPANY_FIELDS = frozenset({F.NAME, F.AGENCY_EMAIL})
"""Fields that the provider does not require of a natural person."""
REGISTERED_FIELDS = frozenset({F.SIRET_NUMBER})
"""Fields that only a company must provide."""
COUNTRIES_WITH_REGION = frozenset({"CA", "MX", "US"})
"""Countries whose addresses include a state or province."""
COLUMNS = {F.HQ_COUNTRY: "hq_country_code"}
"""Field -> partner column, for the fields whose column has another name."""

_PROVIDER_FIELDS: Mapping[str, F] = {
    "legalpersontype": F.COMPANY_TYPE,
    "companynumber": F.SIRET_NUMBER,
    "firstname": F.LEGAL_REPRESENTATIVE_FIRST_NAME,
    "lastname": F.LEGAL_REPRESENTATIVE_LAST_NAME,
    "birthday": F.LEGAL_REPRESENTATIVE_BIRTHDAY,
    "nationality": F.LEGAL_REPRESENTATIVE_NATIONALITY,
    "countryofresidence": F.LEGAL_REPRESENTATIVE_COUNTRY_OF_RESIDENCE,
    "addressline1": F.HQ_ADDRESS_LINE_1,
    "postalcode": F.HQ_POSTAL_CODE,
    "city": F.HQ_CITY,
    "region": F.HQ_REGION,
    "country": F.HQ_COUNTRY,
    "name": F.NAME,
}
"""Last segment of the provider's field name, in lower case, letters and digits only -> our field."""


def required_fields(company_type: CompanyType | None, country_code: str) -> tuple[F, ...]:
    """The required fields for a company type and country, in the order of the form.

    While the company type or the country is unknown, fields that depend on it are left out.
    """
    without: set[F] = set() if country_code in COUNTRIES_WITH_REGION else {F.HQ_REGION}
    if company_type is None or is_person(company_type):
        without |= COMPANY_FIELDS | REGISTERED_FIELDS
    elif company_type is not CompanyType.BUSINESS:
        without |= REGISTERED_FIELDS
    return tuple(field for field in F if field not in without)


def missing_fields(partner: PartnerRow) -> tuple[F, ...]:
    """The required fields that are still empty. No value is ever guessed."""
    return _empty_fields(partner, required_fields(partner.company_type, partner.hq_country_code))


def form_fields(partner: PartnerRow) -> tuple[F, ...]:
    """The missing fields, and those that may become required once company type and country are known."""
    depends: set[F] = set() if partner.hq_country_code else {F.HQ_REGION}
    if partner.company_type is None:
        depends |= COMPANY_FIELDS | REGISTERED_FIELDS
    needs = {*required_fields(partner.company_type, partner.hq_country_code), *depends}
    return _empty_fields(partner, (field for field in F if field in needs))


def _empty_fields(partner: PartnerRow, fields: Iterable[F]) -> tuple[F, ...]:
    return tuple(field for field in fields if not getattr(partner, COLUMNS.get(field, field)))


def account_request_of(partner: PartnerRow, reference: str) -> AccountRequest:
    """The provider request for a partner that has no missing fields."""
    assert partner.company_type is not None
    assert partner.legal_representative_birthday is not None
    representative = Representative(
        first_name=partner.legal_representative_first_name,
        last_name=partner.legal_representative_last_name,
        email=partner.legal_representative_email,
        birthday=partner.legal_representative_birthday,
        nationality=partner.legal_representative_nationality,
        residence=partner.legal_representative_country_of_residence,
    )
    headquarters = Address(
        line_1=partner.hq_address_line_1,
        line_2=partner.hq_address_line_2,
        city=partner.hq_city,
        postal_code=partner.hq_postal_code,
        country=partner.hq_country_code,
        region=partner.hq_region,
    )
    return AccountRequest(
        reference=reference,
        kind=LEGAL_KINDS[partner.company_type],
        name=partner.name or f"{representative.first_name} {representative.last_name}",
        email=partner.agency_email,
        representative=representative,
        headquarters=headquarters,
        company_number=partner.siret_number,
    )


def account_digest(partner: PartnerRow) -> str:
    """A SHA-256 of the account request; it differs when the data to send to the provider has changed."""
    return hashlib.sha256(repr(account_request_of(partner, "")).encode()).hexdigest()


def is_person(company_type: CompanyType | None) -> bool:
    """True for a natural person.

    The provider cannot turn a natural person's account into a company's, or the reverse.
    """
    return company_type is CompanyType.INDIVIDUAL


def api_field_name(field: str) -> str:
    """The field's path in `updatePartner`, such as `legalRepresentative.birthday`.

    A provider's field name is returned unchanged.
    """
    if field not in set(F):
        return field
    groups = {"legal_representative_": "legalRepresentative.", "hq_": "headOffice."}
    prefix = next((prefix for prefix in groups if field.startswith(prefix)), "")
    group = "registration." if field == F.SIRET_NUMBER else groups.get(prefix, "")
    return f"{group}{to_camel_case(field.removeprefix(prefix))}"


def refused_field(fields: Mapping[str, str], company_type: CompanyType | None) -> str:
    """Our name of the first refused field that we know; else the provider's name of the first one; else empty."""
    named = [(name, _field_of(name, company_type)) for name in fields]
    return next((str(ours) for _, ours in named if ours), named[0][0] if named else "")


def _field_of(name: str, company_type: CompanyType | None) -> F | None:
    parts = [re.sub("[^a-z0-9]", "", part.lower()) for part in name.split(".")]
    if parts[-1] == "email":
        acting = "legalrepresentative" in parts or is_person(company_type)
        return F.LEGAL_REPRESENTATIVE_EMAIL if acting else F.AGENCY_EMAIL
    return _PROVIDER_FIELDS.get(parts[-1].removeprefix("legalrepresentative").removeprefix("headquarters"))
