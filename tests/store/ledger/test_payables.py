"""Payable items: one for each change of a partner's earnings, on the day that decides about its payout."""

import datetime as dt
from typing import Any

import pytest

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.payables import move_payable_items
from store.ledger.posting import post
from tests.fixtures.ledger import FEES, Ledger

ITEMS = """
    SELECT j.source_id, i.partner_id, i.own_amount, i.network_amount, i.payable_on
    FROM payable_item i JOIN ledger_journal j ON j.id = i.journal_id WHERE j.source_kind = 'test' ORDER BY i.journal_id, i.partner_id
"""
NIGHT = dt.datetime(2026, 3, 31, 22, 30, tzinfo=dt.UTC)
"""Half an hour into 1 April, in Paris."""


async def items(ledger: Ledger) -> list[tuple[Any, ...]]:
    """The items of journals of tests, oldest first: source, partner, amounts and day."""
    return [tuple(row) for row in await ledger.rows(ITEMS)]


async def test_earnings_have_an_item_and_nothing_else_has(ledger: Ledger) -> None:
    network = network_earnings(ledger.partner_id)
    await ledger.post(
        ledger.backed(100, source="own", recorded_on=NIGHT),
        ledger.journal((FEES, 30), (network, -27), (ledger.earnings, -3), source="both", recorded_on=NIGHT),
        ledger.journal((FEES, 5), (LedgerAccount(Role.COMMISSION), -5), source="nobody's"),
        ledger.journal((ledger.earnings, 13), (network, -13), source="moved", recorded_on=NIGHT),
        ledger.journal((network, 40), (FEES, -40), source="back", recorded_on=NIGHT),
    )
    day = dt.date(2026, 4, 1)
    assert await items(ledger) == [
        ("own", ledger.partner_id, 90, 0, day),
        ("both", ledger.partner_id, 3, 27, day),
        ("moved", ledger.partner_id, -13, 13, day),
        ("back", ledger.partner_id, 0, -40, day),
    ]
    assert await ledger.broken() == {}


async def test_a_repetition_adds_none_and_what_is_refused_leaves_none(ledger: Ledger) -> None:
    journal = ledger.earned(100)
    await ledger.post(journal)
    await ledger.post(journal)
    assert len(await items(ledger)) == 1
    async with ledger.db.sessions() as session:
        await post(session, [ledger.earned(50)])
    assert len(await items(ledger)) == 1


@pytest.mark.parametrize(
    ("payable_at", "day"),
    [
        (None, dt.date(2026, 4, 1)),
        (dt.datetime(2026, 5, 31, 21, 59, tzinfo=dt.UTC), dt.date(2026, 5, 31)),
        (dt.datetime(2026, 5, 31, 22, 0, tzinfo=dt.UTC), dt.date(2026, 6, 1)),
        (dt.datetime(2026, 1, 15, tzinfo=dt.UTC), dt.date(2026, 1, 15)),
    ],
)
async def test_a_chosen_time_decides_by_the_clock_of_the_marketplace(
    ledger: Ledger, payable_at: dt.datetime | None, day: dt.date
) -> None:
    await ledger.post(ledger.earned(100, recorded_on=NIGHT, payable_at=payable_at))
    ((_, _, own, _, payable_on),) = await items(ledger)
    assert (own, payable_on) == (90, day)


@pytest.mark.parametrize(
    ("payable_at", "days"),
    [
        (dt.datetime(2026, 6, 1, 12, tzinfo=dt.UTC), (dt.date(2026, 6, 1), dt.date(2026, 6, 1))),
        (dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC), (dt.date(2026, 3, 1), dt.date(2026, 4, 1))),
        (None, (dt.date(2026, 4, 1), dt.date(2026, 4, 1))),
    ],
)
async def test_what_takes_back_never_counts_before_it_happened(
    ledger: Ledger, payable_at: dt.datetime | None, days: tuple[dt.date, dt.date]
) -> None:
    earned = ledger.earned(100, recorded_on=NIGHT)
    refund = ledger.journal((ledger.earnings, 40), (FEES, -40), kind=Kind.REFUND, recorded_on=NIGHT)
    await ledger.post(earned, refund, ledger.earned(7, source="another"))
    journals = await ledger.rows("SELECT id FROM ledger_journal WHERE source_id <> 'another' AND source_kind = 'test'")
    before = (await items(ledger))[-1]
    async with ledger.db.sessions() as session, session.begin():
        await move_payable_items(session, [row.id for row in journals], payable_at)
    found = await items(ledger)
    assert (found[0][-1], found[1][-1]) == days
    assert found[-1] == before


@pytest.mark.parametrize(
    "forgery",
    [
        "DELETE FROM payable_item",
        "UPDATE payable_item SET own_amount = own_amount + 1",
        "UPDATE payable_item SET network_amount = 1",
        "UPDATE payable_item SET partner_id = (SELECT id FROM partner WHERE id <> payable_item.partner_id LIMIT 1)",
    ],
)
async def test_the_proof_finds_an_item_that_is_no_earning(ledger: Ledger, forgery: str) -> None:
    await ledger.post(ledger.backed(100))
    assert await ledger.broken() == {}
    await ledger.forge(forgery)
    assert set(await ledger.broken()) == {"payable_items_are_earnings"}
