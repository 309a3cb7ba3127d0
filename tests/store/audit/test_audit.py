"""The audit log is only added to, and what must not wait for it reaches it all the same, once."""

import asyncio
import contextlib
import datetime as dt
import tracemalloc
from functools import partial
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from schema.core.errors import Unavailable
from store.audit import buffer as buffer_module
from store.audit.buffer import EntryBuffer, LogTable
from store.audit.entries import AUDIT_LOG, encode_entry, prune_audit_log, write_entry
from store.core.clock import clock
from store.database.db import Database


def entry(operation: str = "test", **more: Any) -> bytes:
    """An entry of nobody."""
    values = {
        "occurred_on": clock.now(), "actor": "nobody", "address": "", "request_id": "", "subject_type": "",
        "subject_id": "", "input": {}, "changes": [], **more,
    }  # fmt: skip
    return encode_entry({"operation": operation, **values})


async def logged_operations(database: Database) -> list[str]:
    """The operations in the log, in the order of their ids."""
    return [row[0] for row in await database.rows(text("SELECT operation FROM audit_entry ORDER BY id"))]


@pytest.fixture
async def two_entries(database: Database) -> None:
    """Two entries, one of them a hundred days old."""
    async with database.engine.begin() as connection:
        await write_entry(connection, entry("old", occurred_on=clock.now() - dt.timedelta(days=100)))
        await write_entry(connection, entry("new"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET operation = 'forged'",
        "UPDATE audit_entry SET occurred_on = occurred_on",
        "DELETE FROM audit_entry",
        "DELETE FROM audit_entry WHERE operation = 'old'",
        "TRUNCATE audit_entry",
        "INSERT INTO audit_entry SELECT * FROM audit_entry ON CONFLICT (id) DO UPDATE SET operation = 'forged'",
    ],
)
async def test_the_log_cannot_be_altered(database: Database, two_entries: None, statement: str) -> None:
    with pytest.raises(DBAPIError, match="only added to"):
        async with database.engine.begin() as connection:
            await connection.execute(text(statement))
    assert await logged_operations(database) == ["old", "new"]


async def test_only_what_is_older_than_was_said_can_be_deleted(database: Database, two_entries: None) -> None:
    async with database.sessions() as db, db.begin():
        assert await prune_audit_log(db, clock.now() - dt.timedelta(days=200)) == 0
        assert await prune_audit_log(db, clock.now() - dt.timedelta(days=50)) == 1
    assert await logged_operations(database) == ["new"]
    with pytest.raises(DBAPIError, match="only added to"):  # it was said for that transaction
        async with database.engine.begin() as connection:
            await connection.execute(text("DELETE FROM audit_entry"))


async def test_entries_written_again_under_their_ids_are_there_once(database: Database) -> None:
    async with database.engine.begin() as connection:
        ids = await AUDIT_LOG.reserve_ids(connection, 2)
    for _ in range(2):
        async with database.engine.begin() as connection:
            await AUDIT_LOG.write_entries(connection, ids, [entry("a"), entry("b")])
    assert await logged_operations(database) == ["a", "b"]


# ---- the buffer


