"""Sending: to the address that was checked, for a bounded time, wherever the receiver would rather have us go."""

import asyncio
import contextlib
import datetime as dt
import pathlib
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from schema.webhook.webhook import AttemptOutcome
from store.core.settings import Settings
from store.webhook import sender as module
from store.webhook.addresses import ForbiddenAddress
from store.webhook.sender import SendResult, WebhookSender
from tests.servers.receivers import Behaviour, Receiver, answers, closes, drips, hangs, receiving, talks_nonsense

HOME = Settings(webhook_networks_allowed=["127.0.0.0/8"])
HEADERS = {"webhook-id": "msg_1", "content-type": "application/json"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A try takes half a second at most."""
    monkeypatch.setattr(module, "TOTAL_TIMEOUT", dt.timedelta(seconds=0.5))


class Names:
    """A resolver of the test's own, which may change its mind."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextlib.contextmanager
def open_sender(settings: Settings = HOME, names: Names | None = None) -> Iterator[WebhookSender]:
    made = WebhookSender(settings, names)
    yield made
    made.close()


async def send(url: str, settings: Settings = HOME, names: Names | None = None) -> SendResult:
    with open_sender(settings, names) as opened:
        return await opened.send(url, HEADERS, b'{"a":1}')


async def test_a_message_arrives_as_it_was_given(receiver: Receiver) -> None:
    receiver.otherwise = answers(200, b"thanks")
    answer = await send(receiver.url)
    assert (answer.outcome, answer.status, answer.body_excerpt, answer.error) == (
        AttemptOutcome.DELIVERED,
        200,
        "thanks",
        "",
    )
    (request,) = receiver.received
    assert (request.method, request.path, request.body) == ("POST", "/hooks?shop=1", b'{"a":1}')
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["webhook-id"] == "msg_1"
    assert set(request.headers) == {"host", "content-length", "content-type", "webhook-id"}


@pytest.mark.parametrize(
    ("behaviour", "outcome", "status"),
    [
        (answers(204), AttemptOutcome.DELIVERED, 204),
        (answers(299), AttemptOutcome.DELIVERED, 299),
        (answers(301, location="/elsewhere"), AttemptOutcome.REDIRECTED, 301),
        (answers(307, location="http://127.0.0.1:1/"), AttemptOutcome.REDIRECTED, 307),
        (answers(304), AttemptOutcome.REDIRECTED, 304),
        (answers(400), AttemptOutcome.REFUSED, 400),
        (answers(410), AttemptOutcome.GONE, 410),
        (answers(500), AttemptOutcome.REFUSED, 500),
        (closes, AttemptOutcome.UNREACHABLE, None),
        (talks_nonsense, AttemptOutcome.UNREACHABLE, None),
        (hangs, AttemptOutcome.TIMED_OUT, None),
        (drips(None), AttemptOutcome.TIMED_OUT, None),
        (drips(200), AttemptOutcome.DELIVERED, 200),
        (drips(500), AttemptOutcome.REFUSED, 500),
    ],
)
async def test_how_a_try_ends(
    receiver: Receiver, hurried: None, behaviour: Behaviour, outcome: AttemptOutcome, status: int | None
) -> None:
    receiver.otherwise = behaviour
    began = time.monotonic()
    answer = await send(receiver.url)
    assert time.monotonic() - began < 3
    assert (answer.outcome, answer.status) == (outcome, status)
    assert bool(answer.error) is (outcome is not AttemptOutcome.DELIVERED)
    assert len(receiver.received) == 1, "a redirect was followed, or a failure tried again"


async def test_of_a_large_answer_the_beginning_is_kept_and_the_rest_not_read(receiver: Receiver) -> None:
    read = 0

    async def floods(writer: asyncio.StreamWriter) -> None:
        nonlocal read
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                writer.write(b"\x00\xff" + b"y" * 8190)
                await writer.drain()
                read += 8192

    receiver.otherwise = floods
    answer = await send(receiver.url)
    assert answer.outcome is AttemptOutcome.DELIVERED
    assert len(answer.body_excerpt) <= 1024
    assert answer.body_excerpt.startswith("\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}yyy")
    await asyncio.sleep(0.1)
    assert read < 20 * 1024 * 1024


async def test_what_a_receiver_wishes_is_told(receiver: Receiver) -> None:
    receiver.otherwise = answers(429, retry_after="120")
    assert (await send(receiver.url)).retry_after == "120"


async def test_nobody_listens(receiver: Receiver) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    answer = await send(f"http://127.0.0.1:{port}/")
    assert answer.outcome is AttemptOutcome.UNREACHABLE
    assert "127.0.0.1" not in answer.error


async def test_the_environment_changes_nothing(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await send(receiver.url)).outcome is AttemptOutcome.DELIVERED


# ---- inside and outside


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0"],
)
async def test_without_permission_this_machine_is_not_asked(receiver: Receiver, host: str) -> None:
    answer = await send(f"http://{host}:{receiver.port}/", Settings())
    assert answer.outcome in (AttemptOutcome.FORBIDDEN, AttemptOutcome.UNREACHABLE)
    assert answer.outcome is AttemptOutcome.FORBIDDEN or answer.error == "The name of the host is unknown."
    assert receiver.received == []


