"""Keys that sign passes in development. Telephones refuse what they sign; everything else works as with real ones."""

import datetime as dt
from pathlib import Path

import orjson
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from coffret.private_files import write_once
from store.core.clock import clock
from store.document.wallet.keys import APPLE_FILE, GOOGLE_FILE

PASS_TYPE, TEAM, ISSUER = "pass.test.coffret", "TEST000000", "3388000000000000000"
LIFE = dt.timedelta(days=7300)


def write_test_keys(folder: Path, pass_type: str = PASS_TYPE, life: dt.timedelta = LIFE) -> None:
    """Write the keys into a folder, unless it has them. `life` is that of the certificate, from now on."""
    if (folder / APPLE_FILE).exists() and (folder / GOOGLE_FILE).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_once(folder / APPLE_FILE, _apple_file(pass_type, life))
    key = {"client_email": "test@coffret.invalid", "private_key": _pem(_new_key()).decode(), "issuer_id": ISSUER}
    write_once(folder / GOOGLE_FILE, orjson.dumps(key))


def _apple_file(pass_type: str, life: dt.timedelta) -> bytes:
    """A key, its certificate, and the one that has issued this, as the files of Apple are put together."""
    issuer_key, key = _new_key(), _new_key()
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Coffret test issuer")])
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.USER_ID, pass_type),
            x509.NameAttribute(NameOID.COMMON_NAME, f"Pass Type ID: {pass_type}"),
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, TEAM),
        ]
    )
    above = _certificate(issuer, issuer, issuer_key, issuer_key, LIFE, is_authority=True)
    own = _certificate(subject, issuer, key, issuer_key, life, is_authority=False)
    return _pem(key) + own.public_bytes(Encoding.PEM) + above.public_bytes(Encoding.PEM)


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: RSAPrivateKey,
    issuer_key: RSAPrivateKey,
    life: dt.timedelta,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = clock.now()
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + life)
    builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    return builder.sign(issuer_key, SHA256())


def _new_key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


def _pem(key: RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
