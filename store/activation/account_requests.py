"""What the provider is told of a partner, what is missing for it, and what of it the provider did not take."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from strawberry.utils.str_converters import to_camel_case

from schema.onboarding import OnboardingField as F
from schema.partner.parts import CompanyType
from store.partner.partners import PartnerRow
from store.providers.accounts import AccountRequest, Address, LegalKind, Representative

KINDS = {
    CompanyType.BUSINESS: LegalKind.BUSINESS,
    CompanyType.ORGANIZATION: LegalKind.ORGANIZATION,
    CompanyType.SOLE_TRADER: LegalKind.SOLE_TRADER,
    CompanyType.INDIVIDUAL: LegalKind.INDIVIDUAL,
}
OF_COMPANIES = frozenset({F.NAME, F.AGENCY_EMAIL})
"""What the provider does not ask of a person."""
OF_REGISTERED = frozenset({F.SIRET_NUMBER})
"""What only a company must have."""
WITH_REGION = frozenset({"CA", "MX", "US"})
"""Countries in which an address has a state or province."""
COLUMNS = {F.HQ_COUNTRY: "hq_country_code"}
"""Where the answer to a field is read, when not in the column of its name."""

_NAMES: Mapping[str, F] = {
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
"""The last part of a provider's name for a field, without signs -> ours."""


def needed(company_type: CompanyType | None, country_code: str) -> tuple[F, ...]:
    """What the provider needs of a partner of a kind in a country, in the order it is asked; while one of them is not known,
    all but what depends on it.
    """
    without: set[F] = set() if country_code in WITH_REGION else {F.HQ_REGION}
    if company_type is None or is_person(company_type):
        without |= OF_COMPANIES | OF_REGISTERED
    elif company_type is not CompanyType.BUSINESS:
        without |= OF_REGISTERED
    return tuple(field for field in F if field not in without)


def missing(partner: PartnerRow) -> tuple[F, ...]:
    """What the provider needs of a partner and nobody has told us. None of it is ever guessed."""
    return _empty(partner, needed(partner.company_type, partner.hq_country_code))


def asked(partner: PartnerRow) -> tuple[F, ...]:
    """What a form asks for: what is missing, and while kind or country are not known what they may turn out to need."""
    depends: set[F] = set() if partner.hq_country_code else {F.HQ_REGION}
    if partner.company_type is None:
        depends |= OF_COMPANIES | OF_REGISTERED
    needs = {*needed(partner.company_type, partner.hq_country_code), *depends}
    return _empty(partner, (field for field in F if field in needs))


def _empty(partner: PartnerRow, fields: Iterable[F]) -> tuple[F, ...]:
    return tuple(field for field in fields if not getattr(partner, COLUMNS.get(field, field)))


def request_of(partner: PartnerRow, reference: str) -> AccountRequest:
    """All that the provider is told of a partner of whom nothing is missing."""
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
        kind=KINDS[partner.company_type],
        name=partner.name or f"{representative.first_name} {representative.last_name}",
        email=partner.agency_email,
        representative=representative,
        headquarters=headquarters,
        company_number=partner.siret_number,
    )


def digest(partner: PartnerRow) -> str:
    """Tells whether what the provider would be told has changed."""
    return hashlib.sha256(repr(request_of(partner, "")).encode()).hexdigest()


def is_person(company_type: CompanyType | None) -> bool:
    """Whether it is a person: the provider's account of one cannot become a company's, nor the other way round."""
    return company_type is CompanyType.INDIVIDUAL


def published(field: str) -> str:
    """What `updatePartner` calls a field: `legalRepresentative.birthday`. A name of the provider's own stays as it is."""
    if field not in set(F):
        return field
    groups = {"legal_representative_": "legalRepresentative.", "hq_": "headOffice."}
    prefix = next((prefix for prefix in groups if field.startswith(prefix)), "")
    group = "registration." if field == F.SIRET_NUMBER else groups.get(prefix, "")
    return f"{group}{to_camel_case(field.removeprefix(prefix))}"


def refused_field(fields: Mapping[str, str], company_type: CompanyType | None) -> str:
    """The first of the provider's refused fields in our words, else in the provider's; empty when none is named."""
    named = [(name, _ours(name, company_type)) for name in fields]
    return next((str(ours) for _, ours in named if ours), named[0][0] if named else "")


def _ours(name: str, company_type: CompanyType | None) -> F | None:
    parts = [re.sub("[^a-z0-9]", "", part.lower()) for part in name.split(".")]
    if parts[-1] == "email":
        acting = "legalrepresentative" in parts or is_person(company_type)
        return F.LEGAL_REPRESENTATIVE_EMAIL if acting else F.AGENCY_EMAIL
    return _NAMES.get(parts[-1].removeprefix("legalrepresentative").removeprefix("headquarters"))
