"""Status transitions of gift cards, and the operations that each status allows."""

import datetime as dt
from typing import Protocol

from schema.core.errors import FrozenByDispute
from schema.gift_card.gift_card import GiftCardStatus
from store.core.state_machine import StateMachine

DRAFT, PAID, USING = GiftCardStatus.DRAFT, GiftCardStatus.PAID, GiftCardStatus.USING
USED, EXPIRED, CANCELLED = GiftCardStatus.USED, GiftCardStatus.EXPIRED, GiftCardStatus.CANCELLED

TRANSITIONS = StateMachine(
    "A gift card",
    {
        DRAFT: {PAID, CANCELLED},
        PAID: {USING, USED, EXPIRED, CANCELLED},
        USING: {USED, EXPIRED, CANCELLED},
        USED: {USING, CANCELLED},
        EXPIRED: {PAID, USING, USED, CANCELLED},
    },
    asked_for=True,
)
transition = TRANSITIONS.change
SPENDABLE = (PAID, USING)
NEVER_CAPTURED = (DRAFT, CANCELLED)


class Limited(Protocol):
    """The fields that say until when something can be used, and whether a dispute keeps it from that."""

    @property
    def expires_on(self) -> dt.datetime | None:
        """None: never."""

    @property
    def frozen_on(self) -> dt.datetime | None:
        """None: no dispute keeps it from being spent."""


class GiftCardLike(Limited, Protocol):
    """The fields that the rules need, of a row or of a projection."""

    @property
    def status(self) -> GiftCardStatus: ...


def is_over(card: Limited, now: dt.datetime) -> bool:
    """True if it has expired, even if its status is not EXPIRED yet."""
    return card.expires_on is not None and card.expires_on <= now


def is_spendable(card: GiftCardLike, now: dt.datetime, *, held: bool = False) -> bool:
    """True if the status, end and disputes of the card let it be debited now. This is the only check of these; see
    `modes` for test cards.

    With `held`, the caller already holds a part and would debit it again: then USED counts as spendable.
    """
    good = card.status in SPENDABLE or (held and card.status is USED)
    return good and not is_over(card, now) and card.frozen_on is None


def is_capturable(card: GiftCardLike) -> bool:
    """True if a hold on the card can be captured. Expiry does not prevent a capture; DRAFT, CANCELLED and a dispute do."""
    return card.status not in NEVER_CAPTURED and card.frozen_on is None


def check_not_frozen(card: Limited) -> None:
    """Raise FrozenByDispute if a dispute keeps the card from being spent."""
    if card.frozen_on is not None:
        raise FrozenByDispute


def takes_money_back(card: GiftCardLike) -> bool:
    """True if what was spent of the card can be returned to it. Neither expiry nor a dispute prevents that."""
    return card.status not in NEVER_CAPTURED
