"""Gift cards: prepaid money of one partner."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived, masked_code_field, pass_url
from schema.core.gift_columns import from_gifter_column, send_on_column
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import EmbeddedColumns, SchemaModel, embedded, embedded_type, relation, relations
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.design import GiftCardDesign
from schema.wallet import Wallet


@graphql_enum
class GiftCardStatus(DescribedEnum):
    """The status of a gift card."""

    DRAFT = "draft", "Not paid yet; it cannot be spent."
    PAID = "paid", "It can be spent, and nothing has been spent."
    USING = "using", "A part has been spent; the rest can be spent."
    USED = "used", "It has been spent completely."
    EXPIRED = "exprd", "It has expired and cannot be spent."
    CANCELLED = "cncld", "It was cancelled and cannot be spent."


@graphql_enum
class GiftCardMovementKind(DescribedEnum):
    """The kind of a balance movement."""

    ISSUE = "issue", "The card was issued with this amount."
    HOLD = "hold", "The amount was held for a payment that is not final yet."
    RELEASE = "release", "A held amount was returned to the card."
    CAPTURE = "capture", "The amount was spent."
    REVERSAL = "reversal", "A spent amount was returned to the card."


@graphql_enum
class GiftCardHoldState(DescribedEnum):
    """The state of a hold."""

    RUNNING = "running", "Its amount is deducted from the balance; it can be captured or released."
    CAPTURED = "captured", "It was spent, in full or in part; the rest was returned to the card."
    RELEASED = "released", "It was released; its amount was returned to the card."
    EXPIRED = "expired", "It was not captured in time; its amount was returned to the card."
    REVERSED = "reversed", "It was captured and then reversed within a day; the spent amount was returned to the card."


@embedded_type("The gifter of a gift card.", prefix="gifter_")
class GiftCardGifter(EmbeddedColumns):
    gifter_first_name: str = Field(default="", max_length=80, description="First name; empty if not given.")
    gifter_last_name: str = Field(default="", max_length=80, description="Last name; empty if not given.")
    gifter_email: str = Field(default="", max_length=254, description="E-mail address; empty if unknown.")


@embedded_type("The giftee of a gift card.", prefix="giftee_", names={"recipient_address": "address"})
class GiftCardGiftee(EmbeddedColumns):
    giftee_first_name: str | None = Field(default=None, max_length=80, description="First name; null if not given.")
    giftee_last_name: str | None = Field(default=None, max_length=80, description="Last name; null if not given.")
    giftee_email: str | None = Field(default=None, max_length=254, description="E-mail address; null if not given.")
    recipient_address: str | None = Field(
        default=None, max_length=600, description="Postal address in lines; null if not given."
    )


@strawberry.pydantic.type(description="One movement of a gift card's balance. Movements are immutable.")
class GiftCardMovement(SchemaModel):
    id: int = id_column("The movement's id.")
    kind: GiftCardMovementKind = enum_column(GiftCardMovementKind, "The kind of movement.")
    amount: Decimal = money_column()
    change = money("amount", description="The change of the balance; negative for debits.")
    balance_amount: Decimal = money_column()
    balance = money("balance_amount", description="The balance after it, holds deducted.")
    reference: str = Field(
        default="", max_length=80, description="The caller's own reference for the payment; empty if none."
    )
    hold_id: int | None = Field(
        default=None,
        foreign_key="gift_card_hold.id",
        description="The id of the hold it belongs to; null if none, and for payments in the partner's own shop.",
    )
    created_on: dt.datetime = datetime_column("When it happened.")
    partner = partner_relation(
        "The partner that issued the card; of a network's card, where it was spent.", nullable=True
    )


@strawberry.pydantic.type(
    description="An amount that is deducted from a gift card for a payment that is not final yet."
)
class GiftCardHold(SchemaModel):
    id: int = id_column("The hold's id.")
    state: GiftCardHoldState = enum_column(GiftCardHoldState, "The hold's state.", default=GiftCardHoldState.RUNNING)
    held_amount: Decimal = money_column()
    amount = money("held_amount", description="The amount that was deducted from the card.")
    captured_amount: Decimal = money_column(default=Decimal("0.00"))
    captured = money("captured_amount", description="The part of the amount that was spent.")
    reference: str = Field(
        default="", max_length=80, description="The caller's own reference for the payment; empty if none."
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    expires_on: dt.datetime = datetime_column("When it expires unless it is captured or released before.")
    closed_on: dt.datetime | None = datetime_column(
        "When it was captured, released or expired; null while it is running.", default=None, nullable=True
    )
    gift_card_id: int = Field(foreign_key="gift_card.id", index=True, description="The gift card's id.")
    gift_card = relation("schema.gift_card.gift_card:GiftCard", by="gift_card_id", description="The gift card.")
    partner = partner_relation()


@strawberry.pydantic.type(description="Prepaid money that can be spent in the shop of the partner that issued it.")
class GiftCard(SchemaModel):
    id: int = id_column("The gift card's id.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four characters.")
    masked_code = masked_code_field()
    status: GiftCardStatus = enum_column(GiftCardStatus, "The gift card's status.", default=GiftCardStatus.DRAFT)
    created_on: dt.datetime = datetime_column("When it was issued.")
    expires_on: dt.datetime | None = datetime_column("When it expires; null if never.", default=None, nullable=True)
    value_amount: Decimal = money_column()
    value = money("value_amount", description="The amount it was issued with.")
    remaining_amount: Decimal = money_column()
    remaining_value = money(
        "remaining_amount",
        description="The available balance, holds deducted: the sum of all movements, whatever the status; see "
        "`isSpendable`.",
    )
    frozen_on: dt.datetime | None = datetime_column(
        "Since when it cannot be spent because the payment of its order is disputed; null normally.",
        default=None,
        nullable=True,
    )
    is_spendable = derived(
        bool,
        ("status", "expires_on", "remaining_amount", "frozen_on"),
        "Whether it can be spent now: paid, not expired, not cancelled, not frozen, and with a balance above zero. A card of "
        "another mode (test or live) than its partner is refused all the same.",
    )
    gifter_details = embedded(GiftCardGifter, "The gifter, as given at purchase.")
    giftee_details = embedded(GiftCardGiftee, "The giftee, as given at purchase.")
    from_gifter: str | None = from_gifter_column()
    message: str | None = Field(default=None, max_length=1000, description="The gifter's message; null if none.")
    send_on: dt.datetime | None = send_on_column()
    reception_mode: ReceptionMode = enum_column(
        ReceptionMode, "How it reaches its recipient.", length=40, default=ReceptionMode.PRINT_AT_HOME
    )
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    design_id: int | None = Field(
        default=None, foreign_key="gift_card_design.id", description="The id of its design; null if it has none."
    )
    design = relation(GiftCardDesign, by="design_id", description="Its design; null if it has none.", nullable=True)
    order_id: int | None = Field(
        default=None,
        foreign_key="shop_order.id",
        index=True,
        description="The id of the order it was sold with; null if none.",
    )
    document_url = derived(
        str | None,
        ("status", "document_token"),
        "The URL of its printable PDF document. The URL cannot be guessed; it needs no "
        "authentication. Null before it is paid and after it was cancelled.",
    )
    apple_wallet_url = pass_url("Apple Wallet", "status", "document_token", "partner_id")
    google_wallet_url = pass_url("Google Wallet", "status", "document_token", "partner_id")
    movements = relations(
        GiftCardMovement, by="gift_card_id", description="The movements of its balance, oldest first."
    )
    holds = relations(
        GiftCardHold,
        by="gift_card_id",
        description="The holds created over the API, oldest first. Payments in the partner's own shop have their "
        "own holds.",
    )
    wallet = relation(Wallet, by="wallet_id", description="Its wallet, which payments can be taken from.")
    partner = partner_relation()
