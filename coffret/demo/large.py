"""A large partner for the demo data: any number of vouchers, with the customers, options and gift cards that go with them.

Rows are drawn by number and copied in batches, each in a transaction of its own, so that a run that was ended goes on where
it ended. What a run makes follows from the seed, the numbers and the time; only the tokens of documents are drawn anew.
"""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.large_content import load_large
from coffret.demo.large_copy import copy_gift_cards, copy_vouchers
from coffret.demo.large_draw import Draw, Span
from coffret.demo.large_shelf import Shelf, large_partner, shelf_of
from coffret.demo.seed import DemoRefused, demo_partners
from store.core.clock import Clock
from store.core.settings import Settings
from store.database.db import Database
from store.gift_card.gift_cards import GiftCardRow
from store.voucher.vouchers import VoucherRow

BATCH = 5_000
VOUCHERS_A_GIFT_CARD = 20
LOCK = 0x6C617267
MEMORY = "SET gin_pending_list_limit = '64MB'; SET work_mem = '128MB'; SET synchronous_commit = off"
ORDERS = """
    UPDATE voucher_prototype SET nb_orders = sold.count FROM (
        SELECT voucher_prototype_id AS id, count(*) FROM voucher
        WHERE partner_id = $1 AND kind = 'voucher' AND activated_on IS NOT NULL GROUP BY 1
    ) AS sold WHERE sold.id = voucher_prototype.id
"""
ORDERED = """
    UPDATE voucher_option SET has_been_ordered = true WHERE partner_id = $1 AND id IN (
        SELECT option_id FROM voucher_chosen_option chosen JOIN voucher ON voucher.id = voucher_id
        WHERE chosen.partner_id = $1 AND activated_on IS NOT NULL
    )
"""
TIDY = """
    VACUUM (ANALYZE) voucher, voucher_chosen_option, voucher_included_option, voucher_rental, customer, gift_card,
    gift_card_entry, voucher_prototype, voucher_option
"""
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Large:
    """What there is of the large partner after a run."""

    vouchers: int
    added: int
    gift_cards: int


async def enlarge(db: Database, settings: Settings, clock: Clock, rows: int, tell: Tell) -> Large:
    """Give the demo data a large partner with so many vouchers; those that it has already count, and more are left alone.

    `tell` hears how many of how many rows this run has written. Raises DemoRefused outside development, where the demo data
    is not, and while another run is under way.
    """
    if not settings.development:
        raise DemoRefused("The demo data has public passwords, so it is for development only: unset ENVIRONMENT.")
    async with db.reading.connect() as held:
        connection = (await held.get_raw_connection()).driver_connection
        assert isinstance(connection, asyncpg.Connection)
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK):
            raise DemoRefused("Another run is laying rows at the moment.")
        try:
            return await _enlarged(db, connection, settings, clock.now(), rows, tell)
        finally:
            await held.invalidate()  # with its lock, and with what was set for it


async def _enlarged(
    db: Database, connection: asyncpg.Connection, settings: Settings, now: dt.datetime, rows: int, tell: Tell
) -> Large:
    async with db.sessions() as session, session.begin():
        others = await demo_partners(session)
        if not others:
            raise DemoRefused("The large partner stands beside the demo data, which is not in this database.")
        partner = await large_partner(session, others[0].marketplace_id, settings, now)
        shelf = await shelf_of(session, partner)
        vouchers, cards = [await _count(session, kind, partner.id) for kind in (VoucherRow, GiftCardRow)]
    of_vouchers = Span(vouchers, max(vouchers, rows), now)
    of_cards = Span(cards, max(cards, rows // VOUCHERS_A_GIFT_CARD), now)
    added = len(of_vouchers.numbers)
    if added or of_cards.numbers:
        await connection.execute(MEMORY)
        async for done in _laid(connection, shelf, of_vouchers, of_cards):
            tell(done, added + len(of_cards.numbers))
        await connection.execute(ORDERS, partner.id)
        await connection.execute(ORDERED, partner.id)
        await connection.execute(TIDY)
    return Large(of_vouchers.end, added, of_cards.end)


async def _count(db: AsyncSession, kind: Any, partner_id: int) -> int:
    return (await db.exec(select(func.count()).select_from(kind).where(col(kind.partner_id) == partner_id))).one()


async def _laid(connection: asyncpg.Connection, shelf: Shelf, vouchers: Span, cards: Span) -> AsyncIterator[int]:
    """Draw and write all that is missing; yields how many rows have been written."""
    done, content = 0, load_large()
    for span, draw, write in (
        (vouchers, Draw(shelf, content, vouchers).voucher, copy_vouchers),
        (cards, Draw(shelf, content, cards).gift_card, copy_gift_cards),
    ):
        async for drawn in _drawn(draw, span.numbers):
            async with connection.transaction():
                await write(connection, shelf.partner_id, drawn, span.now)
            done += len(drawn)
            yield done


async def _drawn(draw: Callable[[int], Any], numbers: range) -> AsyncIterator[Sequence[Any]]:
    """Batches, each drawn while the one before it is written."""
    batches = [numbers[at : at + BATCH] for at in range(0, len(numbers), BATCH)]

    def begin(batch: range) -> asyncio.Task[Sequence[Any]]:
        return asyncio.create_task(asyncio.to_thread(lambda: [draw(number) for number in batch]))

    coming = [begin(batch) for batch in batches[:1]]
    for following in [*batches[1:], None]:
        if coming:
            drawn = await coming.pop()
            coming = [] if following is None else [begin(following)]
            yield drawn
