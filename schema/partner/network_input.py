"""Inputs with which a network creates and updates its partners."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.partner.input import (
    LONGEST_NUMBER,
    AddressLine,
    AllowedStatuses,
    NetworkLinksInput,
    OptionalBirthday,
    OptionalCompanyType,
    OptionalReferrer,
    RequiredName,
    ShortName,
    SourceId,
    SourceIdLookup,
    Tags,
)
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import HeadOffice, LegalRepresentative, Registration
from schema.validation.characters import line_up_to
from schema.validation.contact import Email, NotBlank, Phone, RequiredCountry, RequiredEmail, RequiredWebAddress

NetworkStatus = Annotated[
    PartnerStatus,
    AllowedStatuses(
        (PartnerStatus.INACTIVE, PartnerStatus.NEW), "A network sets its partners inactive or new. Send {choices}."
    ),
]
PersonName = Annotated[str, line_up_to(100), NotBlank]
Number = Annotated[str, line_up_to(LONGEST_NUMBER), NotBlank]
Rcs = Annotated[str, line_up_to(80), NotBlank]
Ape = Annotated[str, line_up_to(20), NotBlank]
Street = Annotated[str, line_up_to(255), NotBlank]
PostalCode = Annotated[str, line_up_to(10), NotBlank]
City = Annotated[str, line_up_to(120), NotBlank]


@graphql_input_for(Registration)
class NetworkRegistrationInput(SchemaModel):
    """The registration numbers of a company."""

    siret_number: Number
    rcs: Rcs
    ape: Ape
    vat_id: Number


@graphql_input_for(LegalRepresentative)
class NetworkRepresentativeInput(SchemaModel):
    """The legal representative of a partner."""

    first_name: PersonName
    last_name: PersonName
    birthday: OptionalBirthday = None
    email: Email = ""


@graphql_input_for(HeadOffice)
class NetworkHeadOfficeInput(SchemaModel):
    """The head office."""

    address_line_1: Street
    address_line_2: AddressLine = ""
    postal_code: PostalCode
    city: City
    country: RequiredCountry = Field(description="ISO 3166 code, or the country's name in a supported language.")


@graphql_input_for(Partner)
class CreateNetworkPartner(SchemaModel):
    """Create a network partner. Its status is `NEW`."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    source_id: SourceId | None = Field(
        default=None, description="The partner's id in the network's own systems, in digits; its own id if omitted."
    )
    name: RequiredName
    commercial_name: RequiredName
    short_name: ShortName
    company_type: OptionalCompanyType = None
    registration: NetworkRegistrationInput
    legal_representative: NetworkRepresentativeInput
    head_office: NetworkHeadOfficeInput
    agency_email: RequiredEmail
    agency_phone: Phone = ""
    website: RequiredWebAddress
    network_links: NetworkLinksInput | None = None
    tags: Tags = Field(default_factory=list)


@graphql_input_for(Partner)
class UpdateNetworkPartner(SchemaModel):
    """Update a network partner. Identify it by `sourceId` or by `siretNumber`; if both are sent, they must match the
    same partner.
    """

    source_id: SourceIdLookup | None = Field(default=None, description="The source id of the partner.")
    siret_number: Annotated[str, line_up_to(LONGEST_NUMBER)] | None = Field(
        default=None, description="The company number of the partner."
    )
    status: strawberry.Maybe[NetworkStatus]
    hide_from_stats: strawberry.Maybe[bool]
    third_party_sales_only: strawberry.Maybe[bool]
    referrer: strawberry.Maybe[OptionalReferrer]
    network_links: strawberry.Maybe[NetworkLinksInput]
