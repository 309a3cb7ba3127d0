"""Strong customer authentication: hosted sessions in which the person who acts for a user authenticates. Each ends
once.

To add a purpose, call `open_session` and register with `@concludes` what happens at the end.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from coffret.sandbox.database import SandboxSession

OPEN_FOR = 600
"""Lifetime of a session in seconds."""

Purpose = Literal["enrolment", "consent", "account_access", "recipient", "transfer"]


class ScaStage(StrEnum):
    """A step of a session. Enrolled users are only asked for PIN and code."""

    TERMS = "terms"
    CONSENTS = "consents"
    PASSKEY = "passkey"
    EMAIL = "email"
    PIN = "pin"
    PHONE = "phone"
    CODE = "code"


class ScaOutcome(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXPIRED = "expired"


CHOICES = {"succeed": ScaOutcome.SUCCEEDED, "fail": ScaOutcome.FAILED, "expire": ScaOutcome.EXPIRED}
"""The testers' shortcuts that end a session, on the page or at the control plane."""

ENROLMENT = (
    ScaStage.TERMS,
    ScaStage.CONSENTS,
    ScaStage.PASSKEY,
    ScaStage.EMAIL,
    ScaStage.PIN,
    ScaStage.PHONE,
    ScaStage.CODE,
)
CONFIRMATION = (ScaStage.PIN, ScaStage.CODE)


def stages(purpose: Purpose) -> tuple[ScaStage, ...]:
    """The steps of a session, in order."""
    match purpose:
        case "enrolment":
            return ENROLMENT
        case "consent":
            return (ScaStage.CONSENTS, *CONFIRMATION)
        case _:
            return CONFIRMATION


@dataclass(frozen=True, slots=True)
class ScaSession:
    """A session. `subject_id` is its object, such as a recipient; empty if none. `outcome` is None while it is open."""

    token: str
    user_id: str
    purpose: Purpose
    subject_id: str
    stage: ScaStage
    outcome: ScaOutcome | None
    due_at: float
    wrong_codes: int
    phone_end: str
    now: float

    @property
    def stages(self) -> tuple[ScaStage, ...]:
        return stages(self.purpose)

    @property
    def minutes_left(self) -> int:
        """Minutes until the session expires, rounded up."""
        return max(0, -int(-(self.due_at - self.now) // 60))


Ending = Callable[[SandboxSession, ScaSession, float], None]
"""Called when a session has ended, with the moment of the end, which may be past. `outcome` says how it ended."""

ENDINGS: dict[Purpose, Ending] = {}


def concludes(purpose: Purpose) -> Callable[[Ending], Ending]:
    """Register a function that runs when a session of this purpose ends, in the same transaction."""

    def register(ending: Ending) -> Ending:
        ENDINGS[purpose] = ending
        return ending

    return register


def open_session(session: SandboxSession, user_id: str, purpose: Purpose, subject_id: str = "") -> str:
    """Open a session. Returns the URL of its page; add `returnUrl` before redirecting the user there.

    Sessions that are already open stay valid. Call `users.authenticates` first: not all users must authenticate.
    """
    assert purpose in ENDINGS, purpose
    token = session.secret()
    session.change(
        "INSERT INTO authentication (token, user_id, purpose, subject_id, stage, due_at) VALUES (?, ?, ?, ?, ?, ?)",
        token,
        user_id,
        purpose,
        subject_id,
        stages(purpose)[0],
        session.now + OPEN_FOR,
    )
    return address(session, token)


def address(session: SandboxSession, token: str) -> str:
    """The URL of a session's page, without `returnUrl`."""
    return f"{session.settings.root}/sca?token={token}"


def of_token(session: SandboxSession, token: str) -> ScaSession | None:
    row = session.row("SELECT * FROM authentication WHERE token = ?", token)
    return session_from_row(session, row) if row else None


def open_ones(session: SandboxSession) -> list[ScaSession]:
    """All open sessions, oldest first."""
    rows = session.rows("SELECT * FROM authentication WHERE outcome IS NULL ORDER BY seq")
    return [session_from_row(session, row) for row in rows]


def end(session: SandboxSession, token: str, outcome: ScaOutcome, at: float | None = None) -> bool:
    """End a session and run the function of its purpose.

    Returns False if it has already ended, and changes nothing then.
    """
    if not session.change("UPDATE authentication SET outcome = ? WHERE token = ? AND outcome IS NULL", outcome, token):
        return False
    ended = of_token(session, token)
    assert ended is not None
    ENDINGS[ended.purpose](session, ended, session.now if at is None else at)
    return True


def settle_due(session: SandboxSession) -> None:
    """Expire every session that is due."""
    for row in session.rows(
        "SELECT token, due_at FROM authentication WHERE outcome IS NULL AND due_at <= ? ORDER BY due_at, seq",
        session.now,
    ):
        end(session, row["token"], ScaOutcome.EXPIRED, row["due_at"])


def session_from_row(session: SandboxSession, row: sqlite3.Row) -> ScaSession:
    return ScaSession(
        token=row["token"],
        user_id=row["user_id"],
        purpose=row["purpose"],
        subject_id=row["subject_id"],
        stage=ScaStage(row["stage"]),
        outcome=ScaOutcome(row["outcome"]) if row["outcome"] else None,
        due_at=row["due_at"],
        wrong_codes=row["wrong_codes"],
        phone_end=row["phone_end"],
        now=session.now,
    )
