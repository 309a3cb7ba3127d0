"""What the payment provider and the ledger disagree about, and what becomes of it."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pytest
from sqlalchemy import text

from resolvers.job.provider_notifications import dispatch_notification
from schema.account.user import UserRole
from schema.core.errors import InvalidTransition, NotFound
from schema.reconciliation import ReconciliationFindingKind
from schema.reconciliation import ReconciliationFindingState as State
from store.account.users import UserRow
from store.providers.base import Subject
from store.reconciliation.rows import ReconciliationFindingRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import balances, books_balance, fee_rule, paid, wallets_agree
from tests.fixtures.payment.dispute import spend_earnings
from tests.fixtures.payment.payout import can_be_paid_out, send, validated
from tests.fixtures.payment.reconciliation import (
    explain,
    findings,
    moved_by_hand,
    open_findings,
    reconciled,
    with_money,
)
from tests.fixtures.shop import Shop


async def notify(shop: Shop, subject: Subject, id: str) -> None:
    """The provider tells of something, as it should have before."""
    await dispatch_notification(shop.services, subject, id)


async def of_movements(shop: Shop) -> Sequence[ReconciliationFindingRow]:
    """The findings, without those of wallets."""
    return [each for each in await findings(shop) if each.kind is not ReconciliationFindingKind.BALANCE]


async def refunded_by_hand(shop: Shop, minor: int = 2000) -> str:
    """Somebody refunds the newest payment in the provider's dashboard; the id of the refund."""
    payin = await shop.one("SELECT provider_id FROM payment_transaction WHERE type = 'payin' ORDER BY id DESC LIMIT 1")
    answer = await shop.control("POST", f"/payins/{payin}/refund", {"amount": minor})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["Id"])


# ---- both agree


async def test_nothing_is_found_where_both_agree(shop: Shop) -> None:
    await fee_rule(shop)
    await with_money(shop)
    await can_be_paid_out(shop)
    await paid(shop, "100.00")
    assert (await reconciled(shop)).movements == 2
    await send(shop, await validated(shop))
    assert (await reconciled(shop)).movements == 3
    assert await findings(shop) == []
    await books_balance(shop)


# ---- missing here


async def test_what_nobody_explains_goes_into_suspense_in_the_second_night(shop: Shop) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    before, moved = await balances(shop), await moved_by_hand(shop, 4000, 100)
    await reconciled(shop)
    [found] = await of_movements(shop)
    assert (found.kind, found.subject, found.state) == ("missing_here", moved, State.OPEN)
    assert (found.provider_amount, found.own_amount, found.suspended_on) == (Decimal("40.00"), None, None)
    assert found.marketplace_id == shop.partner.marketplace_id
    assert await balances(shop) == before
    await reconciled(shop)
    [found] = await of_movements(shop)
    assert found.suspended_on is not None
    assert await broken_rules(shop.services.db) == {"suspense_is_empty": await suspended(shop)}
    await wallets_agree(shop)
    await reconciled(shop)
    assert [each.subject for each in await of_movements(shop)] == [moved]


async def suspended(shop: Shop) -> Sequence[str]:
    """What the rule says of the money in suspense."""
    return (await broken_rules(shop.services.db))["suspense_is_empty"]


@pytest.mark.parametrize("to_partner", [True, False])
async def test_a_person_explains_what_is_in_suspense(shop: Shop, *, to_partner: bool) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    await moved_by_hand(shop, 2500, 100, to_partner=to_partner)
    await reconciled(shop)
    await reconciled(shop)
    [found] = await of_movements(shop)
    explained = await explain(shop, found.id, "An advance that the director made.")
    assert (explained.state, explained.reason) == (State.EXPLAINED, "An advance that the director made.")
    owned = await balances(shop)
    partner, market = (3000 + 2400, 10000 - 2500) if to_partner else (3000 - 2500, 10000 + 2400)
    assert (owned["partner"], owned["marketplace_funds"], owned["commission"]) == (partner, market, 100)
    assert "suspense" not in owned
    await books_balance(shop)
    await wallets_agree(shop)
    await reconciled(shop)
    assert [each.state for each in await of_movements(shop)] == [State.EXPLAINED]
    await books_balance(shop)


async def test_more_left_a_wallet_than_its_owner_has(shop: Shop) -> None:
    await with_money(shop)
    await can_be_paid_out(shop)
    await paid(shop, "30.00")
    await moved_by_hand(shop, 2500, to_partner=False)
    for _ in range(2):
        await reconciled(shop)
    await validated(shop)
    [found] = await of_movements(shop)
    await explain(shop, found.id)
    owned = await balances(shop)
    assert (owned["partner_shortfall"], owned["marketplace_funds"]) == (2500, 12500)
    await books_balance(shop)


async def test_it_is_explained_before_it_is_in_suspense(shop: Shop) -> None:
    """Its money is not posted: a person says that it is known."""
    await with_money(shop)
    await paid(shop, "30.00")
    before = await balances(shop)
    await moved_by_hand(shop)
    await reconciled(shop)
    [found] = await of_movements(shop)
    await explain(shop, found.id)
    await reconciled(shop)
    assert [(each.state, each.suspended_on) for each in await of_movements(shop)] == [(State.EXPLAINED, None)]
    assert await balances(shop) == before


