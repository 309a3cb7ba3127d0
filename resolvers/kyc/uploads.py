"""Uploaded files that are passed on: what they are, by their own first bytes, and how they are read in pieces."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import UploadFile

from schema.core.errors import InvalidInput
from store.providers.accounts import Content

KIND_SHOWS_IN = 16
PIECE = 64 * 1024
SMALLEST, LARGEST = 1024, 7 * 1024 * 1024
BEGINNINGS = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All that is kept of a file."""

    media_type: str
    size: int
    digest: str
    """SHA-256, in hexadecimal."""


async def facts_of(file: UploadFile, field: str) -> FileFacts:
    """What a document's file is. InvalidInput at `field` for what no provider takes, whatever its name and header say."""
    digest, size, first = hashlib.sha256(), 0, b""
    async for piece in content_of(file)():
        first = first or piece[:KIND_SHOWS_IN]
        size += len(piece)
        digest.update(piece)
    if size < SMALLEST:
        raise InvalidInput.at(field, "This file is smaller than 1 kB: nothing can be read in it.")
    if size > LARGEST:
        raise InvalidInput.at(field, "This file is larger than 7 MB.")
    media_type = next((kind for beginning, kind in BEGINNINGS.items() if first.startswith(beginning)), None)
    if media_type is None:
        raise InvalidInput.at(field, "Send a PDF, PNG, JPEG or GIF: this file is something else.")
    return FileFacts(media_type, size, digest.hexdigest())


def content_of(file: UploadFile) -> Content:
    """A file in pieces, from its beginning at each call."""

    async def read() -> AsyncIterator[bytes]:
        await file.seek(0)
        while piece := await file.read(PIECE):
            yield piece

    return read
