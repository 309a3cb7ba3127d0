"""The calendar files of the last days of vouchers and gift cards, as they are attached to a message."""

import datetime as dt
import hashlib
from zoneinfo import ZoneInfo

from store.core.localization.formats import Formats
from store.mail.content import GiftContent
from store.mail.gift_words import GiftTexts
from store.mail.message import Attachment
from store.mail.render import TEXTS

CONTENT_TYPE = "text/calendar"


def calendar_files(about: GiftContent, language: str, shop: str, *, written_on: dt.datetime) -> list[Attachment]:
    """One file for each last day of what is alike, without codes: calendars are shared. What is sent again has the same
    events.
    """
    from store.core.calendar_file import day_file  # its library is only for those who send mail

    texts = GiftTexts(Formats(language), TEXTS.translations(language))
    zone = ZoneInfo(about.time_zone)
    items: dict[tuple[str, dt.date], list[str]] = {}
    for item in about.items:
        if item.expires_on is not None:
            key = texts.last_day(item, shop), item.expires_on.astimezone(zone).date()
            items.setdefault(key, []).append(str(item.id))
    files = []
    for (title, day), ids in sorted(items.items()):
        uid = hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:32]
        content = day_file(day, title, uid=uid, written_on=written_on)
        files.append(Attachment(f"{day.isoformat()}.ics", CONTENT_TYPE, content))
    return files
