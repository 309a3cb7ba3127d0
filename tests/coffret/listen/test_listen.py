"""`coffret listen` as a developer runs it: a real program, a real server, a real receiver that verifies."""

import asyncio
import contextlib
import os
import pathlib
import signal
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator

import orjson
import pytest
import pytest_asyncio
from sqlmodel import col, select

from coffret.command_error import CommandError
from coffret.commands.listen import Display, ListenOptions, event_types_matching, parse_since, run
from coffret.listen import forwarding
from coffret.listen.feed import ReceivedEvent
from coffret.listen.forwarding import Forwarder, checked_url, message_id
from coffret.listen.secret import listening_secret
from schema.event import EVENT_EXAMPLES, EventType
from store.core.clock import clock
from store.event.events import EventRow
from store.partner.partners import PartnerRow
from store.webhook.queue import event_body
from tests.coffret.listen.test_feed import FeedServer, serving
from tests.servers.databases import Databases
from tests.servers.fork_server import fork_server
from tests.servers.ports import free_port
from tests.servers.receivers import TAKES, Receiver, answers, closes, hangs, receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")

WITHIN = 60.0
"""Seconds; generous, since tests run on busy machines."""
OWN = "cart.expired"
"""The events that these tests make happen. The server has others of its own, whenever its schedule says so."""
NO_PAUSES = (forwarding.RETRY_PAUSES[0] / 50,) * 3


