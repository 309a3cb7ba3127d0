"""First answers to requests that carried an `Idempotency-Key`, kept for a day in the transaction of what they tell of."""

import datetime as dt
import hashlib
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlmodel import Field, SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import IdempotencyInProgress, IdempotencyMismatch
from schema.core.resource import moment

LIFE = dt.timedelta(hours=24)
HELD_FOR = dt.timedelta(minutes=2)
"""How long a request that holds no transaction is thought to be running: whoever takes longer has died."""
PRUNED_AT_ONCE = 5_000


class KeptAnswerRow(SQLModel, table=True):
    """A request with its first answer. Without one it is running, or it is not known how far it came."""

    __tablename__ = "kept_answer"
    token_id: int = Field(primary_key=True, foreign_key="token.id", ondelete="CASCADE")
    key: str = Field(primary_key=True, max_length=255)
    fingerprint: bytes
    request: UUID
    answer: bytes | None = None
    held_until: dt.datetime | None = moment("Until when it is running.", default=None, nullable=True)
    created_on: dt.datetime = moment("When it was answered, or else first tried.", index=True)


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A request that may be sent again: whose it is, its key, and what tells it from every other."""

    token_id: int
    key: str
    fingerprint: bytes

    @property
    def lock(self) -> int:
        """The number of the lock that is held while it runs."""
        digest = hashlib.sha256(b"kept answer %d %b" % (self.token_id, self.key.encode())).digest()
        return int.from_bytes(digest[:8], signed=True)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a request; or, where there is an `answer`, what came of it when it ran."""

    of: Repeatable
    request: UUID
    """Names it and its repetitions, for a day."""
    created_on: dt.datetime
    held_until: dt.datetime | None = None
    answer: bytes | None = None


# It looks and locks in one statement. What is committed between the two is noticed by `_WRITE`, which then writes nothing.
_CLAIM = text("""
    SELECT pg_try_advisory_xact_lock(:lock) AS free, fingerprint, request, answer, held_until, created_on
    FROM (VALUES (1)) AS one LEFT JOIN kept_answer ON token_id = :token_id AND key = :key AND created_on > :since
""")
_WRITE = text("""
    INSERT INTO kept_answer (token_id, key, fingerprint, request, answer, held_until, created_on)
    VALUES (:token_id, :key, :fingerprint, :request, :answer, :held_until, :created_on)
    ON CONFLICT (token_id, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, request = excluded.request, answer = excluded.answer,
        held_until = excluded.held_until, created_on = excluded.created_on
    WHERE kept_answer.created_on <= :since OR (
        kept_answer.answer IS NULL AND kept_answer.request = :request AND kept_answer.held_until IS NOT DISTINCT FROM :held
    )
""")
_FORGET = text("DELETE FROM kept_answer WHERE token_id = :token_id AND key = :key AND held_until = :held")
_LET_GO = text(
    "UPDATE kept_answer SET held_until = NULL WHERE token_id = :token_id AND key = :key AND held_until = :held"
)
_PRUNE = text("""
    DELETE FROM kept_answer WHERE (token_id, key) IN (
        SELECT token_id, key FROM kept_answer WHERE created_on <= :since LIMIT :most FOR UPDATE SKIP LOCKED
    )
""")


async def claim(db: AsyncSession, of: Repeatable, now: dt.datetime) -> Claim:
    """Take the right to run a request until the transaction ends, unless it was answered in the last 24 hours.

    Raises IdempotencyMismatch when the key is that of another request, IdempotencyInProgress while this one is running.
    """
    found = (await _run(db, _CLAIM, of, lock=of.lock, since=now - LIFE)).one()
    if found.fingerprint is not None and bytes(found.fingerprint) != of.fingerprint:
        raise IdempotencyMismatch
    if found.answer is not None:
        return Claim(of, found.request, found.created_on, answer=bytes(found.answer))
    if not found.free or (found.held_until is not None and found.held_until > now):
        raise IdempotencyInProgress
    return Claim(of, found.request or uuid4(), found.created_on or now, found.held_until)


async def keep(db: AsyncSession, claimed: Claim, answer: bytes, now: dt.datetime) -> None:
    """Keep the answer in the open transaction. Raises IdempotencyInProgress where another has the right by now."""
    await _write(db, claimed, now, answer=answer, held_until=None, created_on=now)


async def hold(db: AsyncSession, claimed: Claim, now: dt.datetime) -> Claim:
    """Keep the right beyond the open transaction, for two minutes."""
    until = now + HELD_FOR
    await _write(db, claimed, now, answer=None, held_until=until, created_on=claimed.created_on)
    return replace(claimed, held_until=until)


async def forget(db: AsyncSession, held: Claim) -> None:
    """Give a held right back after a refusal: nothing was done, and the key is free for any request."""
    await _run(db, _FORGET, held.of, held=held.held_until)


async def let_go(db: AsyncSession, held: Claim) -> None:
    """Give a held right back after a failure: something may have been done, and the key is free for this request only."""
    await _run(db, _LET_GO, held.of, held=held.held_until)


async def prune(db: AsyncSession, now: dt.datetime) -> bool:
    """Delete some of what is older than 24 hours. Tells whether there may be more."""
    done = await (await db.connection()).execute(_PRUNE, {"since": now - LIFE, "most": PRUNED_AT_ONCE})
    return bool(done.rowcount == PRUNED_AT_ONCE)


async def _write(db: AsyncSession, claimed: Claim, now: dt.datetime, **values: Any) -> None:
    of = claimed.of
    held = {"fingerprint": of.fingerprint, "request": claimed.request, "held": claimed.held_until, "since": now - LIFE}
    if (await _run(db, _WRITE, of, **held, **values)).rowcount == 0:
        raise IdempotencyInProgress


async def _run(db: AsyncSession, statement: Any, of: Repeatable, **values: Any) -> Any:
    return await (await db.connection()).execute(statement, {"token_id": of.token_id, "key": of.key, **values})
