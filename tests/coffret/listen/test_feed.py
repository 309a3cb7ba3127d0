"""Reading events over the API of a real server: each once, in order, whatever is committed when."""

import contextlib
import dataclasses
import datetime as dt
import pathlib
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.command_error import CommandError
from coffret.demo.users import MARKETPLACE_USER, PARTNER_USERS, PASSWORD
from coffret.listen import feed as feeding
from coffret.listen.api import MAX_RETRY_PAUSE, RETRY_PAUSE, ApiClient, ApiUnavailable
from coffret.listen.feed import COMMIT_LAG, EventFeed, ReceivedEvent
from schema.event import EVENT_EXAMPLES, EventType
from store.core.clock import clock
from store.database.db import Database
from store.event.events import NewEvent, emit
from tests.servers.coffret_programs import Program
from tests.servers.databases import Databases
from tests.servers.ports import free_port
from tests.servers.receivers import answers, closes, receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")

BAD_TOKEN = "coffret_thisIsNoToken"


@dataclass
class FeedServer:
    """`coffret serve` with the demo data, and a way into its database."""

    program: Program
    db: Database

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.program.port}"

    async def happen(self, subject: object, partner_id: int = 1, kind: EventType = EventType.CART_EXPIRED) -> None:
        """Something happens."""
        async with self.db.sessions() as db, db.begin():
            await happen(db, subject, partner_id, kind)

    async def execute(self, statement: str, **parameters: Any) -> None:
        """Change something behind the back of the program."""
        async with self.db.engine.begin() as connection:
            await connection.execute(text(statement), parameters)


async def happen(
    db: AsyncSession, subject: object, partner_id: int = 1, kind: EventType = EventType.CART_EXPIRED
) -> None:
    """Something happens in a transaction."""
    await emit(db, NewEvent(kind, partner_id=partner_id, subject=str(subject), data=EVENT_EXAMPLES[kind]))


@contextlib.asynccontextmanager
async def serving(database_url: str, folder: pathlib.Path) -> AsyncIterator[FeedServer]:
    """A server on a migrated database."""
    program = Program(folder / "data", free_port(), DATABASE_URL=database_url, COFFRET_DEMO="true")
    served = FeedServer(program, Database(database_url))
    try:
        program.wait_until_ready()
        yield served
    finally:
        await served.db.aclose()
        served.program.end(signal.SIGTERM)  # which may be another by now


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def feed_server(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FeedServer]:
    """One server for the tests of this module."""
    async with (
        databases.one() as url,
        serving(url, tmp_path_factory.mktemp("served")) as found,
    ):
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def api(feed_server: FeedServer) -> AsyncIterator[ApiClient]:
    """A client of the server, logged in."""
    async with ApiClient(feed_server.url) as api:
        assert await api.log_in(MARKETPLACE_USER, PASSWORD)
        yield api


@pytest_asyncio.fixture(loop_scope="module")
async def feed(api: ApiClient) -> EventFeed:
    """The events from now on."""
    feed = EventFeed(api)
    await feed.start()
    return feed


async def new(feed: EventFeed) -> list[str]:
    """The subjects of the events that are new."""
    return [event.subject async for event in feed.poll()]


async def test_what_happens_is_told_once_and_in_order(feed_server: FeedServer, api: ApiClient) -> None:
    await feed_server.happen("before")
    feed = EventFeed(api)
    await feed.start()
    assert await new(feed) == []
    for subject in "abc":
        await feed_server.happen(subject)
    assert await new(feed) == ["a", "b", "c"]
    assert await new(feed) == []
    await feed_server.happen("d")
    assert await new(feed) == ["d"]


async def test_an_event_is_told_whole(feed_server: FeedServer, feed: EventFeed) -> None:
    await feed_server.happen("whole", 2)
    (event,) = [event async for event in feed.poll()]
    row = (
        await feed_server.db.rows(
            text("SELECT e.*, p.uuid FROM event e JOIN partner p ON p.id = 2 WHERE subject = 'whole'")
        )
    )[0]
    assert event == ReceivedEvent(row.key, "cart.expired", row.occurred_on, "whole", row.data, (2, row.uuid))


