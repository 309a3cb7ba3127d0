"""Payment requests: a customer is asked by mail to pay an amount."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, embedded, relation, relations
from schema.partner.marketplace import Marketplace
from schema.payment.payment import Payment, PaymentCustomer


@graphql_enum
class PaymentRequestStatus(DescribedEnum):
    """The status of a payment request."""

    PENDING = "pending", "The customer has not paid yet."
    PAID = "paid", "It is paid."
    EXPIRED = "expired", "It was not paid in time."
    CANCELLED = "cancelled", "It was cancelled."


@strawberry.pydantic.type(description="A request to a customer to pay an amount. The customer is told by mail.")
class PaymentRequest(SchemaModel):
    id: int = id_column("The request's id.")
    code: str = Field(max_length=40, unique=True, description="The request's code, in groups of four characters.")
    status: PaymentRequestStatus = enum_column(
        PaymentRequestStatus, "The request's status.", default=PaymentRequestStatus.PENDING
    )
    request_amount: Decimal = money_column()
    amount = money("request_amount", description="The amount to pay.")
    customer = embedded(PaymentCustomer, "The customer.")
    language: str = Field(default="en", max_length=2, description="The language of the mail and the payment page.")
    reference: str = Field(default="", max_length=80, description="Your own reference; empty if none.")
    description: str = Field(default="", max_length=1000, description="What the customer pays for; empty if not told.")
    origin: str = Field(default="", max_length=80, description="Where it comes from; fee rules may name it.")
    product: str = Field(default="", max_length=80, description="What is paid for; fee rules may name it.")
    created_on: dt.datetime = datetime_column("When it was created.")
    modified_on: dt.datetime = datetime_column("When it was last changed.")
    expires_on: dt.datetime = datetime_column("Until when it can be paid.")
    reminded_on: dt.datetime | None = datetime_column(
        "When the customer was reminded; null if not.", default=None, nullable=True
    )
    payment_url = derived(
        str | None,
        ("status", "link_token", "expires_on"),
        "The URL of the page where the customer pays. It cannot be guessed. Null unless it is pending, and after "
        "`expiresOn`.",
    )
    payments = relations(
        Payment, by="payment_request_id", description="The tries to pay it, oldest first.", order="created_on"
    )
    invoicing_marketplace = relation(
        Marketplace,
        by="invoicing_marketplace_id",
        description="The marketplace whose own wallet is refilled; null if the partner is paid.",
        nullable=True,
    )
    partner = partner_relation()
