"""An authenticator that makes and uses passkeys as a browser does, with real keys (WebAuthn, format "none", ES256)."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, HAS_KEY = 1, 4, 64


def encoded(data: bytes) -> str:
    """Base 64 for addresses, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """The bytes of it."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """A device with one passkey, in a browser at an origin."""

    origin: str
    host: str
    verifies: bool = True
    """Whether it asks for a PIN or a finger."""
    counts: bool = True
    uses: int = 0
    user_handle: bytes = b""
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: str) -> str:
        """What `navigator.credentials.create` answers, as JSON."""
        asked = json.loads(options)
        self.user_handle = decoded(asked["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        known = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + public
        attestation = {"fmt": "none", "attStmt": {}, "authData": self._data(HAS_KEY) + known}
        client_data = self._client_data("webauthn.create", asked["challenge"])
        return self._answer(clientDataJSON=client_data, attestationObject=cbor2.dumps(attestation))

    def use(self, options: str, **changes: bytes) -> str:
        """What `navigator.credentials.get` answers, as JSON; with parts of the response replaced."""
        self.uses += self.counts
        client_data, data = self._client_data("webauthn.get", json.loads(options)["challenge"]), self._data()
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
        parts = {"clientDataJSON": client_data, "authenticatorData": data, "signature": signature}
        return self._answer(**parts | {"userHandle": self.user_handle} | changes)

    def _data(self, more: int = 0) -> bytes:
        flags = PRESENT | (VERIFIED if self.verifies else 0) | more
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.uses.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _answer(self, **parts: bytes) -> str:
        id = encoded(self.credential_id)
        response: dict[str, Any] = {name: encoded(part) for name, part in parts.items()}
        return json.dumps({"id": id, "rawId": id, "type": "public-key", "response": response})
