"""Gathering what is due to many partners: by the program, and by two statements of plain SQL."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping

from rich.table import Table
from rich.text import Text
from sqlalchemy import text

from resolvers.core.services import Services
from resolvers.payment.payouts.gathering import gather_payouts
from store.ledger.books import book_of_partner

OWN, PLAIN = "the program's gathering", "two statements of plain SQL"
AIM = 0.5
PARTNERS, LINES = 1_000, 100_000
FIRST = 1_000_000
"""The first id of the partners that are made for this."""
MORE_PARTNERS = """
    INSERT INTO partner SELECT (jsonb_populate_record(p, jsonb_build_object('id', :first + n, 'uuid', gen_random_uuid(),
        'source_id', 'due' || n, 'site_domain', 'due' || n || '.example', 'is_network_shop', false, 'status', 'a'))).*
    FROM partner p CROSS JOIN generate_series(1, :partners) n WHERE p.id = :partner_id
"""
EMPTY = "TRUNCATE payable_item, payout_schedule, payout_request, payout_document, former_payout_item"
FILL = """
    INSERT INTO payable_item (journal_id, book_id, marketplace_id, partner_id, own_amount, network_amount, payable_on)
    SELECT n, :book_id, (SELECT marketplace_id FROM partner WHERE id = :partner_id), :first + 1 + n % :partners,
        1000 + n % 7, n % 3, '2020-01-01'
    FROM generate_series(1, :lines) n
"""
INSERT = """
    INSERT INTO payout_request (provider_id, check_on, status, payout_amount, first_day, last_day, created_on, detail,
        bank_account_iban, bank_account_bic, currency, partner_id, book_id, network_amount, recovered_amount, settlement_key, key,
        tries, settlement_tries, failure_code)
    SELECT '', NULL, 'to be validated', sum(i.own_amount + i.network_amount) / 100.0, '2020-01-01', '2020-01-31', now(), '', p.iban,
        p.bic, 'EUR', i.partner_id, i.book_id, 0, 0, gen_random_uuid(), gen_random_uuid(), 0, 0, ''
    FROM payable_item i JOIN partner p ON p.id = i.partner_id WHERE i.payable_on <= '2020-01-31' AND payout_request_id IS NULL
    GROUP BY i.partner_id, i.book_id, p.id
"""
TAKE = """
    UPDATE payable_item i SET payout_request_id = r.id FROM payout_request r
    WHERE (r.partner_id, r.book_id) = (i.partner_id, i.book_id) AND i.payable_on <= '2020-01-31' AND i.payout_request_id IS NULL
"""


class DueLines:
    """The lines of many partners, all of them due, and the ways to gather them."""

    def __init__(self, services: Services, book_id: int, partner_id: int, partners: int, lines: int) -> None:
        self.services = services
        self.values = {
            "book_id": book_id,
            "partner_id": partner_id,
            "partners": partners,
            "lines": lines,
            "first": FIRST,
        }
        self.variants: Mapping[str, Callable[[], Awaitable[object]]] = {
            OWN: lambda: gather_payouts(services),
            PLAIN: lambda: self.execute(INSERT, TAKE),
        }

    async def execute(self, *statements: str) -> None:
        """Run statements in one transaction."""
        async with self.services.db.engine.begin() as connection:
            for statement in statements:
                names = [name for name in self.values if f":{name}" in statement]
                await connection.execute(text(statement), {name: self.values[name] for name in names})

    async def turn(self, gather: Callable[[], Awaitable[object]]) -> float:
        """The seconds that a variant takes with fresh lines."""
        await self.execute(EMPTY, FILL)
        await self.execute("ANALYZE payable_item")
        begun = time.perf_counter()
        await gather()
        return time.perf_counter() - begun


async def measured_gathering(
    services: Services, partner_id: int, *, rounds: int, partners: int = PARTNERS, lines: int = LINES
) -> dict[str, float]:
    """The seconds of each variant, which take turns."""
    async with services.db.sessions() as session, session.begin():
        book_id = await book_of_partner(session, partner_id)
    due = DueLines(services, book_id, partner_id, partners, lines)
    await due.execute(MORE_PARTNERS)
    taken: dict[str, list[float]] = {name: [] for name in due.variants}
    for _ in range(rounds):
        for name, gather in due.variants.items():
            taken[name].append(await due.turn(gather))
            await asyncio.sleep(0)
    return {name: statistics.median(times) for name, times in taken.items()}


def gathering_table(seconds: Mapping[str, float], partners: int = PARTNERS, lines: int = LINES) -> Table:
    """One line for each variant."""
    title = f"Gathering {lines:,} lines of {partners:,} partners"
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("variant")
    for name in ("seconds", "the program's part of it", "aim"):
        table.add_column(name, justify="right")
    share = seconds[PLAIN] / seconds[OWN]
    table.add_row(OWN, f"{seconds[OWN]:.2f}", "", "")
    state = "green" if share >= AIM else "red"
    table.add_row(PLAIN, f"{seconds[PLAIN]:.2f}", Text(f"{share:.0%}", state), f"≥ {AIM:.0%}")
    return table
