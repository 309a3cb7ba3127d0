"""Gift cards of a network: prepaid money that can be spent at its partners."""

from decimal import Decimal
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, enum_column, graphql_enum
from schema.core.derived import derived, pass_url, restricted_column
from schema.core.money import money, money_column, money_value
from schema.core.ownership import marketplace_relation
from schema.core.resource import SchemaModel, computed, relation, relations, restricted
from schema.gift_card.design import GiftCardDesign
from schema.gift_card.gift_card import GiftCardMovement
from schema.network.good import NetworkGoodFields, document_url_field, holder_url_field
from schema.network.usage import HIDDEN, NOTHING, OF_OWN_USAGES, NetworkUsage
from schema.wallet import Wallet


@graphql_enum
class NetworkGiftCardStatus(DescribedEnum):
    """The status of a network gift card."""

    DRAFT = "draft", "Not paid yet; it cannot be used."
    PAID = "paid", "It can be used, and has not been used."
    USING = "using", "A part was used; the rest can be used."
    USED = "used", "It was used completely."
    EXPIRED = "exprd", "It has expired and cannot be used."
    CANCELLED = "cncld", "It was cancelled and cannot be used."
    TEST = "test", "It can be used, and moves no money."


@strawberry.pydantic.type(description="A usage of a network gift card at a partner.")
class NetworkGiftCardUsage(NetworkUsage):
    gift_card_id: int = Field(foreign_key="gift_card.id", index=True, description="The id of the network gift card.")
    gift_card = computed(
        "schema.network.gift_card:NetworkGiftCard",
        "The network gift card. For users of a partner null if it is no longer linked to the gift cards of the network, and "
        "for usages of payments, as the partner never knew the code.",
    )
    payment_id: UUID | None = Field(default=None, foreign_key="payment.id", exclude=True)
    visible_payment_id = restricted_column(
        UUID,
        "payment_id",
        OF_OWN_USAGES,
        f"The id of the payment that it is a part of; null for a usage over the API. {HIDDEN}",
        name="paymentId",
    )
    returned_amount: Decimal = money_column(default=NOTHING)
    returned = money(
        "returned_amount", description="The part of `value` that refunds of the payment gave back to the card."
    )
    returned_net_amount: Decimal = money_column(default=NOTHING)
    returned_net = restricted(
        money_value("returned_net_amount"),
        OF_OWN_USAGES,
        f"The part of `net` that the partner gave back with it. {HIDDEN}",
    )


@strawberry.pydantic.type(description="What the design of a network gift card says, in the card's language.")
class NetworkGiftCardContent(SchemaModel):
    theme: str = Field(
        description="The design's name. Each text is in English, else in any language, if the card's has none."
    )
    description: str = Field(description="The design's description.")
    short_description: str = Field(description="The design's short description.")


@strawberry.pydantic.type(description="Prepaid money that can be spent at the partners of a network.")
class NetworkGiftCard(NetworkGoodFields):
    status: NetworkGiftCardStatus = enum_column(NetworkGiftCardStatus, "The network gift card's status.")
    value_amount: Decimal = money_column()
    value = money("value_amount", description="The amount it was issued with.")
    remaining_amount: Decimal = money_column()
    remaining_value = money("remaining_amount", description="What is left of it, whatever the status; see `isUsable`.")
    is_splittable: bool = Field(default=True, description="Whether it can be spent in several usages.")
    is_usable = derived(
        bool,
        ("status", "is_active", "starts_on", "expires_on", "remaining_amount", "frozen_on"),
        "Whether it can be used now: paid, active, begun, not expired, not cancelled, not frozen, and not used up.",
    )
    order_id: int | None = Field(default=None, exclude=True)
    design_id: int | None = Field(default=None, description="The id of its design; null if it has none.")
    design = relation(GiftCardDesign, by="design_id", description="Its design; null if it has none.", nullable=True)
    document_url = document_url_field()
    apple_wallet_url = pass_url("Apple Wallet", "status", "document_token", "marketplace_id")
    google_wallet_url = pass_url("Google Wallet", "status", "document_token", "marketplace_id")
    holder_url = holder_url_field()
    content = computed(NetworkGiftCardContent, "What its design says; null without a design.")
    movements = relations(
        GiftCardMovement, by="gift_card_id", description="The movements of its balance, oldest first."
    )
    usages = relations(NetworkGiftCardUsage, by="gift_card_id", description="Its usages, oldest first.")
    wallet = relation(Wallet, by="wallet_id", description="Its wallet.")
    wallet_uuid: UUID = Field(
        description="The uuid of its wallet, with which `createPayment` takes a part of a payment from it."
    )
    marketplace = marketplace_relation("The network that issued it.")
