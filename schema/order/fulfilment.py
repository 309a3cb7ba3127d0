"""The fulfilment of orders: how far staff are with what is handed over or sent."""

import datetime as dt
import re
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum
from schema.core.resource import EmbeddedColumns, embedded_type
from schema.validation.characters import line_up_to
from schema.validation.contact import WebAddress

LONGEST_CARRIER, LONGEST_TRACKING_NUMBER, LONGEST_TRACKING_URL = 80, 80, 2048


@graphql_enum
class FulfilmentState(DescribedEnum):
    """How far the fulfilment of an order is. Orders to collect go from `TO_PREPARE` to `READY_TO_COLLECT` and `COLLECTED`,
    orders to send from `TO_PREPARE` to `SENT` and `DELIVERED`.
    """

    TO_PREPARE = "to_prepare", "It is to be prepared."
    READY_TO_COLLECT = "ready_to_collect", "It is ready; the customer has been told to collect it."
    COLLECTED = "collected", "The customer has it."
    SENT = "sent", "It is on its way; the customer has been told."
    DELIVERED = "delivered", "It has arrived."
    CANCELLED = "cancelled", "It is neither handed over nor sent. It can be reopened unless all of it is refunded."


@embedded_type(
    "The fulfilment of an order.",
    prefix="fulfilment_",
    unless_null="fulfilment_state",
    nullable=(
        *("fulfilment_carrier", "fulfilment_tracking_number", "fulfilment_tracking_url"),
        *("fulfilment_ready_on", "fulfilment_collected_on", "fulfilment_sent_on", "fulfilment_delivered_on"),
        "fulfilment_cancelled_on",
    ),
)
class OrderFulfilment(EmbeddedColumns):
    fulfilment_state: FulfilmentState | None = enum_column(FulfilmentState, "Its state.", default=None, nullable=True)
    fulfilment_carrier: str | None = Field(
        default=None, max_length=LONGEST_CARRIER, description="Who carries the parcel; null if not given."
    )
    fulfilment_tracking_number: str | None = Field(
        default=None, max_length=LONGEST_TRACKING_NUMBER, description="The carrier's number of it; null if not given."
    )
    fulfilment_tracking_url: str | None = Field(
        default=None,
        max_length=LONGEST_TRACKING_URL,
        description="Where the customer follows the parcel, an https address; null if not given.",
    )
    fulfilment_ready_on: dt.datetime | None = datetime_column(
        "When it was ready to collect; null if it was not.", default=None, nullable=True
    )
    fulfilment_collected_on: dt.datetime | None = datetime_column(
        "When it was collected; null if it was not.", default=None, nullable=True
    )
    fulfilment_sent_on: dt.datetime | None = datetime_column(
        "When it was sent; null if it was not.", default=None, nullable=True
    )
    fulfilment_delivered_on: dt.datetime | None = datetime_column(
        "When it arrived; null if unknown.", default=None, nullable=True
    )
    fulfilment_cancelled_on: dt.datetime | None = datetime_column(
        "When it was cancelled; null if it is not.", default=None, nullable=True
    )


_WHOLE_ADDRESS = re.compile(r"https://[^/\s][^\s\\]*", re.IGNORECASE)


def _secure(value: str) -> str:
    if value and not _WHOLE_ADDRESS.fullmatch(value):
        raise PydanticCustomError("url", "Send an address that starts with https://.")
    return value


Carrier = Annotated[str, line_up_to(LONGEST_CARRIER)]
TrackingNumber = Annotated[str, line_up_to(LONGEST_TRACKING_NUMBER)]
TrackingUrl = Annotated[WebAddress, AfterValidator(_secure)]
