"""Amounts of settlements and of payouts that came back, money that was converted, and what is told once."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from resolvers.job.provider_notifications import dispatch_notification
from schema.payment.dispute import DisputeState
from schema.payment.payout import PayoutRequestStatus
from schema.reconciliation import ReconciliationFindingState as State
from store.core.clock import clock
from store.providers.base import Subject
from store.providers.money import MinorAmount
from store.providers.reports import ProviderReport, ReportedMovement
from store.providers.transactions import TransactionKind
from store.reconciliation.rows import ProviderMovementRow
from store.reconciliation.suspense import suspense_journals
from tests.fixtures.payment.api_payment import paid
from tests.fixtures.payment.dispute import OpenedDispute
from tests.fixtures.payment.payout import RETURNED_IBAN, can_be_paid_out, payouts, send, validated
from tests.fixtures.payment.reconciliation import (
    explain,
    findings,
    moved_by_hand,
    open_findings,
    reconciled,
    with_money,
)
from tests.fixtures.shop import Shop
from tests.resolvers.payment.disputes.test_settling import lost


def reports_less(shop: Shop, monkeypatch: pytest.MonkeyPatch, kind: TransactionKind, minor: int) -> None:
    """The provider reports so much less of movements of a kind."""
    read = shop.services.provider.read_report

    async def lowered(report: ProviderReport) -> AsyncIterator[ReportedMovement]:
        async for line in read(report):
            if line.kind is kind:
                less = MinorAmount(line.debited.currency, minor)
                line = replace(line, debited=line.debited - less, credited=line.credited - less)  # noqa: PLW2901
            yield line

    monkeypatch.setattr(shop.services.provider, "read_report", lowered)


async def settled(shop: Shop) -> OpenedDispute:
    """A dispute that is lost and settled."""
    dispute = await lost(shop)
    for _ in range(3):
        await dispute.check()
        clock.advance(dt.timedelta(hours=1))
    row = await dispute.row()
    assert (row.state, row.settled_on is None, row.settlement_id == "") == (DisputeState.LOST, False, False)
    return dispute


async def test_the_amount_of_a_settlement_is_compared(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    dispute = await settled(shop)
    await reconciled(shop)
    assert await open_findings(shop) == []
    reports_less(shop, monkeypatch, TransactionKind.SETTLEMENT, 100)
    await reconciled(shop)
    row = await dispute.row()
    assert await open_findings(shop) == [("differs", row.settlement_id)]
    [found] = await findings(shop)
    assert found.own_amount is not None
    assert found.provider_amount == found.own_amount - 1
    assert found.detail == f"It is {found.provider_amount} there and {found.own_amount} here."


async def test_a_settlement_that_is_not_recorded_as_done_is_found(shop: Shop) -> None:
    dispute = await settled(shop)
    await shop.execute("UPDATE dispute SET settled_on = NULL")
    await reconciled(shop)
    row = await dispute.row()
    assert await open_findings(shop) == [("differs", row.settlement_id)]
    assert (await findings(shop))[0].detail == "It has succeeded there, and is not recorded as done."


async def test_the_amount_of_a_payout_that_came_back_is_compared(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await can_be_paid_out(shop, RETURNED_IBAN)
    await paid(shop, "100.00")
    done = await send(shop, await validated(shop))
    clock.advance(dt.timedelta(days=2))
    refund = (await shop.services.provider.list_children(TransactionKind.PAYOUT, done.provider_id))[0]
    await dispatch_notification(shop.services, Subject.REFUND, refund.id)
    assert (await payouts(shop))[-1].status is PayoutRequestStatus.FAILED
    await reconciled(shop)
    assert await open_findings(shop) == []
    reports_less(shop, monkeypatch, TransactionKind.REFUND, 250)
    await reconciled(shop)
    [found] = await findings(shop)
    assert (found.kind.value, found.subject) == ("differs", refund.id)
    assert (found.provider_amount, found.own_amount) == (Decimal("97.50"), Decimal("100.00"))


async def test_what_is_missing_is_not_told_as_a_balance_too(shop: Shop) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    moved = await moved_by_hand(shop, fees=100)
    await reconciled(shop)
    assert await open_findings(shop) == [("missing_here", moved)]
    [found] = await findings(shop)
    await explain(shop, found.id, "Known.")  # nothing is posted for it: the wallet differs
    await reconciled(shop)
    wallet = await shop.one("SELECT provider_wallet_id FROM wallet WHERE kind = 'marketplace'")
    assert sorted(await open_findings(shop)) == [("balance", "FEES_EUR"), ("balance", wallet)]


async def test_a_balance_that_what_is_missing_does_not_explain_is_told(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    await moved_by_hand(shop, 1000)
    reports_less(shop, monkeypatch, TransactionKind.TRANSFER, 1)
    await reconciled(shop)
    assert sorted(kind for kind, _ in await open_findings(shop)) == ["balance", "missing_here"]
    assert {each.state for each in await findings(shop)} == {State.OPEN}


async def test_converted_money_is_posted_in_the_currency_of_each_wallet(shop: Shop) -> None:
    await with_money(shop)
    own: Any = await shop.one("SELECT provider_wallet_id FROM wallet WHERE kind = 'marketplace'")
    now = clock.now()
    movement = ProviderMovementRow(
        provider_id="cnv_1",
        kind="",
        currency="JPY",
        credited_currency="EUR",
        debited_amount=Decimal(1500),
        credited_amount=Decimal("9.25"),
        fees_amount=Decimal(10),
        credited_wallet_id=own,
        debited_wallet_id="wlt_elsewhere",
        created_on=now,
        executed_on=now,
    )
    async with shop.services.db.sessions() as db:
        [journal] = await suspense_journals(db, movement)
    assert [entry.amount for entry in journal.entries if entry.amount] == [925, -925]
