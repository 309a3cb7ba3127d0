"""Inputs that create and update partners."""

import enum
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import strawberry
from pydantic import AfterValidator, BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from schema.core.inputs import graphql_input_for
from schema.core.message_names import WORDS, TemplatedMessage
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import (
    BankDetails,
    CompanyType,
    HeadOffice,
    LegalRepresentative,
    NetworkLinks,
    PayoutFrequency,
    PayoutSettings,
    RefundPolicy,
    Registration,
)
from schema.partner.theme_input import StartPageInput, ThemeInput
from schema.payment_method import PaymentMethod
from schema.product.input import PicturePath
from schema.validation.characters import line_up_to
from schema.validation.colours import Colour
from schema.validation.contact import (
    Bic,
    Country,
    CountryCode,
    EmptyToNone,
    Iban,
    NoneToEmpty,
    NotBlank,
    Phone,
    RequiredEmail,
    WebAddress,
)
from schema.validation.dates import OptionalDay
from schema.validation.languages import Language
from schema.validation.numbers import RowId, WholeNumberRule

LONGEST_NAME, LONGEST_SHORT_NAME, LONGEST_NUMBER = 120, 60, 40


@dataclass(frozen=True)
class AllowedStatuses:
    """Annotates a status of which only some values are accepted."""

    statuses: tuple[enum.StrEnum, ...]
    message: str
    """The error message; `{choices}` are the accepted statuses."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": [status.value for status in self.statuses]}

    def _check(self, status: enum.StrEnum) -> enum.StrEnum:
        if status not in self.statuses:
            raise PydanticCustomError(
                "status", "{words}", {WORDS: TemplatedMessage(self.message, choices=self.statuses)}
            )
        return status


def _text_of_number(value: object) -> object:
    return str(value) if type(value) is int else value


def _digits(value: str) -> str:
    if not (value.isascii() and value.isdigit()) or value.startswith("0"):
        raise PydanticCustomError("source_id", "Send digits, without a zero in front.")
    return value


def _sort_methods(methods: list[PaymentMethod]) -> list[PaymentMethod]:
    return sorted(set(methods), key=list(PaymentMethod).index)


def _sort_tags(tags: list[str]) -> list[str]:
    return sorted(set(tags), key=lambda tag: (tag.casefold(), tag))


CreatePartnerStatus = Annotated[
    PartnerStatus,
    AllowedStatuses(
        (PartnerStatus.ACTIVE, PartnerStatus.INACTIVE, PartnerStatus.TEST),
        "Only partners that a network creates are new. Send {choices}.",
    ),
]
Name = Annotated[str, line_up_to(LONGEST_NAME), NoneToEmpty]
RequiredName = Annotated[str, line_up_to(LONGEST_NAME), NotBlank]
ShortName = Annotated[str, line_up_to(LONGEST_SHORT_NAME), NotBlank]
PersonName = Annotated[str, line_up_to(100), NoneToEmpty]
Number = Annotated[str, line_up_to(LONGEST_NUMBER), NoneToEmpty]
Ape = Annotated[str, line_up_to(20), NoneToEmpty]
Rcs = Annotated[str, line_up_to(80), NoneToEmpty]
AddressLine = Annotated[str, line_up_to(255), NoneToEmpty]
City = Annotated[str, line_up_to(120), NoneToEmpty]
PostalCode = Annotated[str, line_up_to(20), NoneToEmpty]
SourceId = Annotated[str, BeforeValidator(_text_of_number), line_up_to(18), AfterValidator(_digits)]
SourceIdLookup = Annotated[str, BeforeValidator(_text_of_number), line_up_to(40)]
"""A source id to find a partner by. Unlike `SourceId` it is not validated: an impossible one matches no partner."""
WithdrawalDays = Annotated[int, WholeNumberRule(ge=0, le=365)]
OptionalBirthday = OptionalDay
OptionalCompanyType = Annotated[CompanyType | None, EmptyToNone]
OptionalPayoutFrequency = Annotated[PayoutFrequency | None, EmptyToNone]
OptionalReferrer = Annotated[RowId | None, EmptyToNone]
Tag = Annotated[str, line_up_to(60), NotBlank]
Tags = Annotated[list[Tag], Field(max_length=100)]
SortedTags = Annotated[Tags, AfterValidator(_sort_tags)]
Hosts = Annotated[list[Annotated[str, line_up_to(260, to_lower=True), NotBlank]], Field(max_length=50)]
PaymentMethods = Annotated[list[PaymentMethod], Field(min_length=1), AfterValidator(_sort_methods)]
TAGS_DESCRIPTION = (
    "The tags by which the network sorts partners: at most 100 of 60 characters; sorted "
    "alphabetically, duplicates removed."
)


@graphql_input_for(Registration)
class RegistrationInput(SchemaModel):
    """The registration numbers of a company; empty clears one."""

    siret_number: strawberry.Maybe[Number]
    rcs: strawberry.Maybe[Rcs]
    ape: strawberry.Maybe[Ape]
    vat_id: strawberry.Maybe[Number]


@graphql_input_for(HeadOffice)
class HeadOfficeInput(SchemaModel):
    """The head office; empty clears a field."""

    address_line_1: strawberry.Maybe[AddressLine]
    address_line_2: strawberry.Maybe[AddressLine]
    postal_code: strawberry.Maybe[PostalCode]
    city: strawberry.Maybe[City]
    region: strawberry.Maybe[City]
    country: strawberry.Maybe[Country] = Field(
        description="ISO 3166 code, or the country's name in a supported language."
    )


@graphql_input_for(LegalRepresentative)
class LegalRepresentativeInput(SchemaModel):
    """The legal representative of a partner; empty clears a field."""

    first_name: strawberry.Maybe[PersonName]
    last_name: strawberry.Maybe[PersonName]
    birthday: strawberry.Maybe[OptionalBirthday]
    email: strawberry.Maybe[RequiredEmail]
    nationality: strawberry.Maybe[CountryCode]
    country_of_residence: strawberry.Maybe[CountryCode]


@graphql_input_for(LegalRepresentative)
class NewLegalRepresentativeInput(SchemaModel):
    """The legal representative of a new partner."""

    first_name: PersonName = ""
    last_name: PersonName = ""
    birthday: OptionalBirthday = None
    email: RequiredEmail
    nationality: CountryCode = ""
    country_of_residence: CountryCode = ""


@graphql_input_for(BankDetails)
class BankDetailsInput(SchemaModel):
    """The bank account for payouts; empty clears a field."""

    iban: strawberry.Maybe[Iban]
    bic: strawberry.Maybe[Bic]


@graphql_input_for(PayoutSettings)
class PayoutSettingsInput(SchemaModel):
    """The payout settings of a partner."""

    frequency: strawberry.Maybe[OptionalPayoutFrequency]
    auto_validate: strawberry.Maybe[bool]
    may_freeze: strawberry.Maybe[bool]
    block_validation: strawberry.Maybe[bool]


@graphql_input_for(RefundPolicy)
class RefundPolicyInput(SchemaModel):
    """What buyers of a partner may ask for on the page of their order."""

    withdrawal_days: strawberry.Maybe[WithdrawalDays]
    approves_withdrawals: strawberry.Maybe[bool]
    takes_refund_requests: strawberry.Maybe[bool]


@graphql_input_for(NetworkLinks)
class NetworkLinksInput(SchemaModel):
    """Which products of its network the partner takes part in."""

    vouchers: strawberry.Maybe[bool]
    gift_cards: strawberry.Maybe[bool]
    is_shop: strawberry.Maybe[bool]


@graphql_input_for(Partner)
class CreatePartner(SchemaModel):
    """Create a partner. Its payments are activated in a separate step."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    source_id: SourceId | None = Field(
        default=None, description="The partner's id in the network's own systems, in digits; its own id if omitted."
    )
    status: CreatePartnerStatus
    name: Name = ""
    commercial_name: RequiredName
    short_name: ShortName
    company_type: OptionalCompanyType = None
    registration: RegistrationInput | None = None
    legal_representative: NewLegalRepresentativeInput
    head_office: HeadOfficeInput | None = None
    agency_email: RequiredEmail
    agency_phone: Phone = ""
    website: WebAddress = ""
    payout_settings: PayoutSettingsInput | None = None
    bank_account: BankDetailsInput | None = None
    hide_from_stats: bool = False
    third_party_sales_only: bool = False
    referrer: OptionalReferrer = None
    accent_colour: Colour | None = None
    language: Language | None = None
    return_hosts: Hosts = Field(default_factory=list)
    return_with_order_number: bool = False
    tags: SortedTags = Field(default_factory=list, description=TAGS_DESCRIPTION)


