"""Notifications on their way to a hook's address: when each is due, and what became of it."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import Session

RETRY_AFTER = (*[600] * 6, *[8 * 3600] * 9)
"""Seconds before each further try: every 10 minutes for an hour, then every 8 hours for 3 days."""
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
"""Events that contradict each other; of others `_SUCCEEDED` and `_FAILED` do."""


class PolicyKind(StrEnum):
    """How notifications reach their address."""

    IMMEDIATE = "immediate"
    """Right after the call or page that caused them."""
    DELAYED = "delayed"
    """After `seconds`; without them, held until a flush."""
    DUPLICATED = "duplicated"
    """Each one `times` times."""
    OUT_OF_ORDER = "out_of_order"
    """Refunds and other ends at once, the end of a pay-in or its like after `seconds`, beginnings after twice as long."""
    DROPPED = "dropped"
    """Never; the list of events still has them."""
    FORGED = "forged"
    """A stranger's come first: about an unknown id, and about the right id with the opposite outcome."""
    STALE = "stale"
    """Each tells the opposite outcome of what happened."""
    BEFORE_RETURN = "before_return"
    """Before the call that caused them gets its answer."""


class Policy(BaseModel):
    """How notifications are delivered from now on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PolicyKind = PolicyKind.IMMEDIATE
    seconds: Annotated[float, Field(ge=0)] | None = None
    times: Annotated[int, Field(ge=2, le=10)] = 2


@dataclass(frozen=True, slots=True)
class Notice:
    """What a notification says."""

    event_type: str
    resource_id: str
    date: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification that is about to be sent."""

    id: int
    hook_id: str
    attempts: int
    url: str


def policy(session: Session) -> Policy:
    """How notifications are delivered."""
    return Policy.model_validate_json(session.kept("hook_policy", "{}"))


def set_policy(session: Session, chosen: Policy) -> None:
    """Deliver notifications in another way from now on."""
    session.keep("hook_policy", chosen.model_dump_json())


def opposite(event_type: str) -> str:
    """`PAYIN_NORMAL_FAILED` for `PAYIN_NORMAL_SUCCEEDED` and the other way round; what has no opposite stays."""
    if event_type in OPPOSITES:
        return OPPOSITES[event_type]
    if event_type.endswith("_SUCCEEDED"):
        return event_type.removesuffix("_SUCCEEDED") + "_FAILED"
    return event_type.removesuffix("_FAILED") + "_SUCCEEDED" if event_type.endswith("_FAILED") else event_type


def enqueue(session: Session, notice: Notice) -> None:
    """Plan the notifications of an event, as the policy says."""
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


def copies(session: Session, notice: Notice, chosen: Policy) -> Sequence[Notice]:
    """What is really sent for one event."""
    wrong = Notice(opposite(notice.event_type), notice.resource_id, notice.date)
    match chosen.kind:
        case PolicyKind.DROPPED:
            return ()
        case PolicyKind.DUPLICATED:
            return (notice,) * chosen.times
        case PolicyKind.STALE:
            return (wrong,)
        case PolicyKind.FORGED:
            return (Notice(notice.event_type, session.mint("payin_m_"), notice.date), wrong, notice)
        case _:
            return (notice,)


def wait(notice: Notice, chosen: Policy) -> float | None:
    """Seconds until a notification is due; none while it is held."""
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


def claim(session: Session) -> list[Delivery]:
    """Take what is due, oldest first, so that no other process sends it too. A process that dies leaves it to the next."""
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
    return [Delivery(row["id"], row["hook_id"], row["attempts"], address(row["hook_url"], row)) for row in rows]


def address(hook_url: str, row: sqlite3.Row) -> str:
    """The address that is fetched; the spelling `RessourceId` is the provider's."""
    query = urlencode({"EventType": row["event_type"], "RessourceId": row["resource_id"], "Date": row["date"]})
    return f"{hook_url}{'&' if '?' in hook_url else '?'}{query}"


def record(session: Session, delivery: Delivery, outcome: str) -> None:
    """Only 200 counts as delivered. Anything else is tried again later; after the last try the hook is invalid."""
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


def flush(session: Session, order: Sequence[int] | None = None) -> int:
    """Make everything that waits due now, in the order given by ids or that of its events; answers how many."""
    ids = pending(session) if order is None else list(order)
    for place, id in enumerate(ids):
        # A microsecond apart: the order of sending is that of the moments at which they are due.
        session.change("UPDATE delivery SET due_at = ? WHERE id = ?", session.now - 1 + place / 1_000_000, id)
    return len(ids)


def pending(session: Session) -> list[int]:
    """The ids of what waits, in the order of its events."""
    return [row["id"] for row in session.rows("SELECT id FROM delivery WHERE state = 'pending' ORDER BY id")]


def told(session: Session) -> list[dict[str, str | int | float | None]]:
    """Every notification, oldest first, and what became of it."""
    columns = "id, event_type, resource_id, date, due_at, attempts, state, outcome"
    return [dict(row) for row in session.rows(f"SELECT {columns} FROM delivery ORDER BY id")]  # noqa: S608 - our own columns
