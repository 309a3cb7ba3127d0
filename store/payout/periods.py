"""The periods of payouts, by days of the marketplace's time zone."""

import datetime as dt

from schema.partner.parts import PayoutFrequency

MIDDLE = 15
"""The last day of the first half of a month."""
DAY = dt.timedelta(days=1)


def last_day_before(frequency: PayoutFrequency | None, today: dt.date) -> dt.date:
    """The last day of the last period that is over. Without a frequency, periods are months."""
    if frequency is PayoutFrequency.WEEK:
        return today - dt.timedelta(days=today.isoweekday())
    if frequency is PayoutFrequency.BIMONTHLY and today.day > MIDDLE:
        return today.replace(day=MIDDLE)
    return today.replace(day=1) - DAY


def last_day_after(frequency: PayoutFrequency | None, today: dt.date) -> dt.date:
    """The last day of the period that a day is in."""
    if frequency is PayoutFrequency.WEEK:
        return today + dt.timedelta(days=7 - today.isoweekday())
    if frequency is PayoutFrequency.BIMONTHLY and today.day <= MIDDLE:
        return today.replace(day=MIDDLE)
    return (today.replace(day=1) + 31 * DAY).replace(day=1) - DAY


def first_day_of(frequency: PayoutFrequency | None, last_day: dt.date) -> dt.date:
    """The first day of the period that ends on a day."""
    if frequency is PayoutFrequency.WEEK:
        return last_day - 6 * DAY
    if frequency is PayoutFrequency.BIMONTHLY and last_day.day > MIDDLE:
        return last_day.replace(day=MIDDLE + 1)
    return last_day.replace(day=1)
