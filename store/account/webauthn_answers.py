"""Verifies what browsers answer about passkeys. Apart from `passkeys`, because its library is heavy to load."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import webauthn
from cryptography.exceptions import InvalidSignature
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from store.account.passkeys import BadPasskey, PasskeyRow, RelyingParty
from store.account.users import UserRow

TIMEOUT_MILLISECONDS = 300_000
UNREADABLE = (
    *(WebAuthnException, InvalidSignature),
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError),
)
"""What the library raises for answers that are wrong or garbage."""


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """What a browser answered, not verified yet."""

    credential: dict[str, Any]
    credential_id: bytes
    challenge: bytes
    user_handle: bytes
    """The uuid of the user; empty if the browser does not tell."""


def creation_options(party: RelyingParty, name: str, user: UserRow, known: Sequence[bytes], challenge: bytes) -> str:
    """The options, as JSON, with which a browser makes a passkey that can be found without a user name."""
    options = webauthn.generate_registration_options(
        rp_id=party.host,
        rp_name=name,
        user_id=user.uuid.bytes,
        user_name=user.username,
        user_display_name=user.first_name or user.username,
        challenge=challenge,
        timeout=TIMEOUT_MILLISECONDS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=each) for each in known],
    )
    return webauthn.options_to_json(options)


def request_options(party: RelyingParty, challenge: bytes) -> str:
    """The options, as JSON, with which a browser uses any passkey of this service."""
    options = webauthn.generate_authentication_options(
        rp_id=party.host,
        challenge=challenge,
        timeout=TIMEOUT_MILLISECONDS,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options)


def read_answer(text: str) -> BrowserAnswer:
    """Parse what a browser answered. Raises BadPasskey."""
    try:
        credential = json.loads(text)
        response = credential["response"]
        told = json.loads(base64url_to_bytes(response["clientDataJSON"]))
        id, challenge = base64url_to_bytes(credential["rawId"]), base64url_to_bytes(told["challenge"])
        return BrowserAnswer(credential, id, challenge, base64url_to_bytes(response.get("userHandle") or ""))
    except UNREADABLE as error:
        raise BadPasskey from error


def verify_new(party: RelyingParty, answer: BrowserAnswer) -> tuple[bytes, bytes, int]:
    """The id, the public key and the count of a new passkey. Raises BadPasskey."""
    try:
        made = webauthn.verify_registration_response(
            credential=answer.credential,
            expected_challenge=answer.challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise BadPasskey from error
    return made.credential_id, made.credential_public_key, made.sign_count


def verify_use(party: RelyingParty, answer: BrowserAnswer, row: PasskeyRow) -> int:
    """The new count of a passkey that was used. Raises BadPasskey."""
    try:
        used = webauthn.verify_authentication_response(
            credential=answer.credential,
            expected_challenge=answer.challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise BadPasskey from error
    return used.new_sign_count
