"""Transfers: money that moves between wallets."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.money import money, money_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel, relation
from schema.payment.payment import Payment
from schema.wallet import Wallet


@graphql_enum
class TransferStatus(DescribedEnum):
    """The status of a transfer."""

    OK = "ok", "The money has moved."
    PENDING = "pen", "The money has not moved yet."
    ERROR = "err", "The money has not moved, and will not."


@graphql_enum
class TransferType(DescribedEnum):
    """The reason of a transfer."""

    PAYMENT = "payment", "A gift card has paid."
    REVERSAL = "reversal", "What a gift card paid went back to it."
    SETTLEMENT = "settlement", "What a partner has earned in its network goes to its wallet, to be paid out."


@strawberry.pydantic.type(description="Money that moves from one wallet to another.")
class Transfer(SchemaModel):
    id: int = id_column("The transfer's id.")
    type: TransferType = enum_column(TransferType, "Its reason.")
    status: TransferStatus = enum_column(TransferStatus, "Its status.", default=TransferStatus.OK)
    transfer_amount: Decimal = money_column()
    amount = money("transfer_amount", description="The amount.")
    created_on: dt.datetime = datetime_column("When it was created.")
    detail: str = Field(
        default="", max_length=300, description="What holds it up, or why it failed; empty if nothing does."
    )
    payment = relation(Payment, by="payment_id", description="The payment it belongs to; null if none.", nullable=True)
    debited_wallet = relation(
        Wallet,
        by="debited_wallet_id",
        description="The wallet that it takes from; null if the partner has none.",
        nullable=True,
    )
    credited_wallet = relation(
        Wallet,
        by="credited_wallet_id",
        description="The wallet that it goes to; null if the partner has none.",
        nullable=True,
    )
    partner = partner_relation("The partner; null if it is between wallets of a marketplace.", nullable=True)
    marketplace = marketplace_relation()
