"""Seals: a chain of digests over all entries. An entry that is changed afterwards breaks it.

Sealing is asynchronous, since a digest inside each posting would make one queue of all of them. Whoever can change the
database can also make the chain anew: the log has the digest of each seal, and is kept elsewhere.
"""

import hashlib
from dataclasses import dataclass

import structlog
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.clock import now
from store.ledger.balances import FINAL_POSITION

log = structlog.get_logger(__name__)

CONTENT = """sha256(convert_to(ROW(
    j.id, j.book_id, j.partner_id, j.kind, j.source_kind, j.source_id, j.lines, j.effective_on,
    extract(epoch FROM j.recorded_on), j.reverses_id, e.line, a.book_id, a.role, a.owner_id, a.owner_uuid, e.amount
)::text, 'UTF8'))"""
"""SQL: the digest of an entry with all that it means."""
ENTRIES = "ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id JOIN ledger_account a ON a.id = e.account_id"
GROUP = 10_000
"""Journals whose entries are digested together: the digests of all entries would not fit into one value."""
LAST = text("SELECT n, before_position, digest FROM ledger_seal ORDER BY n DESC LIMIT 1")
SEAL = text(f"""
    SELECT max(position) AS position, coalesce(sum(entries), 0)::bigint AS entries,
        sha256(coalesce(string_agg(digest, ''::bytea ORDER BY number), ''::bytea)) AS digest
    FROM (
        SELECT j.id / {GROUP} AS number, h.position, count(*) AS entries,
            sha256(string_agg({CONTENT}, ''::bytea ORDER BY j.id, e.line)) AS digest
        FROM (SELECT {FINAL_POSITION} AS position) h CROSS JOIN {ENTRIES}
        WHERE e.position >= :first AND e.position < h.position GROUP BY 1, 2
    ) content
""")  # noqa: S608 - of SQL in this file
INSERT = text("""
    INSERT INTO ledger_seal (before_position, entries, digest, sealed_on)
    VALUES (:before_position, :entries, :digest, :sealed_on)
""")
BROKEN = f"""
    WITH positions AS MATERIALIZED (SELECT array_agg(before_position ORDER BY n) AS all FROM ledger_seal),
    digests AS MATERIALIZED (
        SELECT e.position, j.id, e.line, {CONTENT} AS digest FROM {ENTRIES}
        WHERE e.position < (SELECT max(before_position) FROM ledger_seal)
    )
    SELECT s.n, s.entries, coalesce(c.entries, 0) AS entries_now
    FROM (SELECT *, row_number() OVER w AS place, lag(digest, 1, ''::bytea) OVER w AS previous
        FROM ledger_seal WINDOW w AS (ORDER BY n)) s
    LEFT JOIN (
        SELECT place, sum(entries)::bigint AS entries, sha256(string_agg(digest, ''::bytea ORDER BY number)) AS digest
        FROM (
            SELECT width_bucket(position, p.all) + 1 AS place, id / {GROUP} AS number, count(*) AS entries,
                sha256(string_agg(digest, ''::bytea ORDER BY id, line)) AS digest
            FROM positions p CROSS JOIN digests GROUP BY 1, 2
        ) content GROUP BY place
    ) c ON c.place = s.place
    WHERE s.digest <> sha256(s.previous || coalesce(c.digest, sha256(''))) OR s.entries <> coalesce(c.entries, 0)
"""  # noqa: S608 - of SQL in this file
"""SQL: the seals that do not match their entries, or the seal before them. It reads all entries once.

Entries are digested before they are sorted: what is sorted stays narrow, and several processors can digest.
"""


@dataclass(frozen=True, slots=True)
class BrokenSeal:
    """A seal that does not match its entries, or the seal before it."""

    n: int
    entries: int
    """How many entries were sealed."""
    entries_now: int
    """How many entries there are now."""


async def seal_entries(db: AsyncSession) -> int:
    """Seal all entries that are final; returns their number."""
    connection = await db.connection()
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('ledger_seal'))"))
    last = (await connection.execute(LAST)).one_or_none()
    first, previous = (last.before_position, last.digest) if last else (0, b"")
    content = (await connection.execute(SEAL, {"first": first})).one()
    if not content.entries:
        return 0
    digest = hashlib.sha256(previous + content.digest).digest()
    row = {"before_position": content.position, "entries": content.entries, "digest": digest, "sealed_on": now()}
    await connection.execute(INSERT, row)
    log.info("the ledger is sealed", entries=content.entries, position=content.position, digest=digest.hex())
    return int(content.entries)


async def broken_seals(db: AsyncSession) -> list[BrokenSeal]:
    """The seals that do not match any more, in their order."""
    rows = (await (await db.connection()).execute(text(f"{BROKEN} ORDER BY s.n"))).all()
    return [BrokenSeal(*row) for row in rows]
