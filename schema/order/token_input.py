"""What buyers send about their order, with the token of its page."""

import datetime as dt
from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.order.refund_request import RefundRequestKind
from schema.validation.characters import MULTILINE, ONE_LINE

LINK_END = "The token of the page of the order: the last part of the path of its address."
POSITION = "The place of the line in the order, from 0."
MOST_LINES = 1000


Line = Annotated[str, ONE_LINE]


class GiftByToken(SchemaModel):
    """A present of an order, and where it is sent."""

    token: Line = Field(description=LINK_END)
    position: int = Field(description=POSITION)
    email: Line = Field(description="The e-mail address of the recipient.")


@graphql_input
class ResendGiftByToken(GiftByToken):
    """Send a present of an order to its recipient again, or to another address."""


@graphql_input
class SendGiftNowByToken(GiftByToken):
    """Send a present of an order now that waits for its day."""


@graphql_input
class RescheduleGiftByToken(GiftByToken):
    """Send a present of an order that waits for its day on another day, or to another address."""

    send_on: dt.date = Field(description="The day, in the time zone of the marketplace: within a year of the order.")
    send_at: dt.time | None = Field(default=None, description="The time of that day; null for the morning.")


@graphql_input
class RequestedLineInput(SchemaModel):
    """A line of an order that its buyer asks about, with how many of it."""

    position: int = Field(description=POSITION)
    quantity: int = Field(ge=1, description="How many of it.")


@graphql_input
class RequestRefundByToken(SchemaModel):
    """Withdraw from the contract of an order, or ask for a refund."""

    token: Line = Field(description=LINK_END)
    key: UUID = Field(description="A new one for each request; what is sent again with the same one is one request.")
    kind: RefundRequestKind = Field(description="What the buyer asks for: the kind of `requestOffer`.")
    lines: list[RequestedLineInput] = Field(max_length=MOST_LINES, description="What it is about.")
    name: Line = Field(description="The buyer's name.")
    email: Line = Field(description="The e-mail address to which it is confirmed and answered.")
    reason: Annotated[str, MULTILINE] = Field(default="", description="Why; may be empty.")


@graphql_input
class CancelRefundRequestByToken(SchemaModel):
    """Take a request of an order back."""

    token: Line = Field(description=LINK_END)
    id: int = Field(description="The request's id.")
