"""Idempotency keys.

The first answer is stored for 24 hours and returned at `/responses/{key}`; a second use is refused.
"""

import datetime as dt
import json
import re
from email.utils import format_datetime

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import CorrelationIdNotFound, IdempotentCreationConflict, ParamError

KEY = re.compile("[A-Za-z0-9-]{16,36}")
KEPT_FOR = 24 * 3600
RUNNING_AT_MOST = 120
"""Seconds after which an unfinished call is considered dead. Its key becomes free, because nothing was committed."""


def reserve(session: SandboxSession, call: HttpCall) -> str | None:
    """Reserve the call's idempotency key.

    Returns the reservation; None without a key. Raises ParamError, IdempotentCreationConflict.
    """
    if call.method != "POST" or call.key is None:
        return None
    if not KEY.fullmatch(call.key):
        raise ParamError(
            {
                "Idempotency-Key": "The Idempotency-Key must have 16 to 36 characters out of A-Z, a-z, 0-9 and the hyphen."
            }
        )
    session.change("DELETE FROM response WHERE created_at <= ?", session.now - KEPT_FOR)
    session.change("DELETE FROM response WHERE status IS NULL AND created_at <= ?", session.now - RUNNING_AT_MOST)
    if session.row("SELECT 1 FROM response WHERE key = ?", call.key):
        raise IdempotentCreationConflict(
            "This Idempotency-Key was already used. Read the first answer at /responses/{key}."
        )
    reservation = session.secret()
    session.change("INSERT INTO response VALUES (?, ?, ?, NULL, ?, NULL)", call.key, session.now, reservation, call.url)
    return reservation


def release(session: SandboxSession, reservation: str | None) -> None:
    """Release the key of a call that did not run."""
    if reservation is not None:
        session.change("DELETE FROM response WHERE reservation = ? AND status IS NULL", reservation)


def keep(session: SandboxSession, reservation: str | None, status: int, body: str) -> None:
    """Store the answer for the key.

    Raises IdempotentCreationConflict if the reservation has expired, so that nothing runs twice.
    """
    if reservation is None:
        return
    kept = session.change("UPDATE response SET status = ?, body = ? WHERE reservation = ?", status, body, reservation)
    if not kept:
        raise IdempotentCreationConflict("This call took so long that its Idempotency-Key was given to another one.")


def read_response(session: SandboxSession, call: HttpCall) -> Json:
    """GET /responses/{key}"""
    row = session.row(
        "SELECT * FROM response WHERE key = ? AND status IS NOT NULL AND created_at > ?",
        call.path["key"],
        session.now - KEPT_FOR,
    )
    if row is None:
        raise CorrelationIdNotFound("The Idempotency-Key does not exist, or its answer was dropped after 24 hours.")
    return {
        "StatusCode": str(row["status"]),
        "ContentLength": str(len(row["body"].encode())),
        "ContentType": "application/json; charset=utf-8",
        "Date": format_datetime(
            dt.datetime.fromtimestamp(row["created_at"], dt.UTC).replace(microsecond=0), usegmt=True
        ),
        "RequestURL": row["url"],
        "Resource": json.loads(row["body"] or "null"),
    }


ENDPOINTS = (WireEndpoint("GET", "/responses/{key}", read_response),)
