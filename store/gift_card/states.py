"""How gift cards go from status to status, and what each status is good for."""

import datetime as dt
from typing import Protocol

from schema.core.errors import InvalidTransition
from schema.gift_card.gift_card import GiftCardStatus
from store.gift_card.gift_cards import GiftCardRow

DRAFT, PAID, USING = GiftCardStatus.DRAFT, GiftCardStatus.PAID, GiftCardStatus.USING
USED, EXPIRED, CANCELLED = GiftCardStatus.USED, GiftCardStatus.EXPIRED, GiftCardStatus.CANCELLED

MOVES = frozenset(
    {
        (DRAFT, PAID),
        (DRAFT, CANCELLED),
        (PAID, USING),
        (PAID, USED),
        (PAID, EXPIRED),
        (PAID, CANCELLED),
        (USING, USED),
        (USING, EXPIRED),
        (USING, CANCELLED),
        (USED, USING),
        (USED, CANCELLED),
        (EXPIRED, PAID),
        (EXPIRED, USING),
        (EXPIRED, USED),
        (EXPIRED, CANCELLED),
    }
)
"""From which status to which. There is no other move."""
SPENDABLE = (PAID, USING)
NEVER_CAPTURED = (DRAFT, CANCELLED)


class Facts(Protocol):
    """What the rules look at."""

    @property
    def status(self) -> GiftCardStatus:
        """Where it stands."""

    @property
    def expires_on(self) -> dt.datetime | None:
        """When it stops working; None: never."""


def spendable(card: Facts, now: dt.datetime, *, held: bool = False) -> bool:
    """Whether money can be taken off a gift card: nothing else decides that.

    For whoever has `held` a part of it, and would take that anew, also when others have spent the rest.
    """
    good = card.status in SPENDABLE or (held and card.status is USED)
    return good and (card.expires_on is None or now < card.expires_on)


def capturable(card: Facts) -> bool:
    """Whether what was taken off a gift card in time may be spent: its end does not come into it, a cancellation does."""
    return card.status not in NEVER_CAPTURED


def move(card: GiftCardRow, new: GiftCardStatus) -> bool:
    """Move a gift card that is locked; False for the same status again. InvalidTransition where there is no such move."""
    old = card.status
    if old is new:
        return False
    if (old, new) not in MOVES:
        raise InvalidTransition(thing="A gift card", old=old, new=new)
    card.status = new
    return True
