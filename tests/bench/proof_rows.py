"""A ledger of many card payments to many partners, as the program would have posted them: copies of one that it has."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel

from resolvers.core.services import Services
from store.ledger.balances import fold_snapshots
from store.ledger.seals import seal_entries
from tests.fixtures.payment.api_payment import fee_rule, paid
from tests.fixtures.shop import Shop

ENTRIES_OF_PAYMENT = 5
FIRST = 1_000_000
"""The first id of the partners that are made for this."""
PARTNER = "CAST(:first AS int) + c.n"


def copies(table: str, of: str, template: str, **columns: str) -> str:
    """SQL that copies the rows of `template` for each row of `of`, with other values in some columns."""
    names = [column.name for column in SQLModel.metadata.tables[table].columns if column.computed is None]
    values = ", ".join(columns.get(name, f"t.{name}") for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} t CROSS JOIN {of} c WHERE {template}"  # noqa: S608


SHOPS = "(SELECT n FROM generate_series(1, CAST(:partners AS int)) n)"
PARTNERS = (
    copies(
        "partner",
        SHOPS,
        "t.id = (SELECT partner_id FROM payment)",
        id=PARTNER,
        uuid="gen_random_uuid()",
        source_id="'proof' || c.n",
        site_domain="'proof' || c.n || '.example'",
        provider_wallet_id="'proof' || c.n",
    ),
    copies(
        "wallet",
        SHOPS,
        "t.id = (SELECT wallet_id FROM payment)",
        id=PARTNER,
        uuid="gen_random_uuid()",
        partner_id=PARTNER,
        provider_wallet_id="'proof' || c.n",
    ),
    """
    CREATE TABLE bench_copy AS SELECT n, gen_random_uuid() AS payment_id, (SELECT max(id) FROM payment_source) + n AS source_id,
        (SELECT max(id) FROM ledger_journal) + n AS journal_id, CAST(:first AS int) + 1 + n % CAST(:partners AS int) AS partner_id
    FROM generate_series(1, CAST(:journals AS int)) n
    """,
    copies(
        "ledger_account",
        "(SELECT partner_id, count(*) AS payments FROM bench_copy GROUP BY partner_id)",
        "t.owner_id IS NOT NULL",
        id="c.partner_id * 2 + t.has_floor::int",
        owner_id="c.partner_id",
        partner_id="c.partner_id",
        balance="t.balance * c.payments",
        version="t.version * c.payments",
    ),
)
"""Partners, each with its wallet and accounts; and what is to be copied."""
BATCH_ROWS = "(SELECT * FROM bench_copy WHERE n > :done AND n <= :until)"
TEMPLATE = "t.partner_id = (SELECT partner_id FROM wallet WHERE id < :first)"
FINGERPRINT = """(
    SELECT sha256(convert_to(string_agg(concat(a.role, ',', CASE WHEN a.owner_id IS NULL THEN 'None' ELSE c.partner_id::text END,
        ',None,', e.amount), ';' ORDER BY e.line), 'UTF8'))
    FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.journal_id = t.id
)"""
BATCH = (
    copies(
        "payment",
        BATCH_ROWS,
        TEMPLATE,
        id="c.payment_id",
        partner_id="c.partner_id",
        wallet_id="c.partner_id",
        link_token="md5('link' || c.n)",
        document_token="md5('document' || c.n)",
    ),
    copies(
        "payment_source",
        BATCH_ROWS,
        TEMPLATE,
        id="c.source_id",
        payment_id="c.payment_id",
        partner_id="c.partner_id",
    ),
    copies(
        "payment_transaction",
        BATCH_ROWS,
        TEMPLATE,
        id="c.source_id",
        payment_id="c.payment_id",
        source_id="c.source_id",
        partner_id="c.partner_id",
        provider_id="'proof' || c.n",
        key="gen_random_uuid()",
    ),
    copies(
        "ledger_journal",
        BATCH_ROWS,
        TEMPLATE,
        id="c.journal_id",
        source_id="c.payment_id",
        partner_id="c.partner_id",
        fingerprint=FINGERPRINT,
    ),
    """
    INSERT INTO ledger_entry (journal_id, line, account_id, amount, balance_after, version)
    SELECT c.journal_id, e.line, coalesce(o.id, a.id), e.amount, e.balance_after * c.place, e.version * c.place
    FROM (SELECT *, row_number() OVER (PARTITION BY partner_id ORDER BY n) AS place FROM bench_copy WHERE n <= :until) c
    CROSS JOIN ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
    LEFT JOIN ledger_account o ON (o.role, o.owner_id) = (a.role, c.partner_id) AND a.owner_id IS NOT NULL
    WHERE c.n > :done AND j.partner_id = (SELECT partner_id FROM wallet WHERE id < :first)
    """,
    copies(
        "payable_item",
        BATCH_ROWS,
        TEMPLATE,
        id="CAST(:first AS int) + c.n",
        journal_id="c.journal_id",
        partner_id="c.partner_id",
    ),
)
"""The payments of a batch: their rows, journals, entries and payable items, of the one that the program has made."""
BATCHES = 20
"""After each, entries are folded and sealed, as the worker does every five minutes."""


async def lay_payments(shop: Shop, partners: int, entries: int) -> int:
    """Have as many entries in the ledger, of payments to so many partners. Answers how many there are."""
    await fee_rule(shop)
    await paid(shop, "100.00")
    payments = entries // ENTRIES_OF_PAYMENT - 1
    await _execute(shop.services, *PARTNERS, first=FIRST, partners=partners, journals=payments)
    done = 0
    for number in range(1, BATCHES + 1):
        until = payments * number // BATCHES
        await _execute(shop.services, *BATCH, first=FIRST, done=done, until=until)
        async with shop.services.db.sessions() as db, db.begin():
            await fold_snapshots(db)
            await seal_entries(db)
        done = until
    async with shop.services.db.autocommit_engine.connect() as connection:
        await connection.execute(text("DROP TABLE bench_copy"))
        await connection.execute(text("VACUUM (ANALYZE)"))
    return await shop.count("ledger_entry")


async def _execute(services: Services, *statements: str, **values: Any) -> None:
    async with services.db.engine.begin() as connection:
        for statement in statements:
            await _run(connection, statement, values)


async def _run(connection: AsyncConnection, statement: str, values: Mapping[str, Any]) -> None:
    named = {name: value for name, value in values.items() if f":{name}" in statement}
    await connection.execute(text(statement), named)