async def test_it_is_in_suspense_in_the_next_night_however_often_it_is_compared(shop: Shop) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    await moved_by_hand(shop)
    for after in (dt.timedelta(days=1), dt.timedelta(minutes=5), dt.timedelta(hours=3)):
        await reconciled(shop, after=after)
    assert [each.suspended_on for each in await of_movements(shop)] == [None]
    await reconciled(shop)
    assert [each.suspended_on is None for each in await of_movements(shop)] == [False]


async def test_what_was_explained_and_is_recorded_makes_a_shortfall_good_first(shop: Shop) -> None:
    """The partner had nothing left when a refund that nobody knew was explained."""
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    for _ in range(2):
        await reconciled(shop)
    await spend_earnings(shop, 10000)
    [found] = await of_movements(shop)
    await explain(shop, found.id)
    assert (await balances(shop))["partner_shortfall"] == 2000
    await notify(shop, Subject.REFUND, refund)
    await reconciled(shop)
    assert (await balances(shop)).get("partner", 0) == 0
    assert [each.state for each in await of_movements(shop)] == [State.RESOLVED]


async def test_a_refund_that_is_recorded_weeks_later_is_not_missing_there(shop: Shop) -> None:
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    await reconciled(shop, after=dt.timedelta(days=20))
    await notify(shop, Subject.REFUND, refund)
    for _ in range(3):
        await reconciled(shop, after=dt.timedelta(days=2))
    assert [(each.kind, each.state) for each in await findings(shop)] == [("missing_here", State.RESOLVED)]


async def test_only_an_open_finding_can_be_explained(shop: Shop) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    await moved_by_hand(shop)
    await reconciled(shop)
    [found] = await of_movements(shop)
    await explain(shop, found.id, "The first reason.")
    with pytest.raises(InvalidTransition):
        await explain(shop, found.id, "Another reason.")
    with pytest.raises(NotFound):
        await explain(shop, found.id + 1)
    assert [each.reason for each in await of_movements(shop)] == ["The first reason."]


async def test_a_lost_notification_is_made_good_in_the_first_night(shop: Shop) -> None:
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    await reconciled(shop)
    assert await open_findings(shop) == [("missing_here", refund)]
    payloads = await shop.services.db.rows(text("SELECT convert_from(payload, 'UTF8') AS payload FROM job"))
    assert [refund in row.payload for row in payloads].count(True) == 1
    await notify(shop, Subject.REFUND, refund)
    await reconciled(shop)
    assert [each.state for each in await of_movements(shop)] == [State.RESOLVED]
    await books_balance(shop)
    await wallets_agree(shop)


@pytest.mark.parametrize("is_explained", [False, True])
async def test_it_is_recorded_after_all(shop: Shop, *, is_explained: bool) -> None:
    """What was put into suspense is taken back, from its owner if a person had explained it."""
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    for _ in range(2):
        await reconciled(shop)
    if is_explained:
        [found] = await of_movements(shop)
        await explain(shop, found.id)
    await notify(shop, Subject.REFUND, refund)
    await reconciled(shop)
    [found] = await of_movements(shop)
    assert (found.state, found.reason) == (State.RESOLVED, "Moved by hand." if is_explained else "")
    assert await balances(shop) == {"wallet": 8000, "partner": 8000}
    await books_balance(shop)
    await wallets_agree(shop)
    await reconciled(shop)
    assert await open_findings(shop) == []


@pytest.mark.parametrize("explained", [(False, False), (True, False), (False, True), (True, True)])
async def test_what_returns_goes_into_suspense_again(shop: Shop, explained: Sequence[bool]) -> None:
    """And is taken back again; what returns and is recorded before that moves no money."""
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    for is_explained in explained:
        for _ in range(2):
            await reconciled(shop)
        if is_explained:
            await explain(shop, (await of_movements(shop))[0].id)
        if await shop.one("SELECT count(*) FROM payment_transaction WHERE provider_id = 'lost'"):
            await renamed(shop, "lost", refund)
        else:
            await notify(shop, Subject.REFUND, refund)
        await reconciled(shop)
        assert await balances(shop) == {"wallet": 8000, "partner": 8000}
        await renamed(shop, refund, "lost")
        await reconciled(shop)
        [found] = [each for each in await of_movements(shop) if each.subject == refund]
        assert (found.state, found.suspended_on, found.reason) == (State.OPEN, None, "")
    await renamed(shop, "lost", refund)
    await reconciled(shop)
    [found] = [each for each in await of_movements(shop) if each.subject == refund]
    assert found.state is State.RESOLVED
    assert await balances(shop) == {"wallet": 8000, "partner": 8000}
    await books_balance(shop)


