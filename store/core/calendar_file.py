"""Calendar files (RFC 5545) that remind of a day."""

import datetime as dt

from icalendar import Alarm, Calendar, Event

BEFORE = dt.timedelta(days=30)


def day_file(day: dt.date, title: str, *, uid: str, written_on: dt.datetime, url: str = "") -> bytes:
    """A whole day with a reminder a month before. A calendar updates the event that has the same `uid`."""
    event = Event()
    event.add("uid", uid)
    event.add("dtstamp", written_on.astimezone(dt.UTC).replace(microsecond=0))
    event.add("dtstart", day)
    event.add("dtend", day + dt.timedelta(days=1))
    event.add("summary", title)
    if url:
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
