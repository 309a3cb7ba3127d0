"""Validates uploaded files of documents. Only their media type, size and hash are stored."""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from coffret.sandbox.wire.errors import ParamError, PayloadTooLarge, WireUnsupportedMediaType

SMALLEST, LARGEST = 1024, 7 * 1024 * 1024
"""Limits of the decoded file in bytes. Base64 is a third larger."""
BEGINNINGS = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True)
class Received:
    """The metadata of an accepted file."""

    media_type: str
    size: int
    sha256: str


def receive(encoded: str) -> Received:
    """Validate a base64 file.

    Raises ParamError for invalid base64 or below 1 kB, PayloadTooLarge above 7 MB, and WireUnsupportedMediaType for
    anything but PDF, JPEG, PNG and GIF.
    """
    if encoded.startswith("data:"):
        raise ParamError({"File": "The field File must be base64 without a data: prefix."})
    if len(encoded) // 4 * 3 > LARGEST + 2:
        raise PayloadTooLarge("The file is above 7 MB.")
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ParamError({"File": "The field File is not valid base64."}) from None
    if len(content) > LARGEST:
        raise PayloadTooLarge("The file is above 7 MB.")
    if len(content) < SMALLEST:
        raise ParamError({"File": "The file is below 1 kB."})
    media_type = next((name for beginning, name in BEGINNINGS.items() if content.startswith(beginning)), None)
    if media_type is None:
        raise WireUnsupportedMediaType("The file must be a PDF, JPEG, PNG or GIF.")
    return Received(media_type, len(content), hashlib.sha256(content).hexdigest())