async def test_what_is_committed_late_is_told_late(feed_server: FeedServer, feed: EventFeed) -> None:
    async with feed_server.db.sessions() as slow, slow.begin():
        await happen(slow, "slow")
        await feed_server.happen("quick")
        assert await new(feed) == ["quick"]
    assert await new(feed) == ["slow"]
    assert await new(feed) == []


async def test_what_began_before_the_listening_and_is_committed_after_is_told(
    feed_server: FeedServer, api: ApiClient
) -> None:
    feed = EventFeed(api)
    async with feed_server.db.sessions() as slow, slow.begin():
        await happen(slow, "slow")
        await feed_server.happen("before")
        await feed.start()
    assert await new(feed) == ["slow"]


@pytest.mark.parametrize("page", [1, 2, 3])
async def test_pages(feed_server: FeedServer, api: ApiClient, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(feeding, "PAGE_SIZE", page)
    feed = EventFeed(api)
    await feed.start()
    subjects = [f"{page}:{number}" for number in range(7)]
    for subject in subjects:
        await feed_server.happen(subject)
    assert await new(feed) == subjects
    assert await new(feed) == []


async def test_what_is_old_is_not_read_again(feed_server: FeedServer, api: ApiClient) -> None:
    seconds = 0.0
    asked: list[Mapping[str, Any]] = []

    class RecordingClient(ApiClient):
        async def execute(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
            asked.append(variables)
            return await super().execute(query, variables)

    async with RecordingClient(api.url, api.token) as noted:
        feed = EventFeed(noted, monotonic=lambda: seconds)
        await feed.start()
        await feed_server.happen("old")
        asked.clear()
        assert await new(feed) == ["old"]
        began_at = asked[0]["after"]
        seconds = COMMIT_LAG.total_seconds() - 1
        await feed_server.happen("newer")
        asked.clear()
        assert await new(feed) == ["newer"]
        assert asked[0]["after"] == began_at
        seconds = COMMIT_LAG.total_seconds() + 1
        assert await new(feed) == []
        assert await new(feed) == []
        assert asked[-1]["after"] != began_at
        assert list(feed._seen_keys.values()) == [COMMIT_LAG.total_seconds() - 1]
        await feed_server.happen("newest")
        assert await new(feed) == ["newest"]


async def test_since(feed_server: FeedServer, api: ApiClient) -> None:
    await feed_server.happen("recent")
    await feed_server.happen("old")
    await feed_server.execute(
        "UPDATE event SET occurred_on = occurred_on - interval '1 hour' WHERE subject <> 'recent'"
    )
    feed = EventFeed(api, clock.now() - dt.timedelta(minutes=10))
    await feed.start()
    assert await new(feed) == ["recent"]
    await feed_server.happen("now")
    assert await new(feed) == ["now"]


async def test_after_an_outage_it_goes_on_where_it_stood(
    feed_server: FeedServer, api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "PAGE_SIZE", 2)
    outages = [False] * 3 + [True]

    class Shaky(ApiClient):
        async def execute(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
            if outages and outages.pop(0):
                raise ApiUnavailable("gone")
            return await super().execute(query, variables)

    async with Shaky(api.url, api.token) as shaky:
        feed = EventFeed(shaky)
        await feed.start()
        subjects = [f"outage {number}" for number in range(9)]
        for subject in subjects:
            await feed_server.happen(subject)
        told: list[str] = []

        async def read() -> None:
            async for event in feed.poll():
                told.append(event.subject)  # noqa: PERF401 - what was told before the outage counts

        with pytest.raises(ApiUnavailable):
            await read()
        assert 0 < len(told) < len(subjects)
        assert told + await new(feed) == subjects


async def test_a_partner_hears_of_its_own(feed_server: FeedServer) -> None:
    async with ApiClient(feed_server.url) as api:
        assert await api.log_in(PARTNER_USERS[0], PASSWORD)
        feed = EventFeed(api)
        await feed.start()
        await feed_server.happen("of the other", 2)
        await feed_server.happen("own", 1)
        assert await new(feed) == ["own"]


# ---- what can go wrong ------------------------------------------------------------------------------------------------


async def refusal(url: str, token: str = BAD_TOKEN) -> str:
    """What a developer is told."""
    async with ApiClient(url, token) as api:
        with pytest.raises(CommandError) as caught:
            await EventFeed(api).start()
    return str(caught.value)


async def test_a_token_that_nobody_knows(feed_server: FeedServer) -> None:
    told = await refusal(feed_server.url)
    assert told.startswith(f"{feed_server.url} does not know this token. Create one there with `coffret token create`")


async def test_a_token_that_may_not(feed_server: FeedServer) -> None:
    await feed_server.execute("UPDATE app_user SET permissions = '{}' WHERE username = :name", name=PARTNER_USERS[1])
    async with ApiClient(feed_server.url) as api:
        assert await api.log_in(PARTNER_USERS[1], PASSWORD)
        assert "permissions.manage_webhook" in await refusal(feed_server.url, api.token)


async def test_a_wrong_password(feed_server: FeedServer) -> None:
    async with ApiClient(feed_server.url) as api:
        assert await api.log_in(MARKETPLACE_USER, "wrong") is False
        assert api.token == ""


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"hello": 1}'])
async def test_something_else_answers(body: bytes) -> None:
    async with receiving() as receiver:
        receiver.otherwise = answers(404, body)
        url = f"http://127.0.0.1:{receiver.port}"
        assert await refusal(url) == f"There is no Coffret at {url}: {url}/graphql/ answers 404."


@pytest.mark.parametrize("url", ["pay.example", "ftp://pay.example", "http://", "http://[::1"])
async def test_an_address_that_is_none(url: str) -> None:
    assert "is no address of a Coffret" in await refusal(url)


async def away(url: str) -> ApiUnavailable:
    """What keeps it from being asked."""
    async with ApiClient(url, "t") as api:
        with pytest.raises(ApiUnavailable) as caught:
            await EventFeed(api).start()
    return caught.value


async def test_nobody_answers() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert str(await away(url)).startswith(f"Nothing answers at {url} (")
    async with receiving() as receiver:
        receiver.otherwise = closes
        assert "Nothing answers" in str(await away(f"http://127.0.0.1:{receiver.port}"))


@pytest.mark.parametrize(
    ("status", "headers", "pause"),
    [
        (503, {}, RETRY_PAUSE),
        (503, {"retry_after": "7"}, dt.timedelta(seconds=7)),
        (429, {"retry_after": "0"}, RETRY_PAUSE),
        (429, {"retry_after": "9" * 4000}, MAX_RETRY_PAUSE),
        (500, {"retry_after": "Sat, 21 Nov 2026 08:00:00 GMT"}, RETRY_PAUSE),
    ],
)
async def test_it_says_how_long_to_wait(status: int, headers: dict[str, str], pause: dt.timedelta) -> None:
    async with receiving() as receiver:
        receiver.otherwise = answers(status, b"", **headers)
        found = await away(f"http://127.0.0.1:{receiver.port}/")
    assert str(found) == f"http://127.0.0.1:{receiver.port} answers {status}"
    assert found.retry_after == pause


async def test_types_that_are_newer_than_this_program() -> None:
    node = {"id": "evt_1", "occurredOn": "2026-11-21T08:00:00.000000Z", "subject": "1", "data": {}}
    partner = {"id": 1, "uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11"}
    names: Sequence[str] = [kind.name for kind in EventType]
    told = [feeding._parse_event({**node, "type": name, "partner": partner}) for name in (*names, "GIFT_SENT")]
    assert [event.type for event in told] == [*(kind.value for kind in EventType), "gift.sent"]
    assert dataclasses.replace(told[0], type="x").key == "evt_1"
