"""The content of messages that lead to the page of an order, are about a log-in or an address; and the base of all
contents.
"""

import datetime as dt
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from schema.account.change import AccountChange, ChangeActor
from schema.core.text import Text
from schema.order.refund_request import RefundRequestKind


class Content(BaseModel):
    """The data that a template shows.

    All of it is required, so that missing data is detected when the message is queued.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class RequestLineContent(Content):
    """A line of an order in a request. `details` are the variant and the choices."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    picture: str = ""
    """The path of its picture; empty if there is none. Older messages lack this field."""


class OrderNumberContent(Content):
    """Which order a message is about."""

    number: int
    ordered_on: dt.datetime
    time_zone: str
    first_name: str


class OrderLinkContent(OrderNumberContent):
    """The link to the page of an order, for the buyer."""

    order_page: UUID


class RefundRequestContent(OrderNumberContent):
    """A buyer's request to withdraw from the contract, or for a refund; `lines` tell how many of each."""

    order_page: UUID | None = None
    """As of an order; None in what does not go to the address of the order."""
    kind: RefundRequestKind
    requested_on: dt.datetime
    customer_name: str
    customer_email: str
    reason: str
    """Empty if not given."""
    lines: tuple[RequestLineContent, ...]
    includes_delivery: bool
    answer: str = ""
    """The seller's message, if it is declined."""
    is_approved: bool = False
    """Whether a rule of the partner has approved it already, so that nobody has to."""


class LogInContent(Content):
    """Whose log-in a message is about."""

    first_name: str
    """Empty if it is unknown."""
    username: str
    organisation: str
    """The partner or marketplace that the user works for; empty for the installation's own users."""


class AccountLinkContent(LogInContent):
    """The link of a user to choose a password. Its address is made when the message is sent, and stored nowhere."""

    link: UUID


class AccountChangeContent(LogInContent):
    """A change of the credentials of a log-in."""

    change: AccountChange
    name: str
    """What the user calls the passkey, or the label of the API token; empty for all else, and if there is none."""
    deletes_passkeys: bool
    """Whether a new password has deleted the passkeys."""
    changed_on: dt.datetime
    time_zone: str
    actor: ChangeActor
    actor_username: str
    """The user name of another user who has changed it; empty for all others."""


class EndpointContent(Content):
    """A disabled webhook endpoint."""

    url: str
    endpoint_id: int
    days: int
    """For how many days it had failed; 0 if it answered 410 Gone."""
