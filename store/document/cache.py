"""Documents in the file store: made at the first request, made anew when what they show has changed."""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import quote

import orjson

from schema.media import MediaSize
from store.core.files import FileStore
from store.document.printable import BREAK, HYPHEN
from store.document.rendering import edition, pdf_of
from store.document.source import Source
from store.media.media import MediaRow, key_of


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is handed over."""

    content: bytes
    digest: str
    """Names what it shows, in hexadecimal: another digest, another document."""
    file_name: str


async def document_of(source: Source, files: FileStore) -> Document:
    """The document of what was read: the one that is kept, if that is what it shows still, else a new one.

    Two who ask at once make it twice, and keep the same. Raises NotMade, and Unavailable where there is no file store.
    """
    digest = _digest(source)
    content = _if_current(await files.get(source.key), digest)
    if content is None:
        content = await pdf_of(source.sheet, await _pictures(files, source), source.made_on)
        await files.put(source.key, digest.encode() + content, "application/octet-stream", lasting=False)
    return Document(content, digest, _file_name(source))


def _digest(source: Source) -> str:
    """What a document shows, as one number: its words, its pictures, and what sets it in type."""
    logo = source.logo.digest if isinstance(source.logo, MediaRow) else source.logo and source.logo.name
    pictures = (logo, source.cover and source.cover.digest)
    shown = (edition(), source.sheet.data(), source.sheet.scanned, pictures)
    return hashlib.sha256(orjson.dumps(shown)).hexdigest()


def _if_current(kept: bytes | None, digest: str) -> bytes | None:
    """A kept document, if it shows what is to be shown: before its first byte stands the digest of what it does.

    One without its end is what a power cut left of it.
    """
    head = digest.encode()
    whole = kept is not None and kept.startswith(head) and kept.rstrip().endswith(b"%%EOF")
    return kept[len(head) :] if kept is not None and whole else None


async def _pictures(files: FileStore, source: Source) -> dict[str, bytes]:
    """The pictures of a document."""
    cover = await files.get(key_of(source.cover.uuid, MediaSize.COVER)) if source.cover else None
    if isinstance(source.logo, MediaRow):
        logo = await files.get(key_of(source.logo.uuid, MediaSize.COVER))
    else:
        logo = None if source.logo is None else source.logo.content
    return {name: content for name, content in (("cover", cover), ("logo", logo)) if content is not None}


def _file_name(source: Source) -> str:
    """What a document is called when it is saved, without what a system takes no name with, or hides in one."""
    name = f"{source.sheet.overline} {source.sheet.look.name}"
    seen = "".join(" " if letter in '\\/:*?"<>|' else letter for letter in name if letter not in {BREAK, HYPHEN})
    return f"{' '.join(seen.split())[:100].strip()}.pdf"


def disposition(file_name: str) -> str:
    """A `Content-Disposition` that shows a document in the browser, and names the file when it is saved."""
    plain = re.sub(r"[^A-Za-z0-9 ._-]+", "_", file_name)
    return f"inline; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"
