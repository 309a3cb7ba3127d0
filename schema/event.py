"""Events: what has happened, told to shops. Each is written in the transaction that makes it happen."""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any

import strawberry
from sqlalchemy import Enum
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.tenancy import Partner
from schema.values import ClosedSet, Fields, closed_set, moment, relation

LONGEST_TYPE = 60


@closed_set
class EventType(ClosedSet):
    """What can happen. More are added; receivers ignore those that they do not know."""

    CART_COMPLETED = "cart.completed", "A cart has become an order."
    CART_EXPIRED = "cart.expired", "A cart was left alone until it was deleted."
    ORDER_CREATED = "order.created", "An order was made."
    ORDER_PAID = "order.paid", "The money of an order has arrived."
    WEBHOOK_TEST = "webhook.test", "Nothing has happened: an endpoint is being tried. It is never kept."


DATA: Mapping[EventType, Mapping[str, str]] = {
    EventType.CART_COMPLETED: {
        "id": "The cart's id.",
        "last_modified": "Which of its writings was bought: its `last_modified` in milliseconds, as REST answers it.",
        "return_url": "Where its customer is sent afterwards; null: nowhere.",
        "order_id": "The id of the order that it became.",
        "order_uuid": "That order's uuid.",
        "order_number": "That order's number.",
    },
    EventType.CART_EXPIRED: {
        "id": "The cart's id.",
        "last_modified": "When it was last written, in milliseconds, as REST answers it.",
        "expired_on": "When it could be read no more: two hours later.",
        "return_url": "Where its customer would have been sent; null: nowhere, or no longer known.",
        "items": "Its lines, each with `product_id`, `variant_id`, `quantity`; null when they are no longer known.",
    },
    EventType.ORDER_CREATED: {
        "id": "The order's id.",
        "uuid": "Its uuid.",
        "number": "Its number.",
        "created_on": "When it was made.",
        "language": "The language it was bought in.",
        "cart_id": "The cart it came from.",
        "return_url": "Where its customer is sent afterwards; null: nowhere.",
        "message": "What the buyer wrote; empty: nothing.",
        "buyer": "Who bought: `first_name`, `last_name`, `email`, `phone`.",
        "delivery": "How it is delivered: `kind`, `name`, `recipient_name`, `address` (null unless something is sent).",
        "products": "What was sold, each with `product_id`, `variant_id`, `name`, `variant`, `choices`, `quantity`, "
        "`unit_price`, `total`, `vat_rate`.",
        "products_total": "The products, before discounts.",
        "discount_total": "What coupons took off.",
        "delivery_total": "What delivery cost.",
        "total": "What was to be paid.",
    },
    EventType.ORDER_PAID: {
        "id": "The order's id.",
        "uuid": "Its uuid.",
        "number": "Its number.",
        "cart_id": "The cart it came from.",
        "total": "What was paid in all.",
        "gift_card_total": "What gift cards paid.",
        "card_total": "What a bank card paid.",
    },
    EventType.WEBHOOK_TEST: {
        "message": "A greeting.",
    },
}
"""What the `data` of an event holds: key -> its meaning. Money is `{"amount": "12.50", "currency": "EUR"}`, a time is ISO
8601 in UTC, a text in several languages an object of them, an id the one that REST and GraphQL answer."""


@strawberry.pydantic.type(description="Something that has happened, as it was at that moment.")
class Event(Fields):
    """Something that has happened."""

    key: Annotated[str, strawberry.field(name="id")] = Field(
        max_length=40, unique=True, description="Its id, `evt_…`: the `id` in the body of the webhooks that tell of it."
    )
    type: EventType = Field(
        sa_type=Enum(EventType, native_enum=False, length=LONGEST_TYPE, values_callable=lambda e: [m.value for m in e]),
        description="What has happened.",
    )
    occurred_on: dt.datetime = moment("When it happened.")
    subject: str = Field(max_length=80, description="What it happened to, such as the id of an order or of a cart.")
    data: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        sa_type=JSONB, description="What there is to know, with the keys that are documented for its type."
    )
    partner = relation(Partner, by="partner_id", description="Whose it is.")
