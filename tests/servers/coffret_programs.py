"""`coffret serve` and its relatives as processes, and data directories for them.

What the first start on a data directory lays takes most of its time. It is laid once for a run of the tests, and copied.
"""

import contextlib
import fcntl
import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import IO

import psutil
import pytest

from tests.servers.fork_server import ForkedProcess, fork_server
from tests.servers.ports import free_port

READY_WITHIN = 180.0
"""Seconds; generous, since tests run on busy machines."""


class Program:
    """A running `coffret serve`, or another command, forked from a process that has imported Coffret."""

    def __init__(
        self, data: pathlib.Path, port: int, *options: str, command: str = "serve", **environment: str
    ) -> None:
        self.port = port
        self.output = data.with_name(f"output-{port}-{time.monotonic_ns()}")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COFFRET_")}
        settings = {"COFFRET_DATA_DIR": str(data), "PORT": str(port), "COFFRET_DEMO": "false", **environment}
        with self.output.open("wb") as output:
            self.process = self._start([command, *options], kept | settings, output)

    def _start(
        self, arguments: list[str], environment: dict[str, str], output: IO[bytes]
    ) -> ForkedProcess | subprocess.Popen[bytes]:
        return fork_server.start("coffret.cli", *arguments, environment=environment, stdout=output, stderr=output)

    def read_output(self) -> str:
        """All it has written so far."""
        return self.output.read_text()

    def wait_until_ready(self, until: str = "Coffret is ready") -> None:
        deadline = time.monotonic() + READY_WITHIN
        while until not in self.read_output():
            assert self.process.poll() is None, self.read_output()
            assert time.monotonic() < deadline, self.read_output()
            time.sleep(0.02)

    def ask(self, path: str) -> int:
        """The status that a path answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def end(self, number: signal.Signals) -> int:
        """The exit code after a signal."""
        self.process.send_signal(number)
        try:
            return self.process.wait(timeout=READY_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"does not end: {self.read_output()}") from None


class ProgramWithImports(Program):
    """One that imports Coffret itself, as its users start it."""

    def _start(
        self, arguments: list[str], environment: dict[str, str], output: IO[bytes]
    ) -> ForkedProcess | subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "coffret.cli", *arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True,
        )  # fmt: skip


def processes(folder: pathlib.Path) -> list[int]:
    """Every process that names a folder in its arguments."""
    listed = psutil.process_iter(["pid", "status", "cmdline"])
    return [
        process.info["pid"]
        for process in listed
        if process.info["status"] != psutil.STATUS_ZOMBIE and str(folder) in " ".join(process.info["cmdline"] or ())
    ]


def gone(*pids: int) -> bool:
    """Whether processes have ended, within a minute."""
    deadline = time.monotonic() + 60
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may stay listed where nobody asks for its exit code."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class DataDirectories:
    """Data directories after their first start: migrated, or with the demo data as well."""

    def __init__(self, shared: pathlib.Path) -> None:
        self._shared = shared

    @contextlib.contextmanager
    def copied(self, *, demo: bool = False) -> Iterator[pathlib.Path]:
        """A data directory of one's own, on which nothing runs."""
        with short_folder() as folder:
            _copy(self._original(demo=demo), folder / "data")
            yield folder / "data"

    def _original(self, *, demo: bool) -> pathlib.Path:
        original = self._shared / ("demo" if demo else "migrated")
        with (self._shared / "data.lock").open("w") as lock:  # of all processes that run tests
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not original.exists():
                self._lay(original, demo=demo)
        return original

    def _lay(self, original: pathlib.Path, *, demo: bool) -> None:
        with short_folder() as folder:
            program = Program(folder / "data", free_port(), COFFRET_DEMO=str(demo).lower())
            program.wait_until_ready()
            assert program.end(signal.SIGTERM) == 0, program.read_output()
            unfinished = original.with_suffix(".unfinished")
            _copy(folder / "data", unfinished)
            unfinished.rename(original)


def _copy(folder: pathlib.Path, to: pathlib.Path) -> None:
    """Copy a folder, with the owners of its files: PostgreSQL runs as theirs."""
    subprocess.run(["cp", "-a", str(folder), str(to)], check=True)


@contextlib.contextmanager
def short_folder() -> Iterator[pathlib.Path]:
    """A short path, as those of sockets have to be, and nothing running in it afterwards."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="coffret-serve-", dir="/tmp"))
    yield path
    for pid in processes(path):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path)


def pytest_unconfigure() -> None:
    """End the process that others were forked from."""
    fork_server.close()


@pytest.fixture(scope="session")
def data_directories(tmp_path_factory: pytest.TempPathFactory) -> DataDirectories:
    """Data directories for programs to start on."""
    own = tmp_path_factory.getbasetemp()
    return DataDirectories(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture
def new_data() -> Iterator[pathlib.Path]:
    """A data directory that does not exist yet."""
    with short_folder() as folder:
        yield folder / "data"


@pytest.fixture
def data(data_directories: DataDirectories) -> Iterator[pathlib.Path]:
    """A data directory that was migrated."""
    with data_directories.copied() as data:
        yield data


@pytest.fixture
def demo_data(data_directories: DataDirectories) -> Iterator[pathlib.Path]:
    """A data directory with the demo data."""
    with data_directories.copied(demo=True) as data:
        yield data
