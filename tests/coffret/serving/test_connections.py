"""Connections over real sockets: who keeps the server waiting is not waited for, who comes on is, and nobody is shut out."""

import asyncio
import contextlib
import dataclasses
import errno
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

import pytest

from coffret.serving.connection import LINGER_SECONDS, MAX_HEAD_BYTES, MIN_PROGRESS_BYTES
from coffret.serving.listener import GracefulServer, hold_new_clients
from coffret.serving.timeouts import ConnectionLimits, ServerConfig, connections_for_files

LONG = 600.0
"""Seconds that no test comes near."""
SHORT = 0.2
LONG_TIMEOUTS = ConnectionLimits(header_seconds=LONG, progress_seconds=LONG, idle_seconds=LONG, connections=100)
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = 64 * 1024 * 1024

Message = MutableMapping[str, Any]


class Application:
    """An application that reads a body and answers its length, and remembers who left."""

    def __init__(self) -> None:
        self.left = threading.Event()
        self.entered = threading.Event()
        self.go_on = threading.Event()

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer one request."""
        if scope["path"] != "/begun":
            self.entered.set()
        if scope["path"] == "/held":
            await asyncio.to_thread(self.go_on.wait)
        if scope["path"] == "/blocking":
            time.sleep(LINGER_SECONDS * 2)  # noqa: ASYNC251 - the event loop stands still, as on a busy machine
        length, more = 0, scope["path"] != "/early"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left.set()
                return
            length, more = length + len(message.get("body", b"")), message.get("more_body", False)
        said = b"x" * LARGE if scope["path"] == "/large" else str(length).encode()
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]}
        await send(start)
        if scope["path"] == "/begun":
            self.entered.set()
            await asyncio.to_thread(self.go_on.wait)
        await send({"type": "http.response.body", "body": said})


class ThreadedServer:
    """A server in a thread."""

    def __init__(self, **limits: Any) -> None:
        self.application = Application()
        self.clients: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        config = ServerConfig(
            self.application, dataclasses.replace(LONG_TIMEOUTS, **limits), ws="none", lifespan="off", log_config=None
        )
        self.server = GracefulServer(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.address = self.listener.getsockname()

    def connect(self, said: bytes = b"") -> socket.socket:
        """A client that has said something."""
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)  # what a phone far away would take at a time
        client.settimeout(60)
        self.clients.append(client)
        client.connect(self.address)
        client.sendall(said)
        return client

    def stop(self) -> None:
        """Tell it to stop, as a signal does."""
        self.server.should_exit = True

    def end(self) -> None:
        """Stop it, with all its clients."""
        self.application.go_on.set()
        for client in self.clients:
            client.close()
        self.stop()
        self.thread.join(60)


@pytest.fixture
def serve() -> Iterator[Callable[..., ThreadedServer]]:
    """Starts servers with the timeouts that a test sets."""
    with contextlib.ExitStack() as stack:

        def start(**limits: Any) -> ThreadedServer:
            served = ThreadedServer(**limits)
            served.thread.start()
            stack.callback(served.end)
            return served

        yield start


def read(client: socket.socket) -> bytes:
    """All that is said until the other side closes; whether it does so in order or not is the same here."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65_536):
            said += piece
    client.close()
    return said


def one_answer(client: socket.socket) -> bytes:
    """One answer with a short body, on a connection that stays open."""
    said = b""
    while b"\r\n\r\n" not in said or not said.partition(b"\r\n\r\n")[2]:
        piece = client.recv(65_536)
        assert piece, said
        said += piece
    return said


Serve = Callable[..., ThreadedServer]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"", b""),
        (b"G", b"HTTP/1.1 408 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"HTTP/1.1 408 "),
        (b"\r\n\r\n", b"HTTP/1.1 408 "),
        (GET + b"GET / HT", b"HTTP/1.1 200 "),
    ],
)
def test_a_head_that_does_not_come_is_not_waited_for(serve: Serve, said: bytes, status: bytes) -> None:
    answered = read(serve(header_seconds=SHORT, idle_seconds=SHORT).connect(said))
    assert answered.startswith(status)
    assert bool(answered) is bool(status)


