"""The delivery queue of notifications to hook URLs."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession

RETRY_AFTER = (*[600] * 6, *[8 * 3600] * 9)
"""Seconds before each retry: every 10 minutes for an hour, then every 8 hours for 3 days."""
CLAIMED_FOR = 30
OPPOSITES = {
    "IDENTITY_VERIFICATION_VALIDATED": "IDENTITY_VERIFICATION_FAILED",
    "IDENTITY_VERIFICATION_FAILED": "IDENTITY_VERIFICATION_VALIDATED",
    "USER_KYC_REGULAR": "USER_KYC_LIGHT",
    "USER_KYC_LIGHT": "USER_KYC_REGULAR",
    "RECIPIENT_ACTIVE": "RECIPIENT_CANCELED",
    "RECIPIENT_CANCELED": "RECIPIENT_ACTIVE",
    "USER_ACCOUNT_ACTIVATED": "USER_ACCOUNT_CLOSED",
    "USER_ACCOUNT_CLOSED": "USER_ACCOUNT_ACTIVATED",
    "USER_INFLOWS_BLOCKED": "USER_INFLOWS_UNBLOCKED",
    "USER_INFLOWS_UNBLOCKED": "USER_INFLOWS_BLOCKED",
    "USER_OUTFLOWS_BLOCKED": "USER_OUTFLOWS_UNBLOCKED",
    "USER_OUTFLOWS_UNBLOCKED": "USER_OUTFLOWS_BLOCKED",
    "SCA_ENROLLMENT_EXPIRED": "SCA_ENROLLMENT_SUCCEEDED",
}
"""Events that contradict each other. Others swap `_SUCCEEDED` and `_FAILED`."""


class PolicyKind(StrEnum):
    """How notifications are delivered."""

    IMMEDIATE = "immediate"
    """Immediately after the call or page that caused them."""
    DELAYED = "delayed"
    """After `seconds`; without `seconds`, at the next flush."""
    DUPLICATED = "duplicated"
    """Each one is sent `times` times."""
    OUT_OF_ORDER = "out_of_order"
    """Refunds and other final events immediately, the end of a pay-in and the like after `seconds`, created and pending
    events after twice as long.
    """
    DROPPED = "dropped"
    """Never. The list of events still contains them."""
    FORGED = "forged"
    """Forged ones come first: one with an unknown id, one with the right id and the opposite outcome."""
    STALE = "stale"
    """Each one states the opposite outcome."""
    BEFORE_RETURN = "before_return"
    """Before the call that caused them returns."""


class Policy(BaseModel):
    """The delivery policy of notifications."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PolicyKind = PolicyKind.IMMEDIATE
    seconds: Annotated[float, Field(ge=0)] | None = None
    times: Annotated[int, Field(ge=2, le=10)] = 2


@dataclass(frozen=True, slots=True)
class Notification:
    """The content of a notification."""

    event_type: str
    resource_id: str
    date: int


@dataclass(frozen=True, slots=True)
class NotificationDelivery:
    """A notification to send."""

    id: int
    hook_id: str
    attempts: int
    url: str


def policy(session: SandboxSession) -> Policy:
    return Policy.model_validate_json(session.get_value("hook_policy", "{}"))


def set_policy(session: SandboxSession, chosen: Policy) -> None:
    session.set_value("hook_policy", chosen.model_dump_json())


def opposite(event_type: str) -> str:
    """The contradicting event type: `PAYIN_NORMAL_FAILED` for `PAYIN_NORMAL_SUCCEEDED`.

    The same type if there is none.
    """
    if event_type in OPPOSITES:
        return OPPOSITES[event_type]
    if event_type.endswith("_SUCCEEDED"):
        return event_type.removesuffix("_SUCCEEDED") + "_FAILED"
    return event_type.removesuffix("_FAILED") + "_SUCCEEDED" if event_type.endswith("_FAILED") else event_type


def enqueue(session: SandboxSession, notice: Notification) -> None:
    """Queue the notifications of an event according to the policy."""
    chosen = policy(session)
    for copy in copies(session, notice, chosen):
        hook = session.row(
            "SELECT * FROM hook WHERE event_type = ? AND status = 'ENABLED' AND validity <> 'INVALID'", copy.event_type
        )
        if hook is None:
            continue
        delay = wait(copy, chosen)
        session.change(
            "INSERT INTO delivery (hook_id, event_type, resource_id, date, due_at) VALUES (?, ?, ?, ?, ?)",
            hook["id"],
            copy.event_type,
            copy.resource_id,
            copy.date,
            None if delay is None else session.now + delay,
        )
        if delay == 0:
            session.announces = "first" if chosen.kind is PolicyKind.BEFORE_RETURN else "soon"


