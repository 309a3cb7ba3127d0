"""What an authority or the provider has closed for a user: money coming in, money going out."""

from coffret.sandbox import events, users
from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json

CODE = "008701"
"""Why, when nobody says so."""


def block(session: Session, user_id: str, *, inflows: bool, outflows: bool, code: str = CODE) -> None:
    """Close or open a user's ways, and tell of what is new."""
    before = blocked(session, user_id)["ScopeBlocked"]
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


def blocked(session: Session, user_id: str) -> Json:
    """What is closed for a user, as the provider shows it. Without a block there is no code."""
    row = session.row("SELECT * FROM block WHERE user_id = ? AND (inflows OR outflows)", user_id)
    return {
        "ActionCode": row["code"] if row else None,
        "ScopeBlocked": {"Inflows": bool(row and row["inflows"]), "Outflows": bool(row and row["outflows"])},
    }


def read(session: Session, call: Call) -> Json:
    """GET /users/{id}/Regulatory"""
    return blocked(session, users.find(session, call.path["id"])["id"])


ENDPOINTS = (Endpoint("GET", "/users/{id}/Regulatory", read),)
