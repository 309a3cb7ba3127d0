"""Documents that messages bring: found by what the message tells of, made when it is sent, never kept with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schema.mail import MailKind
from store.core.clock import clock
from store.core.files import FileStore
from store.core.settings import Settings
from store.database.db import Database
from store.document.addresses import DocumentKind, document_url
from store.document.cache import document_of
from store.document.source import Source, printed_among, source_of
from store.mail.content import Content, GiftContent, GiftRole
from store.mail.mailer import Refused
from store.mail.message import Enclosure

MOST_ATTACHED = 8_000_000
"""Bytes that are attached to one message: mail grows by a third on its way, and many servers take 10 MB."""
KINDS = {MailKind.VOUCHER: DocumentKind.VOUCHER, MailKind.GIFT_CARD: DocumentKind.GIFT_CARD}
LEADING = frozenset({GiftRole.BOUGHT, GiftRole.GIVEN, GiftRole.SENT_TO_GIFTEE})
"""Messages with the way to the documents; paper that is sent or collected is nobody's to print."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What a message brings."""

    addresses: Mapping[int, str] = field(default_factory=dict)
    """Of documents, by the id of what they are about."""
    files: Sequence[Enclosure] = ()

    @property
    def whole(self) -> bool:
        """Whether every document is attached."""
        return 0 < len(self.addresses) == len(self.files)


async def brought_by(
    database: Database, settings: Settings, files: FileStore, kind: MailKind, about: Content
) -> Brought:
    """The documents of a message, as they are now. Refused where all that it tells of was taken back meanwhile.

    Raises NotMade, and Unavailable where there is no file store: it is tried again later.
    """
    if not isinstance(about, GiftContent) or about.role not in LEADING:
        return Brought()
    addresses: dict[int, str] = {}
    sources: list[Source] = []
    async with database.sessions() as db:
        for row in await printed_among(db, KINDS[kind], [item.id for item in about.items]):
            addresses[row.id] = document_url(settings, KINDS[kind], row.document_token)
            sources.append(await source_of(db, settings, row, clock.now()))
    if not sources:
        raise Refused("What it tells of was taken back, or is no more.")
    return Brought(addresses, await _enclosures(files, sources) if about.role.brings else ())


async def _enclosures(files: FileStore, sources: Sequence[Source]) -> list[Enclosure]:
    """As many documents as a message can carry; the others are found at their addresses."""
    enclosed: list[Enclosure] = []
    room = MOST_ATTACHED
    for source in sources:
        document = await document_of(source, files)
        room -= len(document.content)
        if room < 0:
            break
        enclosed.append(Enclosure(document.file_name, "application/pdf", document.content))
    return enclosed