class Listener:
    """A running `coffret listen`."""

    def __init__(self, home: pathlib.Path, *options: str, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COFFRET_", "XDG_"))}
        number = len(list(home.glob("output-*")))
        self.output, self.errors = home / f"output-{number}", home / f"errors-{number}"
        with self.output.open("wb") as output, self.errors.open("wb") as errors:
            self.process = fork_server.start(
                "coffret.cli", "listen", *options,
                environment={**kept, "HOME": str(home), **environment}, stdout=output, stderr=errors,
            )  # fmt: skip

    def read_output(self) -> str:
        """What it has written so far."""
        return self.output.read_text()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + WITHIN
        while not true():
            assert self.process.poll() is None, self.read_output() + self.errors.read_text()
            assert time.monotonic() < deadline, self.read_output() + self.errors.read_text()
            await asyncio.sleep(0.02)

    async def listens(self) -> None:
        """Wait until it listens."""
        await self.until(lambda: "Listening to" in self.read_output() + self.errors.read_text())

    def interrupt(self) -> int:
        """The exit code after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=WITHIN)

    def ended(self) -> tuple[int, str]:
        """The exit code of one that ends by itself, and what it complained of."""
        return self.process.wait(timeout=WITHIN), self.errors.read_text()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def feed_server(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FeedServer]:
    """One server for the tests of this module."""
    async with (
        databases.one() as url,
        serving(url, tmp_path_factory.mktemp("served")) as found,
    ):
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that a developer works at."""
    async with receiving() as found:
        yield found


@pytest.fixture
def listen(feed_server: FeedServer, tmp_path: pathlib.Path) -> Iterator[Callable[..., Listener]]:
    """Starts `coffret listen` against the server."""
    started: list[Listener] = []

    def start(*options: str, **environment: str) -> Listener:
        started.append(Listener(tmp_path, *options, **{"COFFRET_URL": feed_server.url, **environment}))
        return started[-1]

    yield start
    for listener in started:
        if listener.process.poll() is None:
            listener.process.kill()
            listener.process.wait()


async def test_events_are_shown_and_forwarded_as_webhooks_are(
    feed_server: FeedServer, receiver: Receiver, listen: Callable[..., Listener]
) -> None:
    await feed_server.happen("before")
    listener = listen("--forward-to", receiver.url, "--events", OWN)
    await listener.listens()
    await feed_server.happen("first", 1)
    await feed_server.happen("second", 2)
    await listener.until(lambda: len(receiver.received) == 2 and listener.read_output().count("→") == 2)
    assert f"Listening to {feed_server.url} as marketplace@demo.localhost." in listener.read_output()
    printed = listen("--print-secret")
    assert printed.ended() == (0, "")
    secret = printed.read_output().strip()
    assert f"Forwarding to {receiver.url}, signed with {secret}\n" in listener.read_output()
    for received, subject in zip(receiver.received, ("first", "second"), strict=True):
        assert received.verified(secret)["subject"] == subject
        assert (received.method, received.path) == ("POST", "/hooks?shop=1")
        async with feed_server.db.sessions() as db:
            query = select(EventRow, PartnerRow.uuid).join(PartnerRow, col(PartnerRow.id) == col(EventRow.partner_id))
            event, uuid = (await db.exec(query.where(col(EventRow.subject) == subject))).one()
        assert received.body == event_body(event, uuid), "what is forwarded is what a webhook would have brought"
        assert event.key in listener.read_output()
    assert "before" not in listener.read_output()
    assert listener.read_output().count("204 in ") == 2
    assert listener.interrupt() == 0
    assert listener.read_output().endswith("Stopped.\n")
    assert listener.errors.read_text() == ""


async def test_what_the_receiver_refuses_is_told_and_not_sent_again(
    feed_server: FeedServer, receiver: Receiver, listen: Callable[..., Listener]
) -> None:
    listener = listen("--forward-to", receiver.url.partition("://")[2], "--events", OWN)
    await listener.listens()
    receiver.script += [answers(500), answers(302, location="http://127.0.0.1:1/"), closes, TAKES]
    for number in range(4):
        await feed_server.happen(f"refused {number}")
    await listener.until(lambda: listener.read_output().count("→") == 4)
    told = [line.split("→ ")[1] for line in listener.read_output().splitlines() if "→" in line]
    assert [line.partition(" in ")[0] for line in told[:2]] == ["500", "302"]
    assert told[2].startswith("not delivered: ")
    assert told[3].startswith("204 in ")
    assert len(receiver.received) == 4


async def test_json_and_a_filter(feed_server: FeedServer, listen: Callable[..., Listener]) -> None:
    listener = listen("--print-json", "--events", "order.*", "--events", "webhook.test, cart.expired")
    await listener.listens()
    await feed_server.happen("as json")
    await listener.until(lambda: listener.read_output().count("\n") == 1)
    (event,) = map(orjson.loads, listener.read_output().splitlines())
    assert (event["type"], event["subject"]) == ("cart.expired", "as json")
    assert event["data"] == EVENT_EXAMPLES[EventType.CART_EXPIRED]
    await listener.until(lambda: "as json" in listener.errors.read_text())
    listener.interrupt()
    other = listen("--events", "order.*,cart.completed", "--since", "1h")
    await other.listens()
    await feed_server.happen("left out")
    await feed_server.happen("let in", kind=EventType.CART_COMPLETED)
    await other.until(lambda: "let in" in other.read_output())
    assert "cart.expired" not in other.read_output()
    assert other.interrupt() == 0


async def test_since(feed_server: FeedServer, listen: Callable[..., Listener]) -> None:
    await feed_server.happen("a while ago")
    listener = listen("--since", "10m")
    await listener.until(lambda: "a while ago" in listener.read_output())


async def test_what_can_be_put_right_is_told_in_a_sentence(listen: Callable[..., Listener]) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    code, errors = listen("--url", gone).ended()
    assert code == 1
    assert errors.startswith(f"coffret: Nothing answers at {gone} (")
    assert errors.endswith("Is it running? `make run` starts one; --url names another.\n")


async def test_other_things_that_can_be_put_right(feed_server: FeedServer) -> None:
    for wanted, told in [
        (ListenOptions(feed_server.url, token="coffret_thisIsNoToken"), "does not know this token"),
        (ListenOptions("https://pay.example"), "A token is required. Create one with `coffret token create USERNAME`"),
        (
            ListenOptions(feed_server.url, events=["oder.*"]),
            r"No event is called oder\.\*\. There are: cart.completed, cart",
        ),
        (ListenOptions(feed_server.url, since="yesterday"), "Write a length of time such as"),
    ]:
        with pytest.raises(CommandError, match=told):
            await run(wanted, Display(as_json=False))


async def test_a_server_that_is_started_again_is_waited_for(databases: Databases, tmp_path: pathlib.Path) -> None:
    (tmp_path / "home").mkdir()
    async with databases.one() as url, contextlib.AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(url, tmp_path))
        listener = Listener(tmp_path / "home", "--url", served.url)
        stack.callback(listener.process.wait)
        stack.callback(listener.process.kill)
        await listener.listens()
        served.program.end(signal.SIGTERM)
        await served.happen("while it was away")
        await listener.until(lambda: "Waiting for it." in listener.read_output())
        served.program = type(served.program)(tmp_path / "data", served.program.port, DATABASE_URL=url)
        served.program.wait_until_ready()
        await listener.until(lambda: "The server answers again." in listener.read_output())
        assert listener.read_output().count("while it was away") == 1
        assert listener.read_output().count("Waiting for it.") == 1


