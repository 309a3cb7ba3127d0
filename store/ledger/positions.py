"""Positions of entries keep growing, also after the database was restored into another server.

A position is the id of a transaction, and each server counts its own: in a restored database, new entries would get
positions below those that snapshots and seals have left behind, and would never be counted. The shift is added to all
ids, and raised when that is so. It is looked for when the program starts, before anything is posted.
"""

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

log = structlog.get_logger(__name__)
SEALED = text("""
    SELECT greatest((SELECT max(before_position) FROM ledger_seal), (SELECT max(before_position) FROM ledger_snapshot), 0)
""")
LAST = text("SELECT max(position) FROM ledger_entry WHERE position >= :sealed")
"""Only what was written since the last seal is read."""
RAISE = text("""
    INSERT INTO ledger_shift AS s (id, shift) VALUES (true, CAST(:behind AS bigint))
    ON CONFLICT (id) DO UPDATE SET shift = s.shift + excluded.shift
""")


async def keep_positions_growing(connection: AsyncConnection) -> int:
    """Raise the shift if the ledger has positions that this server has not reached; returns by how much.

    The caller commits, and lets one process at a time do this.
    """
    sealed = (await connection.execute(SEALED)).scalar_one()
    last = (await connection.execute(LAST, {"sealed": sealed})).scalar_one()
    greatest = max(sealed - 1, last or 0)
    behind: int = greatest + 1 - (await connection.execute(text("SELECT ledger_position()"))).scalar_one()
    if behind <= 0:
        return 0
    await connection.execute(RAISE, {"behind": behind})
    log.warning("the database was restored into another server: positions of the ledger are shifted", by=behind)
    return behind
