"""How long a client is waited for, and how many may be connected: what is bounded, whoever stands in front of us."""

import resource
from dataclasses import dataclass
from typing import Any

import uvicorn

from store.core.settings import Settings

RESERVED = 256
"""Open files that are not for clients: the database, Redis, files, logs."""
MOST = 65_536
"""Open files that are asked for at most; where the machine has no limit, tables of that size would be made."""


@dataclass(frozen=True)
class Patience:
    """Seconds, and how many connections a process has at most."""

    headers: float
    """For the whole head of a request, from its first byte; for the first byte of a new connection too."""
    progress: float
    """In each such time a body, or the reading of an answer, has to come on."""
    idle: float
    """Between two requests of a connection."""
    connections: int

    @classmethod
    def of(cls, settings: Settings) -> "Patience":
        """What the settings say; so many connections as open files allow, unless they say it."""
        most = settings.connections or connections_for(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        return cls(settings.header_seconds, settings.progress_seconds, settings.idle_seconds, most)


def connections_for(files: int) -> int:
    """How many connections a process may have that may have so many files open."""
    return max(files - RESERVED, files // 2)


def allow_files() -> None:
    """Let this process, and those that it starts, have as many files open as the machine's limits allow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class ServerConfig(uvicorn.Config):
    """What uvicorn is told, with our patience, which goes to worker processes with it."""

    def __init__(self, app: Any, patience: Patience, **told: Any) -> None:
        super().__init__(app, loop="coffret.serving.loop:Loop", http="coffret.serving.connection:Connection", **told)
        self.patience = patience
