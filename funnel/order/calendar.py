"""Calendar files (RFC 5545) that remind of the last day of a voucher or gift card."""

import datetime as dt
import hashlib
from zoneinfo import ZoneInfo

from icalendar import Alarm, Calendar, Event

from funnel.core.messages import N_
from schema.order.page import IssuedItem, OrderPage

REMINDER = N_("Last day: %(name)s, %(shop)s")
"""The title of the day in the customer's calendar."""
BEFORE = dt.timedelta(days=30)


def calendar_file(page: OrderPage, item: IssuedItem, title: str, *, position: int, url: str) -> bytes:
    """A whole day with a reminder a month before. It has neither the code nor the link to the order: calendars are
    shared. `url` is where its buyer asks for the link. The file of one item is always the same event, so that a
    calendar updates it.
    """
    assert item.expires_on is not None, "what has no end has no calendar file"
    day = item.expires_on.astimezone(ZoneInfo(page.time_zone)).date()
    event = Event()
    event.add("uid", f"{hashlib.sha256(page.path.encode()).hexdigest()[:32]}-{position}")
    event.add("dtstamp", page.ordered_on.astimezone(dt.UTC).replace(microsecond=0))
    event.add("dtstart", day)
    event.add("dtend", day + dt.timedelta(days=1))
    event.add("summary", title)
    event.add("url", url)
    event.add("transp", "TRANSPARENT")
    alarm = Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", title)
    alarm.add("trigger", -BEFORE)
    event.add_component(alarm)
    calendar = Calendar()
    calendar.add("prodid", "-//Coffret//Orders//EN")
    calendar.add("version", "2.0")
    calendar.add_component(event)
    content: bytes = calendar.to_ical()
    return content
