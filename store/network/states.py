"""Status transitions of network gift cards, and what each status and date of a gift card or voucher allow."""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, TypeVar

from schema.core.errors import InvalidTransition, PartnerInactive
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import Deactivated, Expired, LiveMoneyRefused, NotUsable, NotYetValid, PartnerNotLinked
from schema.network.gift_card import NetworkGiftCardStatus
from schema.partner.partner import PartnerStatus
from store.core.state_machine import StateMachine
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import Limited, check_not_frozen, is_over
from store.partner.partners import PartnerRow

DRAFT, PAID, USING = GiftCardStatus.DRAFT, GiftCardStatus.PAID, GiftCardStatus.USING
USED, EXPIRED, CANCELLED = GiftCardStatus.USED, GiftCardStatus.EXPIRED, GiftCardStatus.CANCELLED

TRANSITIONS = StateMachine(
    "A network gift card",
    {
        DRAFT: {PAID, CANCELLED},
        PAID: {USING, USED, EXPIRED, CANCELLED},
        USING: {PAID, USED, EXPIRED, CANCELLED},
        USED: {PAID, USING, CANCELLED},
        EXPIRED: {PAID, USING, USED, CANCELLED},
    },
    asked_for=True,
)
transition = TRANSITIONS.change
S = TypeVar("S", bound=StrEnum)
USABLE = (PAID, USING)
READY = frozenset({"paid", "using", "test"})
"""The published statuses of what can be used."""


def status_by_balance(remaining: Decimal, value: Decimal) -> GiftCardStatus:
    """The status of a paid card with this much of its value left."""
    if not remaining:
        return USED
    return PAID if remaining == value else USING


def check_activatable(states: StateMachine[S], old: S, draft: S, paid: S) -> None:
    """Raise InvalidTransition for what is no draft: used and expired ones come back by other ways only."""
    if old is not draft:
        raise InvalidTransition(thing=states.thing, old=old, new=paid)


def check_not_over(expires_on: dt.datetime | None, now: dt.datetime) -> None:
    """Raise Expired for what has ended, even if its status does not say so yet."""
    if expires_on is not None and expires_on <= now:
        raise Expired


def shown_status(card: GiftCardRow) -> NetworkGiftCardStatus:
    """The status as it is published."""
    is_test = card.is_test and card.status in USABLE
    return NetworkGiftCardStatus.TEST if is_test else NetworkGiftCardStatus(card.status.value)


class Usable(Limited, Protocol):
    """The fields that decide whether a gift card or voucher of a network is valid."""

    is_active: bool
    starts_on: dt.datetime | None


def check_validity(item: Usable, now: dt.datetime) -> None:
    """Raise Deactivated or NotYetValid for what its network has deactivated, or what has not begun."""
    if not item.is_active:
        raise Deactivated
    if item.starts_on is not None and now < item.starts_on:
        raise NotYetValid(starts_on=f"{item.starts_on.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC")


def is_ready(
    status: str,
    starts_on: dt.datetime | None,
    ends: Iterable[dt.datetime | None],
    now: dt.datetime,
    *,
    is_active: bool,
    is_frozen: bool,
) -> bool:
    """True if what is published so can be used now: what `check_usable_as` tells, of a row that is not read."""
    begun, ended = starts_on is None or starts_on <= now, any(end is not None and end <= now for end in ends)
    return status in READY and is_active and begun and not ended and not is_frozen


def check_usable(card: GiftCardRow, now: dt.datetime, *, held: bool = False) -> None:
    """Raise what prevents the usage of a card now: see `check_usable_as`.

    With `held`, the caller already holds a part and would take it again: then USED counts as usable.
    """
    check_usable_as(card, USING if held and card.status is USED else shown_status(card), now)


def check_usable_as(item: Usable, status: StrEnum, now: dt.datetime) -> None:
    """Raise what prevents the usage of a locked gift card or voucher with this published status now: FrozenByDispute,
    NotUsable, Expired, Deactivated or NotYetValid.
    """
    check_not_frozen(item)
    is_valid = status in READY
    if status == NetworkGiftCardStatus.EXPIRED or (is_valid and is_over(item, now)):
        raise Expired
    if not is_valid:
        raise NotUsable(status=status)
    check_validity(item, now)


def check_accepts(partner: PartnerRow, *, is_linked: bool, is_test: bool) -> None:
    """Raise what keeps a partner from accepting a gift card or voucher of its network: PartnerNotLinked, PartnerInactive
    or LiveMoneyRefused.
    """
    if not is_linked:
        raise PartnerNotLinked
    if partner.status is PartnerStatus.INACTIVE:
        raise PartnerInactive
    if partner.status is PartnerStatus.TEST and not is_test:
        raise LiveMoneyRefused
