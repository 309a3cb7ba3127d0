# ruff: noqa: S608 - statements are made of the names above
"""Each rule of the proof finds what it is for, and nothing else breaks it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import pytest
from sqlalchemy import text

from resolvers.gift_card.holds import capture_gift_card, hold_gift_card
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.core.clock import clock
from store.ledger.accounts import CLEARED, LedgerAccount
from store.ledger.balances import fold_snapshots
from store.ledger.seals import broken_seals, seal_entries
from store.ledger.verification.run import ALL_RULES, ProofScope, verify_ledger
from tests.changes import Direct
from tests.fixtures.gift_card import gift_card
from tests.fixtures.ledger import COMMISSION, FEES, OWN_RULES, Ledger

REFUND = UUID(int=7)
PAYMENT = "(SELECT id FROM ledger_journal WHERE source_id = 'other')"
REVERSED = "(SELECT id FROM ledger_journal WHERE reverses_id IS NOT NULL)"
PARTNER = "(SELECT id FROM ledger_account WHERE role = 'partner')"
OPEN = "(SELECT id FROM ledger_account WHERE role = 'commission')"
CARD = "(SELECT max(id) FROM gift_card)"


@dataclass(frozen=True)
class Forgery:
    """What somebody changes, and the rules that must notice."""

    statements: Sequence[str]
    rules: Sequence[str]
    offender: str
    """What the first of these rules says of it, in part."""


SEALED = "seals_are_whole"
PAYABLE = "payable_items_are_earnings"
POSTED = "journals_say_what_was_posted"
FORGERIES = {
    "an amount": Forgery(
        [f"UPDATE ledger_entry SET amount = amount + 1 WHERE journal_id = {PAYMENT} AND line = 2"],
        ["journals_sum_to_zero", "books_sum_to_zero", POSTED, SEALED, "balances_are_sums", "balances_run", PAYABLE],
        "(payment of test other): 3 of 3 entries, sum 1",
    ),
    "an entry fewer": Forgery(
        [f"DELETE FROM ledger_entry WHERE journal_id = {PAYMENT} AND line = 3"],
        ["journals_sum_to_zero", "books_sum_to_zero", POSTED, SEALED, "snapshots_are_sums"],
        "2 of 3 entries, sum 20",
    ),
    "a journal without entries": Forgery(
        [
            ("INSERT INTO ledger_journal (book_id, marketplace_id, kind, source_kind, source_id, lines, effective_on, recorded_on,"
            " request_id, fingerprint) SELECT book_id, marketplace_id, kind, 'x', 'x', 2, effective_on, recorded_on, '', ''"
            f" FROM ledger_journal WHERE id = {PAYMENT}")
        ],
        ["journals_sum_to_zero"],
        "0 of 2 entries",
    ),
    "another book": Forgery(
        [
            ("UPDATE ledger_entry SET account_id = (SELECT id FROM ledger_account WHERE role = 'issued' AND book_id <> "
            f"(SELECT book_id FROM ledger_journal WHERE id = {PAYMENT})) WHERE journal_id = {PAYMENT} AND line = 3")
        ],
        ["journals_stay_in_their_book", "books_sum_to_zero", POSTED, SEALED, "snapshots_are_sums"],
        "entry 3 of journal",
    ),
    "another marketplace": Forgery(
        [f"UPDATE ledger_journal SET marketplace_id = marketplace_id + 1 WHERE id = {PAYMENT}"],
        ["journals_stay_in_their_book"],
        "(payment of test other): marketplace",
    ),
    "amounts of two entries": Forgery(
        [
            f"UPDATE ledger_entry SET amount = amount + 3 WHERE journal_id = {PAYMENT} AND line = 1",
            f"UPDATE ledger_entry SET amount = amount - 3 WHERE journal_id = {PAYMENT} AND line = 3",
        ],
        [POSTED, SEALED, "snapshots_are_sums"],
        "its entries are not those that were posted",
    ),
    "a date": Forgery(
        [f"UPDATE ledger_journal SET effective_on = effective_on - 1 WHERE id = {PAYMENT}"], [SEALED], "entries"
    ),
    "the amount of a reversal": Forgery(
        [
            f"UPDATE ledger_entry SET amount = amount + 1 WHERE journal_id = {REVERSED} AND line = 1",
            f"UPDATE ledger_entry SET amount = amount - 1 WHERE journal_id = {REVERSED} AND line = 3",
        ],
        ["reversals_are_exact", POSTED, SEALED, "snapshots_are_sums"],
        "not the opposite of journal",
    ),
    "a second reversal": Forgery(
        [
            "DROP INDEX ledger_journal_reverses_key",
            (f"UPDATE ledger_journal SET reverses_id = (SELECT reverses_id FROM ledger_journal WHERE id = {REVERSED})"
            " WHERE source_id = 'other'"),
        ],
        ["reversals_are_exact", SEALED],
        "not the opposite",
    ),
    "a side": Forgery(
        ["UPDATE ledger_account SET side = -side WHERE role = 'fees_wallet'"], ["accounts_stay_in_the_plan"], "(fees_wallet)"
    ),
    "the owner of an account": Forgery(
        [f"UPDATE ledger_account SET owner_id = owner_id + 1000 WHERE id = {PARTNER}"],
        [POSTED, SEALED, PAYABLE],
        "its entries are not those",
    ),
    "a balance": Forgery(
        [f"UPDATE ledger_account SET balance = balance - 5 WHERE id = {PARTNER}"], ["balances_are_sums"], "(partner "
    ),
    "a version": Forgery(
        [f"UPDATE ledger_account SET version = version + 1 WHERE id = {PARTNER}"], ["balances_are_sums"], "(partner "
    ),
    "a balance after": Forgery(
        [f"UPDATE ledger_entry SET balance_after = balance_after + 1 WHERE account_id = {PARTNER} AND version = 2"],
        ["balances_run"],
        "entry 2 of journal",
    ),
    "a gap": Forgery(
        [
            (f"UPDATE ledger_entry SET version = 9 WHERE account_id = {PARTNER}"
            f" AND version = (SELECT max(version) FROM ledger_entry e WHERE e.account_id = {PARTNER})")
        ],
        ["balances_run"],
        "entry",
    ),
    "a balance where none is": Forgery(
        [f"UPDATE ledger_entry SET balance_after = 0 WHERE account_id = {OPEN}"], ["balances_run"], "(commission )"
    ),
    "a snapshot": Forgery(
        [f"UPDATE ledger_snapshot SET balance = balance + 1 WHERE account_id = {OPEN}"],
        ["snapshots_are_sums"],
        "(commission )",
    ),
    "a position": Forgery(
        [f"UPDATE ledger_entry SET position = position + 1000000 WHERE account_id = {OPEN}"],
        ["snapshots_are_sums", SEALED],
        "(commission )",
    ),
    "less than nothing": Forgery(
        [
            f"UPDATE ledger_entry SET amount = amount + 1000000 WHERE journal_id = {PAYMENT} AND line = 2",
            f"UPDATE ledger_entry SET amount = amount - 1000000 WHERE journal_id = {PAYMENT} AND line = 3",
        ],
        ["floors_hold", POSTED, SEALED, "balances_are_sums", "balances_run", "snapshots_are_sums", PAYABLE],
        "(partner ",
    ),
    "a payable item": Forgery(
        [f"UPDATE payable_item SET own_amount = own_amount + 1 WHERE journal_id = {PAYMENT}"],
        [PAYABLE],
        "payable 181 and 0",
    ),
    "a card's amount": Forgery(
        [f"UPDATE gift_card SET remaining_amount = remaining_amount - 1 WHERE id = {CARD}"],
        ["cards_show_their_balance"],
        "34.00, in the ledger 35.00",
    ),
    "a hold": Forgery(
        [f"UPDATE gift_card_hold SET state = 'released', closed_on = now() WHERE state = 'running' AND gift_card_id = {CARD}"],
        ["cards_show_their_holds"],
        "on hold 0, in the ledger 5.00",
    ),
    "a captured amount": Forgery(
        [f"UPDATE gift_card_hold SET captured_amount = 9 WHERE state = 'captured' AND gift_card_id = {CARD}"],
        ["holds_are_captured"],
        "capture of 900 not posted",
    ),
    "a captured hold": Forgery(
        [f"UPDATE gift_card_hold SET state = 'reversed' WHERE state = 'captured' AND gift_card_id = {CARD}"],
        ["holds_are_captured"],
        "reversal of 1000 not posted",
    ),
    "a card's wallet": Forgery(
        [f"UPDATE wallet SET partner_id = partner_id + 1 WHERE id = (SELECT wallet_id FROM gift_card WHERE id = {CARD})"],
        ["cards_have_their_wallet"],
        "gift card",
    ),
    "a card's book": Forgery(
        [f"UPDATE gift_card SET book_id = book_id + 1 WHERE id = {CARD}"],
        ["cards_have_their_wallet", "cards_show_their_balance", "cards_show_their_holds"],
        "gift card",
    ),
    "a seal": Forgery(["UPDATE ledger_seal SET digest = sha256(digest) WHERE n = 1"], [SEALED], "seal 1:"),
    "a seal fewer": Forgery(["DELETE FROM ledger_seal WHERE n = 1"], [SEALED], "seal 2:"),
}  # fmt: skip


@pytest.fixture
async def ledger(ledger: Ledger) -> Ledger:
    """A book with all that rules look at: cards with holds, payments, a refund in time, a reversal, snapshots, seals."""
    card, ask = await gift_card(ledger.tenants), Direct(ledger.tenants)
    hold = (await ask.change("a1", hold_gift_card, id=card.id, amount="30.00")).result
    assert (await ask.change("a1", capture_gift_card, hold_id=hold.id, amount="10.00")).done
    assert (await ask.change("a1", hold_gift_card, id=card.id, amount="5.00")).done
    await ledger.post(ledger.earned(100, source="first"))
    await _fold_and_seal(ledger)
    first = (await ledger.rows("SELECT id FROM ledger_journal WHERE source_id = 'first'"))[0][0]
    back = ((FEES, -100), (ledger.earnings, 90), (COMMISSION, 10))
    due = LedgerAccount(Role.REFUND_DUE, owner_uuid=REFUND)
    await ledger.post(
        ledger.earned(200, source="other"),
        ledger.journal(*back, reverses_id=first, kind=Kind.REFUND_FAILED),
        ledger.journal((ledger.earnings, 20), (due, -20), kind=Kind.REFUND),
    )
    await _fold_and_seal(ledger)
    assert await ledger.broken() == {}
    return ledger


async def _fold_and_seal(ledger: Ledger) -> None:
    async with ledger.db.sessions() as session, session.begin():
        await fold_snapshots(session, least=1)
        assert await seal_entries(session)
        assert await broken_seals(session) == []


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forgery_is_noticed(ledger: Ledger, name: str) -> None:
    forgery = FORGERIES[name]
    await ledger.forge(*forgery.statements)
    broken = await ledger.broken()
    assert set(broken) == set(forgery.rules), broken
    assert forgery.offender in broken[forgery.rules[0]][0], broken
    if SEALED in forgery.rules:
        async with ledger.db.sessions() as session:
            assert await broken_seals(session)


async def test_what_is_late_or_unexplained_is_told(ledger: Ledger) -> None:
    later = clock.now() + CLEARED[Role.REFUND_DUE] + dt.timedelta(minutes=1)
    assert await ledger.broken(now=later - dt.timedelta(minutes=2)) == {}
    ((late,),) = (await ledger.broken(now=later)).values()
    assert f"(refund_due {REFUND}): 20 since" in late
    due = LedgerAccount(Role.REFUND_DUE, owner_uuid=REFUND)
    await ledger.post(ledger.journal((due, 20), (FEES, -20), kind=Kind.REFUND_PAID))
    assert await ledger.broken(now=later) == {}
    await ledger.post(ledger.journal((FEES, 3), (LedgerAccount(Role.SUSPENSE), -3), kind=Kind.UNEXPLAINED))
    assert list(await ledger.broken()) == ["suspense_is_empty"]


async def test_a_proof_can_be_of_a_book_or_a_period(ledger: Ledger) -> None:
    statement = f"UPDATE ledger_account SET balance = balance - 5 WHERE id = {PARTNER}"
    await ledger.forge(statement)
    others = await ledger.rows("SELECT id FROM ledger_book WHERE id <> :id", id=ledger.book_id)
    assert others
    assert await ledger.broken(ProofScope(books=tuple(row[0] for row in others))) == {}
    assert list(await ledger.broken(ProofScope(books=(ledger.book_id,)))) == ["balances_are_sums"]
    (day,) = (row[0] for row in await ledger.rows("SELECT max(effective_on) FROM ledger_journal"))
    assert await ledger.broken(ProofScope(since=day + dt.timedelta(days=1))) == {}
    assert list(await ledger.broken(ProofScope(since=day))) == ["balances_are_sums"]


async def test_a_proof_locks_and_writes_nothing(ledger: Ledger) -> None:
    async with ledger.db.engine.begin() as connection:
        await connection.execute(text("SELECT * FROM ledger_account FOR UPDATE"))
        results = await verify_ledger(ledger.db, clock.now())
    assert [result.rule for result in results] == list(ALL_RULES)
    assert len({rule.name for rule in OWN_RULES}) == len(OWN_RULES)


def test_each_rule_is_broken_by_a_test() -> None:
    tested = {rule for forgery in FORGERIES.values() for rule in forgery.rules[:1]}
    assert tested | {"clearing_is_in_time", "suspense_is_empty", "books_sum_to_zero"} == {
        rule.name for rule in OWN_RULES
    }
