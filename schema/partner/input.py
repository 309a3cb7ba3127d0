"""What is sent to make and to change partners."""

import re
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import strawberry
from pydantic import AfterValidator, BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schema.core.message_names import Words
from schema.core.ownership import MARKETPLACE
from schema.core.resource import Fields, writable_as
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import (
    BankDetails,
    CompanyType,
    HeadOffice,
    LegalRepresentative,
    NetworkLinks,
    PayoutFrequency,
    PayoutSettings,
    Registration,
)
from schema.product.input import PicturePath
from schema.validation.characters import up_to
from schema.validation.contact import (
    Bic,
    Country,
    CountryCode,
    EmptyIsNothing,
    Filled,
    FilledEmail,
    Iban,
    NothingIsEmpty,
    Phone,
    WebAddress,
)
from schema.validation.dates import MaybeDay
from schema.validation.numbers import RowId
from schema.voucher.issue_input import Language

COLOUR = re.compile("#[0-9a-f]{6}")
LONGEST_NAME, LONGEST_SHORT_NAME, LONGEST_NUMBER = 120, 60, 40


@dataclass(frozen=True)
class OneOf:
    """Annotates a status of which only some values may be sent."""

    statuses: tuple[PartnerStatus, ...]
    refusal: str
    """Why not; `{choices}` are the statuses that may be sent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check the value after its type."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Show what may be sent."""
        return {"type": "string", "enum": [status.value for status in self.statuses]}

    def _checked(self, status: PartnerStatus) -> PartnerStatus:
        if status not in self.statuses:
            raise PydanticCustomError("status", "refused", {"words": Words(self.refusal, choices=self.statuses)})
        return status


def _text_of_number(value: object) -> object:
    return str(value) if type(value) is int else value


def _digits(value: str) -> str:
    if not (value.isascii() and value.isdigit()) or value.startswith("0"):
        raise PydanticCustomError("source_id", "Send digits, without a zero in front.")
    return value


def _colour(value: str) -> str:
    if not COLOUR.fullmatch(value):
        raise PydanticCustomError("colour", "Send a colour as #rrggbb, such as #1f4e5f.")
    return value


def _sorted(tags: list[str]) -> list[str]:
    return sorted(set(tags), key=lambda tag: (tag.casefold(), tag))


Status = Annotated[
    PartnerStatus,
    OneOf(
        (PartnerStatus.ACTIVE, PartnerStatus.INACTIVE, PartnerStatus.TEST),
        "Only partners that a network lists are new. Send {choices}.",
    ),
]
Name = Annotated[str, up_to(LONGEST_NAME), NothingIsEmpty]
FilledName = Annotated[str, up_to(LONGEST_NAME), Filled]
ShortName = Annotated[str, up_to(LONGEST_SHORT_NAME), Filled]
PersonName = Annotated[str, up_to(100), NothingIsEmpty]
Number = Annotated[str, up_to(LONGEST_NUMBER), NothingIsEmpty]
Ape = Annotated[str, up_to(20), NothingIsEmpty]
Rcs = Annotated[str, up_to(80), NothingIsEmpty]
Line = Annotated[str, up_to(255), NothingIsEmpty]
City = Annotated[str, up_to(120), NothingIsEmpty]
PostalCode = Annotated[str, up_to(20), NothingIsEmpty]
SourceId = Annotated[str, BeforeValidator(_text_of_number), up_to(18), AfterValidator(_digits)]
SomeSourceId = Annotated[str, BeforeValidator(_text_of_number), up_to(40)]
"""To find a partner by: one that could not be given is that of nobody."""
Birthday = MaybeDay
Kind = Annotated[CompanyType | None, EmptyIsNothing]
Frequency = Annotated[PayoutFrequency | None, EmptyIsNothing]
Referrer = Annotated[RowId | None, EmptyIsNothing]
Colour = Annotated[str, up_to(20, lower=True), AfterValidator(_colour)]
Tag = Annotated[str, up_to(60), Filled]
Tags = Annotated[list[Tag], Field(max_length=100)]
SortedTags = Annotated[Tags, AfterValidator(_sorted)]
Hosts = Annotated[list[Annotated[str, up_to(260, lower=True), Filled]], Field(max_length=50)]
TAGS = "Words its network sorts partners by, at most 100 of 60 characters; kept in alphabetical order, none twice."


@writable_as(Registration)
class RegistrationInput(Fields):
    """The numbers of a company; empty clears one."""

    siret_number: strawberry.Maybe[Number]
    rcs: strawberry.Maybe[Rcs]
    ape: strawberry.Maybe[Ape]
    vat_id: strawberry.Maybe[Number]