@graphql_input_for(Partner)
class UpdatePartner(SchemaModel):
    """Update a partner. Omitted fields stay unchanged."""

    uuid: UUID = Field(description="The uuid of the partner.")
    status: strawberry.Maybe[PartnerStatus]
    name: strawberry.Maybe[Name]
    commercial_name: strawberry.Maybe[RequiredName]
    short_name: strawberry.Maybe[ShortName]
    company_type: strawberry.Maybe[OptionalCompanyType]
    registration: strawberry.Maybe[RegistrationInput]
    legal_representative: strawberry.Maybe[LegalRepresentativeInput]
    head_office: strawberry.Maybe[HeadOfficeInput]
    agency_email: strawberry.Maybe[RequiredEmail]
    agency_phone: strawberry.Maybe[Phone]
    website: strawberry.Maybe[WebAddress]
    payout_settings: strawberry.Maybe[PayoutSettingsInput]
    refund_policy: strawberry.Maybe[RefundPolicyInput]
    bank_account: strawberry.Maybe[BankDetailsInput]
    hide_from_stats: strawberry.Maybe[bool]
    third_party_sales_only: strawberry.Maybe[bool]
    referrer: strawberry.Maybe[OptionalReferrer]
    accent_colour: strawberry.Maybe[Colour]
    language: strawberry.Maybe[Language]
    payment_methods: strawberry.Maybe[PaymentMethods] = Field(
        description="What its customers can pay with, of what the account at the payment provider accepts."
    )
    logo_url: strawberry.Maybe[PicturePath] = Field(
        description="The logo: the URL of one of the partner's own pictures (`Media.cardUrl`), with or without "
        "scheme and host; empty for none."
    )
    theme: strawberry.Maybe[ThemeInput]
    start_page: strawberry.Maybe[StartPageInput]
    return_hosts: strawberry.Maybe[Hosts]
    return_with_order_number: strawberry.Maybe[bool]
    tags: strawberry.Maybe[SortedTags] = Field(description=TAGS_DESCRIPTION)
