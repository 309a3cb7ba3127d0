"""The body and the headers of a message, as https://www.standardwebhooks.com specifies them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from standardwebhooks import Webhook

from store.core.clock import clock
from store.order.signing_secrets import SecretKind

WEBHOOK_SECRET = SecretKind("whsec_", b"secret of a webhook endpoint\x00")
USER_AGENT = "Coffret-Webhooks/1 (+https://www.standardwebhooks.com)"


def signed_headers(message_id: str, body: bytes, at: dt.datetime, secrets: Sequence[str]) -> dict[str, str]:
    """The headers of a message that is sent at this moment.

    A receiver compares the timestamp with its own clock and refuses a difference of minutes. So the offset of the
    development clock is subtracted.
    """
    at -= clock.ahead
    signatures = (Webhook(secret).sign(message_id, at, body.decode()) for secret in secrets)
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def webhook_body(
    *,
    key: str,
    type: str,
    occurred_on: dt.datetime,
    subject: str,
    data: Mapping[str, Any],
    partner: tuple[int, UUID] | None,
) -> bytes:
    """The request body of an event's messages: the same bytes whenever it is built. An event of a marketplace has no
    partner.
    """
    body = {
        "type": type,
        "timestamp": occurred_on.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "id": key,
        "partner": None if partner is None else {"id": partner[0], "uuid": str(partner[1])},
        "subject": subject,
        "data": data,
    }
    return orjson.dumps(body)
