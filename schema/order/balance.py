"""What the holder of a code may know of a voucher or gift card: nothing about persons."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from schema.core.text import Text
from schema.order.page import IssuedState

BALANCE_PATH = "/balance/"
"""The page of a shop where holders ask what is left."""
LONGEST_CODE = 100
"""The longest code that is looked up, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBalance:
    """What is left of the voucher or gift card of a code."""

    state: IssuedState
    is_gift_card: bool
    name: Text
    """The name of the experience or box; of a gift card, of its design; empty if there is none."""
    currency: str
    value: Decimal | None
    """The value of a gift card; None for vouchers, which are presents."""
    remaining: Decimal | None
    """What is left of a gift card; None for vouchers."""
    usages_left: int | None
    """How often a voucher of the network can still be used; None for all others."""
    starts_on: dt.datetime | None
    expires_on: dt.datetime | None
    """The end of the last day on which it can be used; None: no limit."""
    time_zone: str
