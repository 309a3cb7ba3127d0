"""The booking that staff note with the use of a voucher for nights: optional, and taken off again with the use."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from funnel.checkout.basket_form import id_of
from funnel.core.forms import Form
from schema.voucher.input import MOST_RENTALS, VoucherRentalInput
from store.voucher.vouchers import VoucherRentalRow, VoucherRow

FIELDS = {"starts_on": 10, "ends_on": 10, "reference": 80, "comment": 1000}
"""What is asked of a booking, and how long it may be."""
Problems = tuple[tuple[str, str], ...]
"""What is wrong: the field, and how."""
TAKEN_OFF = re.compile(r"off-([0-9]+)")
"""The name of the box that takes a booking off."""


def typed_in(form: Form) -> dict[str, str]:
    """What was typed about a booking."""
    return {name: form.get(name, "").strip()[:longest] for name, longest in FIELDS.items()}


def read(typed: Mapping[str, str]) -> tuple[VoucherRentalInput | None, Problems]:
    """The booking that was typed, None where nothing was; or what is wrong with it."""
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


def to_take_off(form: Form) -> list[int]:
    """The ids of the bookings whose box was left ticked."""
    found = [id_of(match[1]) for name in form if (match := TAKEN_OFF.fullmatch(name))]
    return [id for id in found if id is not None][:MOST_RENTALS]


def offered(
    rentals: Sequence[VoucherRentalRow], voucher: VoucherRow, *, just_noted: bool
) -> Sequence[tuple[VoucherRentalRow, bool]]:
    """Which bookings can be taken off with the use: those noted with it, else the last; and whether their boxes are ticked."""
    with_use = [rental for rental in rentals if voucher.used_on is not None and rental.created_on == voucher.used_on]
    if with_use or not rentals:
        return [(rental, True) for rental in with_use]
    return [(max(rentals, key=lambda rental: rental.id), just_noted)]


def _day(typed: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(typed) if len(typed) == FIELDS["starts_on"] else None
    except ValueError:
        return None
