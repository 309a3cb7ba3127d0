"""The embedded values of a partner: registration, head office, representative, bank account and settings."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.core.columns import DescribedEnum, enum_column, graphql_enum
from schema.core.field_permission import FieldPermission
from schema.core.money import Money
from schema.core.permission import Permission
from schema.core.resource import EmbeddedColumns, embedded_type

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


@embedded_type("The registration numbers of a company. Empty if unknown.")
class Registration(EmbeddedColumns):
    siret_number: str = Field(
        default="", max_length=40, description="The company number: in France the SIRET, 14 digits."
    )
    rcs: str = Field(default="", max_length=80, description="The entry in the trade register.")
    ape: str = Field(default="", max_length=20, description="The activity code.")
    vat_id: str = Field(default="", max_length=40, description="The VAT number, including the country prefix.")


@embedded_type("The head office of a partner. Empty if unknown.", prefix="hq_")
class HeadOffice(EmbeddedColumns):
    hq_address_line_1: str = Field(default="", max_length=255, description="Street and number.")
    hq_address_line_2: str = Field(default="", max_length=255, description="Second line of the address.")
    hq_postal_code: str = Field(default="", max_length=20, description="Postal code.")
    hq_city: str = Field(default="", max_length=120, description="Town.")
    hq_region: str = Field(
        default="",
        max_length=120,
        description="State or province; payment providers require it in the United States, Canada and Mexico.",
    )
    hq_country: str = Field(
        default="",
        max_length=100,
        description="The country as it was sent: a code, or a name in a supported language.",
    )
    hq_country_code: str = Field(default="", max_length=2, description="The country as an ISO 3166 alpha-2 code.")


@embedded_type("The legal representative of a partner. Empty if unknown.", prefix="legal_representative_")
class LegalRepresentative(EmbeddedColumns):
    legal_representative_first_name: str = Field(default="", max_length=100, description="First name.")
    legal_representative_last_name: str = Field(default="", max_length=100, description="Last name.")
    legal_representative_birthday: dt.date | None = Field(default=None, description="Date of birth; null if unknown.")
    legal_representative_email: str = Field(
        default="", max_length=254, description="The e-mail address for the links of the payment provider."
    )
    legal_representative_nationality: str = Field(
        default="", max_length=2, description="Nationality, ISO 3166 alpha-2."
    )
    legal_representative_country_of_residence: str = Field(
        default="", max_length=2, description="Country of residence, ISO 3166 alpha-2."
    )


@embedded_type("The bank account for a partner's payouts. Empty if unknown.")
class BankDetails(EmbeddedColumns):
    iban: str = Field(default="", max_length=34, description="IBAN, without spaces.")
    bic: str = Field(default="", max_length=11, description="BIC of the bank.")


@embedded_type(
    "The payout settings of a partner.",
    names={
        "payout_frequency": "frequency",
        "auto_validate_payout": "auto_validate",
        "freeze_payout": "may_freeze",
        "block_payout_validation": "block_validation",
    },
)
class PayoutSettings(EmbeddedColumns):
    payout_frequency: PayoutFrequency | None = enum_column(
        PayoutFrequency, "How often it is paid out; null if not set.", default=None, nullable=True
    )
    auto_validate_payout: bool = Field(default=False, description="Whether payouts are validated automatically.")
    freeze_payout: bool = Field(
        default=False, description="Whether the partner may change the date on which a sale counts for a payout."
    )
    block_payout_validation: bool = Field(default=False, description="Whether the validation of payouts is blocked.")


@embedded_type("What buyers of a partner may ask for on the page of their order.")
class RefundPolicy(EmbeddedColumns):
    withdrawal_days: int = Field(
        default=14,
        description="For how many days a buyer may withdraw from the contract; 0 if there is no right of withdrawal.",
    )
    approves_withdrawals: bool = Field(
        default=False,
        description="Whether withdrawals are approved at once, unless goods have to come back first, or a line is the "
        "network's in an order that also has what is the partner's own.",
    )
    takes_refund_requests: bool = Field(
        default=False, description="Whether buyers may ask for a refund after that period."
    )


@embedded_type(
    "Which products of its network a partner takes part in.",
    names={"linked_to_nv_settings": "vouchers", "linked_to_ngc_settings": "gift_cards", "is_network_shop": "is_shop"},
)
class NetworkLinks(EmbeddedColumns):
    linked_to_nv_settings: bool = Field(
        default=False, description="Whether it takes part in the vouchers of its network."
    )
    linked_to_ngc_settings: bool = Field(
        default=False, description="Whether it takes part in the gift cards of its network."
    )
    is_network_shop: bool = Field(
        default=False,
        description="Whether the network sells its own products in the name of this partner, on its site domain, with its "
        "look, its delivery modes and its coupons. At most one partner of a marketplace.",
    )


@strawberry.pydantic.type(description="The gift cards that a partner sells in its shop.")
class GiftCardOffer(BaseModel):
    enabled: bool = PydanticField(description="Whether it sells gift cards. Cards already sold stay valid.")
    suggested: list[Money] = PydanticField(description="The suggested values, in the order shown.")
    minimum: Money = PydanticField(description="The lowest value that a customer may enter.")
    maximum: Money = PydanticField(description="The highest value that a customer may enter.")
    validity_months: int = PydanticField(
        description="The validity of a card in months, to the end of the last day, unless the issuer sets another."
    )
