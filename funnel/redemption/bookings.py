"""The booking that staff may enter when they redeem a voucher for nights. It can be removed with the redemption."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from funnel.checkout.basket_form import parse_id
from funnel.core.forms import Form
from schema.voucher.input import MOST_RENTALS, VoucherRentalInput
from schema.voucher.voucher import Voucher, VoucherRental

FIELDS = {"starts_on": 10, "ends_on": 10, "reference": 80, "comment": 1000}
"""The fields of a booking and their maximum lengths."""
Problems = tuple[tuple[str, str], ...]
"""Errors as (field id, code)."""
REMOVED_BOOKING = re.compile(r"off-([0-9]+)")
"""The name of the checkbox that removes a booking."""


def typed_fields(form: Form) -> dict[str, str]:
    """The typed fields of a booking."""
    return {name: form.get(name, "").strip()[:longest] for name, longest in FIELDS.items()}


def parse_booking(typed: Mapping[str, str]) -> tuple[VoucherRentalInput | None, Problems]:
    """The typed booking, None if all fields are empty; and its errors."""
    if not any(typed.values()):
        return None, ()
    days, wrong = dict[str, dt.date | None](), list[tuple[str, str]]()
    for name in ("starts_on", "ends_on"):
        days[name] = _day(typed[name])
        if typed[name] and days[name] is None:
            wrong.append((name, "DAY"))
    starts, ends = days["starts_on"], days["ends_on"]
    if not typed["starts_on"]:
        wrong.append(("starts_on", "REQUIRED"))
    elif starts and ends and ends < starts:
        wrong.append(("ends_on", "BEFORE"))
    if wrong or starts is None:
        return None, tuple(wrong)
    return VoucherRentalInput(
        starts_on=starts, ends_on=ends, reference=typed["reference"], comment=typed["comment"]
    ), ()


def bookings_to_remove(form: Form) -> list[int]:
    """The ids of the bookings whose checkbox is ticked."""
    ids = [parse_id(match[1]) for name in form if (match := REMOVED_BOOKING.fullmatch(name))]
    return [id for id in ids if id is not None][:MOST_RENTALS]


def removable_bookings(
    rentals: Sequence[VoucherRental], voucher: Voucher, *, just_noted: bool
) -> Sequence[tuple[VoucherRental, bool]]:
    """The bookings that can be removed with the redemption, and whether their checkbox is ticked.

    These are the bookings created with the redemption, else the last one.
    """
    with_use = [rental for rental in rentals if voucher.used_on is not None and rental.created_on == voucher.used_on]
    if with_use or not rentals:
        return [(rental, True) for rental in with_use]
    return [(max(rentals, key=lambda rental: rental.id), just_noted)]


def _day(typed: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(typed) if len(typed) == FIELDS["starts_on"] else None
    except ValueError:
        return None
