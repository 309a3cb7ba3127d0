"""Payments: what a customer pays to a partner, from one or several sources of money, and what goes back."""

import datetime as dt
from decimal import Decimal
from uuid import UUID, uuid4

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.field_permission import FieldPermission
from schema.core.money import Money, money, money_column
from schema.core.ownership import partner_relation
from schema.core.permission import Permission
from schema.core.resource import EmbeddedColumns, SchemaModel, computed, embedded, embedded_type, relation, relations
from schema.ledger import LedgerJournal
from schema.payment_method import PaymentMethod
from schema.wallet import Wallet


@graphql_enum
class PaymentStatus(DescribedEnum):
    """The status of a payment. A refund does not change it."""

    IN_PROGRESS = "ip", "The outcome is not known yet."
    OK = "ok", "The money has arrived."
    ERROR = "err", "The last try failed; while its link is valid, the customer can try again."
    CANCELLED = "cncl", "It was not paid in time, or it was cancelled."


@graphql_enum
class PaymentType(DescribedEnum):
    """How a payment is made."""

    CREDIT_CARD = "credit_card", "By bank card, or by what takes the place of one."


@graphql_enum
class PaymentRefundStatus(DescribedEnum):
    """How much of a payment has been refunded, or is promised to be."""

    NONE = "none", "Nothing."
    PARTIAL = "partial", "A part."
    FULL = "full", "All of it."


@graphql_enum
class PaymentSourceKind(DescribedEnum):
    """Where the money of a payment comes from."""

    CREDIT_CARD = "credit_card", "A bank card."
    GIFT_CARD = "gift_card", "A gift card, of the partner or of its network."


@graphql_enum
class PaymentTransactionType(DescribedEnum):
    """The direction of a transaction."""

    PAYIN = "payin", "Money came in."
    REFUND = "refund", "Money went back."


@graphql_enum
class PaymentTransactionStatus(DescribedEnum):
    """The status of a transaction."""

    IN_PROGRESS = "ip", "The outcome is not known yet."
    OK = "ok", "The money has moved."
    ERROR = "err", "No money has moved, and none will."


@graphql_enum
class RefundState(DescribedEnum):
    """How far a refund is."""

    PENDING = "pending", "It is accepted; its money is on its way, or will be sent."
    NEEDS_ACTION = "needs_action", "It could not be made for days: a person has to see to it."
    DONE = "done", "All of its money has gone back."
    FAILED = "failed", "The payment provider refused it for good; what did not go back can be refunded again."


@graphql_enum
class RefundOrigin(DescribedEnum):
    """Who began a refund."""

    STAFF = "staff", "A user, over the API."
    SHOP = "shop", "The shop, since what was paid for could no longer be supplied."
    PROVIDER = "provider", "Somebody at the payment provider."


@embedded_type("The customer of a payment.", prefix="customer_")
class PaymentCustomer(EmbeddedColumns):
    customer_first_name: str = Field(default="", max_length=80, description="First name.")
    customer_last_name: str = Field(default="", max_length=80, description="Last name.")
    customer_email: str = Field(default="", max_length=254, description="E-mail address.")


@strawberry.pydantic.type(description="One source of a payment's money.")
class PaymentSource(SchemaModel):
    id: int = id_column("The source's id.")
    kind: PaymentSourceKind = enum_column(PaymentSourceKind, "The kind of source.")
    source_amount: Decimal = money_column()
    amount = money("source_amount", description="The amount from this source.")
    refunded_amount: Decimal = money_column(default=Decimal("0.00"))
    refunded = money("refunded_amount", description="What has gone back to it, or is promised to.")
    gift_card_id: int | None = Field(
        default=None, foreign_key="gift_card.id", description="The gift card's id; null for a bank card."
    )
    wallet = relation(
        Wallet, by="wallet_id", description="The gift card's wallet; null for a bank card.", nullable=True
    )
    partner = partner_relation()


