"""Rate limit headers: calls in the last 15 minutes, 30 minutes, hour and day."""

from coffret.sandbox.database import SandboxSession

NAMES = ("x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset")
WINDOWS = ((15, 2_300), (30, 4_500), (60, 8_800), (24 * 60, 105_600))
"""Minutes, and the provider's limit of calls in them."""


def count(session: SandboxSession) -> None:
    minute = int(session.now // 60)
    session.change("DELETE FROM call_minute WHERE minute <= ?", minute - WINDOWS[-1][0])
    session.change("INSERT INTO call_minute VALUES (?, 1) ON CONFLICT (minute) DO UPDATE SET calls = calls + 1", minute)


def headers(session: SandboxSession, *, exhausted: bool = False) -> dict[str, str]:
    """The three headers, with a value per window, separated by commas.

    With `exhausted`, for a fault, none remain. Otherwise the sandbox enforces no limit.
    """
    minute = int(session.now // 60)
    used = [
        session.integer("SELECT sum(calls) FROM call_minute WHERE minute > ?", minute - length) for length, _ in WINDOWS
    ]
    left = [0 if exhausted else max(0, limit - calls) for calls, (_, limit) in zip(used, WINDOWS, strict=True)]
    reset = [(minute + length) * 60 for length, _ in WINDOWS]
    return {name: ", ".join(map(str, values)) for name, values in zip(NAMES, (used, left, reset), strict=True)}