def copies(session: SandboxSession, notice: Notification, chosen: Policy) -> Sequence[Notification]:
    """The notifications that are sent for one event."""
    wrong = Notification(opposite(notice.event_type), notice.resource_id, notice.date)
    match chosen.kind:
        case PolicyKind.DROPPED:
            return ()
        case PolicyKind.DUPLICATED:
            return (notice,) * chosen.times
        case PolicyKind.STALE:
            return (wrong,)
        case PolicyKind.FORGED:
            return (Notification(notice.event_type, session.mint("payin_m_"), notice.date), wrong, notice)
        case _:
            return (notice,)


def wait(notice: Notification, chosen: Policy) -> float | None:
    """Seconds until a notification is due; None until the next flush."""
    match chosen.kind:
        case PolicyKind.DELAYED:
            return chosen.seconds
        case PolicyKind.OUT_OF_ORDER:
            step = 60 if chosen.seconds is None else chosen.seconds
            if notice.event_type.endswith(("_CREATED", "_PENDING")):
                return 2 * step
            return step if "_NORMAL_" in notice.event_type or notice.event_type.endswith("_ASKED") else 0
        case _:
            return 0


def claim(session: SandboxSession) -> list[NotificationDelivery]:
    """Claim due notifications, oldest first, so that no other process sends them.

    The claim of a dead process expires.
    """
    rows = session.rows(
        """SELECT delivery.*, hook.url AS hook_url FROM delivery JOIN hook ON hook.id = delivery.hook_id
           WHERE delivery.state = 'pending' AND delivery.due_at <= ? AND delivery.claimed_until <= ?
             AND hook.status = 'ENABLED' AND hook.validity <> 'INVALID'
           ORDER BY delivery.due_at, delivery.id LIMIT 10""",
        session.now,
        session.now,
    )
    for row in rows:
        session.change("UPDATE delivery SET claimed_until = ? WHERE id = ?", session.now + CLAIMED_FOR, row["id"])
    return [
        NotificationDelivery(row["id"], row["hook_id"], row["attempts"], address(row["hook_url"], row)) for row in rows
    ]


def address(hook_url: str, row: sqlite3.Row) -> str:
    """The URL to fetch. The spelling `RessourceId` is the provider's."""
    query = urlencode({"EventType": row["event_type"], "RessourceId": row["resource_id"], "Date": row["date"]})
    return f"{hook_url}{'&' if '?' in hook_url else '?'}{query}"


def record(session: SandboxSession, delivery: NotificationDelivery, outcome: str) -> None:
    """Record the result of an attempt.

    Only status 200 counts as delivered. After the last retry the hook becomes invalid.
    """
    if outcome == "200":
        session.change(
            "UPDATE delivery SET state = 'delivered', attempts = attempts + 1, outcome = ?, claimed_until = 0 WHERE id = ?",
            outcome,
            delivery.id,
        )
        session.change("UPDATE hook SET validity = 'VALID' WHERE id = ?", delivery.hook_id)
    elif delivery.attempts < len(RETRY_AFTER):
        session.change(
            "UPDATE delivery SET attempts = attempts + 1, outcome = ?, claimed_until = 0, due_at = ? WHERE id = ?",
            outcome,
            session.now + RETRY_AFTER[delivery.attempts],
            delivery.id,
        )
    else:
        session.change(
            "UPDATE delivery SET state = 'given_up', attempts = attempts + 1, outcome = ?, claimed_until = 0 WHERE id = ?",
            outcome,
            delivery.id,
        )
        session.change("UPDATE hook SET validity = 'INVALID' WHERE id = ?", delivery.hook_id)


def flush(session: SandboxSession, order: Sequence[int] | None = None) -> int:
    """Make all pending notifications due now, in the order of `order` or of their events. Returns their number."""
    ids = pending(session) if order is None else list(order)
    for place, id in enumerate(ids):
        # One microsecond apart: they are sent in the order of `due_at`.
        session.change("UPDATE delivery SET due_at = ? WHERE id = ?", session.now - 1 + place / 1_000_000, id)
    return len(ids)


def pending(session: SandboxSession) -> list[int]:
    """Ids of pending notifications, in the order of their events."""
    return [row["id"] for row in session.rows("SELECT id FROM delivery WHERE state = 'pending' ORDER BY id")]


def list_deliveries(session: SandboxSession) -> list[dict[str, str | int | float | None]]:
    """All notifications with their results, oldest first."""
    columns = "id, event_type, resource_id, date, due_at, attempts, state, outcome"
    return [dict(row) for row in session.rows(f"SELECT {columns} FROM delivery ORDER BY id")]  # noqa: S608 - our own columns
