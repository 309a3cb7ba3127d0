"""Documents cached in the file store: rendered at the first request, and again when their content has changed."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote

import orjson

from schema.media import MediaSize
from store.core.files import FileStore
from store.document.printable import BREAK, HYPHEN
from store.document.rendering import render_pdf, render_png, renderer_version
from store.document.source import DocumentSource
from store.media.media import MediaRow, media_key_of
from store.media.pictures import PictureRow

PDF_END = b"%%EOF"
PREVIEW_RESOLUTION = 96.0
"""Pixels per inch: a page of A4 is 794 pixels wide."""
LONGEST_END = 64
"""Bytes at the end of a file that are looked at."""


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """A document as it is served."""

    content: bytes
    digest: str
    """Identifies its content, in hexadecimal: another digest means another document."""
    file_name: str


async def get_or_render_document(source: DocumentSource, files: FileStore) -> RenderedDocument:
    """The cached document of a source if it is current, else a newly rendered one.

    Two simultaneous requests render it twice and store the same file. Raises RenderingFailed, and Unavailable if the
    file store is unreachable.
    """
    digest = digest_of_source(source)
    content = await get_or_make(files, source.key, digest, PDF_END, lambda: render_source(source, files))
    return RenderedDocument(content, digest, pdf_name(source))


async def render_source(source: DocumentSource, files: FileStore) -> bytes:
    """The document of a source, newly rendered. Raises RenderingFailed, and Unavailable if the file store is unreachable."""
    return await render_pdf(source.sheet, await pictures_of(files, source), source.rendered_on)


async def render_preview(source: DocumentSource, files: FileStore) -> bytes:
    """The first page of the document of a source as a PNG picture, for a screen. Raises as `render_source` does."""
    return await render_png(source.sheet, await pictures_of(files, source), PREVIEW_RESOLUTION)


async def get_or_make(
    files: FileStore, key: str, digest: str, end: bytes, make: Callable[[], Awaitable[bytes]], *, lasting: bool = False
) -> bytes:
    """The cached file with this key if it is of this digest, else a newly made one.

    A file whose last bytes do not have the `end` of its format was truncated by a power failure.
    """
    content = await read_made(files, key, digest, end)
    if content is None:
        content = await make()
        await keep_made(files, key, digest, content, lasting=lasting)
    return content


async def read_made(files: FileStore, key: str, digest: str, end: bytes) -> bytes | None:
    """The cached file with this key; None if it is not of this digest, or truncated."""
    return _current_content(await files.get(key), digest, end)


async def keep_made(files: FileStore, key: str, digest: str, content: bytes, *, lasting: bool = False) -> None:
    """Keep a file that was made, in the place of the one before; `lasting` is that of the file store."""
    await files.put(key, digest.encode() + content, "application/octet-stream", lasting=lasting)


def digest_of_source(source: DocumentSource) -> str:
    """The digest of a document's content: its texts, its pictures and the renderer."""
    pictures = (_picture_digest(source.logo), _picture_digest(source.cover))
    shown = (
        renderer_version(source.sheet.template, source.sheet.pdf_standards),
        source.sheet.data(),
        source.sheet.scanned,
        pictures,
    )
    return hashlib.sha256(orjson.dumps(shown)).hexdigest()


def _picture_digest(picture: MediaRow | PictureRow | None) -> str | None:
    if isinstance(picture, MediaRow):
        return picture.digest
    return None if picture is None else picture.name


def _current_content(cached: bytes | None, digest: str, end: bytes) -> bytes | None:
    """The content of a cached file if it is current: the file begins with the digest of its document."""
    head = digest.encode()
    whole = cached is not None and cached.startswith(head) and end in cached[-LONGEST_END:]
    return cached[len(head) :] if cached is not None and whole else None


async def pictures_of(files: FileStore, source: DocumentSource) -> dict[str, bytes]:
    """The pictures of a document as stored, by `cover` and `logo`. Raises Unavailable if the file store is unreachable."""
    found = {name: await _picture(files, getattr(source, name)) for name in ("cover", "logo")}
    return {name: content for name, content in found.items() if content is not None}


async def _picture(files: FileStore, picture: MediaRow | PictureRow | None) -> bytes | None:
    if isinstance(picture, MediaRow):
        return await files.get(media_key_of(picture.uuid, MediaSize.COVER))
    return None if picture is None else picture.content


def pdf_name(source: DocumentSource) -> str:
    """The name of a saved document, without characters that file systems refuse or do not show."""
    return f"{safe_name(f'{source.sheet.overline} {source.sheet.look.name}')}.pdf"


def safe_name(name: str) -> str:
    """A name of a file, at most 100 characters, without those that file systems refuse or do not show."""
    seen = "".join(" " if letter in '\\/:*?"<>|' else letter for letter in name if letter not in {BREAK, HYPHEN})
    return " ".join(seen.split())[:100].strip()


def disposition(file_name: str) -> str:
    """A `Content-Disposition` header that shows a document in the browser and names the saved file."""
    plain = re.sub(r"[^A-Za-z0-9 ._-]+", "_", file_name)
    return f"inline; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"
