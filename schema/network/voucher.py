"""Vouchers of a network: what the buyer of a box gets, used at any partner with an accepted offer for the box."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum
from schema.core.derived import derived, pass_url
from schema.core.money import money, money_column
from schema.core.ownership import marketplace_relation
from schema.core.resource import SchemaModel, computed, relation, relations
from schema.network.box import Box, Offer
from schema.network.good import NetworkGoodFields, document_url_field, holder_url_field
from schema.network.usage import NOTHING, NetworkUsage


@graphql_enum
class NetworkVoucherStatus(DescribedEnum):
    """The status of a network voucher."""

    DRAFT = "draft", "Not paid yet; it cannot be used."
    PAID = "paid", "It can be used, and has not been used."
    USING = "using", "It was used; usages are left."
    USED = "used", "All its usages were used."
    EXPIRED = "exprd", "It has expired and cannot be used."
    CANCELLED = "cncld", "It was cancelled and cannot be used."
    TEST = "test", "It can be used, and moves no money."


@strawberry.pydantic.type(description="A usage of a network voucher at a partner.")
class NetworkVoucherUsage(NetworkUsage):
    network_voucher_id: int = Field(
        foreign_key="network_voucher.id", index=True, description="The id of the network voucher."
    )
    offer_id: int | None = Field(
        default=None, foreign_key="offer.id", description="The id of the offer that was used; null if unknown."
    )
    network_voucher = computed(
        "schema.network.voucher:NetworkVoucher",
        "The network voucher; null for partners that are no longer linked to the vouchers of the network.",
    )
    offer = relation(Offer, by="offer_id", description="The offer that was used; null if unknown.", nullable=True)


@strawberry.pydantic.type(description="What the holder of a network voucher can get, in the voucher's language.")
class NetworkVoucherContent(SchemaModel):
    box_name: str = Field(
        description="The box's name. Each text is in English, else in any language, if the voucher's has none."
    )
    description: str = Field(description="The box's full description.")
    short_description: str = Field(description="The box's short description.")
    universes: list[list[str]] = Field(
        description="For each accepted, active offer for the box, by ranking: the universes of what it offers."
    )
    tags: list[list[str]] = Field(
        description="For each accepted, active offer for the box, by ranking: the tags of the partner that offers it."
    )


@strawberry.pydantic.type(
    description="A voucher of a box. Its holder uses it at the partners that have an accepted, active offer for the box."
)
class NetworkVoucher(NetworkGoodFields):
    status: NetworkVoucherStatus = enum_column(NetworkVoucherStatus, "The network voucher's status.")
    price_amount: Decimal = money_column()
    price = money("price_amount", description="The price of the box when it was issued.")
    used_amount: Decimal = money_column(default=NOTHING)
    used_value = money(
        "used_amount",
        description="The part of the price that its usages took: each takes an equal part, rounded down to the cent, the "
        "last the rest.",
    )
    max_usages: int = Field(description="How often it can be used.")
    usage_count: int = Field(default=0, description="How often it was used; cancelled usages do not count.")
    max_days_after_first_usage: int = Field(
        default=0, description="How many days after the first usage it can still be used; 0 for any number."
    )
    first_used_on: dt.datetime | None = datetime_column(
        "When it was first used; null if never.", default=None, nullable=True
    )
    usable_until: dt.datetime | None = datetime_column(
        "The end of the last day on which it can be used because of its first usage; null: no limit.",
        default=None,
        nullable=True,
    )
    is_usable = derived(
        bool,
        ("status", "is_active", "starts_on", "expires_on", "usable_until", "frozen_on"),
        "Whether it can be used now: paid, active, begun, not expired, not cancelled, not frozen, with usages left, and in "
        "time after the first one.",
    )
    box_id: int = Field(foreign_key="box.id", index=True, description="The id of its box.")
    box = relation(Box, by="box_id", description="Its box.")
    document_url = document_url_field()
    apple_wallet_url = pass_url("Apple Wallet", "status", "document_token", "marketplace_id")
    google_wallet_url = pass_url("Google Wallet", "status", "document_token", "marketplace_id")
    holder_url = holder_url_field()
    content = computed(NetworkVoucherContent, "What its holder can get.")
    order_id: int | None = Field(default=None, foreign_key="shop_order.id", index=True, exclude=True)
    usages = relations(
        NetworkVoucherUsage,
        by="network_voucher_id",
        description="Its usages, oldest first, the cancelled ones included.",
    )
    marketplace = marketplace_relation("The network that issued it.")