async def test_one_private_address_among_public_ones_closes_the_name(receiver: Receiver) -> None:
    for found in (["8.8.8.8", "10.0.0.1"], ["10.0.0.1", "8.8.8.8"]):
        names = Names(found)
        assert (await send("https://hooks.example/", names=names)).outcome is AttemptOutcome.FORBIDDEN
        assert names.asked == [("hooks.example", 443)]


async def test_a_name_that_leads_elsewhere_after_the_check_is_not_followed(receiver: Receiver) -> None:
    """DNS rebinding: the name is public when it is saved, and ours when it is called."""
    names = Names(["8.8.8.8"], ["127.0.0.1"])
    with open_sender(Settings(), names) as opened:
        url = f"http://rebind.example:{receiver.port}/"
        await opened.check(opened.target(url))
        answer = await opened.send(url, HEADERS, b"{}")
    assert answer.outcome is AttemptOutcome.FORBIDDEN
    assert receiver.received == []


async def test_between_the_check_and_the_call_the_name_is_not_asked_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is pinned: however the name changes, the one connected to is the one checked."""
    names = Names(["127.0.0.1"], ["127.0.0.2"])

    def fail_on_lookup(*_arguments: object, **_options: object) -> None:
        raise AssertionError("somebody looked the name up again")

    monkeypatch.setattr(socket, "getaddrinfo", fail_on_lookup)
    answer = await send(f"http://rebind.example:{receiver.port}/", names=names)
    assert answer.outcome is AttemptOutcome.DELIVERED
    assert names.asked == [("rebind.example", receiver.port)]
    assert receiver.received[0].headers["host"] == f"rebind.example:{receiver.port}"


async def test_the_next_address_of_a_name_is_tried(receiver: Receiver) -> None:
    names = Names(["127.0.0.9", "127.0.0.1"])
    assert (await send(f"http://two.example:{receiver.port}/", names=names)).outcome is AttemptOutcome.DELIVERED


async def test_a_name_is_checked_before_it_is_saved() -> None:
    with open_sender(Settings(), Names(["8.8.8.8"])) as opened:
        await opened.check(opened.target("https://hooks.example/"))
    with open_sender(Settings(), Names(["192.168.1.1"])) as opened, pytest.raises(ForbiddenAddress):
        await opened.check(opened.target("https://hooks.example/"))
    with open_sender(Settings()) as opened:
        with pytest.raises(socket.gaierror):
            await opened.check(opened.target("https://nowhere.invalid/"))
        long_label = "x" * 64
        with pytest.raises(socket.gaierror):
            await opened.check(opened.target(f"https://{long_label}.invalid/"))


async def test_an_unknown_name_is_told() -> None:
    answer = await send("https://nowhere.invalid/")
    assert (answer.outcome, answer.error) == (AttemptOutcome.UNREACHABLE, "The name of the host is unknown.")


async def test_a_slow_look_up_does_not_keep_a_try_longer(hurried: None) -> None:
    class Slow(Names):
        async def __call__(self, host: str, port: int) -> Sequence[str]:
            await asyncio.sleep(3600)
            return []

    assert (await send("https://slow.example/", names=Slow([]))).outcome is AttemptOutcome.TIMED_OUT


async def test_production_sends_by_https_only() -> None:
    production = HOME.model_copy(update={"environment": "production"})
    answer = await send("http://hooks.example/", production, Names(["127.0.0.1"]))
    assert (answer.outcome, answer.error) == (AttemptOutcome.FORBIDDEN, "Begin with https://.")


# ---- certificates


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, pathlib.Path]:
    """A certificate for hooks.example, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example",
            "-keyout", str(key), "-out", str(certificate),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.fixture
async def safe_receiver(certificate: tuple[pathlib.Path, pathlib.Path]) -> AsyncIterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with receiving(context) as found:
        yield found


async def over_tls(receiver: Receiver, host: str, trusted: pathlib.Path | None) -> SendResult:
    with open_sender(HOME, Names(["127.0.0.1"])) as opened:
        if trusted is not None:
            opened._tls.load_verify_locations(trusted)
        return await opened.send(f"https://{host}:{receiver.port}/", HEADERS, b"{}")


async def test_the_certificate_is_compared_with_the_name_though_an_address_is_called(
    safe_receiver: Receiver, certificate: tuple[pathlib.Path, pathlib.Path]
) -> None:
    assert (await over_tls(safe_receiver, "hooks.example", certificate[0])).outcome is AttemptOutcome.DELIVERED
    other = await over_tls(safe_receiver, "other.example", certificate[0])
    unknown = await over_tls(safe_receiver, "hooks.example", None)
    for answer in (other, unknown):
        assert answer.outcome is AttemptOutcome.UNREACHABLE
        assert "certificate" in answer.error
    assert len(safe_receiver.received) == 1
