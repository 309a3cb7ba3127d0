"""Work that happens after a commit, once: jobs enqueued in the transaction that wants them, run by a worker."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import orjson
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.queries import Queries
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession


class Job(StrEnum):
    """Every kind of job there is. Each is safe to run twice."""

    SETTLE_ATTEMPT = "settle_attempt"
    """Ask the provider how a checkout attempt stands, and act on it. Payload: `id`."""
    DROP_CART = "drop_cart"
    """Delete the cart an order came from, if it is still the same. Payload: `partner_id`, `cart_id`, `last_modified`."""
    PROVIDER_HINT = "provider_hint"
    """The provider said that something changed. Payload: `kind`, `id`."""
    SEND_MAIL = "send_mail"
    """Have the mail server take a message, if it still waits for that. Payload: `id`."""


async def enqueue(
    db: AsyncSession,
    job: Job,
    payload: Mapping[str, Any],
    *,
    after: dt.timedelta | None = None,
    once: str | None = None,
) -> None:
    """Enqueue a job in the session's transaction: it is there when the transaction commits, and gone when it rolls back.

    `once` names the job: while one of that name waits or runs, another is not added.
    """
    # The driver begins a transaction with the first statement that SQLAlchemy sends; a job put in on the raw connection
    # before that would commit by itself.
    connection = await db.connection()
    await connection.execute(text("SELECT 1"))
    raw = (await connection.get_raw_connection()).driver_connection
    if raw is None:
        raise RuntimeError("The session has lost its connection.")
    await Queries(AsyncpgDriver(raw)).enqueue(
        job,
        orjson.dumps(payload, default=str),
        execute_after=after,
        dedupe_key=once and f"{job}:{once}",
        on_conflict="skip",
    )
