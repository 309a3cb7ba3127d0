"""What can be done with a voucher, told from the voucher itself and the time: nothing else is looked at."""

import datetime as dt
from decimal import Decimal
from typing import Protocol

from schema.voucher.voucher import VoucherKind, VoucherState

ALIVE = (VoucherState.PAID, VoucherState.USING)
"""The states of a voucher of which something is left to use."""
EXTENDABLE = (*ALIVE, VoucherState.EXPIRED)


class Facts(Protocol):
    """What the rules look at: a voucher's row, or its columns of these names."""

    @property
    def state(self) -> VoucherState:
        """Where it stands."""

    @property
    def kind(self) -> VoucherKind:
        """Where it comes from."""

    @property
    def activated_on(self) -> dt.datetime | None:
        """From when on it can be used."""

    @property
    def expires_on(self) -> dt.datetime | None:
        """When it stops working."""

    @property
    def purchase_price_amount(self) -> Decimal:
        """What was paid for it."""


def is_over(voucher: Facts, now: dt.datetime) -> bool:
    """Whether its time is over, whether that has been noted in its state yet or not."""
    return voucher.expires_on is not None and voucher.expires_on <= now


def is_usable(voucher: Facts, now: dt.datetime) -> bool:
    """Whether its holder can use it now, or the rest of it: it is paid or in use, it has begun to work, its time is not over."""
    begun = voucher.activated_on is not None and voucher.activated_on <= now
    return voucher.state in ALIVE and begun and not is_over(voucher, now)


def is_extendable(voucher: Facts, now: dt.datetime) -> bool:  # noqa: ARG001  # asked like the others
    """Whether it can be given more time: it is paid, in use or expired, and has a day on which it ends."""
    return voucher.state in EXTENDABLE and voucher.expires_on is not None


def is_refundable(voucher: Facts, now: dt.datetime) -> bool:
    """Whether its price could be paid back: it was sold here, for money, nothing of it is used, its time is not over."""
    sold = voucher.kind is VoucherKind.SOLD and voucher.purchase_price_amount > 0
    return sold and voucher.state is VoucherState.PAID and not is_over(voucher, now)
