"""`python -m tests.bench.load`: so many connections that each ask again as soon as they are answered; how long each took.

A process of its own, so that it takes no turns with what it measures. What it does for a request is little (a send, a search
for the end of the answer), since it shares the machine's cores with the server: a client that is late itself makes a tail.
"""

import asyncio
import base64
import gc
import subprocess
import sys
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import orjson
import uvloop

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length: "
WARM_UP = 0.25
"""Of the time that is measured, how much goes before it unmeasured: connecting, and what a server learns first."""


@dataclass(frozen=True)
class Load:
    """What was asked, and how long the answers took."""

    requests: int
    seconds: float
    busy: float
    """The share of the time in which the client was at work itself: near 1.0 it is the client that is measured."""
    milliseconds: Sequence[float]
    """Of each request, the fastest first."""

    @property
    def microseconds(self) -> float:
        """Between two answers, whoever asked."""
        return self.seconds / self.requests * 1e6

    def percentile(self, percent: float) -> float:
        """Milliseconds that so many of a hundred requests did not take longer than."""
        return self.milliseconds[min(len(self.milliseconds) - 1, int(len(self.milliseconds) * percent / 100))]


class WrongAnswerError(Exception):
    """Something else than a success was answered, or a connection ended."""


def ask(request: bytes, port: int, *, connections: int, seconds: float) -> Load:
    """Ask for so long, in a process of its own. WrongAnswerError when one request is refused."""
    told = orjson.dumps([base64.b64encode(request).decode(), port, connections, seconds])
    done = subprocess.run([sys.executable, "-m", __name__], input=told, capture_output=True, check=False)
    if done.returncode != 0:
        raise WrongAnswerError(done.stderr.decode())
    elapsed, busy, *latencies = array("d", done.stdout)
    return Load(len(latencies), elapsed, busy, sorted(latency * 1000 for latency in latencies))


class _Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, run: "_Run") -> None:
        self._run = run
        self._received = b""
        self._answer_size = 0
        self._asked_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self) -> None:
        """Send the request."""
        self._received, self._answer_size = b"", 0
        self._asked_at = time.perf_counter()
        self._transport.write(self._run.request)

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data
        if not self._answer_size:
            head = received.find(END_OF_HEAD)
            if head < 0:
                return
            at = received.find(LENGTH, 0, head)
            if at < 0 or received[9:10] != b"2":
                self._run.fail(received[:800])
                return
            at += len(LENGTH)
            self._answer_size = head + len(END_OF_HEAD) + int(received[at : received.find(b"\r", at)])
        if len(received) >= self._answer_size:
            self._run.note_answer(self._asked_at)
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.fail(f"a connection ended: {exc}".encode())


class _Run:
    """All connections."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.latencies = array("d")
        self._problem: asyncio.Future[None] | None = None
        self._from = float("inf")

    def note_answer(self, asked_at: float) -> None:
        """Note an answer to what was asked at a moment; what was asked before the measuring began is none of it."""
        if asked_at >= self._from:
            self.latencies.append(time.perf_counter() - asked_at)

    def fail(self, why: bytes) -> None:
        """Give up."""
        if self._problem is not None and not self._problem.done():
            self._problem.set_exception(WrongAnswerError(why))

    async def measure(self, port: int, connections: int, seconds: float) -> tuple[float, float]:
        """Ask for so long; answers the seconds it took, and the share of them spent at work."""
        loop = asyncio.get_running_loop()
        self._problem = loop.create_future()
        clients = [
            (await loop.create_connection(lambda: _Client(self), "127.0.0.1", port))[1] for _ in range(connections)
        ]
        for client in clients:
            client.ask()
        await asyncio.wait({self._problem}, timeout=seconds * WARM_UP)
        self._from = begun = time.perf_counter()
        worked = time.process_time()
        await asyncio.wait({self._problem}, timeout=seconds)
        ended, problem, self._problem = time.perf_counter(), self._problem, None
        if problem.done():
            problem.result()
        return ended - begun, (time.process_time() - worked) / (ended - begun)


def main() -> None:
    """Measure what standard input names; write seconds, and then those of each request, to standard output."""
    request, port, connections, seconds = orjson.loads(sys.stdin.buffer.read())
    gc.disable()
    run = _Run(base64.b64decode(request))
    found = uvloop.run(run.measure(port, connections, seconds))
    sys.stdout.buffer.write(array("d", [*found, *run.latencies]).tobytes())


if __name__ == "__main__":
    main()
