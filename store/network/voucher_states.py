"""Status transitions of network vouchers, the days after their first usage, and what each usage is worth."""

import datetime as dt
from decimal import ROUND_DOWN, Decimal
from zoneinfo import ZoneInfo

from schema.network.errors import NoUsageLeft, TooLongAfterFirstUsage
from schema.network.voucher import NetworkVoucherStatus
from store.core.state_machine import StateMachine
from store.network.states import check_usable_as
from store.network.vouchers import NetworkVoucherRow
from store.providers.money import smallest_unit
from store.voucher.payment import end_of_day

DRAFT, PAID, USING = NetworkVoucherStatus.DRAFT, NetworkVoucherStatus.PAID, NetworkVoucherStatus.USING
USED, EXPIRED, CANCELLED = NetworkVoucherStatus.USED, NetworkVoucherStatus.EXPIRED, NetworkVoucherStatus.CANCELLED
TEST = NetworkVoucherStatus.TEST

TRANSITIONS = StateMachine(
    "A network voucher",
    {
        DRAFT: {PAID, TEST, CANCELLED},
        PAID: {USING, USED, EXPIRED, CANCELLED},
        TEST: {USED, EXPIRED, CANCELLED},
        USING: {PAID, USED, EXPIRED, CANCELLED},
        USED: {PAID, TEST, USING, CANCELLED},
        EXPIRED: {PAID, TEST, USING, USED, CANCELLED},
    },
    asked_for=True,
)
transition = TRANSITIONS.change
USABLE = (PAID, USING, TEST)


def status_by_usages(voucher: NetworkVoucherRow) -> NetworkVoucherStatus:
    """The status of a paid voucher that was used this often."""
    if voucher.usage_count >= voucher.max_usages:
        return USED
    if voucher.is_test:
        return TEST
    return USING if voucher.usage_count else PAID


def next_value(voucher: NetworkVoucherRow) -> Decimal:
    """What the next usage is worth: an equal part of the price, rounded down; the last one has the rest."""
    if voucher.usage_count + 1 >= voucher.max_usages:
        return voucher.left_amount
    return value_of_usages(voucher, 1)


def value_of_usages(voucher: NetworkVoucherRow, count: int) -> Decimal:
    """What a number of first usages are worth together."""
    if count >= voucher.max_usages:
        return voucher.price_amount
    unit = smallest_unit(voucher.currency)
    return count * (voucher.price_amount / voucher.max_usages).quantize(unit, ROUND_DOWN)


def set_first_usage(voucher: NetworkVoucherRow, first: dt.datetime | None, zone: ZoneInfo) -> None:
    """Write when a voucher was first used, and the end of the last day on which it can be used because of that."""
    voucher.first_used_on, voucher.usable_until = first, None
    if first is not None and voucher.max_days_after_first_usage:
        last = first.astimezone(zone).date() + dt.timedelta(days=voucher.max_days_after_first_usage)
        voucher.usable_until = end_of_day(last, zone)


def check_voucher_usable(voucher: NetworkVoucherRow, now: dt.datetime, zone: ZoneInfo) -> None:
    """Raise what prevents the usage of a locked voucher now: what `check_usable_as` raises, NoUsageLeft or
    TooLongAfterFirstUsage.
    """
    if voucher.status is USED:
        raise NoUsageLeft
    check_usable_as(voucher, voucher.status, now)
    if voucher.usable_until is not None and voucher.usable_until <= now:
        raise TooLongAfterFirstUsage(last_day=voucher.usable_until.astimezone(zone).date())
