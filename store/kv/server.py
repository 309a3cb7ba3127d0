"""The engine on a server: Redis or a compatible one such as Valkey, alone or as a cluster."""

import asyncio
import datetime as dt
import os
from collections.abc import Sequence
from typing import Any

import redis.exceptions as problems
from redis.asyncio import Redis, RedisCluster

from schema.core.errors import IdempotencyMismatch
from store.core.clock import Clock
from store.core.telemetry import tracing
from store.core.telemetry.outages import report_unavailable
from store.kv.connection import RedisConnection
from store.kv.protocol import (
    MILLISECOND,
    VERSION_DIGITS,
    ExpiredRecord,
    ExpiryIndex,
    IdempotentWrite,
    Increment,
    Record,
    WindowCount,
    WriteCondition,
    WriteMode,
    WriteResult,
    next_version,
)
from store.kv.scripts import ACKNOWLEDGE, DELETE, EXPIRE, INCREMENT, PUT, TOUCH, WRITE, Script
from store.kv.timeouts import TimeoutScheduler

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
_NO_WRITE_NAME = bytes(8)
_NOT_INDEXED: int | bytes = b""
_DEADLINE, _VERSION = VERSION_DIGITS, 2 * VERSION_DIGITS
_HEADER = _VERSION + len(_NO_WRITE_NAME)


