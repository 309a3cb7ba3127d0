"""Stored responses to requests with an `Idempotency-Key`.

They are written in the request's transaction and live for a day.
"""

import datetime as dt
import hashlib
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlmodel import Field, SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column
from schema.core.errors import IdempotencyInProgress, IdempotencyMismatch

RESPONSE_LIFE = dt.timedelta(hours=24)
CLAIM_LIFE = dt.timedelta(minutes=2)
"""How long a claim without a transaction is valid: a request that takes longer is considered dead."""
PRUNE_BATCH_SIZE = 5_000


class StoredResponseRow(SQLModel, table=True):
    """A request with its first response. Without one, it is running, or its outcome is unknown."""

    __tablename__ = "kept_answer"
    token_id: int = Field(primary_key=True, foreign_key="token.id", ondelete="CASCADE")
    key: str = Field(primary_key=True, max_length=255)
    fingerprint: bytes
    request: UUID
    answer: bytes | None = None
    held_until: dt.datetime | None = datetime_column("When the claim expires.", default=None, nullable=True)
    created_on: dt.datetime = datetime_column(
        "When the response was stored, or else when the request was first tried.", index=True
    )


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """A request that may be repeated: its token, its key, and the fingerprint of its content."""

    token_id: int
    key: str
    fingerprint: bytes

    @property
    def lock_number(self) -> int:
        """The number of the advisory lock that is held while the request runs."""
        digest = hashlib.sha256(b"kept answer %d %b" % (self.token_id, self.key.encode())).digest()
        return int.from_bytes(digest[:8], signed=True)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a request, or the stored response of its first run."""

    request_identity: RequestIdentity
    request: UUID
    """Identifies the request and its repetitions, for a day."""
    created_on: dt.datetime
    held_until: dt.datetime | None = None
    response: bytes | None = None


# One statement reads and locks. If another transaction commits in between, `_WRITE` detects that and writes nothing.
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
_RELEASE = text("DELETE FROM kept_answer WHERE token_id = :token_id AND key = :key AND held_until = :held")
_ABANDON = text(
    "UPDATE kept_answer SET held_until = NULL WHERE token_id = :token_id AND key = :key AND held_until = :held"
)
_PRUNE = text("""
    DELETE FROM kept_answer WHERE (token_id, key) IN (
        SELECT token_id, key FROM kept_answer WHERE created_on <= :since LIMIT :most FOR UPDATE SKIP LOCKED
    )
""")


async def claim_request(db: AsyncSession, of: RequestIdentity, now: dt.datetime) -> Claim:
    """Claim a request until the transaction ends, unless it was answered in the last 24 hours.

    Raises IdempotencyMismatch if the key belongs to another request, and IdempotencyInProgress while this one is
    running.
    """
    row = (await _run(db, _CLAIM, of, lock=of.lock_number, since=now - RESPONSE_LIFE)).one()
    if row.fingerprint is not None and bytes(row.fingerprint) != of.fingerprint:
        raise IdempotencyMismatch
    if row.answer is not None:
        return Claim(of, row.request, row.created_on, response=bytes(row.answer))
    if not row.free or (row.held_until is not None and row.held_until > now):
        raise IdempotencyInProgress
    return Claim(of, row.request or uuid4(), row.created_on or now, row.held_until)


async def store_response(db: AsyncSession, claimed: Claim, answer: bytes, now: dt.datetime) -> None:
    """Store the response in the open transaction.

    Raises IdempotencyInProgress if another request holds the claim by now.
    """
    await _write(db, claimed, now, answer=answer, held_until=None, created_on=now)


async def extend_claim(db: AsyncSession, claimed: Claim, now: dt.datetime) -> Claim:
    """Extend a claim beyond the open transaction, for two minutes."""
    until = now + CLAIM_LIFE
    await _write(db, claimed, now, answer=None, held_until=until, created_on=claimed.created_on)
    return replace(claimed, held_until=until)


async def release_claim(db: AsyncSession, held: Claim) -> None:
    """Release a claim after a refusal: nothing was done, and the key is free for any request."""
    await _run(db, _RELEASE, held.request_identity, held=held.held_until)


async def abandon_claim(db: AsyncSession, held: Claim) -> None:
    """Release a claim after a failure: something may have been done, and the key is free for this request only."""
    await _run(db, _ABANDON, held.request_identity, held=held.held_until)


async def prune_responses(db: AsyncSession, now: dt.datetime) -> bool:
    """Delete a batch of responses older than 24 hours. True if there may be more."""
    done = await (await db.connection()).execute(_PRUNE, {"since": now - RESPONSE_LIFE, "most": PRUNE_BATCH_SIZE})
    return bool(done.rowcount == PRUNE_BATCH_SIZE)


async def _write(db: AsyncSession, claimed: Claim, now: dt.datetime, **values: Any) -> None:
    of = claimed.request_identity
    held = {
        "fingerprint": of.fingerprint,
        "request": claimed.request,
        "held": claimed.held_until,
        "since": now - RESPONSE_LIFE,
    }
    if (await _run(db, _WRITE, of, **held, **values)).rowcount == 0:
        raise IdempotencyInProgress


async def _run(db: AsyncSession, statement: Any, of: RequestIdentity, **values: Any) -> Any:
    return await (await db.connection()).execute(statement, {"token_id": of.token_id, "key": of.key, **values})
