"""The API log as rows: requests of programs that were refused or that failed."""

import datetime as dt
import time
from collections.abc import Mapping

from prometheus_client import Counter, Gauge
from sqlalchemy import Index, text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.api_request import ApiRequest
from store.audit.buffer import EntryBuffer, EntryBuilder, LogTable
from store.database.db import Database

COLUMN_TYPES: Mapping[str, str] = {
    "occurred_on": "timestamptz",
    "request_id": "text",
    "transport": "text",
    "method": "text",
    "path": "text",
    "operations": "text[]",
    "status": "int",
    "error_codes": "text[]",
    "messages": "text[]",
    "duration_ms": "int",
    "user_id": "int",
    "token_id": "int",
    "client": "text",
    "address": "text",
    "partner_id": "int",
    "marketplace_id": "int",
}
INSERT = text(f"""
    INSERT INTO api_request (
        id, occurred_on, request_id, transport, method, path, operations, status, error_codes, messages, duration_ms,
        user_id, username, token_id, token_hint, client, address, partner_id, marketplace_id
    )
    SELECT
        e.id, e.occurred_on, left(e.request_id, 128), e.transport, left(e.method, 16), left(e.path, 500), e.operations,
        e.status, e.error_codes, e.messages, e.duration_ms, e.user_id, coalesce(u.username, ''), e.token_id,
        coalesce(t.hint, ''), left(e.client, 200), left(e.address, 64), e.partner_id,
        coalesce(p.marketplace_id, e.marketplace_id)
    FROM ROWS FROM (
        jsonb_to_recordset(CAST(:entries AS jsonb)) AS ({", ".join(f"{name} {kind}" for name, kind in COLUMN_TYPES.items())}),
        unnest(CAST(:ids AS bigint[]))
    ) AS e ({", ".join(COLUMN_TYPES)}, id)
    LEFT JOIN app_user u ON u.id = e.user_id
    LEFT JOIN token t ON t.id = e.token_id
    LEFT JOIN partner p ON p.id = e.partner_id
    ON CONFLICT (id) DO NOTHING
""")  # noqa: S608 - of names in this file
API_LOG = LogTable(
    "api_request",
    INSERT,
    Counter("coffret_api_log_lost_total", "Refused and failed requests that never reached the API log."),
    Gauge("coffret_api_log_waiting", "Requests waiting to be written to the API log.", multiprocess_mode="livesum"),
)
MOST_PER_MINUTE = 300
"""Requests of a user that a process records in a minute."""
MOST_OF_NOBODY_PER_MINUTE = 30
"""The same of all callers without a valid token, whom it costs nothing to send them."""
MOST_BYTES_PER_MINUTE = 256 * 1024
"""About the bytes of a user's records in a minute."""
PRUNE_BATCH_SIZE = 5_000
_PRUNE = text("""
    DELETE FROM api_request WHERE id IN (
        SELECT id FROM api_request WHERE occurred_on < :before ORDER BY occurred_on, id LIMIT :most
    )
""")


class ApiRequestRow(ApiRequest, table=True):
    """A request. It refers to users, tokens and tenants without foreign keys, as the audit log does."""

    __tablename__ = "api_request"
    __table_args__ = (
        Index("api_request_occurred_on_list_idx", "partner_id", "occurred_on", "id"),
        Index("api_request_of_marketplace_idx", "marketplace_id", "occurred_on", "id"),
        Index("api_request_of_all_idx", "occurred_on", "id"),
        Index("api_request_request_idx", "request_id"),
    )


class ApiLog:
    """Takes refused and failed requests without a wait. Those of a flood are counted as lost: it must not fill the disk."""

    def __init__(self, db: Database) -> None:
        self._buffer = EntryBuffer(db, API_LOG)
        self._minute = 0
        self._in_minute: dict[int | None, tuple[int, int]] = {}
        """How many requests of each user were recorded in this minute, and about how many bytes."""

    def put(self, user_id: int | None, draft: EntryBuilder, size: int) -> None:
        """Queue a request of a user, or of a caller without a valid token. `size` is about the bytes of the record."""
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._in_minute = minute, {}
        number, written = self._in_minute.get(user_id, (0, 0))
        most = MOST_OF_NOBODY_PER_MINUTE if user_id is None else MOST_PER_MINUTE
        if number >= most or written + size > MOST_BYTES_PER_MINUTE:
            API_LOG.lost.inc()
            return
        self._in_minute[user_id] = number + 1, written + size
        self._buffer.put(draft)

    async def flush(self) -> None:
        """Write all queued requests. Raises the errors of the database; unwritten ones then stay queued."""
        await self._buffer.flush()

    async def aclose(self) -> None:
        """Write the queued requests. Those that the database does not accept in three seconds are lost."""
        await self._buffer.aclose()


async def prune_api_log(db: AsyncSession, before: dt.datetime) -> bool:
    """Delete a batch of requests older than `before` in the open transaction. True if there may be more."""
    done = await (await db.connection()).execute(_PRUNE, {"before": before, "most": PRUNE_BATCH_SIZE})
    return bool(done.rowcount == PRUNE_BATCH_SIZE)
