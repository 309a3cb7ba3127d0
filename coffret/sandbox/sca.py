"""Strong authentication: hosted sessions in which somebody proves to be who acts for a user. Each ends once.

Whatever needs one calls `open_session` and says with `@concludes` what happens when the session ends.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from coffret.sandbox.database import Session

OPEN_FOR = 600
"""Seconds that a session lives: the last moment that it works is just before."""

Purpose = Literal["enrolment", "consent", "account_access", "recipient", "transfer"]


class Stage(StrEnum):
    """What the person is asked for. Whoever is enrolled already is only asked for PIN and code."""

    TERMS = "terms"
    CONSENTS = "consents"
    PASSKEY = "passkey"
    EMAIL = "email"
    PIN = "pin"
    PHONE = "phone"
    CODE = "code"


class Outcome(StrEnum):
    """How a session ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXPIRED = "expired"


CHOICES = {"succeed": Outcome.SUCCEEDED, "fail": Outcome.FAILED, "expire": Outcome.EXPIRED}
"""What testers say to end a session, on the page or at the control plane."""

ENROLMENT = (Stage.TERMS, Stage.CONSENTS, Stage.PASSKEY, Stage.EMAIL, Stage.PIN, Stage.PHONE, Stage.CODE)
CONFIRMATION = (Stage.PIN, Stage.CODE)


def stages(purpose: Purpose) -> tuple[Stage, ...]:
    """What a session asks for, in order."""
    match purpose:
        case "enrolment":
            return ENROLMENT
        case "consent":
            return (Stage.CONSENTS, *CONFIRMATION)
        case _:
            return CONFIRMATION


@dataclass(frozen=True, slots=True)
class Authentication:
    """A session. `subject_id` is what it is for besides the user, such as a recipient; `outcome` is none while it is open."""

    token: str
    user_id: str
    purpose: Purpose
    subject_id: str
    stage: Stage
    outcome: Outcome | None
    due_at: float
    wrong_codes: int
    phone_end: str
    now: float

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What the session asks for, in order."""
        return stages(self.purpose)

    @property
    def minutes_left(self) -> int:
        """Whole minutes until the session expires, rounded up."""
        return max(0, -int(-(self.due_at - self.now) // 60))


Ending = Callable[[Session, Authentication, float], None]
"""What happens when a session has ended, at a moment that may have passed. Its `outcome` says how it ended."""

ENDINGS: dict[Purpose, Ending] = {}


def concludes(purpose: Purpose) -> Callable[[Ending], Ending]:
    """Let a function run whenever a session of this purpose ends, in the same transaction."""

    def registered(ending: Ending) -> Ending:
        ENDINGS[purpose] = ending
        return ending

    return registered


def open_session(session: Session, user_id: str, purpose: Purpose, subject_id: str = "") -> str:
    """Open a session; answers the page's address, to which `returnUrl` is added before anybody is sent there.

    Sessions that are open already stay good. Ask `users.authenticates` first: not everybody has to.
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


def address(session: Session, token: str) -> str:
    """The page of a session, without a `returnUrl`."""
    return f"{session.settings.root}/sca?token={token}"


def of_token(session: Session, token: str) -> Authentication | None:
    """The session that an address leads to."""
    row = session.row("SELECT * FROM authentication WHERE token = ?", token)
    return loaded(session, row) if row else None


def open_ones(session: Session) -> list[Authentication]:
    """Every session that can still be used, oldest first."""
    rows = session.rows("SELECT * FROM authentication WHERE outcome IS NULL ORDER BY seq")
    return [loaded(session, row) for row in rows]


def end(session: Session, token: str, outcome: Outcome, at: float | None = None) -> bool:
    """End a session and do what its purpose asks for then. One that has ended stays as it is; answers whether it moved."""
    if not session.change("UPDATE authentication SET outcome = ? WHERE token = ? AND outcome IS NULL", outcome, token):
        return False
    ended = of_token(session, token)
    assert ended is not None
    ENDINGS[ended.purpose](session, ended, session.now if at is None else at)
    return True


def settle_due(session: Session) -> None:
    """End every session whose time is up."""
    for row in session.rows(
        "SELECT token, due_at FROM authentication WHERE outcome IS NULL AND due_at <= ? ORDER BY due_at, seq",
        session.now,
    ):
        end(session, row["token"], Outcome.EXPIRED, row["due_at"])


def loaded(session: Session, row: sqlite3.Row) -> Authentication:
    """A session out of its row."""
    return Authentication(
        token=row["token"],
        user_id=row["user_id"],
        purpose=row["purpose"],
        subject_id=row["subject_id"],
        stage=Stage(row["stage"]),
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        due_at=row["due_at"],
        wrong_codes=row["wrong_codes"],
        phone_end=row["phone_end"],
        now=session.now,
    )
