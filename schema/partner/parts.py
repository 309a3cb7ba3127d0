"""The embedded values of a partner: registration, head office, representative, bank account and settings."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.field_permission import FieldPermission
from schema.core.money import Money
from schema.core.permission import Permission

PARTNER_FIELD_PERMISSION = FieldPermission(Permission.VIEW_PARTNER, owner_columns=("id", "marketplace_id"))
"""Limits a field to callers who may see partners, and this partner, whichever relation leads to it."""


@graphql_enum
class CompanyType(DescribedEnum):
    """The legal form of a partner."""

    BUSINESS = "bus", "A company."
    INDIVIDUAL = "ind", "A private person without a business."
    SOLE_TRADER = "sol", "A sole trader."
    ORGANIZATION = "org", "An association or a public body."


@graphql_enum
class PayoutFrequency(DescribedEnum):
    """How often a partner is paid out."""

    WEEK = "week", "Every week."
    BIMONTHLY = "bimth", "Twice a month: on the 1st and on the 16th."
    MONTH = "month", "Every month."


@strawberry.pydantic.type(description="The registration numbers of a company. Empty if unknown.")
class Registration(BaseModel):
    siret_number: str = PydanticField(description="The company number: in France the SIRET, 14 digits.")
    rcs: str = PydanticField(description="The entry in the trade register.")
    ape: str = PydanticField(description="The activity code.")
    vat_id: str = PydanticField(description="The VAT number, including the country prefix.")


@strawberry.pydantic.type(description="The head office of a partner. Empty if unknown.")
class HeadOffice(BaseModel):
    address_line_1: str = PydanticField(description="Street and number.")
    address_line_2: str = PydanticField(description="Second line of the address.")
    postal_code: str = PydanticField(description="Postal code.")
    city: str = PydanticField(description="Town.")
    region: str = PydanticField(
        description="State or province; payment providers require it in the United States, Canada and Mexico."
    )
    country: str = PydanticField(description="The country as it was sent: a code, or a name in a supported language.")
    country_code: str = PydanticField(description="The country as an ISO 3166 alpha-2 code.")


@strawberry.pydantic.type(description="The legal representative of a partner. Empty if unknown.")
class LegalRepresentative(BaseModel):
    first_name: str = PydanticField(description="First name.")
    last_name: str = PydanticField(description="Last name.")
    birthday: dt.date | None = PydanticField(description="Date of birth; null if unknown.")
    email: str = PydanticField(description="The e-mail address for the links of the payment provider.")
    nationality: str = PydanticField(description="Nationality, ISO 3166 alpha-2.")
    country_of_residence: str = PydanticField(description="Country of residence, ISO 3166 alpha-2.")


@strawberry.pydantic.type(description="The bank account for a partner's payouts. Empty if unknown.")
class BankDetails(BaseModel):
    iban: str = PydanticField(description="IBAN, without spaces.")
    bic: str = PydanticField(description="BIC of the bank.")


@strawberry.pydantic.type(description="The payout settings of a partner.")
class PayoutSettings(BaseModel):
    frequency: PayoutFrequency | None = PydanticField(description="How often it is paid out; null if not set.")
    auto_validate: bool = PydanticField(description="Whether payouts are validated automatically.")
    may_freeze: bool = PydanticField(
        description="Whether the partner may change the date on which a sale counts for a payout."
    )
    block_validation: bool = PydanticField(description="Whether the validation of payouts is blocked.")


@strawberry.pydantic.type(description="Which products of its network a partner takes part in.")
class NetworkLinks(BaseModel):
    vouchers: bool = PydanticField(description="Whether it takes part in the vouchers of its network.")
    gift_cards: bool = PydanticField(description="Whether it takes part in the gift cards of its network.")


@strawberry.pydantic.type(description="The gift cards that a partner sells in its shop.")
class GiftCardOffer(BaseModel):
    enabled: bool = PydanticField(description="Whether it sells gift cards. Cards already sold stay valid.")
    suggested: list[Money] = PydanticField(description="The suggested values, in the order shown.")
    minimum: Money = PydanticField(description="The lowest value that a customer may enter.")
    maximum: Money = PydanticField(description="The highest value that a customer may enter.")
    validity_months: int = PydanticField(
        description="The validity of a card in months, to the end of the last day, unless the issuer sets another."
    )
