"""The settings of a sandbox."""

import datetime as dt
import pathlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

Deliver = Callable[[str], Awaitable[int]]
"""Calls a notification's URL and returns the HTTP status. May raise `httpx.HTTPError`, `TimeoutError` or `OSError`."""


class MovableClock(Protocol):
    """A clock that can be advanced."""

    @property
    def ahead(self) -> dt.timedelta:
        """The total offset from the real time."""

    def now(self) -> dt.datetime:
        """The current time in UTC."""

    def timestamp(self) -> float:
        """Seconds since 1970, UTC."""

    def advance(self, by: dt.timedelta) -> dt.datetime:
        """Advance the clock. Returns the new time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The settings of one sandbox.

    `public_url` is where browsers reach it, for example `http://127.0.0.1:8000/_provider`. `path` is the SQLite file of
    its state, which several server processes may share; without it the state is in memory. With a `seed` a new sandbox
    generates the same ids every time. `deliver` sends notifications, by default with HTTP GET; `hook_timeout` is its
    timeout in seconds. `token_lifetime` is in seconds of `clock`.
    """

    public_url: str
    clock: MovableClock
    path: pathlib.Path | None = None
    client_id: str = "sandbox"
    api_key: str = "sandbox"
    seed: int | None = None
    deliver: Deliver | None = None
    hook_timeout: float = 2.0
    token_lifetime: int = 3600

    @property
    def root(self) -> str:
        """`public_url` without a final slash."""
        return self.public_url.rstrip("/")