class Away:
    """A database that can be taken away, and can lose the answer to a write that took place."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.away = False
        self.because: Exception = asyncpg.CannotConnectNowError("the database system is starting up")
        self.lose_answers = 0
        self.writes = 0
        whole = LogTable.write_entries

        async def interrupted(*arguments: Any) -> None:
            self.writes += 1
            if self.away:
                raise self.because
            await whole(*arguments)
            if self.lose_answers:
                self.lose_answers -= 1
                await arguments[1].commit()
                raise OperationalError("INSERT", {}, Exception("connection was closed"))

        monkeypatch.setattr(LogTable, "write_entries", interrupted)


@pytest.fixture
def way(database: Database, monkeypatch: pytest.MonkeyPatch) -> Away:
    """What may come between; writes are tried every hundredth of a second."""
    monkeypatch.setattr(buffer_module, "FLUSH_INTERVAL", 0.01)
    monkeypatch.setattr(buffer_module, "MAX_RETRY_PAUSE", 0.02)
    return Away(database, monkeypatch)


async def settled(buffer: EntryBuffer) -> None:
    """Wait until all is written."""
    async with asyncio.timeout(60):
        while buffer._task is not None:
            await asyncio.sleep(0.01)


async def test_entries_are_written_together_soon_after(database: Database, way: Away) -> None:
    buffer = EntryBuffer(database, AUDIT_LOG)
    for number in range(1200):
        buffer.put(lambda number=number: entry(str(number)))  # type: ignore[misc]
    assert await logged_operations(database) == []
    await settled(buffer)
    assert await logged_operations(database) == [str(number) for number in range(1200)]
    assert way.writes == 1


@pytest.mark.parametrize(
    "because", [Unavailable(what="The database"), OSError(), asyncpg.CannotConnectNowError("starts")]
)
async def test_entries_outlast_an_outage_and_are_written_once(
    database: Database, way: Away, because: Exception
) -> None:
    buffer = EntryBuffer(database, AUDIT_LOG)
    way.away, way.because = True, because
    buffer.put(lambda: entry("first"))
    await asyncio.sleep(0.1)
    buffer.put(lambda: entry("second"))
    await buffer.write(lambda: entry("third"))
    assert await logged_operations(database) == []
    way.away, way.lose_answers = False, 2
    await settled(buffer)
    assert await logged_operations(database) == ["first", "second", "third"]
    assert way.writes > 3


async def test_the_database_itself_may_end_connections(database: Database) -> None:
    buffer = EntryBuffer(database, AUDIT_LOG)
    buffer.put(lambda: entry("before"))
    await buffer.flush()
    async with database.engine.begin() as connection:
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        await connection.execute(text(ends))
    buffer.put(lambda: entry("after"))
    await settled(buffer)
    assert await logged_operations(database) == ["before", "after"]


async def test_the_end_of_the_program_writes_what_is_left(database: Database) -> None:
    buffer = EntryBuffer(database, AUDIT_LOG)
    buffer.put(lambda: entry("last"))
    await buffer.aclose()
    assert await logged_operations(database) == ["last"]


async def test_what_does_not_fit_is_counted(database: Database, way: Away, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    monkeypatch.setattr(buffer_module, "MAX_ENTRIES", 3)
    buffer = EntryBuffer(database, AUDIT_LOG)
    way.away = True
    for number in range(5):
        buffer.put(lambda number=number: entry(str(number)))  # type: ignore[misc]
    assert sum(lost) == 2
    await buffer.aclose()  # the database does not come back
    assert sum(lost) == 5
    assert await logged_operations(database) == []


async def test_a_burst_waits_for_room_and_loses_nothing(
    database: Database, way: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    monkeypatch.setattr(buffer_module, "MAX_ENTRIES", 300)
    monkeypatch.setattr(buffer_module, "WRITE_BATCH_SIZE", 100)
    buffer, held = EntryBuffer(database, AUDIT_LOG), []

    async def client(who: int) -> None:
        for number in range(100):
            if buffer.is_full:
                await buffer.wait_for_room()
            buffer.put(partial(entry, f"{who}.{number}"))
            held.append(len(buffer._drafts) + len(buffer._entries))
            await asyncio.sleep(0)

    await asyncio.gather(*(client(who) for who in range(30)))
    await settled(buffer)
    assert sorted(await logged_operations(database)) == sorted(
        f"{who}.{number}" for who in range(30) for number in range(100)
    )
    assert lost == []
    assert max(held) <= 300


async def test_a_burst_while_the_database_is_away_waits_for_nobody_and_counts_what_it_loses(
    database: Database, way: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    monkeypatch.setattr(buffer_module, "MAX_ENTRIES", 300)
    buffer, way.away = EntryBuffer(database, AUDIT_LOG), True
    buffer.put(lambda: entry("first"))
    with pytest.raises(asyncpg.CannotConnectNowError):
        await buffer.flush()
    for number in range(1000):
        if buffer.is_full:
            await buffer.wait_for_room()
        buffer.put(partial(entry, str(number)))
    assert sum(lost) == 1001 - 300
    way.away = False
    await settled(buffer)
    assert len(await logged_operations(database)) == 300
    assert sum(lost) == 1001 - 300


@pytest.mark.parametrize("away", [False, True])
async def test_large_entries_are_bounded_by_their_bytes(
    database: Database, way: Away, monkeypatch: pytest.MonkeyPatch, *, away: bool
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    monkeypatch.setattr(buffer_module, "MAX_BYTES", 10 * len(entry("1")))
    buffer, way.away = EntryBuffer(database, AUDIT_LOG), away
    buffer.put(lambda: entry("0"))
    with pytest.raises(asyncpg.CannotConnectNowError) if away else contextlib.nullcontext():
        await buffer.flush()
    for _ in range(30):
        buffer.put(lambda: entry("1"))
    if away:
        with pytest.raises(asyncpg.CannotConnectNowError):
            await buffer.flush()
        assert buffer.is_full
        assert sum(lost) == 21
        await buffer.aclose()
        assert sum(lost) == 31
    else:
        await settled(buffer)
        assert len(await logged_operations(database)) == 31
        assert lost == []


async def test_a_wait_for_one_entry_is_none_for_those_that_come_later(database: Database, way: Away) -> None:
    buffer = EntryBuffer(database, AUDIT_LOG)

    async def more() -> None:
        while not done.is_set():
            buffer.put(lambda: entry("more"))
            await asyncio.sleep(0)

    done = asyncio.Event()
    flood = asyncio.create_task(more())
    await buffer.write(lambda: entry("mine"))
    assert "mine" in await logged_operations(database)
    done.set()
    await flood
    await settled(buffer)


async def test_a_wrong_entry_among_many_is_found_in_a_few_writes(
    database: Database, way: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    buffer = EntryBuffer(database, AUDIT_LOG)
    for number in range(1000):
        buffer.put(lambda number=number: entry("x" * 81 if number == 700 else str(number)))  # type: ignore[misc]
    await buffer.flush()
    assert await logged_operations(database) == [str(number) for number in range(1000) if number != 700]
    assert sum(lost) == 1
    assert way.writes < 40


async def test_what_is_kept_of_an_entry_is_its_bytes_and_little_more(database: Database, way: Away) -> None:
    buffer, way.away = EntryBuffer(database, AUDIT_LOG), True
    tracemalloc.start()
    try:
        for _ in range(1000):
            buffer.put(lambda: entry("small"))
        with pytest.raises(asyncpg.CannotConnectNowError):
            await buffer.flush()
        held = sum(trace.size for trace in tracemalloc.take_snapshot().traces if trace.size > 100)
    finally:
        tracemalloc.stop()
    assert buffer._bytes < held < 2 * buffer._bytes + 200_000
    await buffer.aclose()


async def test_one_entry_that_cannot_be_written_takes_no_other_with_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(AUDIT_LOG.lost, "inc", lost.append)
    buffer = EntryBuffer(database, AUDIT_LOG)
    buffer.put(lambda: entry("a"))
    buffer.put(lambda: entry("x" * 81))
    buffer.put(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    buffer.put(lambda: entry("b"))
    await buffer.flush()
    assert await logged_operations(database) == ["a", "b"]
    assert sum(lost) == 2
    await buffer.aclose()
