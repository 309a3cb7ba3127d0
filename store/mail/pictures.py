"""The pictures of a message. They are enclosed in it, as JPEG or PNG: mail clients show neither WebP nor SVG everywhere,
and some ask before they load anything.
"""

import asyncio
import enum
import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import structlog

from schema.core.errors import Unavailable
from schema.media import MediaSize
from store.core.files import FileStore
from store.database.db import Database
from store.document.source import stored_picture
from store.mail.content import GiftContent, OrderLineContent
from store.mail.link_content import Content, RequestLineContent
from store.media.media import MediaRow, media_key_of

log = structlog.get_logger(__name__)
MAX_ENCLOSED_BYTES = 180_000
"""Maximum bytes of the pictures of one message; with their encoding, and its texts, it stays below 300 kB. Those beyond
are linked.
"""


MAX_THREADS = 2
"""How many pictures a process makes at once: each takes memory."""
_THREADS = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mail-pictures")


class PictureUse(enum.StrEnum):
    """What a picture is in a message."""

    LOGO = "logo"
    DARK_LOGO = "dark_logo"
    COVER = "cover"
    THUMBNAIL = "thumbnail"


STORED_SIZES = {
    PictureUse.LOGO: MediaSize.CARD,
    PictureUse.DARK_LOGO: MediaSize.CARD,
    PictureUse.COVER: MediaSize.COVER,
    PictureUse.THUMBNAIL: MediaSize.THUMB,
}
"""The size of an upload that it is made from."""


@dataclass(frozen=True, slots=True)
class EnclosedPicture:
    """A picture as it is enclosed: `id` without angle brackets, `subtype` of `image/`."""

    id: str
    content: bytes
    subtype: str


@dataclass(frozen=True, slots=True)
class MailPictures:
    """The enclosed pictures of a message, by the path that it knows them by."""

    by_path: Mapping[str, EnclosedPicture] = field(default_factory=dict)
    dark_logo: EnclosedPicture | None = None
    """The logo, readable on a dark ground; None if there is no logo of our own storage."""

    def enclosed(self) -> list[EnclosedPicture]:
        """Each of them once."""
        shown = [*self.by_path.values(), *([self.dark_logo] if self.dark_logo else [])]
        return list({picture.id: picture for picture in shown}.values())


async def load_pictures(database: Database, files: FileStore, logo: str, about: Content) -> MailPictures:
    """The pictures of a message: those in our own storage, as far as they fit. Those that cannot be read now are linked."""
    found: dict[str, EnclosedPicture] = {}
    dark_logo = await _enclose(database, files, logo, PictureUse.DARK_LOGO)
    room = MAX_ENCLOSED_BYTES - (len(dark_logo.content) if dark_logo else 0)
    for path, use in [(logo, PictureUse.LOGO), *_pictures_in(about)]:
        if path in found or (picture := await _enclose(database, files, path, use)) is None:
            continue
        if len(picture.content) <= room:
            found[path] = picture
            room -= len(picture.content)
    return MailPictures(found, dark_logo)


def _pictures_in(about: Content) -> Iterator[tuple[str, PictureUse]]:
    """The paths of the pictures of what a message is about."""
    if isinstance(about, GiftContent):
        yield from ((item.picture, PictureUse.COVER) for item in about.items)
    for line in getattr(about, "lines", ()):
        if isinstance(line, OrderLineContent | RequestLineContent):
            yield line.picture, PictureUse.THUMBNAIL


async def _enclose(database: Database, files: FileStore, path: str, use: PictureUse) -> EnclosedPicture | None:
    """A picture of our own storage as it is enclosed; None for any other, and for what cannot be read."""
    from store.mail.picture_files import UNREADABLE, picture_file  # Pillow: most processes send no mail

    async with database.sessions() as db:
        row = await stored_picture(db, path) if path else None
    if row is None:
        return None
    try:
        content = (
            await files.get(media_key_of(row.uuid, STORED_SIZES[use])) if isinstance(row, MediaRow) else row.content
        )
        if content is None:
            log.warning("a picture is left out of a message: its file is missing", picture=path)
            return None
        made, subtype = await asyncio.get_running_loop().run_in_executor(_THREADS, picture_file, use, content)
    except (Unavailable, *UNREADABLE) as error:
        log.warning("a picture is left out of a message", picture=path, because=str(error)[:200])
        return None
    return EnclosedPicture(f"{hashlib.sha256(made).hexdigest()[:32]}@coffret", made, subtype)
