"""Seals: a chain of digests over all entries. An entry that is changed afterwards breaks it.

Sealing is asynchronous, since a digest inside each posting would make one queue of all of them.
"""

import hashlib
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.clock import now
from store.ledger.balances import FINAL_POSITION

LAST = text("SELECT n, before_position, digest FROM ledger_seal ORDER BY n DESC LIMIT 1")
CONTENT = """
    SELECT count(*) AS entries, sha256(coalesce(string_agg(sha256(convert_to(
        concat_ws(',', j.id, j.book_id, j.kind, j.source_kind, j.source_id, j.lines, j.effective_on, e.line, e.account_id,
            e.amount), 'UTF8')), ''::bytea ORDER BY e.position, e.journal_id, e.line), ''::bytea)) AS digest
    FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
    WHERE e.position >= {first} AND e.position < {end}
"""
SEAL = text(f"""
    SELECT h.position, c.*
    FROM (SELECT {FINAL_POSITION} AS position) h, LATERAL ({CONTENT.format(first=":first", end="h.position")}) c
""")  # noqa: S608 - of SQL in this file
INSERT = text("""
    INSERT INTO ledger_seal (before_position, entries, digest, sealed_on)
    VALUES (:before_position, :entries, :digest, :sealed_on)
""")
CHECK = text(f"""
    SELECT s.n, s.entries, s.digest, c.entries AS entries_now, c.digest AS content
    FROM (SELECT *, lag(before_position, 1, 0::bigint) OVER (ORDER BY n) AS first_position FROM ledger_seal) s,
    LATERAL ({CONTENT.format(first="s.first_position", end="s.before_position")}) c ORDER BY s.n
""")  # noqa: S608 - of SQL in this file


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
    row = {"before_position": content.position, "entries": content.entries, "sealed_on": now()}
    await connection.execute(INSERT, {**row, "digest": _digest(previous, content.digest)})
    return int(content.entries)


async def broken_seals(db: AsyncSession) -> list[BrokenSeal]:
    """The seals that do not match any more, in their order."""
    broken, previous = [], b""
    for seal in (await (await db.connection()).execute(CHECK)).all():
        if seal.digest != _digest(previous, seal.content) or seal.entries != seal.entries_now:
            broken.append(BrokenSeal(seal.n, seal.entries, seal.entries_now))
        previous = seal.digest
    return broken


def _digest(previous: bytes, content: bytes) -> bytes:
    return hashlib.sha256(previous + content).digest()
