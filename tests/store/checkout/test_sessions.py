"""Customers' sessions on every engine: sliding 24 hours, never two writers over each other."""

import asyncio
import datetime as dt

import pytest

from store.checkout.sessions import Sessions
from store.core.clock import clock
from store.core.session_ids import new_session_id
from store.kv import KeyValueStore
from tests.servers.redis_servers import RedisServer

PARTNER, OTHER = 7, 8
DAY = dt.timedelta(hours=24)
MARGIN = dt.timedelta(minutes=1)
"""Longer than a test waits for a slow machine."""


@pytest.fixture
def sessions(kv: KeyValueStore) -> Sessions:
    """All sessions, of which there are none."""
    return Sessions(kv)


async def begun(sessions: Sessions, data: bytes = b"{}") -> tuple[str, int]:
    """A new session of PARTNER: its id and version."""
    session_id = new_session_id()
    version = await sessions.save(PARTNER, session_id, data)
    assert version is not None
    return session_id, version


def test_ids_are_256_random_bits() -> None:
    ids = {new_session_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(id) for id in ids} == {43}


async def test_a_session_is_loaded_as_it_was_saved(sessions: Sessions) -> None:
    session_id, version = await begun(sessions, b'{"a":1}')
    assert await sessions.load(PARTNER, session_id) == (b'{"a":1}', version)
    later = await sessions.save(PARTNER, session_id, b"{}", version)
    assert later is not None
    assert later > version
    assert await sessions.load(PARTNER, session_id) == (b"{}", later)


@pytest.mark.parametrize("unknown", ["", "a" * 43, "}{p8}:x\r\n", "\ud800é"])
async def test_unknown_ids(sessions: Sessions, unknown: str) -> None:
    assert await sessions.load(PARTNER, unknown) is None
    assert await sessions.delete(PARTNER, unknown) is False


async def test_nobody_elses_session(sessions: Sessions) -> None:
    session_id, version = await begun(sessions)
    assert await sessions.load(OTHER, session_id) is None
    assert await sessions.save(OTHER, session_id, b"[]", version) is None
    assert await sessions.delete(OTHER, session_id) is False
    assert await sessions.load(PARTNER, session_id) == (b"{}", version)


async def test_a_session_lives_24_hours_from_the_last_visit(sessions: Sessions) -> None:
    session_id, version = await begun(sessions)
    for _ in range(3):
        clock.advance(DAY - MARGIN)
        assert await sessions.load(PARTNER, session_id) == (b"{}", version)
    clock.advance(DAY - MARGIN)
    saved = await sessions.save(PARTNER, session_id, b"[]", version)
    assert saved is not None
    clock.advance(DAY - MARGIN)
    assert await sessions.load(PARTNER, session_id) == (b"[]", saved)
    clock.advance(DAY + MARGIN)
    assert await sessions.load(PARTNER, session_id) is None
    assert await sessions.save(PARTNER, session_id, b"{}", saved) is None
    assert await sessions.load(PARTNER, session_id) is None


async def test_of_many_changes_at_once_each_is_made_on_the_one_before(sessions: Sessions) -> None:
    session_id, version = await begun(sessions, b"0")

    async def add_one() -> None:
        while True:
            record = await sessions.load(PARTNER, session_id)
            assert record is not None
            if await sessions.save(PARTNER, session_id, b"%d" % (int(record.value) + 1), record.version):
                return

    await asyncio.gather(*(add_one() for _ in range(20)))
    record = await sessions.load(PARTNER, session_id)
    assert record is not None
    assert record.value == b"20"
    assert await sessions.save(PARTNER, session_id, b"lost", version) is None
    assert await sessions.load(PARTNER, session_id) == record


async def test_a_session_begins_once(sessions: Sessions) -> None:
    session_id = new_session_id()
    versions = await asyncio.gather(*(sessions.save(PARTNER, session_id, b"%d" % n) for n in range(20)))
    (won,) = [n for n, version in enumerate(versions) if version is not None]
    assert await sessions.load(PARTNER, session_id) == (b"%d" % won, versions[won])


async def test_a_deleted_session_is_gone(sessions: Sessions) -> None:
    session_id, version = await begun(sessions)
    assert await sessions.delete(PARTNER, session_id) is True
    assert await sessions.load(PARTNER, session_id) is None
    assert await sessions.save(PARTNER, session_id, b"{}", version) is None


@pytest.mark.redis
@pytest.mark.parametrize("kv_url", ["server"], indirect=True)
async def test_the_server_never_learns_an_id(sessions: Sessions, redis_server: RedisServer) -> None:
    session_id, _ = await begun(sessions)
    (key,) = redis_server.tell("KEYS", "*")
    assert session_id.encode() not in key
    assert session_id.encode() not in redis_server.tell("GET", key)
