"""Embedded PostgreSQL under all the ways that programs start and end."""

import asyncio
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import asyncpg
import psutil
import pytest

from store.database.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError, embedded_postgres, find_binaries
from store.database.embedded_supervisor import PostgresServer, revive

USER = """
import pathlib, sys
from store.database.embedded_postgres import EmbeddedPostgres
server = EmbeddedPostgres(pathlib.Path(sys.argv[1]), fast=True)
print(server.start(), server._supervisor.pid, flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    """A short path: those of tmp_path may be longer than sockets allow, which one test wants and others don't."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="coffret-test-", dir="/tmp"))
    yield path
    shutil.rmtree(path)


class User:
    """Another program that uses the server."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url, supervisor = self.process.stdout.readline().split()
        self.supervisor = int(supervisor)

    def leave(self) -> None:
        self.process.communicate("", timeout=60)
        assert self.process.returncode == 0

    def kill(self, *others: int) -> None:
        for pid in (*others, self.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.process.communicate(timeout=60)


async def ask(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


def postmaster(folder: pathlib.Path) -> int:
    return int((folder / "postgres/postmaster.pid").read_text().splitlines()[0])


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may stay listed where nobody asks for its exit code."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def mode(path: pathlib.Path) -> int:
    return path.stat().st_mode & 0o777


def names(folder: pathlib.Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def soon(happened: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.01)
    return happened()


async def test_keeps_its_data_over_restarts_and_leaves_no_process(folder: pathlib.Path) -> None:
    async with embedded_postgres(folder) as url:
        first = postmaster(folder)
        assert url.startswith("postgresql+asyncpg://postgres@/coffret?host=")
        assert await ask(url, "SHOW fsync") == "on"
        assert await ask(url, "SHOW synchronous_commit") == "on"
        assert await ask(url, "SHOW server_encoding") == "UTF8"
        await ask(url, "CREATE TABLE kept AS SELECT 'çà' AS word")
    assert not alive(first)
    assert not (folder / "postgres/postmaster.pid").exists()
    async with embedded_postgres(folder) as url:
        assert await ask(url, "SELECT upper(word) FROM kept") == "ÇÀ"
        assert postmaster(folder) != first


async def test_fast_gives_up_durability_only(folder: pathlib.Path) -> None:
    async with embedded_postgres(folder, fast=True) as url:
        assert await ask(url, "SHOW fsync") == "off"
        assert await ask(url, "SHOW timezone") == "UTC"


async def test_out_of_reach_of_a_terminals_interrupt(folder: pathlib.Path) -> None:
    async with embedded_postgres(folder, fast=True):
        assert os.getpgid(postmaster(folder)) != os.getpgid(0)
        assert os.getsid(postmaster(folder)) != os.getsid(0)


async def test_stays_until_the_last_user_has_gone(folder: pathlib.Path) -> None:
    other = User(folder)
    server = postmaster(folder)
    async with embedded_postgres(folder, fast=True) as url:
        assert url == other.url
        other.leave()
        assert postmaster(folder) == server
        assert await ask(url, "SELECT 1") == 1
    assert not alive(server)


def test_many_at_once_start_one_server(folder: pathlib.Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", USER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    try:
        assert len({process.stdout.readline().split()[0] for process in started if process.stdout}) == 1
        server = postmaster(folder)
    finally:
        for process in started:
            process.communicate("", timeout=60)
    assert [process.returncode for process in started] == [0] * 4
    assert soon(lambda: not alive(server))


async def test_ends_with_a_user_that_was_killed(folder: pathlib.Path) -> None:
    user = User(folder)
    await ask(user.url, "CREATE TABLE kept AS SELECT 42 AS number")
    server = postmaster(folder)
    user.kill()
    assert soon(lambda: not alive(server) and not alive(user.supervisor))
    async with embedded_postgres(folder, fast=True) as url:
        assert await ask(url, "SELECT number FROM kept") == 42


async def test_takes_over_a_server_that_was_left_alone(folder: pathlib.Path) -> None:
    user = User(folder)
    server = postmaster(folder)
    user.kill(user.supervisor)
    assert alive(server)
    async with embedded_postgres(folder, fast=True) as url:
        assert postmaster(folder) == server
        assert await ask(url, "SELECT 1") == 1
    assert soon(lambda: not alive(server))


async def test_recovers_when_everything_was_killed(folder: pathlib.Path) -> None:
    user = User(folder)
    await ask(user.url, "CREATE TABLE kept AS SELECT 42 AS number")
    user.kill(user.supervisor, postmaster(folder))
    left = folder / "postgres/postmaster.pid"
    _, *lines = left.read_text().splitlines()
    left.write_text("\n".join([str(os.getpid()), *lines]) + "\n")  # after a restart the number may be anybody's
    async with embedded_postgres(folder, fast=True) as url:
        assert await ask(url, "SELECT number FROM kept") == 42


@pytest.mark.parametrize("name", ["x" * 120, "a, b", 'quo"ted ü'], ids=["long", "comma", "quote"])
async def test_any_path_will_do(folder: pathlib.Path, name: str) -> None:
    async with embedded_postgres(folder / name, fast=True) as url:
        sockets = pathlib.Path((folder / name / "postgres/postmaster.pid").read_text().splitlines()[4])
        assert len(os.fsencode(sockets / ".s.PGSQL.5432")) <= 103
        assert mode(sockets) == 0o700
        assert await ask(url, "SELECT current_database()") == "coffret"
    assert ".s.PGSQL.5432" not in names(sockets)


async def test_starts_again_what_was_never_finished(folder: pathlib.Path) -> None:
    (folder / "postgres.unfinished/base").mkdir(parents=True)
    (folder / "postgres.unfinished/PG_VERSION").write_text("18\n")
    async with embedded_postgres(folder, fast=True) as url:
        assert await ask(url, "SELECT 1") == 1
    assert not (folder / "postgres.unfinished").exists()


async def test_forgets_the_surroundings(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGOPTIONS", "-c nonsense=1")
    monkeypatch.setenv("LC_ALL", "xx_XX.nonsense")
    server = EmbeddedPostgres(folder, fast=True)
    try:
        url = server.start()
        monkeypatch.undo()
        assert await ask(url, "SELECT 1") == 1
    finally:
        server.stop()


def test_says_whose_data_it_cannot_use(folder: pathlib.Path) -> None:
    (folder / "postgres").mkdir()
    (folder / "postgres/PG_VERSION").write_text("16\n")
    os.chown(folder / "postgres", 65534 if os.geteuid() == 0 else -1, -1)
    with pytest.raises(EmbeddedPostgresError, match=r"holds data of PostgreSQL 16, .* brings 18.*COFFRET_DATA_DIR"):
        EmbeddedPostgres(folder).start()
    assert names(folder / "postgres") == ["PG_VERSION"]


def test_says_when_there_is_no_room_for_the_data(folder: pathlib.Path) -> None:
    (folder / "file").touch()
    with pytest.raises(EmbeddedPostgresError, match=r"data directory cannot be made: .*Set COFFRET_DATA_DIR"):
        EmbeddedPostgres(folder / "file" / "below").start()


async def test_shows_the_log_when_the_server_refuses(folder: pathlib.Path) -> None:
    async with embedded_postgres(folder, fast=True):
        pass
    with (folder / "postgres/postgresql.conf").open("a") as settings:
        settings.write("\nwork_mem = 'a lot'\n")
    with pytest.raises(EmbeddedPostgresError, match=r"(?s)Its log, .*postgres\.log, ends with:.*work_mem"):
        EmbeddedPostgres(folder).start()


def test_runs_as_an_ordinary_user_too(folder: pathlib.Path) -> None:
    """Who isn't root has seen this in every other test; root becomes somebody else here."""
    with EmbeddedPostgres(folder, fast=True):  # opens the way to PostgreSQL's programs, if root's home holds them
        pass
    mine = folder / "mine"
    mine.mkdir()
    if os.geteuid() == 0:
        os.chown(mine, 65534, -1)
    program = f"""
import os, pathlib, store.database.embedded_supervisor as it
os.geteuid() or os.setuid(65534)
server = it.PostgresServer(pathlib.Path({str(find_binaries())!r}), pathlib.Path({str(mine)!r}), fast=True)
print(server.run(), os.geteuid())
server.stop()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split()[0] == str(mine / "postgres")
    assert done.stdout.split()[1] != "0"
    assert not (mine / "postgres/postmaster.pid").exists()


async def asked_again(url: str, statement: str) -> object:
    """The answer of a server that is being started again."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return await ask(url, statement)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def test_a_server_that_was_killed_is_started_again_once_for_all_its_users(folder: pathlib.Path) -> None:
    """However often, with what was committed, and at the same address; and it still ends with the last user."""
    async with embedded_postgres(folder) as url:
        other = User(folder)
        await ask(url, "CREATE TABLE kept AS SELECT 7 AS n")
        for _ in range(2):
            killed = postmaster(folder)
            os.kill(killed, signal.SIGKILL)
            assert await asked_again(url, "SELECT n FROM kept") == 7
            assert await asked_again(other.url, "SELECT n FROM kept") == 7
            assert postmaster(folder) != killed
            assert alive(postmaster(folder))
        other.leave()
        assert await ask(url, "SELECT n FROM kept") == 7
        last = postmaster(folder)
    assert not alive(last)


def test_a_server_whose_data_are_gone_is_not_made_anew(folder: pathlib.Path) -> None:
    server = PostgresServer(find_binaries(), folder, fast=True)
    server.run()
    assert not server.has_died()
    assert server.child is not None
    server.child.kill()
    server.child.wait()
    assert server.has_died()
    shutil.rmtree(folder / "postgres")
    assert not server.has_died()
    revive(server)
    assert sorted(names(folder)) == ["postgres.log", "postgres.start.lock"]
