"""What a customer sees of the fulfilment on the page of an order."""

import datetime as dt
from dataclasses import dataclass

from schema.order.fulfilment import FulfilmentState


@dataclass(frozen=True, slots=True)
class FulfilmentStep:
    """A step of an order on its way to the customer."""

    state: FulfilmentState
    moment: dt.datetime | None = None
    """When it was reached; None if that is unknown, or still to come."""
    is_reached: bool = False
    is_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageFulfilment:
    """How far an order is that is handed over or sent."""

    state: FulfilmentState
    moment: dt.datetime | None
    """When it has reached this state; None while it is prepared."""
    carrier: str
    tracking_number: str
    tracking_url: str
    """Empty if unknown."""
    steps: tuple[FulfilmentStep, ...]
    """The states so far and to come."""
