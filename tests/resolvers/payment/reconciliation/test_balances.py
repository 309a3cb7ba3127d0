"""Wallets that hold another amount than the ledger counts, and what other journals have put into suspense."""

import datetime as dt
from decimal import Decimal

import pytest

from coffret.sandbox import app as sandbox_app
from resolvers.payment.disputes.settling import record_movement
from resolvers.payment.reconciliation.runs import BALANCES_AGAIN_AFTER, advance_run, begin_reconciliation
from schema.reconciliation import ReconciliationFindingState as State
from schema.reconciliation import ReconciliationRunState
from store.core.clock import clock
from store.providers.errors import NotAllowed
from store.providers.money import MinorAmount
from store.providers.transactions import PlatformBalance, PlatformWallet
from tests.fixtures.payment.api_payment import balances, fee_rule, paid
from tests.fixtures.payment.dispute import unawaited_settlement
from tests.fixtures.payment.reconciliation import explain, findings, open_findings, reconciled, with_money
from tests.fixtures.payment.refill import disputed_refill
from tests.fixtures.shop import Shop

# ---- balances


def held(shop: Shop, monkeypatch: pytest.MonkeyPatch, *fees: int) -> None:
    """The provider says this of the wallet of fees, one amount after the other; the last one stays."""
    left = list(fees)

    async def platform_balances() -> list[PlatformBalance]:
        amount = left.pop(0) if len(left) > 1 else left[0]
        return [PlatformBalance(PlatformWallet.FEES, "FEES_EUR", MinorAmount("EUR", amount))]

    monkeypatch.setattr(shop.services.provider, "platform_balances", platform_balances)


async def test_a_wallet_that_holds_something_else_is_found(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")
    held(shop, monkeypatch, 480)
    begun = clock.now()
    run = await reconciled(shop)
    [found] = await findings(shop)
    assert (found.kind, found.subject, found.detail) == ("balance", "FEES_EUR", "The wallet of fees.")
    assert (found.provider_amount, found.own_amount) == (Decimal("4.80"), Decimal("6.00"))
    assert run.finished_on is not None
    assert (run.finished_on - run.until).total_seconds() >= 300, "the balance may be some minutes old"
    assert run.until > begun
    held(shop, monkeypatch, 600)
    await reconciled(shop)
    assert [each.state for each in await findings(shop)] == [State.RESOLVED]


async def test_a_run_says_that_it_waits_for_a_balance(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")
    held(shop, monkeypatch, 480)
    id, details = await begin_reconciliation(shop.services), []
    for _ in range(10):
        run = await advance_run(shop.services, id)
        details.append(run.detail)
        clock.advance(dt.timedelta(minutes=1))
        await sandbox_app.tick(shop.sandbox)
    assert run.balances_read_on is not None
    again = run.balances_read_on + BALANCES_AGAIN_AFTER
    assert set(details) == {"", f"The balance of a wallet differs: it is read again at {again:%H:%M} UTC."}
    assert (details[-1], run.state) == ("", ReconciliationRunState.DONE)


async def test_a_difference_that_was_explained_stays_so_while_payments_come_in(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")
    held(shop, monkeypatch, 480)
    await reconciled(shop)
    [found] = await findings(shop)
    await explain(shop, found.id, "The provider's monthly invoice.")
    await paid(shop, "100.00")
    held(shop, monkeypatch, 1080)
    await reconciled(shop)
    assert [(each.state, each.own_amount) for each in await findings(shop)] == [(State.EXPLAINED, Decimal("12.00"))]
    held(shop, monkeypatch, 1070)
    await reconciled(shop)
    assert await open_findings(shop) == [("balance", "FEES_EUR")]
    held(shop, monkeypatch, 1070, 1060)
    await reconciled(shop)
    assert await open_findings(shop) == [("balance", "FEES_EUR")], "what is not sure resolves nothing"


async def test_a_payment_that_is_just_being_recorded_is_no_finding(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")
    held(shop, monkeypatch, 480, 600)
    await reconciled(shop)
    held(shop, monkeypatch, 480, 490)
    await reconciled(shop)
    assert await findings(shop) == []


async def test_the_wallet_of_a_marketplace_is_compared_too(shop: Shop) -> None:
    await with_money(shop)
    wallet = await shop.one("SELECT provider_wallet_id FROM wallet WHERE kind = 'marketplace'")
    await shop.execute("UPDATE wallet SET provider_wallet_id = 'wlt_gone' WHERE kind = 'marketplace'")
    await reconciled(shop)
    found = {each.kind.value: each for each in await findings(shop)}
    gone = found["balance"]
    assert (gone.subject, gone.provider_amount, gone.own_amount) == ("wlt_gone", None, Decimal("100.00"))
    assert gone.detail == "There is no such wallet."
    await shop.execute("UPDATE wallet SET provider_wallet_id = :id WHERE kind = 'marketplace'", id=wallet)
    await reconciled(shop)
    assert await open_findings(shop) == []


async def test_a_wallet_that_cannot_be_read_holds_nothing_up_and_resolves_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_money(shop)
    wallet = await shop.one("SELECT provider_wallet_id FROM wallet WHERE kind = 'marketplace'")
    await shop.execute("UPDATE wallet SET provider_wallet_id = 'wlt_gone' WHERE kind = 'marketplace'")
    await reconciled(shop)
    assert ("balance", "wlt_gone") in await open_findings(shop)

    async def refuses(*_: object, **__: object) -> MinorAmount:
        raise NotAllowed("The owner must authenticate.")

    monkeypatch.setattr(shop.services.provider, "get_balance", refuses)
    await reconciled(shop)
    assert ("balance", "wlt_gone") in await open_findings(shop), wallet


async def test_a_wallet_of_which_the_provider_does_not_tell_is_found(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fee_rule(shop)
    await paid(shop, "100.00")

    async def platform_balances() -> list[PlatformBalance]:
        return []

    monkeypatch.setattr(shop.services.provider, "platform_balances", platform_balances)
    await reconciled(shop)
    [found] = await findings(shop)
    assert (found.subject, found.provider_amount, found.own_amount) == ("fees_EUR", None, Decimal("6.00"))


# ---- suspense of other journals


async def test_what_a_settlement_cannot_explain_is_told_and_explained(shop: Shop) -> None:
    await with_money(shop)
    dispute = await disputed_refill(shop)
    await dispute.follow()
    row = await dispute.row()
    settled = unawaited_settlement(row)
    await record_movement(shop.services, settled)
    await reconciled(shop)
    found = {each.kind.value: each for each in await findings(shop)}
    kept = found["suspense"]
    assert (kept.own_amount, kept.marketplace_id) == (Decimal("30.00"), shop.partner.marketplace_id)
    assert kept.detail == f"Of dispute {row.id}:settle_m_1."
    await explain(shop, kept.id, "The provider's mistake, which it will not mend.")
    assert "suspense" not in await balances(shop)
    await reconciled(shop)
    assert "suspense" not in {kind for kind, _ in await open_findings(shop)}
