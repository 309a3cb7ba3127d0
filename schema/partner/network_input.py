"""What is sent of partners by the network that lists them."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.ownership import MARKETPLACE
from schema.core.resource import Fields, writable_as
from schema.partner.input import (
    LONGEST_NUMBER,
    Birthday,
    FilledName,
    Kind,
    Line,
    NetworkLinksInput,
    OneOf,
    Referrer,
    ShortName,
    SomeSourceId,
    SourceId,
    Tags,
)
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import HeadOffice, LegalRepresentative, Registration
from schema.validation.characters import up_to
from schema.validation.contact import Email, Filled, FilledCountry, FilledEmail, FilledWebAddress, Phone

NetworkStatus = Annotated[
    PartnerStatus,
    OneOf((PartnerStatus.INACTIVE, PartnerStatus.NEW), "A network sets its partners inactive or new. Send {choices}."),
]
PersonName = Annotated[str, up_to(100), Filled]
Number = Annotated[str, up_to(LONGEST_NUMBER), Filled]
Rcs = Annotated[str, up_to(80), Filled]
Ape = Annotated[str, up_to(20), Filled]
Street = Annotated[str, up_to(255), Filled]
PostalCode = Annotated[str, up_to(10), Filled]
City = Annotated[str, up_to(120), Filled]


@writable_as(Registration)
class NetworkRegistrationInput(Fields):
    """The numbers of a company."""

    siret_number: Number
    rcs: Rcs
    ape: Ape
    vat_id: Number


@writable_as(LegalRepresentative)
class NetworkRepresentativeInput(Fields):
    """Who answers for the partner before the law."""

    first_name: PersonName
    last_name: PersonName
    birthday: Birthday = None
    email: Email = ""


@writable_as(HeadOffice)
class NetworkHeadOfficeInput(Fields):
    """Where the head office is."""

    address_line_1: Street
    address_line_2: Line = ""
    postal_code: PostalCode
    city: City
    country: FilledCountry = Field(description="An ISO 3166 code, or a name in one of our languages.")


@writable_as(Partner)
class CreateNetworkPartner(Fields):
    """A partner that its network lists. It begins as `NEW`."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE)
    source_id: SourceId | None = Field(
        default=None, description="The id that the network's own systems know it by, in digits; left out: its own id."
    )
    name: FilledName
    commercial_name: FilledName
    short_name: ShortName
    company_type: Kind = None
    registration: NetworkRegistrationInput
    legal_representative: NetworkRepresentativeInput
    head_office: NetworkHeadOfficeInput
    agency_email: FilledEmail
    agency_phone: Phone = ""
    website: FilledWebAddress
    network_links: NetworkLinksInput | None = None
    tags: Tags = Field(default_factory=list)


@writable_as(Partner)
class UpdateNetworkPartner(Fields):
    """The partner is named by `sourceId` or by `siretNumber`; given both, they must name the same one."""

    source_id: SomeSourceId | None = Field(default=None, description="The source id of the partner.")
    siret_number: Annotated[str, up_to(LONGEST_NUMBER)] | None = Field(
        default=None, description="The company number of the partner."
    )
    status: strawberry.Maybe[NetworkStatus]
    hide_from_stats: strawberry.Maybe[bool]
    third_party_sales_only: strawberry.Maybe[bool]
    referrer: strawberry.Maybe[Referrer]
    network_links: strawberry.Maybe[NetworkLinksInput]
