"""Time moves forward only, for everybody, and what is queued comes as much nearer."""

import asyncio
import datetime as dt

import pytest
from sqlalchemy import text

from store.core.clock import MAX_AHEAD, Clock, parse_duration
from store.database.db import Database
from store.database.shared_clock import advance_clock, follow_clock, keep_following, stored_offset
from store.job.jobs import JobKind, enqueue_job
from store.kv import open_kv

HOUR = dt.timedelta(hours=1)


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("90s", dt.timedelta(seconds=90)), ("15m", dt.timedelta(minutes=15)), ("2h", 2 * HOUR), ("3d", 72 * HOUR),
        ("1d12h", 36 * HOUR), ("1D 12H", 36 * HOUR), ("0d1s", dt.timedelta(seconds=1)), ("3650d", MAX_AHEAD),
    ],
)  # fmt: skip
def test_a_length_of_time_is_read(written: str, length: dt.timedelta) -> None:
    assert parse_duration(written) == length


@pytest.mark.parametrize(
    "written", ["", " ", "0s", "-1h", "1h-2m", "2", "1.5h", "h", "12h1d", "1y", "3651d", "9" * 30 + "d", "²h"]
)
def test_what_is_no_length_of_time_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="1d12h"):
        parse_duration(written)


def test_a_clock_never_goes_back_and_tells_when_it_was_moved() -> None:
    clock, moves = Clock(), []
    with clock.on_move(lambda: moves.append(clock.ahead)):
        clock.advance(HOUR)
        clock.follow(HOUR / 2)
        clock.follow(HOUR)
        clock.follow(3 * HOUR)
    clock.advance(HOUR)
    assert moves == [HOUR, 3 * HOUR]
    assert clock.ahead == 4 * HOUR
    with pytest.raises(ValueError, match="forward"):
        clock.advance(-HOUR)


def test_the_past_is_told_while_a_block_runs() -> None:
    clock = Clock()
    clock.advance(HOUR)
    before = clock.now()
    with clock.set_back(10 * HOUR):
        assert before - 10 * HOUR <= clock.now() < before
        assert before.timestamp() - 36000 <= clock.timestamp() < before.timestamp()
        assert clock.ahead == HOUR
        with clock.set_back(HOUR):
            assert before - HOUR <= clock.now() < before
        assert clock.now() < before - 9 * HOUR
    assert clock.now() >= before
    with pytest.raises(ValueError, match="positive"), clock.set_back(-HOUR):
        pass


async def test_whoever_is_further_ahead_leads(database: Database) -> None:
    one, other = Clock(), Clock()
    await follow_clock(database, one)
    assert (await stored_offset(database), one.ahead) == (dt.timedelta(), dt.timedelta())
    assert await advance_clock(database, HOUR) == HOUR
    await follow_clock(database, one)
    assert one.ahead == HOUR
    one.advance(HOUR)  # as the sandbox does
    await asyncio.gather(*(follow_clock(database, clock) for clock in (one, one, other)))
    await follow_clock(database, other)
    assert (await stored_offset(database), other.ahead) == (2 * HOUR, 2 * HOUR)


async def test_moves_at_once_add_up(database: Database) -> None:
    await asyncio.gather(*(advance_clock(database, HOUR) for _ in range(10)))
    assert await stored_offset(database) == 10 * HOUR


async def test_time_moves_ten_years_and_no_further(database: Database) -> None:
    await advance_clock(database, MAX_AHEAD - HOUR)
    with pytest.raises(ValueError, match="3650 days"):
        await advance_clock(database, 2 * HOUR)
    assert await stored_offset(database) == MAX_AHEAD - HOUR


async def test_a_clock_that_was_moved_too_far_leads_as_far_as_it_may(database: Database) -> None:
    clock = Clock()
    clock.advance(MAX_AHEAD + HOUR)
    await follow_clock(database, clock)
    assert await stored_offset(database) == MAX_AHEAD
    await follow_clock(database, clock)
    assert clock.ahead == MAX_AHEAD + HOUR


async def test_a_follower_outlasts_the_databases_absence(database: Database) -> None:
    clock = Clock()
    following = asyncio.create_task(keep_following(database, clock))
    for old, new in (("development_clock", "away"), ("away", "development_clock")):
        async with database.engine.begin() as connection:
            await connection.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))
        await asyncio.sleep(0.7)
    await advance_clock(database, HOUR)
    async with asyncio.timeout(60):
        while clock.ahead != HOUR:
            await asyncio.sleep(0.05)
    following.cancel()


async def test_what_is_queued_comes_nearer_by_as_much(database: Database) -> None:
    async with database.sessions() as db, db.begin():
        await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": "a"}, after=2 * HOUR)
    run = text(
        "INSERT INTO pgqueuer_schedules (expression, entrypoint, next_run) VALUES ('0 3 * * *', 'x', now() + interval '9 hours')"
    )
    async with database.engine.begin() as connection:
        await connection.execute(run)
    await advance_clock(database, 2 * HOUR)
    due = "SELECT execute_after <= now() FROM pgqueuer UNION ALL SELECT next_run <= now() + interval '7 hours' FROM pgqueuer_schedules"
    assert [row[0] for row in await database.rows(text(due))] == [True, True]


async def test_what_is_held_in_memory_ends_by_the_clock() -> None:
    clock = Clock()
    held = open_kv("", clock)
    await held.write("k", b"v", 2 * HOUR)
    clock.follow(2 * HOUR - dt.timedelta(seconds=1))
    assert await held.get("k") is not None
    clock.follow(2 * HOUR)
    assert await held.get("k") is None
