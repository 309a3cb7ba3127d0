"""Uploaded files: type detection by their first bytes, and reading in chunks."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import UploadFile

from schema.core.errors import InvalidInput
from store.providers.accounts import Content

SIGNATURE_LENGTH = 16
CHUNK_SIZE = 64 * 1024
SMALLEST, LARGEST = 1024, 7 * 1024 * 1024
SIGNATURES = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True)
class FileInfo:
    """The stored facts about a file."""

    media_type: str
    size: int
    digest: str
    """SHA-256, in hexadecimal."""


async def inspect_file(file: UploadFile, field: str) -> FileInfo:
    """The media type, size and digest of a file; its name and Content-Type header are ignored. Raises InvalidInput at
    `field` for a file that the provider does not accept.
    """
    digest, size, first = hashlib.sha256(), 0, b""
    async for piece in content_of(file)():
        first = first or piece[:SIGNATURE_LENGTH]
        size += len(piece)
        digest.update(piece)
    if size < SMALLEST:
        raise InvalidInput.at(field, "This file is smaller than 1 kB.")
    if size > LARGEST:
        raise InvalidInput.at(field, "This file is larger than 7 MB.")
    media_type = next((kind for beginning, kind in SIGNATURES.items() if first.startswith(beginning)), None)
    if media_type is None:
        raise InvalidInput.at(field, "Send a PDF, PNG, JPEG or GIF file.")
    return FileInfo(media_type, size, digest.hexdigest())


def content_of(file: UploadFile) -> Content:
    """Reads the file in chunks, from its beginning at each call."""

    async def read() -> AsyncIterator[bytes]:
        await file.seek(0)
        while piece := await file.read(CHUNK_SIZE):
            yield piece

    return read
