"""The client that measures over sockets: it asks on every connection, counts each answer, and refuses a wrong one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.bench.drive import Call
from tests.bench.load import Load, WrongAnswerError, ask

Answers = Callable[[int], list[bytes]]
"""The parts of the answer to a request, by its number on the connection."""


class Server:
    """Answers what a test says, in parts that reach the client one by one."""

    def __init__(self) -> None:
        self.answers: Answers = lambda _: [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"]
        self.connections = self.requests = self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a connection."""
        self.connections += 1
        number = 0
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                number += 1
                self.requests += 1
                for part in self.answers(number):
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """One that answers `ok`."""
    made = Server()
    listener = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listener.sockets[0].getsockname()[1]
    yield made
    listener.close()


def measure_load(server: Server, connections: int = 3) -> Awaitable[Load]:
    """What is measured of a server."""
    call = Call(None, "GET", "/cart/", query="a=1")  # type: ignore[arg-type]
    return asyncio.to_thread(ask, call.as_sent(), server.port, connections=connections, seconds=0.2)


async def test_each_connection_asks_again_once_it_is_answered(server: Server) -> None:
    head, body = b"HTTP/1.1 201 Created\r\nContent-Type: a\r\n", b"content-length: 10\r\n\r\n0123456789"
    server.answers = lambda number: [head + body] if number % 2 else [head[:5], head[5:] + body[:25], body[25:]]
    found = await measure_load(server)
    assert server.connections == 3
    assert 0 < found.requests <= server.requests
    assert len(found.milliseconds) == found.requests
    assert found.percentile(0) <= found.percentile(50) <= found.percentile(99) <= found.milliseconds[-1]
    assert found.seconds == pytest.approx(0.2, abs=0.01) or found.seconds > 0.2
    assert 0 < found.busy <= 1.1


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\nno"],
)
async def test_one_answer_that_is_no_success_ends_it(server: Server, answer: bytes) -> None:
    good = server.answers(1)
    server.answers = lambda number: good if number < 5 else [answer]
    with pytest.raises(WrongAnswerError, match=answer[9:12].decode()):
        await measure_load(server)


def test_percentiles_are_of_all_requests() -> None:
    load = Load(100, 1.0, 0.1, [float(n) for n in range(1, 101)])
    assert (load.percentile(50), load.percentile(99), load.percentile(100)) == (51.0, 100.0, 100.0)
    assert load.microseconds == 10_000
