"""What is sent: the body of a message, and its headers, as https://www.standardwebhooks.com has them."""

import base64
import datetime as dt
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from pydantic import SecretStr
from standardwebhooks import Webhook

from store.clock import clock
from store.webhooks.rows import WebhookEndpointRow

PREFIX = "whsec_"
SALT_BYTES = 32
PURPOSE = b"secret of a webhook endpoint\x00"
USER_AGENT = "Coffret-Webhooks/1 (+https://www.standardwebhooks.com)"


def new_salt() -> bytes:
    """What makes a new secret."""
    return secrets.token_bytes(SALT_BYTES)


def secret_of(installation: SecretStr, salt: bytes) -> str:
    """The secret that a salt makes in this installation: `whsec_` and 32 bytes in base64. Neither half alone tells it."""
    made = hmac.digest(installation.get_secret_value().encode(), PURPOSE + salt, hashlib.sha256)
    return PREFIX + base64.b64encode(made).decode()


def secrets_of(installation: SecretStr, endpoint: WebhookEndpointRow, now: dt.datetime) -> list[str]:
    """The secrets that an endpoint's messages are signed with: the present one, and the one before while it is valid."""
    salts = [endpoint.secret_salt]
    until = endpoint.previous_secret_until
    if endpoint.previous_secret_salt is not None and until is not None and now < until:
        salts.append(endpoint.previous_secret_salt)
    return [secret_of(installation, salt) for salt in salts]


def headers_of(message_id: str, body: bytes, at: dt.datetime, signed_with: Sequence[str]) -> dict[str, str]:
    """The headers of a message that is sent at this moment.

    A receiver compares the time with its own clock, and refuses what is minutes away from it. So what development has
    moved time by is taken off.
    """
    at -= clock.ahead
    signatures = (Webhook(secret).sign(message_id, at, body.decode()) for secret in signed_with)
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def body_of(
    *, key: str, type: str, occurred_on: dt.datetime, subject: str, data: Mapping[str, Any], partner: tuple[int, UUID]
) -> bytes:
    """The body of the messages that tell of an event: the same bytes whenever it is written."""
    told = {
        "type": type,
        "timestamp": occurred_on.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "id": key,
        "partner": {"id": partner[0], "uuid": str(partner[1])},
        "subject": subject,
        "data": data,
    }
    return orjson.dumps(told)
