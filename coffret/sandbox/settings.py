"""What the sandbox is started with."""

import pathlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from store.core.clock import Clock, clock

Deliver = Callable[[str], Awaitable[int]]
"""Fetches a notification's address and answers the HTTP status, or raises `httpx.HTTPError`, `TimeoutError` or `OSError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """How one sandbox is set up.

    `public_url` is where browsers reach it, for example `http://127.0.0.1:8000/_provider`. `path` is the SQLite file
    that keeps its state and that several server processes may share; without it the state is in memory. With a `seed`
    a fresh sandbox gives the same ids every time. `deliver` sends notifications (by default an HTTP GET);
    `hook_timeout` is how many seconds it may take. `token_lifetime` is in seconds of `clock`.
    """

    public_url: str
    path: pathlib.Path | None = None
    client_id: str = "sandbox"
    api_key: str = "sandbox"
    clock: Clock = clock
    seed: int | None = None
    deliver: Deliver | None = None
    hook_timeout: float = 2.0
    token_lifetime: int = 3600

    @property
    def root(self) -> str:
        """`public_url` without a final slash."""
        return self.public_url.rstrip("/")
