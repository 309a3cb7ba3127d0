"""Calendar files that remind of the last day of a voucher or gift card."""

import hashlib
from zoneinfo import ZoneInfo

from funnel.core.messages import N_
from schema.order.page import IssuedItem, OrderPage
from store.core.calendar_file import day_file

REMINDER = N_("Last day: %(name)s, %(shop)s")
"""The title of the day in the customer's calendar."""


def calendar_file(page: OrderPage, item: IssuedItem, title: str, *, position: int, url: str) -> bytes:
    """The file of an item. It has neither the code nor the link to the order: calendars are shared. `url` is where its
    buyer asks for the link. The file of one item is always the same event.
    """
    assert item.expires_on is not None, "what has no end has no calendar file"
    day = item.expires_on.astimezone(ZoneInfo(page.time_zone)).date()
    uid = f"{hashlib.sha256(page.path.encode()).hexdigest()[:32]}-{position}"
    return day_file(day, title, uid=uid, written_on=page.ordered_on, url=url)
