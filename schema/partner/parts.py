"""What is known of a partner, in groups: where it is, who answers for it, how it is paid out."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part

from schema.core.field_permission import Guard
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Money, closed_set

OF_PARTNER = Guard(Permission.VIEW_PARTNER, owner=("id", "marketplace_id"))
"""For what is told of a partner only to those who may see partners, and this one, however they came to it."""


@closed_set
class CompanyType(ClosedSet):
    """What a partner is before the law."""

    BUSINESS = "bus", "A company."
    INDIVIDUAL = "ind", "A person, without a business of their own."
    SOLE_TRADER = "sol", "A person who trades under their own name."
    ORGANIZATION = "org", "An association, or a public body."


@closed_set
class PayoutFrequency(ClosedSet):
    """How often a partner is paid out."""

    WEEK = "week", "Every week."
    BIMONTHLY = "bimth", "Twice a month: on the 1st and on the 16th."
    MONTH = "month", "Every month."


@strawberry.pydantic.type(description="Where a company is registered, and under which numbers. Empty: not known.")
class Registration(BaseModel):
    """The numbers of a company."""

    siret_number: str = Part(description="Its number: in France the SIRET, of 14 digits.")
    rcs: str = Part(description="Its entry in the trade register.")
    ape: str = Part(description="The code of its activity.")
    vat_id: str = Part(description="Its VAT number, with the country in front.")


@strawberry.pydantic.type(description="Where a partner has its head office. Empty: not known.")
class HeadOffice(BaseModel):
    """Where a partner has its head office."""

    address_line_1: str = Part(description="Street and number.")
    address_line_2: str = Part(description="What else the address needs.")
    postal_code: str = Part(description="Postal code.")
    city: str = Part(description="Town.")
    region: str = Part(
        description="State or province; payment providers need it in the United States, Canada and Mexico."
    )
    country: str = Part(description="The country as it was given: a code, or a name in one of our languages.")
    country_code: str = Part(description="The same country in ISO 3166, alpha-2.")


@strawberry.pydantic.type(description="The person who answers for a partner before the law. Empty: not known.")
class LegalRepresentative(BaseModel):
    """The person who answers for a partner."""

    first_name: str = Part(description="First name.")
    last_name: str = Part(description="Family name.")
    birthday: dt.date | None = Part(description="Day of birth; null: not known.")
    email: str = Part(description="Where the links of the payment provider are sent.")
    nationality: str = Part(description="Nationality, ISO 3166 alpha-2.")
    country_of_residence: str = Part(description="Where the person lives, ISO 3166 alpha-2.")


@strawberry.pydantic.type(description="The bank account that a partner is paid out to. Empty: not known.")
class BankDetails(BaseModel):
    """The bank account of a partner."""

    iban: str = Part(description="IBAN, without spaces.")
    bic: str = Part(description="BIC of the bank.")


@strawberry.pydantic.type(description="When and how a partner is paid out.")
class PayoutSettings(BaseModel):
    """When and how a partner is paid out."""

    frequency: PayoutFrequency | None = Part(description="How often; null: not settled.")
    auto_validate: bool = Part(description="Whether payouts are validated without anybody looking.")
    may_freeze: bool = Part(
        description="Whether the partner may give a sale another date, by which it is counted in a payout."
    )
    block_validation: bool = Part(description="Whether payouts may not be validated at the moment.")


@strawberry.pydantic.type(description="What a partner takes part in, of what its network sells.")
class NetworkLinks(BaseModel):
    """What a partner takes part in."""

    vouchers: bool = Part(description="The vouchers of its network.")
    gift_cards: bool = Part(description="The gift cards of its network.")


@strawberry.pydantic.type(description="Which gift cards a partner sells in its shop.")
class GiftCardOffer(BaseModel):
    """Which gift cards a partner sells in its shop."""

    enabled: bool = Part(description="Whether it sells any. Those that were sold stay good, whatever this says.")
    suggested: list[Money] = Part(description="The values that its shop proposes, in the order in which it shows them.")
    minimum: Money = Part(description="The least that a customer may choose instead.")
    maximum: Money = Part(description="The most that a customer may choose instead.")
    validity_months: int = Part(
        description="For how many months they can be spent, to the end of the last day, unless something else is said "
        "when one is issued."
    )
