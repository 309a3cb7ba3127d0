"""Partners: the sellers of a marketplace."""

import datetime as dt
from uuid import UUID, uuid4

import strawberry
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, VARCHAR
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, enum_type, graphql_enum, id_column
from schema.core.field_permission import FieldPermission
from schema.core.permission import Permission
from schema.core.resource import Argument, SchemaModel, computed, embedded, relation, restricted
from schema.kyc.capability import PaymentCapability
from schema.kyc.kyc import Kyc
from schema.ledger import PartnerStatement
from schema.partner.marketplace import Marketplace
from schema.partner.parts import (
    PARTNER_FIELD_PERMISSION,
    BankDetails,
    CompanyType,
    GiftCardOffer,
    HeadOffice,
    LegalRepresentative,
    NetworkLinks,
    PayoutSettings,
    RefundPolicy,
    Registration,
)
from schema.payment_method import PaymentMethod
from schema.theme import StartPage, Theme

STATEMENT_PERMISSION = FieldPermission(Permission.VIEW_WALLET, owner_columns=("id", "marketplace_id"))
"""Limits a field to callers who may see wallets, and this partner, whichever relation leads to it."""


@graphql_enum
class PartnerStatus(DescribedEnum):
    """Whether a partner sells."""

    ACTIVE = "a", "It sells."
    INACTIVE = "i", "It does not sell."
    TEST = "t", "A test partner: its payments use only the sandbox provider."
    NEW = "n", "Its network has created it and has not yet decided whether it sells."


@strawberry.pydantic.type(description="A seller, such as a resort, a restaurant, a spa or a shop.")
class Partner(SchemaModel):
    id: int = id_column("The partner's id.")
    uuid: UUID = Field(
        default_factory=uuid4, unique=True, description="The partner's uuid, which the payment operations use."
    )
    source_id: str = Field(max_length=40, description="The partner's id in the network's own systems.")
    status: PartnerStatus = enum_column(PartnerStatus, "Whether it sells.", default=PartnerStatus.INACTIVE)
    name: str = Field(default="", max_length=120, description="Legal name.")
    commercial_name: str = Field(max_length=120, description="The name that customers see.")
    short_name: str = Field(max_length=60, description="A short name, for addresses and lists.")
    site_domain: str = Field(
        max_length=253, unique=True, description="The host of its checkout, with a port if there is one."
    )
    agency_email: str = Field(default="", max_length=254, description="The e-mail address for customers and orders.")
    agency_phone: str = Field(default="", max_length=40, description="Telephone number.")
    website: str = Field(
        default="", max_length=2048, description="The URL of its own site; expired links redirect there."
    )
    accent_colour: str = Field(
        default="#1f4e5f",
        max_length=7,
        description="The colour of its buttons and links, `#rrggbb`. Text in or on this colour uses a readable shade.",
    )
    language: str = Field(default="en", max_length=2, description="The language of messages to the partner.")
    payments_active: bool = Field(default=False, description="Whether it can receive card payments.")
    payment_methods: list[PaymentMethod] = Field(
        default_factory=lambda: [PaymentMethod.CARD],
        sa_type=ARRAY(enum_type(PaymentMethod)),
        description="What its customers can pay with.",
    )
    company_type: CompanyType | None = enum_column(
        CompanyType, "Legal form; null if unknown.", default=None, nullable=True
    )
    hide_from_stats: bool = Field(default=False, description="Whether it is excluded from statistics.")
    third_party_sales_only: bool = Field(
        default=False, description="Whether it sells only through third parties, without a shop of its own."
    )
    referrer: int | None = Field(default=None, description="The id of whoever referred it; null if nobody, or unknown.")
    logo_url: str = Field(
        default="", max_length=300, description="The path of its logo, on every host of this service; empty if none."
    )
    return_hosts: list[str] = Field(
        default_factory=list,
        sa_type=JSONB,
        description="The hosts allowed in the `returnUrl` of a cart, with a port if there is one; empty for any.",
    )
    return_with_order_number: bool = Field(
        default=False, description="Whether the order number is added to the URL when customers are redirected back."
    )
    tags: list[str] = Field(
        default_factory=list, sa_type=ARRAY(VARCHAR(60)), description="The tags by which its network sorts partners."
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    theme = embedded(Theme, "How its pages, documents and mail look, besides its accent colour and its logo.")
    start_page = embedded(StartPage, "What the start page of its shop shows at its top.")
    marketplace = relation(Marketplace, by="marketplace_id", description="The marketplace it belongs to.")
    registration = embedded(Registration, "The company's registration.")
    head_office = restricted(
        HeadOffice, PARTNER_FIELD_PERMISSION, "The head office; null for callers who may not see it."
    )
    legal_representative = restricted(
        LegalRepresentative,
        PARTNER_FIELD_PERMISSION,
        "The legal representative; null for callers who may not see it.",
    )
    bank_account = restricted(
        BankDetails, PARTNER_FIELD_PERMISSION, "The bank account for payouts; null for callers who may not see it."
    )
    payout_settings = restricted(
        PayoutSettings, PARTNER_FIELD_PERMISSION, "The payout settings; null for callers who may not see them."
    )
    refund_policy = embedded(RefundPolicy, "What its buyers may ask for on the page of their order.")
    network_links = embedded(NetworkLinks, "Which products of its network it takes part in.")
    gift_card_offer = computed(GiftCardOffer, "The gift cards it sells in its shop.")
    kyc = computed(
        Kyc,
        "Its identification, as last reported by the payment provider; null for callers who may not see it.",
        field_permission=PARTNER_FIELD_PERMISSION,
    )
    statement = computed(
        PartnerStatement,
        "The statement of its earnings over a period, of at most 5,000 lines; null for callers who may not see it.",
        field_permission=STATEMENT_PERMISSION,
        arguments={
            "first_day": Argument(dt.date, "The first accounting date.", name="from"),
            "last_day": Argument(dt.date, "The last accounting date.", name="to"),
            "is_live": Argument(bool, "False: as a test partner, whose money never existed.", default=True),
        },
    )
    payment_capability = computed(
        PaymentCapability,
        "Whether it can receive card payments, and what it has to provide; null for callers who may not see it.",
        field_permission=PARTNER_FIELD_PERMISSION,
    )
