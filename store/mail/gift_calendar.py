"""The calendar files of the last days of vouchers and gift cards, as they are attached to a message."""

import datetime as dt
import hashlib
from uuid import UUID
from zoneinfo import ZoneInfo

from store.core.localization.formats import Formats
from store.mail.content import GiftContent
from store.mail.gift_words import GiftTexts
from store.mail.message import Attachment
from store.mail.render import TEXTS

CONTENT_TYPE = "text/calendar"


def calendar_files(
    about: GiftContent, language: str, shop: str, *, mail: UUID, written_on: dt.datetime
) -> list[Attachment]:
    """One file for each last day of what is alike, without codes: calendars are shared. A message that is sent again has
    the same events.
    """
    from store.core.calendar_file import day_file  # its library is only for those who send mail

    texts = GiftTexts(Formats(language), TEXTS.translations(language))
    zone = ZoneInfo(about.time_zone)
    days = {
        (texts.last_day(item, shop), item.expires_on.astimezone(zone).date())
        for item in about.items
        if item.expires_on is not None
    }
    files = []
    for title, day in sorted(days):
        uid = f"{mail.hex}-{hashlib.sha256(f'{title}{day}'.encode()).hexdigest()[:16]}"
        content = day_file(day, title, uid=uid, written_on=written_on)
        files.append(Attachment(f"{day.isoformat()}.ics", CONTENT_TYPE, content))
    return files
