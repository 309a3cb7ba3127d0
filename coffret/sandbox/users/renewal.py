"""The renewal of an identification: it must be verified again by a deadline, or the user becomes LIGHT the day after."""

import datetime as dt
import sqlite3

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import users
from coffret.sandbox.wire.endpoints import Json

NOTICE = dt.timedelta(days=90)
"""How long before the deadline it is told."""
INTERVAL = dt.timedelta(days=365)
"""From a renewal to the next deadline. The provider decides by risk."""


def of_user(session: SandboxSession, user_id: str) -> sqlite3.Row | None:
    return session.row("SELECT * FROM renewal WHERE user_id = ?", user_id)


def set_deadline(session: SandboxSession, user_id: str, deadline: dt.date) -> None:
    """Set a user's deadline, as the provider would; it is told 90 days before, or at once."""
    session.change(
        """INSERT INTO renewal (user_id, deadline) VALUES (?, ?)
           ON CONFLICT (user_id) DO UPDATE SET deadline = excluded.deadline, told = 0""",
        user_id,
        deadline.isoformat(),
    )
    settle_due(session)


def record_verification(session: SandboxSession, user_id: str, at: float) -> None:
    """After an identity was verified: note the day, and set the next deadline of a user that has one."""
    today, row = day(at), of_user(session, user_id)
    if row is None or row["deadline"] is None:
        session.change(
            "INSERT INTO renewal (user_id, verified_on) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET verified_on = excluded.verified_on",
            user_id,
            today.isoformat(),
        )
        return
    session.change(
        "UPDATE renewal SET verified_on = ?, deadline = ?, told = 0 WHERE user_id = ?",
        today.isoformat(),
        (today + INTERVAL).isoformat(),
        user_id,
    )
    if users.present(session, user_id)["KYCLevel"] == "REGULAR":
        events.emit(session, "USER_KYC_RENEWED", user_id, at)


def information(session: SandboxSession, user_id: str) -> Json:
    """When a user was verified, and by when again, as `YYYY-MM-DD` in UTC; null where nothing is known."""
    row = of_user(session, user_id)
    return {
        "LastKycDate": row["verified_on"] if row else None,
        "KycRenewalDeadline": row["deadline"] if row else None,
    }


def settle_due(session: SandboxSession) -> None:
    """Tell of deadlines, and make users LIGHT whose deadline has passed."""
    for row in session.rows("SELECT * FROM renewal WHERE deadline IS NOT NULL ORDER BY deadline"):
        deadline = dt.date.fromisoformat(row["deadline"])
        noticed, over = midnight(deadline - NOTICE), midnight(deadline + dt.timedelta(days=1))
        if not row["told"] and noticed <= session.now:
            session.change("UPDATE renewal SET told = 1 WHERE user_id = ?", row["user_id"])
            events.emit(session, "USER_KYC_RENEWAL_REQUIRED", row["user_id"])
        if over <= session.now:
            users.identify(session, row["user_id"], "LIGHT")


def day(at: float) -> dt.date:
    return dt.datetime.fromtimestamp(at, dt.UTC).date()


def midnight(day: dt.date) -> float:
    """When a day begins, in seconds since 1970."""
    return dt.datetime.combine(day, dt.time.min, dt.UTC).timestamp()