def test_whoever_leaves_with_requests_in_line_leaves_no_error(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    served = serve()
    client = served.connect(GET.replace(b"/ ", b"/large ") * 20)
    assert client.recv(1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # without a word
    client.close()
    deadline = time.monotonic() + 60
    while served.server.server_state.connections and time.monotonic() < deadline:
        time.sleep(0.01)
    served.end()
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(serve: Serve) -> None:
    client = serve(header_seconds=SHORT).connect(b"GET / HTTP/1.1\r\n")
    client.settimeout(0.02)
    answered = b""
    with contextlib.suppress(ConnectionError):
        while not answered:
            client.sendall(b"X-Slow: 1\r\n")
            with contextlib.suppress(TimeoutError):
                answered = client.recv(65_536)
    assert answered.startswith(b"HTTP/1.1 408 ") or not answered
    client.close()


def test_a_head_without_end_is_refused(serve: Serve) -> None:
    client = serve().connect(b"GET / HTTP/1.1\r\n")
    with contextlib.suppress(ConnectionError):
        for _ in range(MAX_HEAD_BYTES // 1_000 * 20):
            client.sendall(b"X-Long: %b\r\n" % (b"x" * 990))
    assert read(client)[:13] in {b"HTTP/1.1 431 ", b""}


def test_a_body_that_does_not_come_on_is_not_waited_for(serve: Serve) -> None:
    served = serve(progress_seconds=SHORT)
    answered = read(served.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nbegun"))
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answered
    assert served.application.left.wait(60), "the application learns that nobody is there any more"


def test_a_body_that_comes_on_is_waited_for_however_long_it_takes(serve: Serve) -> None:
    """Four times the timeout in all, with progress in each part of it."""
    served, parts = serve(progress_seconds=SHORT * 4), 40
    client = served.connect(
        b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % (MIN_PROGRESS_BYTES * parts)
    )
    pause = threading.Event()
    for _ in range(parts):
        client.sendall(b"x" * MIN_PROGRESS_BYTES)
        pause.wait(SHORT * 4 * 4 / parts)
    answered = read(client)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert answered.endswith(b"%d" % (MIN_PROGRESS_BYTES * parts))


def test_what_we_have_not_read_is_not_the_clients_delay(serve: Serve) -> None:
    """The application begins to read long after the timeout of clients: more is on its way than is held for it."""
    served, size = serve(progress_seconds=SHORT), 3_000_000
    client = served.connect(b"POST /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size)
    sending = threading.Thread(target=client.sendall, args=(b"x" * size,))
    sending.start()
    assert served.application.entered.wait(60)
    threading.Event().wait(SHORT * 5)
    served.application.go_on.set()
    assert read(client).endswith(b"%d" % size)
    sending.join()


def test_a_body_after_an_early_answer_is_not_waited_for_either(serve: Serve) -> None:
    client = serve(progress_seconds=SHORT).connect(
        b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nbegun"
    )
    client.sendall(b"more")
    answered = read(client)
    assert answered.count(b"HTTP/1.1 ") == 1
    assert answered.startswith(b"HTTP/1.1 200 ")


def test_an_idle_connection_is_closed(serve: Serve) -> None:
    client = serve(idle_seconds=SHORT).connect(GET)
    assert read(client).startswith(b"HTTP/1.1 200 ")


def test_an_answer_that_nobody_reads_is_given_up(serve: Serve) -> None:
    served = serve(progress_seconds=SHORT)
    client = served.connect(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    waiting = threading.Event()
    for _ in range(600):
        if not served.server.server_state.connections and served.application.entered.is_set():
            break
        waiting.wait(0.1)
    assert not served.server.server_state.connections
    assert len(read(client)) < LARGE


def test_an_answer_that_is_read_slowly_is_read_to_its_end(serve: Serve) -> None:
    """Five times the timeout in all; what the machine holds for us does not hide that the client comes on."""
    client = serve(progress_seconds=SHORT * 5).connect(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    pause, length = threading.Event(), 0
    for _ in range(25):
        length += len(client.recv(20_000))
        pause.wait(SHORT)
    while piece := client.recv(1_000_000):
        length += len(piece)
    assert length > LARGE


def test_where_there_is_no_room_who_kept_us_waiting_longest_goes(serve: Serve) -> None:
    served, begun = serve(connections=10), b"GET / HTTP/1.1\r\nX-Slow: "
    first = served.connect(begun)
    closing = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert read(served.connect(closing)).startswith(b"HTTP/1.1 200 ")
    threading.Event().wait(SHORT)
    for _ in range(9):
        served.connect(begun)
    held = served.connect(b"GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert not read(first)
    served.application.entered.clear()
    for _ in range(30):
        assert read(served.connect(closing)).startswith(b"HTTP/1.1 200 ")
    served.application.go_on.set()
    assert read(held).startswith(b"HTTP/1.1 200 "), "what is worked on is never closed for another"


def test_where_all_are_worked_on_who_comes_is_told_to_come_again(serve: Serve) -> None:
    served = serve(connections=2)
    held = []
    for _ in range(2):
        served.application.entered.clear()
        held.append(served.connect(b"GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
        assert served.application.entered.wait(60)
    answered = read(served.connect(b""))
    assert answered.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 5\r\n" in answered
    served.application.go_on.set()
    assert all(read(client).startswith(b"HTTP/1.1 200 ") for client in held)


def test_who_waits_at_the_door_when_it_closes_is_let_in(serve: Serve) -> None:
    """Requests under way end, connections that are kept are told to go, and nobody who has connected is cut off."""
    served, pause = serve(connections=10_000), threading.Event()
    kept = served.connect(GET)
    assert one_answer(kept).startswith(b"HTTP/1.1 200 ")
    held = served.connect(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
    assert served.application.entered.wait(60)
    served.stop()
    late: list[socket.socket] = []
    with contextlib.suppress(ConnectionRefusedError):
        while True:
            late.append(served.connect(GET))
            pause.wait(0.002)
    kept.sendall(GET)
    for client in late:
        assert read(client).startswith(b"HTTP/1.1 200 ")
    answered = read(kept)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in answered
    served.application.go_on.set()
    answered = read(held)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in answered
    served.thread.join(60)
    assert not served.thread.is_alive()


def test_a_connection_that_was_promised_stays_open_for_one_more_request(serve: Serve) -> None:
    """The head of its answer was sent, without "connection: close", before the server was told to stop."""
    served = serve()
    client = served.connect(b"GET /begun HTTP/1.1\r\nHost: x\r\n\r\n")
    assert served.application.entered.wait(60)
    served.stop()
    while served.server.servers[0].is_serving():
        time.sleep(0.01)
    served.application.go_on.set()
    assert b"connection: close" not in one_answer(client)
    client.sendall(GET)
    answered = read(client)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in answered


def test_a_request_that_has_come_is_read_however_busy_the_server_was(serve: Serve) -> None:
    served = serve()
    kept = served.connect(GET)
    assert one_answer(kept).startswith(b"HTTP/1.1 200 ")
    served.application.entered.clear()
    busy = served.connect(b"GET /begun HTTP/1.1\r\nHost: x\r\n\r\n")
    assert served.application.entered.wait(60)
    busy.sendall(b"GET /blocking HTTP/1.1\r\nHost: x\r\n\r\n")
    served.stop()
    while served.server.servers[0].is_serving():
        time.sleep(0.01)
    served.application.entered.clear()
    served.application.go_on.set()
    assert served.application.entered.wait(60)
    kept.sendall(GET)
    assert read(kept).startswith(b"HTTP/1.1 200 ")
    assert read(busy).count(b"HTTP/1.1 200 ") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="filters of packets are those of Linux")
def test_who_begins_to_connect_while_a_socket_closes_is_refused_not_reset() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    with socket.create_connection(address) as early, socket.socket() as late:
        hold_new_clients(listener)
        late.setblocking(False)
        assert late.connect_ex(address) == errno.EINPROGRESS
        served, _ = listener.accept()
        with served:
            early.sendall(b"heard")
            assert served.recv(5) == b"heard"
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept()
            listener.close()
            assert select.select([], [late], [], 60)[1]
            assert late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED


@pytest.mark.parametrize(("files", "connections"), [(1024, 768), (65_536, 65_280), (256, 128), (10, 5)])
def test_open_files_say_how_many_may_connect(files: int, connections: int) -> None:
    assert connections_for_files(files) == connections
