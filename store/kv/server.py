"""The engine on a server: Redis (or what speaks its protocol, such as Valkey), alone or as a cluster."""

import asyncio
import datetime as dt
import os
from collections.abc import Sequence
from typing import Any

import redis.exceptions as problems
from redis.asyncio import Redis, RedisCluster

from schema.core.errors import IdempotencyMismatch
from store.core import tracing
from store.core.clock import Clock
from store.core.outages import unavailable
from store.kv.connection import Line
from store.kv.protocol import (
    MILLISECOND,
    VERSION_DIGITS,
    Condition,
    Count,
    Expired,
    Expiries,
    Once,
    Record,
    When,
    Written,
    next_version,
)
from store.kv.scripts import CROSS_OFF, DELETE, EXPIRE, INCREMENT, PUT, TOUCH, WRITE, Script
from store.kv.timeouts import Patience

_Argument = str | bytes | int
_OUTAGES = (
    problems.ClusterError,
    problems.ConnectionError,
    problems.OutOfMemoryError,
    problems.ReadOnlyError,
    problems.RedisClusterException,
    problems.TimeoutError,
    problems.TryAgainError,
    OSError,
)
_WHAT = "The cart store"
_UNNAMED = bytes(8)
_UNNOTED: int | bytes = b""
_DEADLINE, _VERSION = VERSION_DIGITS, 2 * VERSION_DIGITS
_HEADER = _VERSION + len(_UNNAMED)


