"""Inputs that move the fulfilment of orders."""

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.order.fulfilment import Carrier, TrackingNumber, TrackingUrl
from schema.order.order import Order
from schema.validation.numbers import RowId


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
