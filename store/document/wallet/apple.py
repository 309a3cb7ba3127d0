"""Passes for Apple Wallet (`.pkpass`): a ZIP of the content, its pictures, their digests, and a signature over these."""

import asyncio
import hashlib
import io
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from store.document.wallet.content import PassContent, PassField
from store.document.wallet.keys import AppleKey

MEDIA_TYPE = "application/vnd.apple.pkpass"
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of the files in the ZIP: the earliest that one has."""
_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="passes")
"""The maximum number of passes made at once; each occupies a core for a moment."""


async def make_apple_pass(content: PassContent, key: AppleKey, pictures: Mapping[str, bytes]) -> bytes:
    """The pass, as a telephone opens it. `pictures` are those of its document, as stored."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, make_apple_pass_sync, content, key, pictures)


def make_apple_pass_sync(content: PassContent, key: AppleKey, pictures: Mapping[str, bytes]) -> bytes:
    """`make_apple_pass` in the calling thread; it occupies a core for a moment."""
    from store.document.wallet.artwork import artwork_of

    shown = artwork_of(content.sheet.look, pictures)
    # a logo has the name already
    named = {} if shown.has_logo else {"logoText": content.sheet.look.name}
    files = {"pass.json": orjson.dumps(pass_of(content, key) | named), **shown.files}
    manifest = orjson.dumps({name: _digest(file) for name, file in files.items()})
    return _zip({**files, "manifest.json": manifest, "signature": _signature(manifest, key)})


def pass_of(content: PassContent, key: AppleKey) -> dict[str, Any]:
    """The `pass.json`."""
    look = content.sheet.look
    made: dict[str, Any] = {
        "formatVersion": 1,
        "passTypeIdentifier": key.pass_type,
        "teamIdentifier": key.team,
        "serialNumber": content.serial,
        "organizationName": look.name,
        "description": content.sheet.title,
        "backgroundColor": _colour(look.accent),
        "foregroundColor": _colour(look.accent_ink),
        "labelColor": _colour(look.accent_ink),
        "voided": content.is_void,
        "storeCard" if content.is_gift_card else "generic": _fields_of(content),
    }
    if content.expires_on is not None:
        made["expirationDate"] = content.expires_on.isoformat(timespec="seconds")
    if not content.is_void:  # as its document, which has a stamp in place of the QR code
        made["barcodes"] = [
            {
                "format": "PKBarcodeFormatQR",
                "message": content.sheet.scanned,
                "messageEncoding": "utf-8",
                "altText": content.sheet.code,
            }
        ]
    return made


def _fields_of(content: PassContent) -> dict[str, Any]:
    return {
        "headerFields": [_field(content.validity)],
        "primaryFields": [_field(content.title)],
        "secondaryFields": [_field(field) for field in content.facts if field.key != "code"],
        "auxiliaryFields": [_field(field) for field in content.facts if field.key == "code"],
        "backFields": [_field(field) for field in content.details],
    }


def _field(field: PassField) -> dict[str, str]:
    return {"key": field.key, "label": field.label, "value": field.value}


def _colour(hexadecimal: str) -> str:
    red, green, blue = bytes.fromhex(hexadecimal.removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"


def _digest(file: bytes) -> str:
    return hashlib.sha1(file, usedforsecurity=False).hexdigest()  # the digest that the format prescribes


def _signature(manifest: bytes, key: AppleKey) -> bytes:
    """The detached signature of the manifest, with the certificates that lead to Apple's root."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.hazmat.primitives.serialization.pkcs7 import PKCS7Options, PKCS7SignatureBuilder

    builder = PKCS7SignatureBuilder().set_data(manifest).add_signer(key.certificate, key.key, SHA256())
    for issuer in key.issuers:
        builder = builder.add_certificate(issuer)
    return builder.sign(Encoding.DER, [PKCS7Options.DetachedSignature, PKCS7Options.Binary])


def _zip(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIME), file, zipfile.ZIP_DEFLATED)
    return written.getvalue()
