"""The keys that sign passes, from the files of one folder: those of the installation, and of single partners or networks."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:  # installations without passes do without the library
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.x509 import Certificate

APPLE_FILE, GOOGLE_FILE = "apple.pem", "google.json"
OWNERS = ("partners", "networks")
"""The folders below, each with a folder per id, whose files take the place of the installation's."""


class UnusableWalletKey(ValueError):
    """A file of the folder cannot be used. The message says which and why, for the operator."""


@dataclass(frozen=True, slots=True)
class AppleKey:
    """A pass type certificate of Apple with its key, and the certificates that lead from it to Apple's root."""

    key: "RSAPrivateKey"
    certificate: "Certificate"
    issuers: tuple["Certificate", ...]
    pass_type: str
    team: str
    expires_on: dt.datetime


@dataclass(frozen=True, slots=True)
class GoogleKey:
    """The key of a service account, and the issuer at Google Wallet that the account may sign for."""

    key: "RSAPrivateKey"
    account: str
    issuer: str


class WalletKeys:
    """All keys of an installation, read once at start. Without a folder there are none. Raises UnusableWalletKey."""

    def __init__(self, folder: Path | None) -> None:
        places = {} if folder is None else _places_in(folder)
        self._apple = {owner: read_apple_key(file) for owner, file in _files(places, APPLE_FILE).items()}
        self._google = {owner: read_google_key(file) for owner, file in _files(places, GOOGLE_FILE).items()}

    def apple(self, owner: str, now: dt.datetime) -> AppleKey | None:
        """The key for the passes of `partners/<id>` or `networks/<id>`; None without one, and when it has expired."""
        found = self._apple.get(owner) or self._apple.get("")
        return found if found is not None and now < found.expires_on else None

    def google(self, owner: str) -> GoogleKey | None:
        """The key for the save links of `partners/<id>` or `networks/<id>`; None without one."""
        return self._google.get(owner) or self._google.get("")

    @property
    def apple_keys(self) -> Mapping[str, AppleKey]:
        """The keys for Apple Wallet by their owner; that of the installation has an empty name."""
        return self._apple

    @property
    def google_keys(self) -> Mapping[str, GoogleKey]:
        """The keys for Google Wallet by their owner; that of the installation has an empty name."""
        return self._google


def _places_in(folder: Path) -> dict[str, Path]:
    """The folders with keys by their owner."""
    found = {"": folder}
    for owner in OWNERS:
        for place in sorted((folder / owner).glob("*")):
            if not (place.name.isascii() and place.name.isdecimal()):
                raise UnusableWalletKey(f"{place} is not named after an id.")
            found[f"{owner}/{int(place.name)}"] = place
    return found


def _files(places: Mapping[str, Path], name: str) -> dict[str, Path]:
    return {owner: place / name for owner, place in places.items() if (place / name).exists()}


def read_apple_key(file: Path) -> AppleKey:
    """The key of a PEM file: a private key, its certificate, and Apple's intermediate certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        content = file.read_bytes()
        key = _rsa(file, load_pem_private_key(content, None))
        certificates = x509.load_pem_x509_certificates(content)
    except (OSError, TypeError, ValueError) as error:
        raise UnusableWalletKey(
            f"{file} cannot be read as a key and certificates without a password: {error}"
        ) from error
    own = [one for one in certificates if one.public_key() == key.public_key()]
    if not own:
        raise UnusableWalletKey(f"{file} has no certificate of its key.")
    issuers = tuple(one for one in certificates if one not in own)
    if not any(_has_issued(issuer, own[0]) for issuer in issuers):
        raise UnusableWalletKey(f"{file} lacks Apple's intermediate certificate (WWDR) that has issued the other one.")
    return AppleKey(
        key=key,
        certificate=own[0],
        issuers=issuers,
        pass_type=_subject_part(file, own[0], x509.NameOID.USER_ID),
        team=_subject_part(file, own[0], x509.NameOID.ORGANIZATIONAL_UNIT_NAME),
        expires_on=own[0].not_valid_after_utc,
    )


def _has_issued(issuer: "Certificate", of: "Certificate") -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        of.verify_directly_issued_by(issuer)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _subject_part(file: Path, certificate: "Certificate", oid: object) -> str:
    """A part of the subject of a pass type certificate."""
    found = [str(part.value) for part in certificate.subject if part.oid == oid]
    if not found:
        raise UnusableWalletKey(f"{file} has no pass type certificate: its subject lacks the pass type or the team.")
    return found[0]


def read_google_key(file: Path) -> GoogleKey:
    """The key of a service account as Google hands it out, with the `issuer_id` added."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        content = orjson.loads(file.read_bytes())
        key = load_pem_private_key(str(content["private_key"]).encode(), None)
        account, issuer = str(content["client_email"]), str(content["issuer_id"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UnusableWalletKey(
            f"{file} is not the JSON key of a service account with your issuer_id added: {error!r}"
        ) from error
    if not issuer.isdecimal():
        raise UnusableWalletKey(f"{file}: the issuer_id is a number.")
    return GoogleKey(_rsa(file, key), account, issuer)


def _rsa(file: Path, key: object) -> "RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    if not isinstance(key, RSAPrivateKey):
        raise UnusableWalletKey(f"{file} has no RSA key.")
    return key