@writable_as(HeadOffice)
class HeadOfficeInput(Fields):
    """Where the head office is; empty clears a part."""

    address_line_1: strawberry.Maybe[Line]
    address_line_2: strawberry.Maybe[Line]
    postal_code: strawberry.Maybe[PostalCode]
    city: strawberry.Maybe[City]
    region: strawberry.Maybe[City]
    country: strawberry.Maybe[Country] = Field(description="An ISO 3166 code, or a name in one of our languages.")


@writable_as(LegalRepresentative)
class LegalRepresentativeInput(Fields):
    """Who answers for the partner before the law; empty clears a part."""

    first_name: strawberry.Maybe[PersonName]
    last_name: strawberry.Maybe[PersonName]
    birthday: strawberry.Maybe[Birthday]
    email: strawberry.Maybe[FilledEmail]
    nationality: strawberry.Maybe[CountryCode]
    country_of_residence: strawberry.Maybe[CountryCode]


@writable_as(LegalRepresentative)
class NewLegalRepresentativeInput(Fields):
    """Who answers for a new partner before the law."""

    first_name: PersonName = ""
    last_name: PersonName = ""
    birthday: Birthday = None
    email: FilledEmail
    nationality: CountryCode = ""
    country_of_residence: CountryCode = ""


@writable_as(BankDetails)
class BankDetailsInput(Fields):
    """The bank account to pay to; empty clears a part."""

    iban: strawberry.Maybe[Iban]
    bic: strawberry.Maybe[Bic]


@writable_as(PayoutSettings)
class PayoutSettingsInput(Fields):
    """When and how to pay out."""

    frequency: strawberry.Maybe[Frequency]
    auto_validate: strawberry.Maybe[bool]
    may_freeze: strawberry.Maybe[bool]
    block_validation: strawberry.Maybe[bool]


@writable_as(NetworkLinks)
class NetworkLinksInput(Fields):
    """What the partner takes part in."""

    vouchers: strawberry.Maybe[bool]
    gift_cards: strawberry.Maybe[bool]


@writable_as(Partner)
class CreatePartner(Fields):
    """A partner. Its payments are not active yet: activating them is a step of its own."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE)
    source_id: SourceId | None = Field(
        default=None, description="The id that the network's own systems know it by, in digits; left out: its own id."
    )
    status: Status
    name: Name = ""
    commercial_name: FilledName
    short_name: ShortName
    company_type: Kind = None
    registration: RegistrationInput | None = None
    legal_representative: NewLegalRepresentativeInput
    head_office: HeadOfficeInput | None = None
    agency_email: FilledEmail
    agency_phone: Phone = ""
    website: WebAddress = ""
    payout_settings: PayoutSettingsInput | None = None
    bank_account: BankDetailsInput | None = None
    hide_from_stats: bool = False
    third_party_sales_only: bool = False
    referrer: Referrer = None
    accent_colour: Colour | None = None
    language: Language | None = None
    return_hosts: Hosts = Field(default_factory=list)
    return_with_order_number: bool = False
    tags: SortedTags = Field(default_factory=list, description=TAGS)


@writable_as(Partner)
class UpdatePartner(Fields):
    """What is left out stays as it is."""

    uuid: UUID = Field(description="The uuid of the partner.")
    status: strawberry.Maybe[PartnerStatus]
    name: strawberry.Maybe[Name]
    commercial_name: strawberry.Maybe[FilledName]
    short_name: strawberry.Maybe[ShortName]
    company_type: strawberry.Maybe[Kind]
    registration: strawberry.Maybe[RegistrationInput]
    legal_representative: strawberry.Maybe[LegalRepresentativeInput]
    head_office: strawberry.Maybe[HeadOfficeInput]
    agency_email: strawberry.Maybe[FilledEmail]
    agency_phone: strawberry.Maybe[Phone]
    website: strawberry.Maybe[WebAddress]
    payout_settings: strawberry.Maybe[PayoutSettingsInput]
    bank_account: strawberry.Maybe[BankDetailsInput]
    hide_from_stats: strawberry.Maybe[bool]
    third_party_sales_only: strawberry.Maybe[bool]
    referrer: strawberry.Maybe[Referrer]
    accent_colour: strawberry.Maybe[Colour]
    language: strawberry.Maybe[Language]
    logo_url: strawberry.Maybe[PicturePath] = Field(
        description="Its logo: where one of its own pictures is found (`Media.cardUrl`), with scheme and host or without; empty: none."
    )
    return_hosts: strawberry.Maybe[Hosts]
    return_with_order_number: strawberry.Maybe[bool]
    tags: strawberry.Maybe[SortedTags] = Field(description=TAGS)