@strawberry.pydantic.type(description="A movement of a payment's money: a pay-in, or a refund to one source.")
class PaymentTransaction(SchemaModel):
    id: int = id_column("The transaction's id.")
    type: PaymentTransactionType = enum_column(PaymentTransactionType, "Its direction.")
    status: PaymentTransactionStatus = enum_column(
        PaymentTransactionStatus, "Its status.", default=PaymentTransactionStatus.IN_PROGRESS
    )
    payment_method: PaymentSourceKind = enum_column(PaymentSourceKind, "The kind of source.")
    method: PaymentMethod | None = enum_column(
        PaymentMethod,
        "What the customer paid with at the payment provider; null for gift cards, and for refunds.",
        default=None,
        nullable=True,
    )
    transaction_amount: Decimal = money_column()
    amount = money("transaction_amount", description="The amount, positive in both directions.")
    commission_amount: Decimal = money_column(default=Decimal("0.00"))
    commission = money("commission_amount", description="The commission that it carries, or gives back.")
    net_amount: Decimal = money_column()
    net = money("net_amount", description="amount − commission.")
    created_on: dt.datetime = datetime_column("When it was begun.")
    executed_on: dt.datetime | None = datetime_column("When the money moved; null before.", default=None, nullable=True)
    result_code: str = Field(default="", max_length=20, description="The payment provider's code; empty if none.")
    result_message: str = Field(default="", max_length=200, description="The payment provider's text; empty if none.")
    payment = relation("schema.payment.payment:Payment", by="payment_id", description="The payment.")
    refund = relation(
        "schema.payment.payment:Refund", by="refund_id", description="The refund; null for a pay-in.", nullable=True
    )
    partner = partner_relation()


@strawberry.pydantic.type(description="A refund of a payment, or of a part of it.")
class Refund(SchemaModel):
    id: UUID = Field(default_factory=uuid4, primary_key=True, description="The refund's id.")
    state: RefundState = enum_column(RefundState, "How far it is.", default=RefundState.PENDING)
    origin: RefundOrigin = enum_column(RefundOrigin, "Who began it.")
    refund_amount: Decimal = money_column()
    amount = money("refund_amount", description="The amount, from all sources together.")
    reason: str = Field(
        default="", max_length=200, description="Why, in the words of who began it; empty if not given."
    )
    detail: str = Field(
        default="", max_length=300, description="What holds it up or why it failed; empty while nothing does."
    )
    created_on: dt.datetime = datetime_column("When it was accepted.")
    lines = relations(
        "schema.order.order:RefundLine",
        by="refund_id",
        description="The lines of the order that it refunds; empty if it refunds an amount.",
    )
    delivery_amount: Decimal = money_column(default=Decimal("0.00"))
    delivery = money("delivery_amount", description="The part of the amount that is for delivery.")
    transactions = relations(
        PaymentTransaction, by="refund_id", description="Its movements, one for each source of money."
    )
    payment = relation("schema.payment.payment:Payment", by="payment_id", description="The payment.")
    partner = partner_relation()