async def test_it_is_explained_while_a_run_takes_it_back(shop: Shop) -> None:
    """Whichever is first, its money counts once."""
    await paid(shop, "100.00")
    refund = await refunded_by_hand(shop)
    for _ in range(2):
        await reconciled(shop)
    [found] = await of_movements(shop)
    await notify(shop, Subject.REFUND, refund)
    outcomes = await asyncio.gather(
        reconciled(shop), *(explain(shop, found.id) for _ in range(5)), return_exceptions=True
    )
    assert not isinstance(outcomes[0], BaseException)
    refused = [outcome for outcome in outcomes[1:] if isinstance(outcome, BaseException)]
    assert len(refused) >= 4
    assert {type(outcome) for outcome in refused} == {InvalidTransition}
    await reconciled(shop)
    [found] = await of_movements(shop)
    assert found.state is State.RESOLVED
    assert await balances(shop) == {"wallet": 8000, "partner": 8000}
    await books_balance(shop)


async def renamed(shop: Shop, old: str, new: str) -> None:
    """What is recorded of a movement at the provider has another id there."""
    await shop.execute("UPDATE payment_transaction SET provider_id = :new WHERE provider_id = :old", old=old, new=new)


# ---- missing there, and differing


async def test_what_the_provider_does_not_report_is_found_after_a_day(shop: Shop) -> None:
    await paid(shop, "100.00")
    await shop.execute("UPDATE payment_transaction SET provider_id = 'payin_forged'")
    await reconciled(shop, after=dt.timedelta(hours=20))
    assert {kind for kind, _ in await open_findings(shop)} == {"missing_here"}
    await reconciled(shop, after=dt.timedelta(hours=5))
    found = {each.kind.value: each for each in await findings(shop)}
    missing = found["missing_there"]
    assert (missing.subject, missing.own_amount, missing.provider_amount) == ("payin_forged", Decimal("100.00"), None)
    assert missing.marketplace_id == shop.partner.marketplace_id


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (
            "transaction_amount = transaction_amount + 1, net_amount = net_amount + 1",
            "It is 100.00 there and 101.00 here.",
        ),
        ("commission_amount = 4, net_amount = transaction_amount - 4", "The fees are 6.00 there and 4.00 here."),
        ("currency = 'GBP'", "It is in EUR there and in GBP here."),
        ("status = 'err'", "It has succeeded there, and is not recorded as done."),
    ],
)
async def test_what_differs_is_told_and_changes_nothing(shop: Shop, change: str, detail: str) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")
    before = await balances(shop)
    await shop.execute(f"UPDATE payment_transaction SET {change}")  # noqa: S608 - of this file
    for _ in range(2):
        await reconciled(shop)
    [found] = await of_movements(shop)
    assert (found.kind, found.state, found.detail) == ("differs", State.OPEN, detail)
    assert found.provider_amount == 100
    assert await balances(shop) == before
    payloads = await shop.services.db.rows(text("SELECT convert_from(payload, 'UTF8') AS payload FROM job"))
    assert [found.subject in row.payload for row in payloads].count(True) == 1, "it is looked up once"


async def test_a_finding_that_a_person_has_explained_is_open_again_when_it_changes(shop: Shop) -> None:
    await paid(shop, "100.00")
    await shop.execute("UPDATE payment_transaction SET transaction_amount = 101, net_amount = 101")
    await reconciled(shop)
    [found] = await of_movements(shop)
    await explain(shop, found.id)
    await reconciled(shop)
    assert await open_findings(shop) == []
    await shop.execute("UPDATE payment_transaction SET transaction_amount = 102, net_amount = 102")
    await reconciled(shop)
    [again] = await findings(shop)
    assert (again.id, again.state, again.closed_on) == (found.id, State.OPEN, None)
    await shop.execute("UPDATE payment_transaction SET transaction_amount = 100, net_amount = 100")
    await reconciled(shop)
    [again] = await findings(shop)
    assert again.state is State.RESOLVED
    assert again.closed_on is not None
    await shop.execute("UPDATE payment_transaction SET transaction_amount = 103, net_amount = 103")
    await reconciled(shop)
    [anew] = await findings(shop)
    assert (anew.id, anew.state, anew.reason, anew.first_seen_on) == (found.id, State.OPEN, "", anew.last_seen_on)


# ---- who is told


async def test_those_who_run_the_installation_get_one_mail_of_a_run(shop: Shop) -> None:
    for name, role, email in (
        ("chief", UserRole.MASTER, "chief@example.com"),
        ("manager", UserRole.MARKETPLACE, "manager@example.com"),
        ("nameless", UserRole.MASTER, ""),
    ):
        market_id = shop.partner.marketplace_id if role is UserRole.MARKETPLACE else None
        await shop.add(UserRow(username=name, role=role, email=email, password_hash="", marketplace_id=market_id))
    await with_money(shop)
    await paid(shop, "30.00")
    moved = [await moved_by_hand(shop, 1000), await moved_by_hand(shop, 2000)]
    await shop.execute("DELETE FROM mail")
    await reconciled(shop)
    await reconciled(shop)
    rows = await shop.services.db.rows(text("SELECT kind, recipient, content FROM mail"))
    assert [(row.kind, row.recipient, row.content["count"]) for row in rows] == [
        ("reconciliation", "chief@example.com", 2)
    ]
    assert {each["subject"] for each in rows[0].content["findings"]} == set(moved)
