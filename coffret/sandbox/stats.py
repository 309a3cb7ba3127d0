"""Counts for tests: how often each kind of call was made, and how often each pay-in was charged."""

from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Json


def count(session: Session, kind: str) -> None:
    """One more call of a kind, such as `POST /wallets`."""
    session.change("INSERT INTO call_count VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET calls = calls + 1", kind)


def told(session: Session) -> Json:
    """Every count."""
    charges = session.rows(
        """SELECT movement.id, count(posting.seq) AS charges FROM movement
           LEFT JOIN posting ON posting.movement_id = movement.id AND posting.account = 'outside'
           WHERE movement.type = 'PAYIN' GROUP BY movement.id ORDER BY movement.seq"""
    )
    calls = {row["kind"]: row["calls"] for row in session.rows("SELECT * FROM call_count ORDER BY kind")}
    return {
        "calls": calls,
        "token_calls": calls.get("POST /oauth/token", 0),
        "charges": {row["id"]: row["charges"] for row in charges},
        "charged": sum(row["charges"] for row in charges),
    }