# ---- forwarding -------------------------------------------------------------------------------------------------------


async def happened(served: FeedServer) -> ReceivedEvent:
    """An event."""
    (uuid,) = (await served.db.rows(select(PartnerRow.uuid).limit(1)))[0]
    data = EVENT_EXAMPLES[EventType.ORDER_PAID]
    return ReceivedEvent("evt_1", "order.paid", clock.now(), "12", data, (1, uuid))


async def test_a_receiver_that_starts_late_is_sent_to(feed_server: FeedServer) -> None:
    event, port = await happened(feed_server), free_port()
    secret = "whsec_" + "c2VjcmV0" * 4
    async with Forwarder(f"http://127.0.0.1:{port}/", secret, pauses=NO_PAUSES) as forwarder:
        receipt = await forwarder.send(event)
        assert (receipt.is_delivered, receipt.status, receipt.error) == (False, None, "nobody listens there")
    async with Forwarder(f"http://127.0.0.1:{port}/", secret) as forwarder:
        sending = asyncio.create_task(forwarder.send(event))
        await asyncio.sleep(0.2)
        receiver = Receiver(port)
        server = await asyncio.start_server(receiver.serve, "127.0.0.1", port)
        receipt = await sending
        assert receipt.is_delivered
        assert (await forwarder.send(event)).is_delivered
        server.close()
        await server.wait_closed()
    assert {received.message_id for received in receiver.received} == {message_id(event)}
    for received in receiver.received:
        assert received.verified(secret)["id"] == "evt_1"


async def test_a_receiver_that_hangs_is_given_up(
    feed_server: FeedServer, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarding, "TIMEOUT", forwarding.RETRY_PAUSES[0] / 2)
    receiver.otherwise = hangs
    async with Forwarder(receiver.url, "whsec_" + "c2VjcmV0" * 4) as forwarder:
        receipt = await forwarder.send(await happened(feed_server))
    assert receipt.status is None
    assert receipt.error.startswith("no answer within")
    assert len(receiver.received) == 1


async def test_addresses_to_forward_to() -> None:
    assert checked_url("localhost:3000/hooks") == "http://localhost:3000/hooks"
    assert checked_url("https://shop.example/hooks?a=1") == "https://shop.example/hooks?a=1"
    for wrong in ("", "http://", "ftp://here/", "mailto://", "http://[::1"):
        with pytest.raises(CommandError, match="no address to forward to"):
            checked_url(wrong)


# ---- what the command line says ---------------------------------------------------------------------------------------


async def test_patterns() -> None:
    assert event_types_matching([]) is None
    assert event_types_matching(["*"]) == frozenset(kind.value for kind in EventType)
    assert event_types_matching(["order.*", "cart.expired"]) == frozenset(
        ("order.created", "order.paid", "order.fulfilment_changed", "order.details_corrected", "cart.expired")
    )
    for wrong in ("", "order", "order.*,", "ORDER.PAID"):
        with pytest.raises(CommandError, match="No event is called"):
            event_types_matching([wrong])


async def test_moments() -> None:
    assert parse_since("") is None
    found = parse_since("2h")
    assert found is not None
    assert 7200 <= (clock.now() - found).total_seconds() < 7230
    with pytest.raises(CommandError, match="length of time"):
        parse_since("2 o'clock")


# ---- the secret -------------------------------------------------------------------------------------------------------


async def test_the_secret_is_the_same_each_time_and_ones_own(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "settings" / "listen-secret"
    loop = asyncio.get_running_loop()
    found = await asyncio.gather(*(loop.run_in_executor(None, listening_secret, file) for _ in range(20)))
    assert len(set(found)) == 1
    assert found[0] == listening_secret(file)
    assert found[0].startswith("whsec_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["listen-secret"]
    assert listening_secret(tmp_path / "another") != found[0]


@pytest.mark.parametrize("held", [b"", b"whsec_", b"whsec_c2hvcnQ=", b"whsec_!", b"hello", b"\xff"])
async def test_a_secret_that_is_none_is_told(tmp_path: pathlib.Path, held: bytes) -> None:
    file = tmp_path / "listen-secret"
    file.write_bytes(held)
    with pytest.raises(CommandError, match="listen-secret"):
        listening_secret(file)
    assert file.read_bytes() == held


async def test_a_folder_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="cannot be stored"):
        listening_secret(tmp_path / "file" / "listen-secret")
