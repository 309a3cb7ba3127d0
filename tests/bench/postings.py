"""Postings a second: through the program, by the driver alone, and as if every balance were a locked row."""

import asyncio
import itertools
import random
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg
from rich.table import Table
from rich.text import Text

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.core.clock import now
from store.database.db import Database, dsn
from store.ledger import posting
from store.ledger.accounts import LedgerAccount, partner_earnings, wallet_money
from store.ledger.books import book_of_partner
from store.ledger.posting import Journal, credit, debit, post

CONNECTIONS = 16
PARTNERS = 200
OWN, OWN_SLOW = "the program's post", "the program's post, commits take 5 ms"
DRIVER = "the same statements, by the driver"
LOCKED, LOCKED_SLOW = "every balance a locked row", "every balance a locked row, commits take 5 ms"
SLOW_COMMIT = 0.005
"""Seconds, as a commit takes that waits for a replica."""
COMPARED = {DRIVER: (OWN, 0.6), LOCKED: (OWN, None), LOCKED_SLOW: (OWN_SLOW, 3.0)}
"""How many times as many journals as a variant the program should post, at the same length of a commit. With locks on all
balances, journals wait for each other's commit: a processor that is busy hides that, a slow commit shows it."""


@dataclass(frozen=True)
class Pace:
    """How a variant did."""

    journals_per_second: float
    p50: float
    """Milliseconds."""
    p99: float


class Postings:
    """A book of 200 partners, and the ways to post a payment of five entries into it."""

    def __init__(self, db: Database, pool: asyncpg.Pool, book_id: int, partner_id: int) -> None:
        self.db, self.pool, self.book_id, self.partner_id = db, pool, book_id, partner_id
        self.numbers, self.draw, self.run = itertools.count(), random.Random(5), secrets.token_hex(4)
        self.variants: Mapping[str, Callable[[Journal], Awaitable[None]]] = {
            OWN: self.by_program,
            DRIVER: lambda journal: self.by_driver(journal, all_locked=False),
            LOCKED: lambda journal: self.by_driver(journal, all_locked=True),
            OWN_SLOW: lambda journal: self.by_program(journal, SLOW_COMMIT),
            LOCKED_SLOW: lambda journal: self.by_driver(journal, all_locked=True, pause=SLOW_COMMIT),
        }

    def journal(self, number: int) -> Journal:
        """A payment to one of the partners, of which the commission with its VAT goes to the marketplace."""
        entries = (
            debit(wallet_money(number), 9_500),
            debit(LedgerAccount(Role.FEES_WALLET), 500),
            credit(partner_earnings(number), 9_500),
            credit(LedgerAccount(Role.COMMISSION), 417),
            credit(LedgerAccount(Role.VAT_ON_COMMISSION), 83),
        )
        source = f"{self.run}-{next(self.numbers)}"
        return Journal(book_id=self.book_id, kind=Kind.PAYMENT, source_kind="bench", source_id=source, entries=entries,
                       partner_id=self.partner_id)  # fmt: skip

    async def by_program(self, journal: Journal, pause: float = 0) -> None:
        """As an operation does."""
        async with self.db.sessions() as session, session.begin():
            await post(session, [journal])
            await asyncio.sleep(pause)

    async def by_driver(self, journal: Journal, *, all_locked: bool, pause: float = 0) -> None:
        """The statements alone; with `all_locked` those accounts move their balance too that have no floor."""
        accounts = [entry.account for entry in journal.entries]
        amounts = [entry.amount for entry in journal.entries]
        owners = [account.owner_id for account in accounts]
        async with self.pool.acquire() as connection, connection.transaction():
            header = (
                [journal.book_id],
                [journal.partner_id],
                [journal.kind.value],
                ["bench"],
                [journal.source_id],
                [5],
            )
            inserted = await connection.fetchval(
                posting.INSERT_JOURNALS, "", *header, [now()], [None], [journal.fingerprint]
            )
            roles = [account.role.value for account in accounts]
            ids = await connection.fetch(posting.FIND_ACCOUNTS, [self.book_id] * 5, roles, owners, [None] * 5)
            id_of = {row["n"] - 1: row["id"] for row in ids}
            floors = [all_locked or account.has_floor for account in accounts]
            numbers, nothing = [1, 2, 3, 4, 5], [0] * 5
            entries = [inserted] * 5, numbers, [id_of[n] for n in range(5)], amounts, floors, nothing, nothing
            payable = [inserted], [journal.partner_id], [9_500], [0], [None]
            await connection.execute(posting.WRITE_ENTRIES, *entries, *payable)
            await asyncio.sleep(pause)

    async def turn(self, post_one: Callable[[Journal], Awaitable[None]], seconds: float) -> list[float]:
        """Post at all connections for a while; answers how long each journal took, in milliseconds."""
        end, taken = time.perf_counter() + seconds, []

        async def work() -> None:
            while (begun := time.perf_counter()) < end:
                await post_one(self.journal(self.draw.randrange(1, PARTNERS + 1)))
                taken.append((time.perf_counter() - begun) * 1e3)

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
        return taken


async def measured_postings(database_url: str, partner_id: int, *, rounds: int, seconds: float) -> dict[str, Pace]:
    """The pace of each variant, which take turns."""
    db = Database(database_url, pool_size=CONNECTIONS)
    pool = await asyncpg.create_pool(dsn(database_url), min_size=CONNECTIONS, max_size=CONNECTIONS)
    try:
        async with db.sessions() as session, session.begin():
            book_id = await book_of_partner(session, partner_id)
        postings = Postings(db, pool, book_id, partner_id)
        for number in range(1, PARTNERS + 1):
            await postings.by_program(postings.journal(number))
        taken: dict[str, list[float]] = {name: [] for name in postings.variants}
        paces: dict[str, list[float]] = {name: [] for name in postings.variants}
        for _ in range(rounds):
            for name, post_one in postings.variants.items():
                begun = time.perf_counter()
                turn = await postings.turn(post_one, seconds)
                taken[name] += turn
                paces[name].append(len(turn) / (time.perf_counter() - begun))
    finally:
        await pool.close()
        await db.aclose()
    return {name: _pace(paces[name], taken[name]) for name in taken}


def _pace(paces: Sequence[float], taken: Sequence[float]) -> Pace:
    in_order = sorted(taken)
    return Pace(statistics.median(paces), statistics.median(taken), in_order[int(len(in_order) * 0.99)])


def postings_table(paces: Mapping[str, Pace]) -> Table:
    """One line for each variant."""
    title = f"Postings of five entries, {CONNECTIONS} connections, {PARTNERS} partners"
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("variant")
    for name in ("journals a second", "p50, p99 ms", "the program's part of it", "aim"):
        table.add_column(name, justify="right")
    for name, pace in paces.items():
        own, aim = COMPARED.get(name, (name, None))
        part = paces[own].journals_per_second / pace.journals_per_second
        state = "" if aim is None else "green" if part >= aim else "red"
        table.add_row(
            name,
            f"{pace.journals_per_second:.0f}",
            f"{pace.p50:.0f}, {pace.p99:.0f}",
            "" if own == name else Text(f"{part:.0%}", state),
            "" if aim is None else f"≥ {aim:.0%}",
        )
    return table
