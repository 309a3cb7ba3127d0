"""The audit log as rows. They are written once; the database refuses to change them."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import orjson
from prometheus_client import Counter, Gauge
from sqlalchemy import Index, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.audit import AuditEntry
from store.audit.buffer import LogTable

COLUMN_TYPES: Mapping[str, str] = {
    "occurred_on": "timestamptz",
    "operation": "text",
    "refused": "text",
    "actor": "text",
    "user_id": "int",
    "token_id": "int",
    "address": "text",
    "request_id": "text",
    "partner_id": "int",
    "marketplace_id": "int",
    "subject_type": "text",
    "subject_id": "text",
    "input": "jsonb",
    "changes": "jsonb",
    "tried": "text",
}
"""The fields of an entry with their types. `tried` is the user name of a refused log-in; it is not stored."""

INSERT = text(f"""
    INSERT INTO audit_entry (
        id, occurred_on, operation, refused, actor, user_id, username, token_id, token_hint, address, request_id,
        partner_id, marketplace_id, subject_type, subject_id, input, changes
    )
    SELECT
        coalesce(e.id, nextval(pg_get_serial_sequence('audit_entry', 'id'))),
        e.occurred_on, e.operation, e.refused, e.actor, e.user_id, coalesce(u.username, ''),
        e.token_id, coalesce(t.hint, ''), left(e.address, 64), left(e.request_id, 128),
        coalesce(e.partner_id, k.partner_id), coalesce(p.marketplace_id, e.marketplace_id, k.marketplace_id),
        CASE WHEN k.id IS NULL THEN left(e.subject_type, 80) ELSE 'User' END, left(coalesce(k.id::text, e.subject_id), 80), e.input, e.changes
    FROM ROWS FROM (
        jsonb_to_recordset(CAST(:entries AS jsonb)) AS ({", ".join(f"{name} {kind}" for name, kind in COLUMN_TYPES.items())}),
        unnest(CAST(:ids AS bigint[]))
    ) AS e ({", ".join(COLUMN_TYPES)}, id)
    LEFT JOIN app_user u ON u.id = e.user_id
    LEFT JOIN token t ON t.id = e.token_id
    LEFT JOIN app_user k ON k.username = e.tried
    LEFT JOIN partner p ON p.id = coalesce(e.partner_id, k.partner_id)
    ON CONFLICT (id) DO NOTHING
""")  # noqa: S608 - of names in this file
"""Inserts any number of entries in one statement, which also reads their users, tokens and marketplaces."""
AUDIT_LOG = LogTable(
    "audit_entry",
    INSERT,
    Counter("coffret_audit_lost_total", "Entries that never reached the audit log."),
    Gauge("coffret_audit_waiting", "Entries waiting to be written to the audit log.", multiprocess_mode="livesum"),
)

VOUCHER_OPERATION = "update_voucher"
USE_OPERATIONS = (
    "capture_gift_card",
    "spend_gift_card",
    VOUCHER_OPERATION,
    "use_network_gift_card",
    "use_network_voucher",
)
"""The operations that use a voucher or a gift card, or undo the use of a voucher."""
IS_USE = f"operation IN ({', '.join(map(repr, USE_OPERATIONS))}) AND refused IS NULL"
"""As text in statements, so that every plan may use the index of uses."""


class AuditEntryRow(AuditEntry, table=True):
    """An entry. It refers to users, tokens and tenants without foreign keys, so that it does not change with them.

    `marketplace_id` is that of the partner, if there is one, so that a marketplace reads its log along an index.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("audit_entry_occurred_on_list_idx", "partner_id", "occurred_on", "id"),
        Index("audit_entry_of_marketplace_idx", "marketplace_id", "occurred_on", "id"),
        Index("audit_entry_of_all_idx", "occurred_on", "id"),
        Index("audit_entry_subject_idx", "subject_type", "subject_id"),
        Index("audit_entry_request_idx", "request_id"),
        Index("audit_entry_use_idx", "partner_id", "occurred_on", "id", postgresql_where=text(IS_USE)),
    )


async def write_entry(db: AsyncSession | AsyncConnection, entry: bytes) -> None:
    """Write an entry in the open transaction."""
    connection = await db.connection() if isinstance(db, AsyncSession) else db
    await connection.execute(INSERT, {"entries": f"[{entry.decode()}]", "ids": [None]})


async def prune_audit_log(db: AsyncSession, before: dt.datetime) -> int:
    """Delete the entries older than `before` in the open transaction, and return their number.

    Nothing else can delete entries.
    """
    await db.exec(
        text("SELECT set_config('coffret.audit_prune_before', :before, true)"), params={"before": before.isoformat()}
    )  # type: ignore[call-overload]
    result = await db.exec(text("DELETE FROM audit_entry WHERE occurred_on < :before"), params={"before": before})  # type: ignore[call-overload]
    return int(result.rowcount)


def encode_entry(entry: Mapping[str, Any]) -> bytes:
    """Serialize an entry whose keys are those of `COLUMN_TYPES`."""
    return orjson.dumps(entry, default=str)
