"""The uses of a day are found along an index of their own, among many other entries of the audit log."""

import datetime as dt
from typing import Any

from sqlalchemy import event, text

from store.audit.entries import USE_OPERATIONS
from store.audit.uses import users_of, uses_since, voucher_moves
from store.core.clock import clock
from store.database.db import Database

ENTRIES = """
    INSERT INTO audit_entry (
        occurred_on, operation, actor, username, token_hint, address, request_id, partner_id, subject_type, subject_id,
        input, changes
    )
    SELECT
        CAST(:now AS timestamptz) - n * interval '1 second', CASE WHEN n % 100 = 0 THEN 'spend_gift_card' ELSE 'save_cart' END,
        'partner', 'ada', '', '', '', 1 + n % 3, CASE WHEN n % 100 = 0 THEN 'GiftCardHold' ELSE 'Cart' END, n::text, '{}', '[]'
    FROM generate_series(1, 30000) n
"""


async def test_the_uses_of_a_day_do_not_read_the_carts(database: Database) -> None:
    now, ran = clock.now(), list[tuple[str, Any]]()
    async with database.engine.begin() as connection:
        await connection.execute(text(ENTRIES), {"now": now})
    async with database.engine.connect() as connection:
        await (await connection.execution_options(isolation_level="AUTOCOMMIT")).execute(text("ANALYZE audit_entry"))

    def note(_connection: object, _cursor: object, sql: str, parameters: Any, *_: object) -> None:
        ran.append((sql, parameters))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    async with database.sessions() as db:
        since = now - dt.timedelta(hours=8)
        uses = await uses_since(db, 1, USE_OPERATIONS, since, limit=21)
        later = await uses_since(db, 1, USE_OPERATIONS, since, before_id=uses[-1].id, limit=21)
        users = await users_of(db, "GiftCardHold", [use.subject_id for use in uses], 1)
        assert await voucher_moves(db, [7], 1) == []
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    assert [use.subject_id for use in (*uses, *later)] == [300 * n for n in range(1, 43)]
    assert users == {use.subject_id: "ada" for use in uses}
    for index, (sql, parameters) in zip(
        ("audit_entry_use_idx", "audit_entry_use_idx", "audit_entry_subject_idx", "audit_entry_subject_idx"),
        [each for each in ran if "audit_entry" in each[0]],
        strict=True,
    ):
        async with database.engine.connect() as connection:
            plan = "\n".join(row[0] for row in await connection.exec_driver_sql(f"EXPLAIN {sql}", parameters))
        assert f"{index}" in plan, plan
        assert "Seq Scan on audit_entry" not in plan, plan