class ServerKeyValue:
    """A `KeyValueStore` on Redis.

    At most `connections` commands run at a time (in a cluster: on each node); others wait.
    """

    def __init__(self, client: Redis | RedisCluster, clock: Clock, *, connections: int, timeout: dt.timedelta) -> None:
        self._client: Any = client
        self._clock = clock
        self._clustered = isinstance(client, RedisCluster)
        self._free = asyncio.Semaphore(connections)
        self._idle: list[Any] = []
        """Idle connections; in a cluster, the client itself, which finds the node."""
        self._timeouts = TimeoutScheduler(timeout.total_seconds())
        self._response_count = 0
        """Number of commands that were answered."""

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
        when: WriteCondition = WriteMode.ALWAYS,
        idempotent: IdempotentWrite | None = None,
        expiry_index: ExpiryIndex | None = None,
    ) -> WriteResult | None:
        now, milliseconds = self._clock.milliseconds(), life // MILLISECOND
        deadline, version = _digits(now + milliseconds), next_version(when, now)
        keys: tuple[str, ...] = (key,)
        on_server, noted_for = milliseconds, _NOT_INDEXED
        if expiry_index is not None:
            keys = key, expiry_index.key
            on_server += expiry_index.value_retention // MILLISECOND
            noted_for = expiry_index.retention // MILLISECOND
        if idempotent is None and when is WriteMode.ALWAYS:
            record = b"%b%013d%b%b" % (deadline, version, _NO_WRITE_NAME, value)
            if expiry_index is None:
                await self._call("SET", key, record, "PX", on_server)
            else:
                await self._run(PUT, keys, record, on_server, noted_for)
            return WriteResult(version)
        name, condition = os.urandom(len(_NO_WRITE_NAME)), when if isinstance(when, WriteMode) else _digits(when)
        arguments = (_digits(now), condition, name, deadline, on_server, value)
        if idempotent is None:
            return _parse_write_result(await self._run(WRITE, keys, *arguments, _digits(version), noted_for))
        keys, kept_for = (key, idempotent.key, *keys[1:]), idempotent.life // MILLISECOND
        idempotency_arguments = (idempotent.digest(), _digits(now + kept_for), kept_for)
        while True:
            answer = await idempotent.build_response(version)
            reply = await self._run(
                WRITE, keys, *arguments, _digits(version), noted_for, answer, *idempotency_arguments
            )
            if reply[0] != b"stale":
                return _parse_write_result(reply, answer)
            version = int(reply[1])

    async def delete(self, key: str, *, version: int | None = None, expiry_index: ExpiryIndex | None = None) -> bool:
        expected_version = b"" if version is None else _digits(version)
        keys = (key,) if expiry_index is None else (key, expiry_index.key)
        deleted: int = await self._run(DELETE, keys, _digits(self._clock.milliseconds()), expected_version)
        return deleted == 1

    async def expired(self, expiries: ExpiryIndex, *, limit: int, skip: int = 0) -> list[ExpiredRecord]:
        now = self._clock.milliseconds()
        last = now - expiries.after // MILLISECOND
        keys = await self._call("ZRANGEBYSCORE", expiries.key, "-inf", last, "LIMIT", skip, limit)
        if not keys:
            return []
        records = await self._run(EXPIRE, (expiries.key, *keys), _digits(now), last)
        return [
            ExpiredRecord(key.decode(), int(version), None if record is None else record[_HEADER:])
            for key, version, record in records
        ]

    async def acknowledge(self, expiries: ExpiryIndex, records: Sequence[ExpiredRecord]) -> None:
        if records:
            pairs = [part for record in records for part in (record.key, record.version)]
            await self._run(ACKNOWLEDGE, (expiries.key,), *pairs)

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> WindowCount:
        (count,) = await self.increment_all(Increment(key, life, by))
        return count

    async def increment_all(self, *increments: Increment) -> list[WindowCount]:
        now = self._clock.milliseconds()
        arguments: list[_Argument] = [_digits(now)]
        for _, life, by in increments:
            arguments += (_digits(now + life // MILLISECOND), life // MILLISECOND, by)
        counts = await self._run(INCREMENT, tuple(increment.key for increment in increments), *arguments)
        return [
            WindowCount(
                int(counts[at + _DEADLINE : at + _VERSION]),
                min(increment.life, (int(counts[at : at + _DEADLINE]) - now) * MILLISECOND),
            )
            for increment, at in zip(increments, range(0, len(counts), _VERSION), strict=True)
        ]

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
        await (self._acquire_connection() if self._free.locked() else self._free.acquire())
        client = self._idle.pop() if self._idle else self._new_connection()
        try:
            with tracing.span(f"redis {command[0]!s}"):
                return await self._run_with_timeout(client, command)
        except _OUTAGES as error:
            raise report_unavailable(_WHAT, error) from error
        finally:
            self._idle.append(client)
            self._free.release()

    async def _run_with_timeout(self, client: Any, command: tuple[_Argument, ...]) -> Any:
        try:
            return await self._execute(client, command)
        except TimeoutError:  # a single hanging connection is no outage: it is closed by now, and a new one is tried
            return await self._execute(client, command)

    async def _execute(self, client: Any, command: tuple[_Argument, ...]) -> Any:
        with self._timeouts():
            if self._clustered:  # before it knows its nodes, the client would send a script to any of them
                await client.initialize()
            answer = await client.execute_command(*command)
        self._response_count += 1
        return answer

    def _new_connection(self) -> Any:
        return self._client if self._clustered else RedisConnection(self._client.connection_pool)

    async def _acquire_connection(self) -> None:
        """Wait for a connection.

        While other commands are answered, the server is up and the process is busy, so the wait continues.
        """
        answers = self._response_count

        def has_answered() -> bool:
            nonlocal answers
            before, answers = answers, self._response_count
            return before != answers

        try:
            with self._timeouts(has_answered):
                await self._free.acquire()
        except TimeoutError as error:
            raise report_unavailable(_WHAT, error) from error


def _digits(number: int) -> bytes:
    return b"%013d" % number


def _parse_write_result(reply: list[bytes], answer: bytes = b"") -> WriteResult | None:
    match reply:
        case [b"written", version]:
            return WriteResult(int(version), answer)
        case [b"replayed", version, first]:
            return WriteResult(int(version), first, replayed=True)
        case [b"mismatch"]:
            raise IdempotencyMismatch
        case _:
            return None
