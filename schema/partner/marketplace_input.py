"""Inputs that create, update and activate marketplaces, and change the domains of partners."""

import datetime as dt
import zoneinfo
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from schema.core.inputs import graphql_input, graphql_input_for, update_input_of
from schema.core.resource import SchemaModel
from schema.partner.invoicing import InvoicerDetails
from schema.partner.marketplace import Marketplace
from schema.partner.network_settings import (
    MarketplacePayoutSettings,
    NetworkGiftCardSettings,
    NetworkVoucherSettings,
    UsageFeePayer,
)
from schema.partner.theme_input import ThemeInput
from schema.validation.characters import line_up_to
from schema.validation.contact import CountryCode, Email
from schema.validation.numbers import AmountRule, MoneyAmount, WholeNumberRule
from schema.validation.vat import vat_number


def _time_zone(value: str) -> str:
    if value not in zoneinfo.available_timezones():
        raise PydanticCustomError("time_zone", "Send the IANA name of a time zone, such as Europe/Paris.")
    return value


Name = Annotated[str, line_up_to(120, min_length=1)]


Domain = Annotated[str, line_up_to(253, to_lower=True)]


TimeZone = Annotated[str, AfterValidator(_time_zone)]


def _vat_number(value: str) -> str:
    if value and not vat_number(value):
        raise PydanticCustomError(
            "vat_id", "Send a valid VAT number with the prefix of its country, such as FR44732829320."
        )
    return vat_number(value)


Percentage = Annotated[Decimal, AmountRule(ge=Decimal(0), le=Decimal(100))]


NetworkValidity = Annotated[int, WholeNumberRule(ge=1, le=120)]


FEE_CURRENCY = "A fixed fee for each usage, without VAT, in the currency of the marketplace."


@graphql_input_for(NetworkGiftCardSettings)
class NetworkGiftCardSettingsInput(SchemaModel):
    """What holds for the gift cards of the network. Cards that exist keep their validity; fees count for new usages."""

    validity_months: strawberry.Maybe[NetworkValidity]
    is_splittable: strawberry.Maybe[bool]
    management_fee: strawberry.Maybe[MoneyAmount] = Field(description=FEE_CURRENCY)
    commission_rate: strawberry.Maybe[Percentage]
    vat_rate: strawberry.Maybe[Percentage]
    fees_paid_by: strawberry.Maybe[UsageFeePayer]
    books_breakage: strawberry.Maybe[bool]


@graphql_input_for(NetworkVoucherSettings)
class NetworkVoucherSettingsInput(SchemaModel):
    """What holds for the vouchers of the network. Vouchers that exist keep their validity; fees count for new usages."""

    validity_months: strawberry.Maybe[NetworkValidity]
    management_fee: strawberry.Maybe[MoneyAmount] = Field(description=FEE_CURRENCY)
    commission_rate: strawberry.Maybe[Percentage]
    vat_rate: strawberry.Maybe[Percentage]
    fees_paid_by: strawberry.Maybe[UsageFeePayer]
    books_breakage: strawberry.Maybe[bool]


@graphql_input_for(InvoicerDetails)
class InvoicerDetailsInput(SchemaModel):
    """What is printed on the invoices of a marketplace. Invoices that exist stay as they are."""

    company_name: strawberry.Maybe[Annotated[str, line_up_to(120)]]
    address_line_1: strawberry.Maybe[Annotated[str, line_up_to(255)]]
    postal_code: strawberry.Maybe[Annotated[str, line_up_to(20)]]
    city: strawberry.Maybe[Annotated[str, line_up_to(120)]]
    country_code: strawberry.Maybe[CountryCode]
    registration_number: strawberry.Maybe[Annotated[str, line_up_to(40)]]
    vat_id: strawberry.Maybe[Annotated[str, line_up_to(40), AfterValidator(_vat_number)]]
    exemption_reason: strawberry.Maybe[Annotated[str, line_up_to(200)]]
    starts_on: strawberry.Maybe[dt.date | None] = Field(
        description="The first day whose fees are invoiced; null for all that are on no invoice. If it is left out when the "
        "details are completed, it becomes the first day of the current month."
    )
    number_prefix: strawberry.Maybe[Annotated[str, line_up_to(10)]]


@graphql_input_for(MarketplacePayoutSettings)
class MarketplacePayoutSettingsInput(SchemaModel):
    """What holds for payouts. Adjustments that exist stay as they are. Users of the marketplace lower an amount, or set it for
    the first time; only a user who sees everything raises or removes it.
    """

    approval_from: strawberry.Maybe[MoneyAmount | None] = Field(
        description="From which amount a second user has to approve an adjustment, in the currency of the marketplace; zero: "
        "always; null: never."
    )
    second_validation_from: strawberry.Maybe[MoneyAmount | None] = Field(
        description="From which amount two users have to validate a payout request, in the currency of the marketplace; zero: "
        "always; null: never. An automatic validation waits for them too."
    )


@graphql_input_for(Marketplace)
class CreateMarketplace(SchemaModel):
    """Create a marketplace. Its currency cannot be changed later."""

    name: Name
    domain: Domain = ""
    currency: Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)] = "EUR"
    time_zone: TimeZone = "Europe/Paris"
    payment_request_days: Annotated[int, WholeNumberRule(ge=1, le=365)] = 14
    payment_request_reminder_days: Annotated[int, WholeNumberRule(ge=0, le=364)] = 3
    email: Email = ""
    gift_card_settings: NetworkGiftCardSettingsInput | None = None
    voucher_settings: NetworkVoucherSettingsInput | None = None
    theme: ThemeInput | None = None
    invoicing: InvoicerDetailsInput | None = None
    payout_settings: MarketplacePayoutSettingsInput | None = None


@update_input_of(CreateMarketplace, without={"currency"})
class UpdateMarketplace(SchemaModel):
    """Update a marketplace. Omitted fields stay unchanged."""

    id: int


@graphql_input
class ActivateMarketplacePayments(SchemaModel):
    """Open the own wallet of a marketplace."""

    marketplace_uuid: UUID = Field(description="The uuid of the marketplace.")
    is_live: bool = Field(
        default=True,
        description="If not, it is the wallet for payments of test partners; only with the sandbox provider.",
    )


@graphql_input
class ChangeSiteDomain(SchemaModel):
    """Change the host name of a partner's checkout."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    site_domain: Annotated[str, line_up_to(253, min_length=1, to_lower=True)] = Field(
        description="A host name that resolves to this service, without a scheme: `checkout.shop.example`."
    )
