"""Proving a large ledger: by the program's rules, and by three statements of plain SQL that find the same mistakes."""

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import asyncpg
from rich.table import Table
from rich.text import Text
from sqlalchemy import make_url, text

from resolvers.core.services import Services
from store.core.clock import clock
from store.database.db import Database, dsn
from store.kv import open_kv
from store.ledger.seals import CONTENT, ENTRIES, GROUP
from store.ledger.verification.run import SETTINGS, verify_ledger
from store.migrations.migrate import migrate
from tests.bench.proof_rows import lay_payments
from tests.fixtures.shop import Shop, open_shop, sandbox_and_provider, services_over

OWN, PLAIN = "the program's proof, all rules", "three statements of plain SQL"
AIM = 0.5
PARTNERS, ENTRIES_TO_PROVE = 1_000, 1_000_000
JOURNALS = """
    SELECT count(*) FROM (
        SELECT e.journal_id, sum(e.amount) AS total, count(*) AS lines, min(a.book_id) AS book_id, max(a.book_id) AS other_book_id,
            sum(e.amount) FILTER (WHERE e.amount > 0) AS paid, -sum(e.amount) FILTER (WHERE a.role = 'partner') AS earned,
            sha256(convert_to(string_agg(concat(a.role, ',', coalesce(a.owner_id::text, 'None'), ',',
                coalesce(a.owner_uuid::text, 'None'), ',', e.amount), ';' ORDER BY e.line), 'UTF8')) AS fingerprint
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id GROUP BY e.journal_id
    ) e FULL JOIN ledger_journal j ON j.id = e.journal_id LEFT JOIN payment p ON p.id::text = j.source_id
    LEFT JOIN payment_transaction t ON t.payment_id = p.id LEFT JOIN payment_source s ON s.id = t.source_id
    FULL JOIN payable_item i ON i.journal_id = j.id
    WHERE e.total IS DISTINCT FROM 0 OR e.lines <> j.lines OR e.book_id <> j.book_id OR e.other_book_id <> j.book_id
        OR e.fingerprint <> j.fingerprint OR p.payment_amount * 100 IS DISTINCT FROM e.paid OR t.transaction_amount <> p.payment_amount
        OR s.source_amount <> p.payment_amount OR i.own_amount IS DISTINCT FROM e.earned
"""
"""Sums, books and fingerprints of journals; payments, pay-ins, sources and payable items beside them."""
ACCOUNTS = """
    SELECT count(*) FROM (
        SELECT account_id, max(total) AS total, count(*) AS entries, bool_and(balance_after = running AND version = place) AS runs
        FROM (
            SELECT *, sum(amount) OVER running AS running, row_number() OVER running AS place,
                sum(amount) OVER (PARTITION BY account_id) AS total
            FROM ledger_entry WINDOW running AS (PARTITION BY account_id ORDER BY version)
        ) e GROUP BY account_id
    ) e JOIN ledger_account a ON a.id = e.account_id
    WHERE a.has_floor AND (NOT e.runs OR a.balance <> e.total OR a.version <> e.entries OR e.total * a.side < 0)
"""
"""Running sums and balances of accounts."""
SEALS = f"""
    SELECT count(*) FROM (
        SELECT number, sha256(string_agg(digest, ''::bytea ORDER BY id, line))
        FROM (SELECT e.position, j.id / {GROUP} AS number, j.id, e.line, {CONTENT} AS digest FROM {ENTRIES}) d
        GROUP BY position, number
    ) content
"""  # noqa: S608 - of SQL of the program
"""The digests of all entries, without the chain."""


async def _prove_by_statements(services: Services) -> None:
    async with services.db.engine.connect() as connection:
        await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        for setting in SETTINGS:
            await connection.execute(text(setting))
        found = [(await connection.execute(text(statement))).scalar_one() for statement in (JOURNALS, ACCOUNTS, SEALS)]
    if any(found[:2]):
        raise RuntimeError(f"The plain statements find mistakes: {found}")


async def _prove_by_program(services: Services) -> None:
    broken = [result.rule.name for result in await verify_ledger(services.db, clock.now()) if not result.holds]
    if broken:
        raise RuntimeError(f"The ledger breaks {', '.join(broken)}.")


VARIANTS: Mapping[str, Callable[[Services], Awaitable[None]]] = {OWN: _prove_by_program, PLAIN: _prove_by_statements}


@asynccontextmanager
async def shop_in_new_database(database_url: str) -> AsyncIterator[Shop]:
    """A shop in a database of its own on that server: other measurements leave journals that nothing has caused."""
    connection = await asyncpg.connect(dsn(database_url))
    try:
        await connection.execute("CREATE DATABASE bench_proof")
    finally:
        await connection.close()
    url = make_url(database_url).set(database="bench_proof").render_as_string(hide_password=False)
    db, kv = Database(url), open_kv("", clock)
    sandbox, provider = sandbox_and_provider()
    try:
        await migrate(db)
        yield await open_shop(services_over(db, kv, provider), sandbox)
    finally:
        await provider.aclose()
        await kv.aclose()
        await db.aclose()


async def measured_proof(
    shop: Shop, *, rounds: int, partners: int = PARTNERS, entries: int = ENTRIES_TO_PROVE
) -> dict[str, float]:
    """The seconds of each variant, which take turns."""
    await lay_payments(shop, partners, entries)
    taken: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name, prove in VARIANTS.items():
            begun = time.perf_counter()
            await prove(shop.services)
            taken[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in taken.items()}


def proof_table(seconds: Mapping[str, float], entries: int = ENTRIES_TO_PROVE) -> Table:
    """One line for each variant."""
    table = Table(title=f"Proving {entries:,} entries", title_justify="left", header_style="bold")
    table.add_column("variant")
    for name in ("seconds", "the program's part of it", "aim"):
        table.add_column(name, justify="right")
    share = seconds[PLAIN] / seconds[OWN]
    table.add_row(OWN, f"{seconds[OWN]:.2f}", "", "")
    state = "green" if share >= AIM else "red"
    table.add_row(PLAIN, f"{seconds[PLAIN]:.2f}", Text(f"{share:.0%}", state), f"≥ {AIM:.0%}")
    return table
