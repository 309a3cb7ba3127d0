"""Counters for tests: calls per endpoint, and charges per pay-in."""

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import Json


def count(session: SandboxSession, kind: str) -> None:
    """Count a call, for example `POST /wallets`."""
    session.change("INSERT INTO call_count VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET calls = calls + 1", kind)


def all_counts(session: SandboxSession) -> Json:
    charges = session.rows(
        """SELECT movement.id, count(posting.seq) AS charges FROM movement
           LEFT JOIN posting ON posting.movement_id = movement.id AND posting.account = 'outside'
           WHERE movement.type = 'PAYIN' AND movement.nature = 'REGULAR' GROUP BY movement.id ORDER BY movement.seq"""
    )
    calls = {row["kind"]: row["calls"] for row in session.rows("SELECT * FROM call_count ORDER BY kind")}
    return {
        "calls": calls,
        "token_calls": calls.get("POST /oauth/token", 0),
        "charges": {row["id"]: row["charges"] for row in charges},
        "charged": sum(row["charges"] for row in charges),
    }
