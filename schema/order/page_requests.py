"""What a customer sees of requests on the page of an order, and of the form for a new one."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.text import Text
from schema.order.refund_request import RefundRequestKind, RefundRequestState


@graphql_enum
class Obstacle(DescribedEnum):
    """Why nothing of a line of an order can be asked for."""

    USED = "used", "It was used, or a part of it."
    EXPIRED = "expired", "It has expired."
    REFUNDED = "refunded", "It was refunded or cancelled."
    REQUESTED = "requested", "All that is left of it waits for an answer already."


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestableLine:
    """A line of an order in the form for a request."""

    id: int
    name: Text
    details: tuple[Text, ...]
    picture_url: str
    is_card: bool
    quantity: int
    """How many of it can be asked for; 0 if there is an obstacle."""
    obstacle: Obstacle | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seller:
    """Who sells, for the model form of a withdrawal."""

    name: str
    address: tuple[str, ...]
    """The lines of the head office without the country; empty if unknown."""
    country: str
    """ISO 3166 code; empty if unknown."""
    email: str
    phone: str


@dataclass(frozen=True, slots=True)
class RequestOffer:
    """What the buyer of an order can ask for."""

    kind: RefundRequestKind
    ends_on: dt.datetime | None
    """The end of the period for a withdrawal; None while it has not begun."""

    @property
    def is_withdrawal(self) -> bool:
        return self.kind is RefundRequestKind.WITHDRAWAL

    @property
    def last_moment(self) -> dt.datetime | None:
        """A moment of the last day of the period."""
        return None if self.ends_on is None else self.ends_on - dt.timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundForm:
    """The form of a request."""

    offer: RequestOffer | None
    """What the buyer can ask for; None if nothing."""
    lines: tuple[RequestableLine, ...]
    name: str
    """The buyer's name."""
    country: str
    """ISO 3166 code of the country of the seller's head office; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuyerWish:
    """What a buyer asks for."""

    key: UUID
    """Chosen when the form is shown: what is sent twice is one request."""
    kind: RefundRequestKind
    quantities: Mapping[int, int]
    """How many of each line of the order, by the place of the line."""
    name: str
    email: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundReview:
    """A request that could be sent, for the buyer to confirm."""

    wish: BuyerWish
    """With its texts cleaned."""
    lines: tuple[tuple[RequestableLine, int], ...]
    """What it is about, with how many of each."""
    amount: Decimal
    """What would go back, delivery included."""
    includes_delivery: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageRequest:
    """A request about an order."""

    id: int
    kind: RefundRequestKind
    state: RefundRequestState
    requested_on: dt.datetime
    answered_on: dt.datetime | None
    email: str
    reason: str
    answer: str
    lines: tuple[tuple[Text, int], ...]
    """The names of the lines, with how many of each."""
