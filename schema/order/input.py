"""Inputs that move the fulfilment of orders, and answer requests of their buyers."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.order.fulfilment import Carrier, TrackingNumber, TrackingUrl
from schema.order.order import Order, OrderBuyer, OrderDelivery, PostalAddress
from schema.order.refund_request import LONGEST_ANSWER, RefundRequest
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import NotBlank, Phone, RequiredEmail
from schema.validation.numbers import RowId

PersonName = Annotated[str, line_up_to(80), NotBlank]
AddressLine = Annotated[str, line_up_to(120)]
Answer = Annotated[str, multiline_up_to(LONGEST_ANSWER)]


@graphql_input_for(Order)
class MarkOrderReady(SchemaModel):
    """Record that an order is ready to collect."""

    id: RowId


@graphql_input_for(Order)
class MarkOrderCollected(SchemaModel):
    """Record that an order was collected."""

    id: RowId


@graphql_input_for(Order)
class MarkOrderSent(SchemaModel):
    """Record that an order was sent."""

    id: RowId
    carrier: Carrier = Field(default="", description="Who carries the parcel; empty if unknown.")
    tracking_number: TrackingNumber = Field(
        default="", description="The carrier's number of the parcel; empty if there is none."
    )
    tracking_url: TrackingUrl = Field(
        default="", description="Where the customer follows the parcel, an https address; empty if there is none."
    )


@graphql_input_for(Order)
class MarkOrderDelivered(SchemaModel):
    """Record that an order that was sent has arrived."""

    id: RowId


@graphql_input_for(Order)
class CancelOrderFulfilment(SchemaModel):
    """Neither hand over nor send an order."""

    id: RowId


@graphql_input_for(Order)
class ReopenOrderFulfilment(SchemaModel):
    """Prepare an order whose fulfilment was cancelled."""

    id: RowId


@graphql_input_for(RefundRequest)
class ApproveRefundRequest(SchemaModel):
    """Refund what a buyer asks for."""

    id: RowId
    message: Answer = Field(default="", description="What the buyer reads with it; empty for nothing.")
    include_delivery: bool | None = Field(
        default=None,
        description="Whether the price of delivery is refunded too; by default if it withdraws from all that is left.",
    )
    include_used: bool = Field(
        default=False,
        description="Whether a voucher or gift card is refunded that was used, in part or wholly, or has expired.",
    )
    restock: bool = Field(
        default=False, description="Whether refunded products go back into stock; each piece does so once."
    )


@graphql_input_for(RefundRequest)
class DeclineRefundRequest(SchemaModel):
    """Decline what a buyer asks for."""

    id: RowId
    message: Annotated[Answer, NotBlank] = Field(description="Why; the buyer gets it by mail.")


@graphql_input_for(OrderBuyer)
class OrderBuyerInput(SchemaModel):
    """The buyer of an order. Omitted fields stay unchanged."""

    first_name: strawberry.Maybe[PersonName]
    last_name: strawberry.Maybe[PersonName]
    email: strawberry.Maybe[RequiredEmail]
    phone: strawberry.Maybe[Phone]


@graphql_input_for(PostalAddress)
class PostalAddressInput(SchemaModel):
    """The address of an order that is sent. Omitted fields stay unchanged. Its country cannot be changed: the price of
    delivery and the VAT depend on it.
    """

    line_1: strawberry.Maybe[Annotated[AddressLine, NotBlank]]
    line_2: strawberry.Maybe[AddressLine]
    postal_code: strawberry.Maybe[Annotated[str, line_up_to(20), NotBlank]]
    city: strawberry.Maybe[PersonName]


@graphql_input_for(OrderDelivery)
class OrderDeliveryInput(SchemaModel):
    """To whom and where an order is sent. Omitted fields stay unchanged."""

    recipient_name: strawberry.Maybe[Annotated[str, line_up_to(160)]] = Field(
        description="The recipient of the parcel; empty if it is the buyer."
    )
    address: strawberry.Maybe[PostalAddressInput]


@graphql_input_for(Order)
class UpdateOrderDetails(SchemaModel):
    """Correct the buyer of an order, or to whom and where it is sent. Omitted fields stay unchanged."""

    id: RowId
    buyer: strawberry.Maybe[OrderBuyerInput]
    delivery: strawberry.Maybe[OrderDeliveryInput]
