"""Regulatory blocks of a user: inflows and outflows of money."""

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import renewal, users
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint

CODE = "008701"
"""The default reason code."""


def block(session: SandboxSession, user_id: str, *, inflows: bool, outflows: bool, code: str = CODE) -> None:
    """Block or unblock a user's flows, and emit an event for each change."""
    before = current_blocks(session, user_id)["ScopeBlocked"]
    session.change(
        """INSERT INTO block VALUES (?, ?, ?, ?) ON CONFLICT (user_id)
           DO UPDATE SET code = excluded.code, inflows = excluded.inflows, outflows = excluded.outflows""",
        user_id,
        code,
        inflows,
        outflows,
    )
    for way, now in (("Inflows", inflows), ("Outflows", outflows)):
        if before[way] != now:
            events.emit(session, f"USER_{way.upper()}_{'BLOCKED' if now else 'UNBLOCKED'}", user_id)


def current_blocks(session: SandboxSession, user_id: str) -> Json:
    """A user's blocks in the provider's format. `ActionCode` is null without a block."""
    row = session.row("SELECT * FROM block WHERE user_id = ? AND (inflows OR outflows)", user_id)
    return {
        "ActionCode": row["code"] if row else None,
        "ScopeBlocked": {"Inflows": bool(row and row["inflows"]), "Outflows": bool(row and row["outflows"])},
    }


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/Regulatory"""
    id = users.find(session, call.path["id"])["id"]
    return {**current_blocks(session, id), "KycInformation": renewal.information(session, id)}


def read_blocks(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/blockStatus"""
    return current_blocks(session, users.find(session, call.path["id"])["id"])


ENDPOINTS = (
    WireEndpoint("GET", "/users/{id}/Regulatory", read),
    WireEndpoint("GET", "/users/{id}/blockStatus", read_blocks),
)
