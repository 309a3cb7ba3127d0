"""Events: the list at `/events`, with 45 days of history, and the source of all notifications."""

import sqlite3

from coffret.sandbox import deliveries
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError
from coffret.sandbox.wire.paging import ListBuilder, whole

KEPT_FOR = 45 * 24 * 3600


def outcomes(*names: str) -> tuple[str, ...]:
    """`X_CREATED`, `X_SUCCEEDED`, `X_FAILED` for each name."""
    return tuple(f"{name}_{outcome}" for name in names for outcome in ("CREATED", "SUCCEEDED", "FAILED"))


def each(name: str, *endings: str) -> tuple[str, ...]:
    """`NAME_ENDING` for each ending."""
    return tuple(f"{name}_{ending}" for ending in endings)


EVENT_TYPES = frozenset(
    (
        *outcomes(
            "PAYIN_NORMAL", "PAYIN_REFUND", "TRANSFER_NORMAL", "TRANSFER_REFUND", "PAYOUT_NORMAL", "PAYOUT_REFUND"
        ),
        *outcomes("PAYIN_REPUDIATION", "TRANSFER_SETTLEMENT", "INSTANT_CONVERSION", "QUOTED_CONVERSION"),
        *outcomes("PREAUTHORIZATION"),
        *each("PREAUTHORIZATION_PAYMENT", "WAITING", "EXPIRED", "CANCELED", "VALIDATED"),
        *each("DEPOSIT_PREAUTHORIZATION", "CREATED", "FAILED"),
        *each("DEPOSIT_PREAUTHORIZATION_PAYMENT", "WAITING", "EXPIRED", "CANCELED", "VALIDATED"),
        *each("DEPOSIT_PREAUTHORIZATION_PAYMENT", "NO_SHOW", "TO_BE_COMPLETED"),
        *each("RECURRING_REGISTRATION", "CREATED", "ENDED"),
        *each("MANDATE", "CREATED", "SUBMITTED", "ACTIVATED", "FAILED"),
        *each("VIRTUAL_ACCOUNT", "ACTIVE", "CLOSED"),
        *each("UBO_DECLARATION", "CREATED", "VALIDATION_ASKED", "VALIDATED"),
        *each("INTENT", "AUTHORIZED", "CAPTURED", "REFUNDED", "REFUND_REVERSED"),
        *each("INTENT_DISPUTE", "CREATED", "DEFENDED", "WON", "LOST"),
        *each("SPLIT", "CREATED", "REVERSED"),
        *each("KYC", "CREATED", "VALIDATION_ASKED", "SUCCEEDED", "FAILED", "OUTDATED"),
        *each("USER_KYC", "REGULAR", "LIGHT", "RENEWAL_REQUIRED", "RENEWED"),
        *each(
            "IDENTITY_VERIFICATION", "VALIDATED", "FAILED", "INCONCLUSIVE", "OUTDATED", "TIMEOUT", "PENDING", "EXPIRED"
        ),
        *each("IDENTITY_VERIFICATION_PSC", "PENDING", "VALIDATED", "FAILED", "REJECTED", "ABANDONED"),
        "IDENTITY_VERIFICATION_PENDING_PSC_ACTION",
        *each("USER_ACCOUNT", "VALIDATION_ASKED", "ACTIVATED", "CLOSED"),
        *each("SCA_ENROLLMENT", "SUCCEEDED", "FAILED", "EXPIRED"),
        *each("RECIPIENT", "ACTIVE", "CANCELED", "DEACTIVATED"),
        *each("USER_INFLOWS", "BLOCKED", "UNBLOCKED"),
        *each("USER_OUTFLOWS", "BLOCKED", "UNBLOCKED"),
        *each("DISPUTE", "CREATED", "ACTION_REQUIRED", "SUBMITTED", "SENT_TO_BANK"),
        *each("DISPUTE", "FURTHER_ACTION_REQUIRED", "CLOSED"),
        *each("REPORT", "GENERATED", "FAILED"),
        *each("DISPUTE_DOCUMENT", "CREATED", "VALIDATION_ASKED", "SUCCEEDED", "FAILED"),
    )
)


def emit(session: SandboxSession, event_type: str, resource_id: str, at: float | None = None) -> None:
    """Record an event of a resource, now or at `at`, and queue its notifications."""
    notice = deliveries.Notification(event_type, resource_id, int(session.now if at is None else at))
    session.change(
        "INSERT INTO event (type, resource_id, date) VALUES (?, ?, ?)", notice.event_type, resource_id, notice.date
    )
    deliveries.enqueue(session, notice)


def list_events(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /events"""
    event_type = call.one("EventType")
    if event_type not in EVENT_TYPES:
        problem = "is required" if event_type is None else "is not a known event type"
        raise ParamError({"EventType": f"The field EventType {problem}."})
    oldest = int(session.now) - KEPT_FOR
    if whole(call, "AfterDate", oldest, 0, 2**40) < oldest or whole(call, "BeforeDate", oldest, 0, 2**40) < oldest:
        raise ParamError({"AfterDate": "Events are kept for 45 days."})
    listing = ListBuilder(call, "event", "date", sort="Date")
    listing.where("type = ?", event_type)
    listing.where("date >= ?", oldest)
    return listing.page(session, present)


def present(row: sqlite3.Row) -> Json:
    """An event in the list. Here the provider spells `ResourceId`."""
    return {"ResourceId": row["resource_id"], "EventType": row["type"], "Date": row["date"]}


ENDPOINTS = (WireEndpoint("GET", "/events", list_events),)
