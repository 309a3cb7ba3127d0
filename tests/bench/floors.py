"""What a request costs at least: Starlette answering ready bytes, after no trip or one to Redis or to PostgreSQL."""

import datetime as dt
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import asyncpg
import orjson
from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "/floor"
LIFE = 7200
CONNECTIONS = 16
"""To PostgreSQL; as many as requests are ever under way."""


@dataclass(frozen=True)
class Means:
    """What floors make their trips with: clients of their own, without anything of Coffret's."""

    pool: asyncpg.Pool
    redis: Redis | None

    @property
    def server(self) -> Redis:
        """The Redis server, which must be there."""
        assert self.redis is not None
        return self.redis


@dataclass(frozen=True)
class Floor(ABC):
    """Starlette answering a request with what the measured application answers to it."""

    answer: bytes
    kind: str = "application/json"
    status: int = 200

    name: ClassVar[str]
    needs_redis: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """Where Redis holds the answer."""
        return f"bench:{hashlib.sha256(self.answer).hexdigest()[:16]}"

    async def lay(self, means: Means) -> None:  # noqa: B027 - most fetch nothing that must be put there
        """Put there what the trip fetches."""

    @abstractmethod
    async def bring(self, means: Means, request: Request) -> bytes:
        """Make the trip."""

    def app(self, means: Means, path: str = PATH) -> Starlette:
        """An application that does nothing else."""

        async def endpoint(request: Request) -> Response:
            return Response(await self.bring(means, request), self.status, media_type=self.kind)

        return Starlette(routes=[Route(path, endpoint, methods=["GET", "POST"])])


class Bare(Floor):
    """No trip."""

    name = "Starlette"

    async def bring(self, means: Means, request: Request) -> bytes:
        """Ready bytes."""
        return self.answer


class RedisRead(Floor):
    """One GET of the answer."""

    name = "Starlette + Redis"
    needs_redis = True

    async def lay(self, means: Means) -> None:
        """The answer itself."""
        await means.server.set(self.key, self.answer, ex=LIFE)

    async def bring(self, means: Means, request: Request) -> bytes:
        """Out of Redis."""
        found = await means.server.get(self.key)
        assert isinstance(found, bytes)
        return found


class RedisWrite(Floor):
    """One SET of the body that was sent, for two hours."""

    name = "Starlette + Redis"
    needs_redis = True

    async def bring(self, means: Means, request: Request) -> bytes:
        """Into Redis."""
        await means.server.set(self.key, await request.body(), ex=LIFE)
        return self.answer


class Query(Floor):
    """One query of one value."""

    name = "Starlette + asyncpg"

    async def bring(self, means: Means, request: Request) -> bytes:
        """From PostgreSQL and back."""
        await means.pool.fetchval("SELECT 1")
        return self.answer


@dataclass(frozen=True)
class Rows(Floor):
    """One query of the rows that are answered, written by orjson."""

    statement: str = ""
    arguments: tuple[Any, ...] = ()
    write: Callable[[Sequence[Any]], bytes] = orjson.dumps

    name: ClassVar[str] = "Starlette + asyncpg + orjson"

    async def bring(self, means: Means, request: Request) -> bytes:
        """The rows as JSON."""
        return self.write(await means.pool.fetch(self.statement, *self.arguments))


def moment(value: dt.datetime | None) -> str | None:
    """A moment as both interfaces write it."""
    return None if value is None else value.isoformat(timespec="microseconds")[:26] + "Z"
