"""Timeouts and the connection limit of the server. They apply with and without a proxy in front."""

import resource
from dataclasses import dataclass
from typing import Any

import uvicorn

from store.core.settings import Settings

RESERVED_FILES = 256
"""Open files that are not client connections: database, Redis, files, logs."""
MAX_OPEN_FILES = 65_536
"""Maximum number of open files to ask for.

With an unlimited number some programs would allocate tables of that size.
"""


@dataclass(frozen=True)
class ConnectionLimits:
    """Timeouts in seconds, and the maximum number of connections of a process."""

    header_seconds: float
    """For the complete head of a request from its first byte, and for the first byte of a new connection."""
    progress_seconds: float
    """In each such interval a body, or the reading of an answer, must make progress."""
    idle_seconds: float
    """Between two requests on a connection."""
    connections: int

    @classmethod
    def from_settings(cls, settings: Settings) -> "ConnectionLimits":
        """The limits of the settings. The default number of connections depends on the limit of open files."""
        most = settings.connections or connections_for_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        return cls(settings.header_seconds, settings.progress_seconds, settings.idle_seconds, most)


def connections_for_files(files: int) -> int:
    """The number of connections for a process that may have `files` open files."""
    return max(files - RESERVED_FILES, files // 2)


def raise_file_limit() -> None:
    """Raise the limit of open files of this process and its children to the hard limit, at most MAX_OPEN_FILES."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration with the connection limits, which worker processes inherit."""

    def __init__(self, app: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(
            app, loop="coffret.serving.loop:DrainingLoop", http="coffret.serving.connection:ClientConnection", **options
        )
        self.limits = limits
