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

OF_JOURNAL = """j.id, j.book_id, j.partner_id, j.kind, j.source_kind, j.source_id, j.lines, j.effective_on,
    extract(epoch FROM j.recorded_on), j.reverses_id"""
OF_ACCOUNT = "a.book_id, a.role, a.owner_id, a.owner_uuid"
CONTENT = f"sha256(convert_to(ROW({OF_JOURNAL}, e.line, {OF_ACCOUNT}, e.amount)::text, 'UTF8'))"
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
DIGESTS = f"""
    SELECT width_bucket(e.position, ARRAY(SELECT before_position FROM ledger_seal ORDER BY n)) + 1 AS place,
        e.journal_id AS id, e.line,
        sha256(convert_to(j.said || e.line || a.said || e.amount || ')', 'UTF8')) AS digest
    FROM ledger_entry e
    JOIN (SELECT j.id, left(ROW({OF_JOURNAL})::text, -1) || ',' AS said FROM ledger_journal j OFFSET 0) j ON j.id = e.journal_id
    JOIN (SELECT a.id, ',' || btrim(ROW({OF_ACCOUNT})::text, '()') || ',' AS said FROM ledger_account a OFFSET 0) a ON a.id = e.account_id
    WHERE e.position < (SELECT max(before_position) FROM ledger_seal) OFFSET 0
"""  # noqa: S608 - of SQL in this file
"""SQL: `CONTENT` of all entries that are sealed, and the place of their seal. What a journal and an account say is written
once for each, not for each of their entries, which takes a third of the time: `OFFSET 0` keeps it so.
"""
BROKEN = f"""
    SELECT s.n, s.entries, coalesce(c.entries, 0) AS entries_now
    FROM (SELECT *, row_number() OVER w AS place, lag(digest, 1, ''::bytea) OVER w AS previous
        FROM ledger_seal WINDOW w AS (ORDER BY n)) s
    LEFT JOIN (
        SELECT place, sum(entries)::bigint AS entries, sha256(string_agg(digest, ''::bytea ORDER BY number)) AS digest
        FROM (
            SELECT place, id / {GROUP} AS number, sum(entries) AS entries, sha256(string_agg(digest, ''::bytea ORDER BY id)) AS digest
            FROM (
                SELECT id, place, count(*) AS entries, string_agg(digest, ''::bytea ORDER BY line) AS digest
                FROM ({DIGESTS}) entries GROUP BY id, place OFFSET 0
            ) journals GROUP BY 1, 2
        ) content GROUP BY place
    ) c ON c.place = s.place
    WHERE s.digest <> sha256(s.previous || coalesce(c.digest, sha256(''))) OR s.entries <> coalesce(c.entries, 0)
"""  # noqa: S608 - of SQL in this file
"""SQL: the seals that do not match their entries, or the seal before them. It reads all entries once.

Entries are digested before they are sorted, so that what is sorted stays narrow, and joined by journal before seals sort
them: a fifth of the rows.
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
