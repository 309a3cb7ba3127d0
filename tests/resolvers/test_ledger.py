"""Journals, statements and findings of the ledger over the API: who sees which, and what they say."""

import datetime as dt
from typing import Any

import pytest
from prometheus_client import REGISTRY

from resolvers.core.lists.listing import PageArguments
from resolvers.job.ledger_gauges import LEDGER, refresh_ledger_gauges
from resolvers.ledger import fold, ledger_findings, ledger_journals, seal, verify
from schema.core.errors import Forbidden
from schema.core.permission import Permission
from schema.ledger import LedgerJournalKind as Kind
from store.core.clock import clock
from store.ledger.verification.run import ALL_RULES
from tests.fixtures.ledger import Ledger, open_ledger
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder
from tests.statements import record_statements

LIST = """
query Journals($filter: LedgerJournalFilter, $orderBy: LedgerJournalSort! = NEWEST) {
  ledgerJournals(filter: $filter, orderBy: $orderBy, first: 100) { edges { node {
    id kind sourceKind sourceId effectiveOn
    partner { id } marketplace { name }
    entries { role owner debit { amount currency } credit { amount } balanceAfter { amount } }
  } } }
}
"""
STATEMENT = """
query Statement($from: Date!, $until: Date!, $uuid: UUID!, $isLive: Boolean! = true) {
  partner(uuid: $uuid) {
    statement(from: $from, to: $until, isLive: $isLive) {
      opening { amount currency } closing { amount }
      lines { effectiveOn kind sourceId debit { amount } credit { amount } balance { amount } }
    }
  }
}
"""
FAR = {"from": "2000-01-01", "until": "2100-01-01"}
DAY = dt.timedelta(days=1)


async def listed(tenants: Tenants, who: str, **filter: object) -> list[dict[str, object]]:
    """The journals that somebody sees."""
    answer = await tenants.graphql(who, LIST, filter=filter)
    assert "errors" not in answer, answer
    return [edge["node"] for edge in answer["data"]["ledgerJournals"]["edges"]]


@pytest.fixture
async def ledger(tenants: Tenants) -> Ledger:
    """The book of a1, with payments on three days."""
    ledger, today = await open_ledger(tenants), clock.now()
    await ledger.post(
        ledger.backed(10_000, source="first", recorded_on=today - 2 * DAY),
        ledger.backed(2_000, source="second", recorded_on=today - DAY),
        ledger.journal(
            (ledger.earnings, 500), (ledger.earnings, 200), (ledger.wallet, -700),
            source="third", kind=Kind.REFUND, recorded_on=today,
        ),
    )  # fmt: skip
    return ledger


async def test_a_journal_shows_its_entries(tenants: Tenants, ledger: Ledger) -> None:
    (journal,) = await listed(tenants, "a1", sourceId="first")
    assert (journal["kind"], journal["sourceKind"], journal["marketplace"]) == ("PAYMENT", "test", {"name": "a"})
    assert journal["partner"] == {"id": ledger.partner_id}
    assert journal["entries"] == [
        {"role": "WALLET", "owner": f"wallet:{ledger.wallet.owner_id}", "debit": {"amount": "90.00", "currency": "EUR"}, "credit": None,
         "balanceAfter": None},
        {"role": "FEES_WALLET", "owner": "", "debit": {"amount": "10.00", "currency": "EUR"}, "credit": None, "balanceAfter": None},
        {"role": "PARTNER", "owner": f"partner:{ledger.partner_id}", "debit": None, "credit": {"amount": "90.00"},
         "balanceAfter": {"amount": "90.00"}},
        {"role": "COMMISSION", "owner": "", "debit": None, "credit": {"amount": "10.00"}, "balanceAfter": None},
    ]  # fmt: skip


async def test_journals_are_filtered_and_in_order(tenants: Tenants, ledger: Ledger) -> None:
    day = (clock.now() - DAY).date().isoformat()
    assert [each["sourceId"] for each in await listed(tenants, "a1", sourceKind="test")] == ["third", "second", "first"]
    assert [each["sourceId"] for each in await listed(tenants, "a1", kinds=["REFUND"])] == ["third"]
    assert len(await listed(tenants, "a1", kinds=["PAYMENT"], effectiveFrom=day)) in {1, 2}
    assert await listed(tenants, "a1", sourceKind="test", effectiveUntil="2000-01-01") == []


async def test_each_sees_the_journals_of_its_own(tenants: Tenants, ledger: Ledger) -> None:
    other = await open_ledger(tenants, "b1")
    await other.post(other.backed(100, source="elsewhere"))
    own = {"first", "second", "third"}
    for who, sources in {
        "a1": own,
        "a2": set(),
        "market a": own,
        "b1": {"elsewhere"},
        "market b": {"elsewhere"},
    }.items():
        assert {each["sourceId"] for each in await listed(tenants, who, sourceKind="test")} == sources, who
    assert {each["sourceId"] for each in await listed(tenants, "master", sourceKind="test")} == {*own, "elsewhere"}
    market_b = str(tenants.marketplaces["b"].uuid)
    assert len(await listed(tenants, "master", sourceKind="test", marketplaceUuid=market_b)) == 1


async def test_a_permission_is_needed(tenants: Tenants, ledger: Ledger) -> None:
    without = await holder(tenants, "a1", Permission.VIEW_PAYMENT)
    context = await tenants.context(without)
    with pytest.raises(Forbidden):
        await ledger_journals(context, PageArguments())
    for who in ("a1", "market a"):
        with pytest.raises(Forbidden):
            await ledger_findings(await tenants.context(who))