@strawberry.pydantic.type(
    description="A payment to a partner. Its money comes from a bank card, from gift cards, or both."
)
class Payment(SchemaModel):
    id: UUID = Field(default_factory=uuid4, primary_key=True, description="The payment's id.")
    status: PaymentStatus = enum_column(PaymentStatus, "The payment's status.", default=PaymentStatus.IN_PROGRESS)
    type: PaymentType = enum_column(PaymentType, "How it is made.", default=PaymentType.CREDIT_CARD)
    customer = embedded(PaymentCustomer, "The customer.")
    payment_amount: Decimal = money_column()
    amount = money("payment_amount", description="What is collected, from all sources together.")
    discount_amount: Decimal = money_column(default=Decimal("0.00"))
    discount = money("discount_amount", description="The discount that `amount` is already reduced by.")
    card_amount: Decimal = money_column()
    card_part = money("card_amount", description="The part that is paid by bank card.")
    extra_amount: Decimal = money_column(default=Decimal("0.00"))
    extra_part = money("extra_amount", description="The part that is taken from wallets, such as those of gift cards.")
    commission_amount: Decimal = money_column(default=Decimal("0.00"))
    commission = money("commission_amount", description="The marketplace's commission, VAT included.")
    net_amount: Decimal = money_column()
    net = money("net_amount", description="amount − commission.")
    refunded_amount: Decimal = money_column(default=Decimal("0.00"))
    refunded = money("refunded_amount", description="What has been refunded, or is promised to be.")
    refund_status = derived(
        PaymentRefundStatus, ("payment_amount", "refunded_amount"), "How much of it has been refunded."
    )
    product: str = Field(default="", max_length=80, description="What is paid for; fee rules may name it.")
    origin: str = Field(default="", max_length=80, description="Where it comes from; fee rules may name it.")
    description: str = Field(default="", max_length=500, description="The text on the receipt; empty if none.")
    language: str | None = Field(
        default=None,
        max_length=2,
        description="The language of its page and receipt; null until the customer begins to pay, if none was given.",
    )
    freeze_payout_date: dt.datetime | None = datetime_column(
        "The date that decides about the payout, instead of the day of the payment; null if none.",
        default=None,
        nullable=True,
    )
    is_for_marketplace: bool = Field(
        default=False,
        description="Whether its money went to the marketplace's own wallet: of a refill, and of orders with gift cards or "
        "boxes of the network, whoever's shop sells them. It is the marketplace's but for `partnerShare`, and only the "
        "marketplace may refund the rest.",
    )
    partner_share_amount: Decimal = money_column(default=Decimal("0.00"))
    partner_share = money(
        "partner_share_amount",
        description="Of an order with gift cards or boxes of the network beside what is the partner's own: the part of "
        "`cardPart` that is the partner's, commission included. It lies in the marketplace's wallet until it is paid out. "
        "0 for all other payments.",
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    modified_on: dt.datetime = datetime_column("When it was last changed.")
    expires_on: dt.datetime | None = datetime_column(
        "Until when it can be paid; null for payments of a checkout.", default=None, nullable=True
    )
    payin_result_code: str = Field(
        default="", max_length=20, description="The payment provider's code of the last try; empty before."
    )
    payin_result_message: str = Field(
        default="", max_length=200, description="The payment provider's text of the last try; empty before."
    )
    payment_url = derived(
        str | None,
        ("status", "link_token", "expires_on"),
        "The URL of the page where the customer pays. It cannot be guessed. Null once it is paid or cancelled, after "
        "`expiresOn`, and for payments of a checkout.",
    )
    receipt_url = derived(
        str | None,
        ("status", "document_token"),
        "The URL of its receipt as PDF. It cannot be guessed; it needs no authentication. Null before it is paid.",
    )
    sources = relations(PaymentSource, by="payment_id", description="The sources of its money.")
    transactions = relations(PaymentTransaction, by="payment_id", description="Its movements of money, oldest first.")
    refunds = relations(Refund, by="payment_id", description="Its refunds, oldest first.", order="created_on")
    disputes = relations(
        "schema.payment.dispute:Dispute", by="payment_id", description="Its disputes, oldest first.", order="created_on"
    )
    payout = computed(
        "schema.payment.payout:PayoutReference",
        "The payout request that pays it out; null while it is in none.",
        is_partial=True,
    )
    journal = computed(
        list[LedgerJournal],
        "Its journals in the ledger that the caller may see, oldest first: those of a refill are the marketplace's.",
        field_permission=FieldPermission(Permission.VIEW_WALLET, owner_columns=()),
    )
    order = relation(
        "schema.order.order:Order", by="order_id", description="The order that it pays; null if none.", nullable=True
    )
    payment_request = relation(
        "schema.payment.request:PaymentRequest",
        by="payment_request_id",
        description="The payment request that it pays; null if none.",
        nullable=True,
    )
    wallet = relation(
        Wallet,
        by="wallet_id",
        description="The wallet that it is paid to; null if gift cards paid all of it and the partner has none.",
        nullable=True,
    )
    extra_wallet = relation(
        Wallet,
        by="extra_wallet_id",
        description="The wallet that `extraPart` is taken from, of several the first; null if nothing is.",
        nullable=True,
    )
    partner = partner_relation()


@strawberry.pydantic.type(description="What a refund would give back for a line of an order.")
class RefundPreviewLine(BaseModel):
    id: int = Field(description="The id of the line.")
    quantity: int = Field(description="How many of the line would be refunded.")
    amount: Money = Field(description="What would be refunded for them.")


@strawberry.pydantic.type(description="What a refund would do. Nothing is changed.")
class RefundPreview(BaseModel):
    amount: Money = Field(description="The amount, from all sources together.")
    by_card: Money = Field(description="The part that goes back to the bank card.")
    by_gift_card: Money = Field(description="The part that goes back to gift cards.")
    commission_back: Money = Field(description="The commission that the marketplace gives back.")
    left: Money = Field(description="What could still be refunded of the payment afterwards.")
    detail: str = Field(description="What would hold it up; empty if nothing would.")
    delivery: Money = Field(description="The part of the amount that is for delivery.")
    lines: list[RefundPreviewLine] = Field(
        description="The lines of the order that would be refunded; empty for the refund of an amount."
    )
