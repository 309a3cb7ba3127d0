"""How many calls were made in the last 15 minutes, 30 minutes, hour and day, as the answer's headers tell it."""

from coffret.sandbox.database import Session

WINDOWS = ((15, 2_300), (30, 4_500), (60, 8_800), (24 * 60, 105_600))
"""Minutes, and the calls that the provider takes in them."""


def count(session: Session) -> None:
    """One more call."""
    minute = int(session.now // 60)
    session.change("DELETE FROM call_minute WHERE minute <= ?", minute - WINDOWS[-1][0])
    session.change("INSERT INTO call_minute VALUES (?, 1) ON CONFLICT (minute) DO UPDATE SET calls = calls + 1", minute)


def headers(session: Session, *, exhausted: bool = False) -> dict[str, str]:
    """The three headers, each a value per window. The sandbox only refuses when a fault asks for it: `exhausted`."""
    minute = int(session.now // 60)
    used = [
        session.integer("SELECT sum(calls) FROM call_minute WHERE minute > ?", minute - length) for length, _ in WINDOWS
    ]
    left = [0 if exhausted else max(0, limit - calls) for calls, (_, limit) in zip(used, WINDOWS, strict=True)]
    reset = [(minute + length) * 60 for length, _ in WINDOWS]
    return {
        "x-ratelimit": ", ".join(map(str, used)),
        "x-ratelimit-remaining": ", ".join(map(str, left)),
        "x-ratelimit-reset": ", ".join(map(str, reset)),
    }
