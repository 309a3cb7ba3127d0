"""Rules of what can be done with a voucher, depending only on the voucher and the time."""

import datetime as dt
from decimal import Decimal
from typing import Protocol

from schema.voucher.voucher import VoucherKind, VoucherState

REDEEMABLE = (VoucherState.PAID, VoucherState.USING)
"""States in which a voucher can still be used."""
EXTENDABLE = (*REDEEMABLE, VoucherState.EXPIRED)


class VoucherLike(Protocol):
    """The fields that the rules need, of a row or of a projection with these columns."""

    @property
    def state(self) -> VoucherState: ...

    @property
    def kind(self) -> VoucherKind: ...

    @property
    def activated_on(self) -> dt.datetime | None: ...

    @property
    def expires_on(self) -> dt.datetime | None: ...

    @property
    def purchase_price_amount(self) -> Decimal: ...

    @property
    def frozen_on(self) -> dt.datetime | None: ...

    @property
    def refunded_on(self) -> dt.datetime | None: ...


def is_over(voucher: VoucherLike, now: dt.datetime) -> bool:
    """True if it has expired, even if its state is not EXPIRED yet."""
    return voucher.expires_on is not None and voucher.expires_on <= now


def is_usable(voucher: VoucherLike, now: dt.datetime) -> bool:
    """True if the voucher can be used now: paid or in use, activated, not expired, neither frozen by a dispute nor
    refunded.
    """
    begun = voucher.activated_on is not None and voucher.activated_on <= now
    return voucher.state in REDEEMABLE and begun and not is_over(voucher, now) and _is_free(voucher)


def is_extendable(voucher: VoucherLike, now: dt.datetime) -> bool:  # noqa: ARG001  # same signature as the other rules
    """True if its validity can be extended: it is paid, in use or expired, has an expiry date, and is not refunded."""
    return voucher.state in EXTENDABLE and voucher.expires_on is not None and voucher.refunded_on is None


def is_refundable(voucher: VoucherLike, now: dt.datetime) -> bool:
    """True if its price can be refunded: sold here for money, unused, not expired, neither frozen by a dispute nor
    refunded.
    """
    sold = voucher.kind is VoucherKind.SOLD and voucher.purchase_price_amount > 0 and _is_free(voucher)
    return sold and voucher.state is VoucherState.PAID and not is_over(voucher, now)


def _is_free(voucher: VoucherLike) -> bool:
    """True if neither a dispute nor a refund keeps it from being used."""
    return voucher.frozen_on is None and voucher.refunded_on is None
