"""Driving ASGI applications in this process, so that no load generator is measured."""

import asyncio
import gc
import itertools
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from starlette.types import ASGIApp, Message

HOST = "127.0.0.1:8000"


class WrongAnswerError(Exception):
    """An application answered something else than what is measured."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    body: bytes
    headers: Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Call:
    """One request, made again and again."""

    app: ASGIApp
    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    query: str = ""
    status: int = 200

    @property
    def all_headers(self) -> dict[str, str]:
        """Those of the call, and those that every client sends."""
        length = {"content-length": str(len(self.body))} if self.body else {}
        return {"host": HOST, "accept": "*/*", "user-agent": "bench", **length, **self.headers}

    @cached_property
    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": self.query.encode(),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode()) for k, v in self.all_headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
        }

    def as_sent(self, path: str = "") -> bytes:
        """It as bytes of HTTP, to another path where one is given."""
        target = (path or self.path) + (f"?{self.query}" if self.query else "")
        lines = [f"{self.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in self.all_headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def next_body(self) -> bytes:
        """What is sent this time."""
        return self.body

    async def once(self) -> Answer:
        """Make it, and see that it ends as it should."""
        message: Message = {"type": "http.request", "body": self.next_body(), "more_body": False}
        parts: list[bytes] = []
        start: Message = {"status": 0}

        async def receive() -> Message:
            return message

        async def send(part: Message) -> None:
            nonlocal start
            if part["type"] == "http.response.start":
                start = part
            else:
                parts.append(part.get("body", b""))

        await self.app({**self._scope, "state": {}}, receive, send)
        answer = b"".join(parts)
        if start["status"] != self.status:
            raise WrongAnswerError(f"{self.method} {self.path} answered {start['status']}: {answer[:300]!r}")
        return Answer(answer, start["headers"])


@dataclass(frozen=True)
class CallInTurns(Call):
    """A request that is sent with one body after the other, all equally long. `body` is the first of them."""

    bodies: Sequence[bytes] = ()

    @cached_property
    def _turns(self) -> Iterator[bytes]:
        return itertools.cycle(self.bodies)

    def next_body(self) -> bytes:
        """The body whose turn it is."""
        return next(self._turns)


async def _batch(call: Call, seconds: float, at_once: int) -> float:
    """Microseconds a request, with so many under way at a time."""
    made = 0
    begun = time.perf_counter()
    deadline = begun + seconds

    async def one() -> None:
        nonlocal made
        while time.perf_counter() < deadline:
            await call.once()
            made += 1

    await asyncio.gather(*(one() for _ in range(at_once)))
    return (time.perf_counter() - begun) / made * 1e6


async def take_turns(calls: Sequence[Call], *, rounds: int, seconds: float, at_once: int) -> list[list[float]]:
    """For each call the microseconds a request of every round. In a round each gets its turn, so a busy machine slows all."""
    for call in calls:
        await _batch(call, seconds, at_once)
    gc.collect()
    measured: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, turns in zip(calls, measured, strict=True):
            turns.append(await _batch(call, seconds, at_once))
    return measured


def share(floor: Sequence[float], measured: Sequence[float]) -> float:
    """How near the floor something is: 1.0 is as fast. Each round is compared with itself only."""
    return statistics.median(low / high for low, high in zip(floor, measured, strict=True))