class ServerKeyValue:
    """A `KeyValue` on Redis. At most `connections` commands run at a time (in a cluster: on each node); others wait."""

    def __init__(self, client: Redis | RedisCluster, clock: Clock, *, connections: int, patience: dt.timedelta) -> None:
        self._client: Any = client
        self._clock = clock
        self._clustered = isinstance(client, RedisCluster)
        self._free = asyncio.Semaphore(connections)
        self._idle: list[Any] = []
        """Lines nobody uses just now; in a cluster, the client itself, which finds the node."""
        self._patience = Patience(patience.total_seconds())
        self._answers = 0
        """How many commands were answered."""

    async def get(self, key: str) -> Record | None:
        return self._live(await self._call("GET", key))

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        now, milliseconds = self._clock.milliseconds(), life // MILLISECOND
        return self._live(await self._run(TOUCH, (key,), _digits(now), _digits(now + milliseconds), milliseconds))

    async def write(
        self,
        key: str,
        value: bytes,
        life: dt.timedelta,
        *,
        when: Condition = When.ALWAYS,
        once: Once | None = None,
        expiries: Expiries | None = None,
    ) -> Written | None:
        now, milliseconds = self._clock.milliseconds(), life // MILLISECOND
        deadline, version = _digits(now + milliseconds), next_version(when, now)
        keys: tuple[str, ...] = (key,)
        on_server, noted_for = milliseconds, _UNNOTED
        if expiries is not None:
            keys = key, expiries.key
            on_server, noted_for = milliseconds + expiries.value_kept // MILLISECOND, expiries.kept // MILLISECOND
        if once is None and when is When.ALWAYS:
            record = b"%b%013d%b%b" % (deadline, version, _UNNAMED, value)
            if expiries is None:
                await self._call("SET", key, record, "PX", on_server)
            else:
                await self._run(PUT, keys, record, on_server, noted_for)
            return Written(version)
        name, condition = os.urandom(len(_UNNAMED)), when if isinstance(when, When) else _digits(when)
        arguments = (_digits(now), condition, name, deadline, on_server, value)
        if once is None:
            return _written(await self._run(WRITE, keys, *arguments, _digits(version), noted_for))
        keys, kept_for = (key, once.key, *keys[1:]), once.life // MILLISECOND
        kept = (once.digest(), _digits(now + kept_for), kept_for)
        while True:
            answer = await once.answer(version)
            reply = await self._run(WRITE, keys, *arguments, _digits(version), noted_for, answer, *kept)
            if reply[0] != b"stale":
                return _written(reply, answer)
            version = int(reply[1])

    async def delete(self, key: str, *, version: int | None = None, expiries: Expiries | None = None) -> bool:
        wanted = b"" if version is None else _digits(version)
        keys = (key,) if expiries is None else (key, expiries.key)
        deleted: int = await self._run(DELETE, keys, _digits(self._clock.milliseconds()), wanted)
        return deleted == 1

    async def expired(self, expiries: Expiries, *, most: int, skip: int = 0) -> list[Expired]:
        now = self._clock.milliseconds()
        last = now - expiries.after // MILLISECOND
        keys = await self._call("ZRANGEBYSCORE", expiries.key, "-inf", last, "LIMIT", skip, most)
        if not keys:
            return []
        told = await self._run(EXPIRE, (expiries.key, *keys), _digits(now), last)
        return [
            Expired(key.decode(), int(version), None if record is None else record[_HEADER:])
            for key, version, record in told
        ]

    async def cross_off(self, expiries: Expiries, told: Sequence[Expired]) -> None:
        if told:
            pairs = [part for record in told for part in (record.key, record.version)]
            await self._run(CROSS_OFF, (expiries.key,), *pairs)

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> Count:
        now, milliseconds = self._clock.milliseconds(), life // MILLISECOND
        window = (_digits(now), _digits(now + milliseconds), milliseconds)
        deadline, count = await self._run(INCREMENT, (key,), *window, by)
        return Count(count, min(life, (int(deadline) - now) * MILLISECOND))

    async def ping(self) -> None:
        await self._call("PING")

    async def aclose(self) -> None:
        for client in {*self._idle, self._client}:
            await client.aclose()

    def _live(self, record: bytes | None) -> Record | None:
        if record is None or int(record[:_DEADLINE]) <= self._clock.milliseconds():
            return None
        return Record(record[_HEADER:], int(record[_DEADLINE:_VERSION]))

    async def _run(self, script: Script, keys: tuple[str | bytes, ...], *arguments: _Argument) -> Any:
        try:
            return await self._call("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except problems.NoScriptError:
            return await self._call("EVAL", script.source, len(keys), *keys, *arguments)

    async def _call(self, *command: _Argument) -> Any:
        await (self._turn() if self._free.locked() else self._free.acquire())
        client = self._idle.pop() if self._idle else self._another()
        try:
            with tracing.span(f"redis {command[0]!s}"):
                return await self._patiently(client, command)
        except _OUTAGES as error:
            raise unavailable(_WHAT, error) from error
        finally:
            self._idle.append(client)
            self._free.release()

    async def _patiently(self, client: Any, command: tuple[_Argument, ...]) -> Any:
        try:
            return await self._answer(client, command)
        except TimeoutError:  # one connection that hangs is no outage yet: it is closed by now, and a new one tried
            return await self._answer(client, command)

    async def _answer(self, client: Any, command: tuple[_Argument, ...]) -> Any:
        with self._patience():
            if self._clustered:  # one that does not know its nodes yet would send a script to any of them
                await client.initialize()
            answer = await client.execute_command(*command)
        self._answers += 1
        return answer

    def _another(self) -> Any:
        return self._client if self._clustered else Line(self._client.connection_pool)

    async def _turn(self) -> None:
        """Wait for a connection: as long as others are answered, it is the process that is busy, and the server is there."""
        answers = self._answers

        def answered() -> bool:
            nonlocal answers
            before, answers = answers, self._answers
            return before != answers

        try:
            with self._patience(answered):
                await self._free.acquire()
        except TimeoutError as error:
            raise unavailable(_WHAT, error) from error


def _digits(number: int) -> bytes:
    return b"%013d" % number


def _written(reply: list[bytes], answer: bytes = b"") -> Written | None:
    match reply:
        case [b"written", version]:
            return Written(int(version), answer)
        case [b"replayed", version, first]:
            return Written(int(version), first, replayed=True)
        case [b"mismatch"]:
            raise IdempotencyMismatch
        case _:
            return None
