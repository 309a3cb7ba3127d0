"""Marketplaces: networks of partners."""

from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field

from schema.core.columns import id_column
from schema.core.resource import SchemaModel, computed, embedded
from schema.partner.invoicing import InvoicerDetails
from schema.partner.network_settings import (
    MarketplacePayoutSettings,
    NetworkGiftCardSettings,
    NetworkVoucherSettings,
)
from schema.theme import Theme
from schema.wallet import OWN_WALLET_PERMISSION, Wallet


@strawberry.pydantic.type(description="A network of partners that accept each other's gift cards and vouchers.")
class Marketplace(SchemaModel):
    id: int = id_column("The marketplace's id.")
    uuid: UUID = Field(default_factory=uuid4, unique=True, description="The marketplace's uuid.")
    name: str = Field(max_length=120, description="The name that customers see.")
    domain: str = Field(default="", max_length=253, description="The host name of its site, without a scheme.")
    currency: str = Field(default="EUR", max_length=3, description="ISO 4217 currency code of all its prices.")
    time_zone: str = Field(
        default="Europe/Paris",
        max_length=64,
        description="IANA time zone name; times without an offset are in this time zone.",
    )
    payment_request_days: int = Field(default=14, description="How many days a payment request can be paid: 1 to 365.")
    payment_request_reminder_days: int = Field(
        default=3,
        description="How many days before a payment request expires its customer is reminded: 0 to 364; 0: not at all.",
    )
    email: str = Field(
        default="",
        max_length=254,
        description="The e-mail address that mail about its network products goes to, and that documents and mail of its gift "
        "cards name; empty: none.",
    )
    gift_card_settings = embedded(NetworkGiftCardSettings, "What holds for the gift cards of the network.")
    voucher_settings = embedded(NetworkVoucherSettings, "What holds for the vouchers of the network.")
    theme = embedded(Theme, "How the documents, mail and pages of its gift cards and vouchers look.")
    invoicing = embedded(InvoicerDetails, "What is printed on its invoices. They are issued once this is complete.")
    payout_settings = embedded(MarketplacePayoutSettings, "What holds for payouts.")
    wallet = computed(
        Wallet,
        "Its own wallet at the payment provider, which refills are paid to; null before `activateMarketplacePayments`, and "
        "for callers who may not see it.",
        field_permission=OWN_WALLET_PERMISSION,
    )
    test_wallet = computed(
        Wallet,
        "The same for payments of test partners, whose money never existed.",
        field_permission=OWN_WALLET_PERMISSION,
    )
