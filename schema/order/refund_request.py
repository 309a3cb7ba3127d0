"""Requests of buyers: to withdraw from the contract, or for a refund."""

import datetime as dt

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, relation, relations

LONGEST_NAME, LONGEST_EMAIL, LONGEST_REASON, LONGEST_ANSWER = 160, 254, 1000, 1000


@graphql_enum
class RefundRequestKind(DescribedEnum):
    """What a buyer asks for."""

    WITHDRAWAL = "withdrawal", "The buyer withdraws from the contract, within the period for it."
    REFUND = "refund", "The buyer asks for a refund after that period. The seller is free to decline it."


@graphql_enum
class RefundRequestState(DescribedEnum):
    """How far a request is."""

    PENDING = "pending", "It waits for an answer."
    APPROVED = "approved", "It is refunded."
    DECLINED = "declined", "It is declined, with a message to the buyer."
    CANCELLED = "cancelled", "The buyer has taken it back."


@strawberry.pydantic.type(description="A line of an order in a request, with how many of it.")
class RefundRequestLine(SchemaModel):
    id: int = id_column("The row's id.")
    quantity: int = Field(description="How many of the line the request is about.")
    line = relation("schema.order.order:OrderProduct", by="order_product_id", description="The line of the order.")
    partner = partner_relation()


@strawberry.pydantic.type(description="A buyer's request to withdraw from the contract, or for a refund.")
class RefundRequest(SchemaModel):
    id: int = id_column("The request's id.")
    kind: RefundRequestKind = enum_column(RefundRequestKind, "What the buyer asks for.")
    state: RefundRequestState = enum_column(RefundRequestState, "Its state.", default=RefundRequestState.PENDING)
    requested_on: dt.datetime = datetime_column("When the buyer sent it.")
    customer_name: str = Field(max_length=LONGEST_NAME, description="The name under which the buyer has sent it.")
    customer_email: str = Field(
        max_length=LONGEST_EMAIL, description="The e-mail address to which it is confirmed and answered."
    )
    reason: str = Field(
        default="", max_length=LONGEST_REASON, description="Why, in the words of the buyer; empty if not given."
    )
    includes_delivery: bool = Field(
        default=False,
        description="Whether the price of delivery goes back too: with a withdrawal from all that is left of the order.",
    )
    lines = relations(RefundRequestLine, by="refund_request_id", description="The lines of the order that it is about.")
    answer: str = Field(
        default="", max_length=LONGEST_ANSWER, description="The seller's message to the buyer; empty if none."
    )
    answered_on: dt.datetime | None = datetime_column(
        "When it was approved, declined or taken back; null before.", default=None, nullable=True
    )
    answered_by_id: int | None = Field(
        default=None,
        foreign_key="app_user.id",
        description="The id of the user who has answered it; null if nobody has: before, if it was approved "
        "automatically, and if the buyer has taken it back.",
    )
    refund = relation(
        "schema.payment.payment:Refund", by="refund_id", description="Its refund; null unless approved.", nullable=True
    )
    order = relation("schema.order.order:Order", by="order_id", description="The order.")
    partner = partner_relation()