async def stated(tenants: Tenants, who: str, of: str = "a1", **variables: object) -> dict[str, Any]:
    """The statement of a partner that somebody sees."""
    answer = await tenants.graphql(who, STATEMENT, **{"uuid": tenants.partners[of].uuid, **FAR, **variables})
    assert "errors" not in answer, answer
    statement: dict[str, Any] = answer["data"]["partner"]["statement"]
    return statement


async def test_a_statement_begins_and_ends_with_the_balance(tenants: Tenants, ledger: Ledger) -> None:
    whole = await stated(tenants, "a1")
    assert whole["opening"] == {"amount": "0.00", "currency": "EUR"}
    assert [
        (line["sourceId"], line["debit"], line["credit"], line["balance"]["amount"]) for line in whole["lines"]
    ] == [
        ("first", None, {"amount": "90.00"}, "90.00"),
        ("second", None, {"amount": "18.00"}, "108.00"),
        ("third", {"amount": "7.00"}, None, "101.00"),
    ]
    assert whole["closing"]["amount"] == "101.00"
    middle = whole["lines"][1]["effectiveOn"]
    part = await stated(tenants, "a1", **{"from": middle, "until": middle})
    assert (part["opening"]["amount"], len(part["lines"]), part["closing"]["amount"]) == ("90.00", 1, "108.00")


async def test_test_money_has_a_statement_of_its_own(tenants: Tenants, ledger: Ledger) -> None:
    nothing = {"opening": {"amount": "0.00", "currency": "EUR"}, "closing": {"amount": "0.00"}, "lines": []}
    assert await stated(tenants, "a1", isLive=False) == nothing
    await tenants.execute(f"UPDATE partner SET status = 't' WHERE id = {ledger.partner_id}")  # noqa: S608 - from this test
    test = await open_ledger(tenants)
    await test.post(test.backed(1_000))
    assert (await stated(tenants, "a1", isLive=False))["closing"] == {"amount": "9.00"}
    assert (await stated(tenants, "a1"))["closing"] == {"amount": "101.00"}


async def test_the_statements_of_many_partners_take_two_statements(tenants: Tenants, ledger: Ledger) -> None:
    query = """{ partners(first: 50) { edges { node { uuid statement(from: "2000-01-01", to: "2100-01-01") { closing { amount } } } } } }"""
    with record_statements(tenants.services.db) as seen:
        answer = await tenants.graphql("market a", query)
    assert "errors" not in answer, answer
    closing = {
        each["node"]["uuid"]: each["node"]["statement"]["closing"]["amount"]
        for each in answer["data"]["partners"]["edges"]
    }
    assert closing == {str(tenants.partners["a1"].uuid): "101.00", str(tenants.partners["a2"].uuid): "0.00"}
    assert len([each for each in seen if "ledger_" in each]) == 2


async def test_statements_of_others_are_not_shown(tenants: Tenants, ledger: Ledger) -> None:
    for who in ("a1", "market a", "master"):
        assert len((await stated(tenants, who))["lines"]) == 3
    uuid = tenants.partners["a1"].uuid
    for who in ("a2", "market b"):
        assert (await tenants.graphql(who, STATEMENT, uuid=uuid, **FAR))["data"] == {"partner": None}
    assert (await stated(tenants, "b1", "b1"))["lines"] == []


async def test_a_statement_that_cannot_be_made_is_refused(
    tenants: Tenants, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = tenants.partners["a1"].uuid
    monkeypatch.setattr("resolvers.ledger.STATEMENT_LINES", 3)
    assert len((await stated(tenants, "a1"))["lines"]) == 3
    monkeypatch.setattr("resolvers.ledger.STATEMENT_LINES", 2)
    too_long = await tenants.graphql("a1", STATEMENT, uuid=uuid, **FAR)
    backwards = await tenants.graphql("a1", STATEMENT, uuid=uuid, **{"from": "2026-02-01", "until": "2026-01-31"})
    for answer, told in ((too_long, "shorter period"), (backwards, "not before")):
        assert answer["data"] == {"partner": {"statement": None}}
        assert told in str(answer["errors"][0])


async def test_the_nightly_proof_is_stored_logged_and_measured(
    tenants: Tenants, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    services, master = tenants.services, await tenants.context("master")
    assert await ledger_findings(master) == []
    assert await seal(services) > 0
    assert await seal(services) == 0
    assert await fold(services) == 0, "The accounts have few entries yet."
    assert await verify(services) == 0
    findings = await ledger_findings(master)
    assert len(findings) == len(ALL_RULES)
    assert all(finding.title.endswith(".") and not finding.offenders for finding in findings)
    await ledger.forge("UPDATE ledger_account SET balance = balance - 1 WHERE role = 'partner'")
    assert await verify(services) == 2
    assert "the ledger breaks a rule" in capsys.readouterr().out
    broken = [finding for finding in await ledger_findings(master) if finding.offenders]
    assert {(each.rule, each.offenders, len(each.sample)) for each in broken} == {
        ("balances_are_sums", 1, 1),
        ("backing", 1, 1),
    }
    await refresh_ledger_gauges(services.db)
    try:
        assert REGISTRY.get_sample_value("coffret_ledger_findings", {"rule": "balances_are_sums"}) == 1
        assert REGISTRY.get_sample_value("coffret_ledger_findings", {"rule": "floors_hold"}) == 0
        ago = clock.now().timestamp() - (REGISTRY.get_sample_value("coffret_ledger_verified_timestamp_seconds") or 0)
        assert 0 <= ago < 60
        assert (REGISTRY.get_sample_value("coffret_ledger_verified_seconds") or 0) >= 0
    finally:
        LEDGER.state = None
