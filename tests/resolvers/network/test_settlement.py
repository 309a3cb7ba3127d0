"""Settlement statements: their numbers are those of the ledger, to the cent; who sees which; the file; the plans."""

import csv
import datetime as dt
import io
import itertools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.network.settlement import settlement_statement
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from schema.core.errors import InvalidInput, NotFound
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.network.settlement import CurrencySettlement, PartnerSettlement, SettlementStatement
from store.core.csv_cells import safe_cell
from store.core.signed_links import sign_link
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.books import book_of_marketplace
from store.ledger.posting import Journal, credit, debit, post
from store.network.settlement.export import COLUMNS, PURPOSE
from store.network.settlement.statements import OF_SHARES, STATEMENTS, SettlementPeriod, settlements_of
from tests.changes import Direct
from tests.fixtures.network import link, network_card, set_terms
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants
from tests.statements import executed

DAY = dt.date(2020, 11, 10)
BEFORE, AFTER = dt.date(2020, 11, 9), dt.date(2020, 11, 11)
WHOLE = """
query ($from: Date!, $to: Date!, $partnerId: Int, $marketplaceId: Int) {
  settlementStatement(from: $from, to: $to, partnerId: $partnerId, marketplaceId: $marketplaceId) {
    marketplaceId from to timeZone csvUrl
    currencies {
      currency opening { amount } settled { amount } closing { amount }
      products { product usages { count } cancelled { count } }
      partners {
        partnerId partner { commercialName } opening { amount } settled { amount } closing { amount }
        products {
          product owedBack { amount currency }
          usages { ...figures }
          cancelled { ...figures }
        }
      }
    }
  }
}
fragment figures on SettledUsages {
  count value { amount } commission { amount } commissionVat { amount } managementFees { amount }
  managementFeesVat { amount } paidByNetwork { amount } net { amount }
}
"""


async def on_day(tenants: Tenants, day: dt.date) -> None:
    """Date what was posted today back to a day: accounting dates never change otherwise."""
    async with tenants.services.db.engine.begin() as connection:
        await connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        await connection.exec_driver_sql(
            "UPDATE ledger_journal SET effective_on = $1 WHERE effective_on > '2020-12-31'", (day,)
        )


async def use_card(tenants: Tenants, partner: str, value: str, **more: Any) -> int:
    """Use a new card of 100.00 at a partner; answers the id of the usage."""
    card = await network_card(tenants, **more)
    used = {"code": card.code, "value": value, "partner_id": tenants.partners[partner].id}
    assert (await Direct(tenants).change("market a", use_network_gift_card, **used)).done
    return int(await tenants.one("SELECT max(id) FROM network_gift_card_usage"))


async def cancel(tenants: Tenants, usage: int) -> None:
    assert (await Direct(tenants).change("market a", cancel_network_gift_card_usage, id=usage)).done


async def pay_out(tenants: Tenants, partner: str, minor: int) -> None:
    """Pay a partner what it has earned."""
    owner = tenants.partners[partner]
    async with tenants.services.db.sessions() as db, db.begin():
        book = await book_of_marketplace(db, owner.marketplace_id, is_live=True)
        entries = debit(network_earnings(owner.id), minor), credit(LedgerAccount(Role.MARKETPLACE_FUNDS), minor)
        paid = Journal(
            book_id=book, kind=Kind.SETTLEMENT, source_kind="payout_request", source_id=partner, entries=entries
        )
        await post(db, [paid])


@pytest.fixture
async def history(tenants: Tenants) -> Tenants:
    """Usages at a1 and a2 on three days, with fees, a cancelled one, one that was paid out before, a test, a payout."""
    await link(tenants, "a1", "a2")
    await set_terms(tenants, management_fee_amount="1.00", commission_rate="10.00", vat_rate="20.00")
    await use_card(tenants, "a1", "30.00")
    await use_card(tenants, "a2", "50.00")
    await on_day(tenants, BEFORE)
    await pay_out(tenants, "a1", 2520)
    await use_card(tenants, "a1", "40.00")
    today = await use_card(tenants, "a1", "20.00")
    await cancel(tenants, today)
    await use_card(tenants, "a1", "60.00", is_test=True, status=GiftCardStatus.PAID)
    box = await offered_box(tenants, "a1", max_usages=2)
    for _ in range(2):
        voucher = await network_voucher(tenants, box)
        used = {"code": voucher.code, "partner_id": tenants.partners["a1"].id}
        assert (await Direct(tenants).change("market a", use_network_voucher, **used)).done
    newest = await tenants.one("SELECT max(id) FROM network_voucher_usage")
    assert (await Direct(tenants).change("market a", cancel_network_voucher_usage, id=newest)).done
    await on_day(tenants, DAY)
    await pay_out(tenants, "a2", 4270)
    await on_day(tenants, AFTER)
    return tenants


async def state(tenants: Tenants, who: str, first: dt.date, last: dt.date, **more: Any) -> SettlementStatement:
    """The statement as the operation answers it."""
    return await settlement_statement(await tenants.context(who), first, last, **more)


def balance_of(statement: SettlementStatement, partner_id: int) -> tuple[Decimal, Decimal, Decimal]:
    """Opening, settled and closing of a partner."""
    (currency,) = statement.currencies
    (own,) = [each for each in currency.partners if each.partner_id == partner_id]
    return own.opening.amount, own.settled.amount, own.closing.amount


# ---- the numbers


async def test_the_money_of_a_period_is_followed_to_the_cent(history: Tenants) -> None:
    a1, a2 = history.partners["a1"].id, history.partners["a2"].id
    found = await state(history, "market a", DAY, DAY)
    # 40.00 less 4.80 of commission and 1.20 of fee; 20.00 came and went; a half of 120.00 twice, once cancelled; 25.20 paid
    assert balance_of(found, a1) == (Decimal("25.20"), Decimal("25.20"), Decimal("94.00"))
    assert balance_of(found, a2) == (Decimal("42.80"), Decimal("0.00"), Decimal("42.80"))
    (currency,) = found.currencies
    cards, vouchers = currency.products
    assert (cards.usages.count, cards.cancelled.count) == (2, 1)
    assert (vouchers.usages.count, vouchers.cancelled.count) == (2, 1)
    usages = cards.usages
    figures = (
        usages.value,
        usages.commission,
        usages.commission_vat,
        usages.management_fees,
        usages.management_fees_vat,
    )
    assert [str(each.amount) for each in figures] == ["60.00", "7.20", "1.20", "2.40", "0.40"]
    assert (usages.net.amount, cards.cancelled.net.amount) == (Decimal("50.40"), Decimal("16.40"))
    assert (vouchers.usages.net.amount, vouchers.cancelled.net.amount) == (Decimal("120.00"), Decimal("60.00"))
    assert (currency.opening.amount, currency.closing.amount) == (Decimal("68.00"), Decimal("136.80"))


@pytest.mark.parametrize(
    ("first", "last"), [(BEFORE, BEFORE), (BEFORE, AFTER), (DAY, DAY), (DAY, AFTER), (AFTER, AFTER)]
)
@pytest.mark.parametrize("only", [None, "a1", "a2"])
async def test_opening_and_movements_are_the_closing_and_the_ledgers_balance(
    history: Tenants, first: dt.date, last: dt.date, only: str | None
) -> None:
    partner_id = None if only is None else history.partners[only].id
    found = await state(history, "market a", first, last, partner_id=partner_id)
    for currency in found.currencies:
        both: list[CurrencySettlement | PartnerSettlement] = [currency, *currency.partners]
        for own in both:
            moved = sum(
                (each.usages.net.amount - each.cancelled.net.amount + each.owed_back.amount for each in own.products),
                Decimal(0),
            )
            assert own.closing.amount == own.opening.amount + moved - own.settled.amount
            for each in own.products:
                for of in (each.usages, each.cancelled):
                    fees = of.commission.amount + of.management_fees.amount - of.paid_by_network.amount
                    assert of.net.amount == of.value.amount - fees
        for each_partner in currency.partners:
            for amount, day in ((each_partner.opening, first - dt.timedelta(days=1)), (each_partner.closing, last)):
                assert amount.amount == await ledger_balance(history, each_partner.partner_id, day)


async def ledger_balance(tenants: Tenants, partner_id: int, day: dt.date) -> Decimal:
    """What the entries up to a day come to, live ones only."""
    minor = await tenants.one(
        "SELECT coalesce(sum(-e.amount), 0) FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id "
        "JOIN ledger_account a ON a.id = e.account_id JOIN ledger_book b ON b.id = a.book_id "
        "WHERE a.role = 'partner_network' AND a.owner_id = :id AND j.effective_on <= :day AND b.is_live",
        id=partner_id,
        day=day,
    )
    return Decimal(minor) / 100


async def test_periods_follow_each_other_without_a_gap(history: Tenants) -> None:
    days = [BEFORE - dt.timedelta(days=1), BEFORE, DAY, AFTER, AFTER + dt.timedelta(days=1)]
    statements = [await state(history, "market a", day, day) for day in days]
    for earlier, later in itertools.pairwise(statements):
        assert earlier.currencies[0].closing == later.currencies[0].opening
    assert statements[-1].currencies[0].closing.amount == Decimal("94.00") + Decimal("0.10")


async def test_what_was_paid_and_is_cancelled_is_owed_back(tenants: Tenants) -> None:
    await link(tenants, "a1")
    usage = await use_card(tenants, "a1", "30.00")
    await on_day(tenants, BEFORE)
    await pay_out(tenants, "a1", 2000)
    await cancel(tenants, usage)
    await on_day(tenants, DAY)
    found = await state(tenants, "market a", DAY, DAY)
    assert balance_of(found, tenants.partners["a1"].id) == (Decimal("30.00"), Decimal("20.00"), Decimal("0.00"))
    (cards,) = found.currencies[0].products
    assert (cards.cancelled.net.amount, cards.owed_back.amount) == (Decimal("30.00"), Decimal("20.00"))


async def test_fees_that_the_network_pays_are_not_taken_from_the_partner(tenants: Tenants) -> None:
    await link(tenants, "a1")
    terms = {
        "management_fee_amount": "1.00",
        "commission_rate": "10.00",
        "vat_rate": "20.00",
        "fees_paid_by": "marketplace",
    }
    await set_terms(tenants, **terms)
    await use_card(tenants, "a1", "30.00")
    await on_day(tenants, DAY)
    found = await state(tenants, "market a", DAY, DAY)
    (cards,) = found.currencies[0].products
    assert (cards.usages.paid_by_network.amount, cards.usages.net.amount) == (Decimal("4.80"), Decimal("30.00"))


async def test_nothing_is_zeros_in_the_currency_of_the_network(tenants: Tenants) -> None:
    found = await state(tenants, "market b", DAY, DAY)
    (currency,) = found.currencies
    assert (currency.currency, currency.opening.amount, currency.closing.amount) == ("CHF", Decimal(0), Decimal(0))
    assert (currency.partners, currency.products) == ([], [])


# ---- who sees it


async def test_a_partner_sees_its_own_and_a_network_its_partners(history: Tenants) -> None:
    ids = {name: partner.id for name, partner in history.partners.items()}

    async def seen(who: str | None, **more: Any) -> Any:
        answer = await history.graphql(who, WHOLE, **{"from": str(DAY), "to": str(DAY), **more})
        found = answer.get("data", {}).get("settlementStatement")
        return [p["partnerId"] for c in found["currencies"] for p in c["partners"]] if found else found

    assert await seen("market a") == [ids["a1"], ids["a2"]]
    assert await seen("market a", partnerId=ids["a2"]) == [ids["a2"]]
    assert await seen("a1") == await seen("a1", partnerId=ids["a1"]) == [ids["a1"]]
    assert await seen("a2") == [ids["a2"]]
    assert await seen("b1") == await seen("market b") == []
    market = history.marketplaces["a"].id
    assert await seen("master", marketplaceId=market) == await seen("market a")
    assert await seen("master", partnerId=ids["a1"]) == [ids["a1"]]
    for who, more in {
        ("a1", "a2"): {"partnerId": ids["a2"]},
        ("a1", "b1"): {"partnerId": ids["b1"]},
        ("market b", "a1"): {"partnerId": ids["a1"]},
        ("market b", "a"): {"marketplaceId": market},
        ("master", "none"): {"partnerId": 2**31 - 1},
    }.items():
        assert await seen(who[0], **more) is None, who
    assert await seen(None) is None


async def test_it_needs_the_permission_for_wallets(history: Tenants) -> None:
    others = sorted(GRANTABLE_PERMISSIONS - {Permission.VIEW_WALLET, Permission.MANAGE_MASTERADMIN})
    await history.user("clerk", "marketplace", others, marketplace_id=history.marketplaces["a"].id)
    await history.user(
        "treasurer", "marketplace", [Permission.VIEW_WALLET], marketplace_id=history.marketplaces["a"].id
    )
    answer = await history.graphql("clerk", WHOLE, **{"from": str(DAY), "to": str(DAY)})
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert (await state(history, "treasurer", DAY, DAY)).currencies[0].closing.amount == Decimal("136.80")


async def test_a_period_that_ends_before_it_begins_and_a_master_without_a_network(tenants: Tenants) -> None:
    with pytest.raises(InvalidInput):
        await state(tenants, "market a", DAY, BEFORE)
    with pytest.raises(InvalidInput):
        await state(tenants, "master", DAY, DAY)
    with pytest.raises(NotFound):
        await state(tenants, "master", DAY, DAY, partner_id=tenants.partners["a1"].id, marketplace_id=2**31 - 1)


# ---- the file


async def lines_of(tenants: Tenants, url: str) -> list[Mapping[str, str]]:
    answer = await tenants.client.get(url)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))


async def test_the_file_has_the_same_numbers(history: Tenants) -> None:
    await history.execute(
        "UPDATE partner SET commercial_name = '=1+1;\"é' WHERE id = :id", id=history.partners["a1"].id
    )
    found = await state(history, "market a", DAY, DAY)
    lines = await lines_of(history, found.csv_url)
    assert list(lines[0]) == list(COLUMNS)
    by_partner = {(int(line["partner_id"]), line["product"]): line for line in lines}
    for own in found.currencies[0].partners:
        line = by_partner[own.partner_id, "all"]
        assert [line["opening"], line["settled"], line["closing"]] == [
            str(amount.amount) for amount in (own.opening, own.settled, own.closing)
        ]
        for each in own.products:
            line = by_partner[own.partner_id, each.product.value]
            assert (line["usages_net"], line["usages_count"]) == (str(each.usages.net.amount), str(each.usages.count))
            assert line["cancelled_commission"] == str(each.cancelled.commission.amount)
    assert by_partner[history.partners["a1"].id, "all"]["partner"] == "'=1+1;\"é"
    of_partner = await lines_of(history, (await state(history, "a2", DAY, DAY)).csv_url)
    assert {line["partner_id"] for line in of_partner} == {str(history.partners["a2"].id)}


async def test_the_address_ends_and_cannot_be_forged(history: Tenants) -> None:
    url, settings = (await state(history, "a1", DAY, DAY)).csv_url, history.services.settings
    market, later = history.marketplaces["a"].id, 2**31
    for token in (
        sign_link(settings, "holder", [market, None, str(DAY), str(DAY), later]),
        sign_link(settings, PURPOSE, [market, None, str(DAY), str(DAY), 1]),
        sign_link(settings, PURPOSE, []),
        "x",
    ):
        base = url.rpartition("/")[0]
        assert (await history.client.get(f"{base}/{token}.csv")).status_code == 404
    assert (await history.client.get(url.replace(".csv", "x.csv"))).status_code == 404
    assert (await history.client.get(url)).status_code == 200


def test_cells_are_no_formulas() -> None:
    for text in ("=1", "+1", "-1", "@A1", "\tx", "\rx"):
        assert safe_cell(text) == f"'{text}"
    assert safe_cell("Café = 1") == "Café = 1"


# ---- the plans

MANY = """
    INSERT INTO ledger_journal (book_id, marketplace_id, partner_id, kind, source_kind, source_id, lines, effective_on,
        recorded_on, request_id, fingerprint)
    SELECT j.book_id, j.marketplace_id, j.partner_id, j.kind, 'elsewhere', n::text, 2, date '2012-01-01' + n / 20, now(), '',
        j.fingerprint
    FROM (SELECT * FROM ledger_journal WHERE kind = 'capture' LIMIT 1) j, generate_series(1, 20000) n
"""
ENTRIES = """
    INSERT INTO ledger_entry (journal_id, line, account_id, amount)
    SELECT j.id, e.line, e.account_id, e.amount FROM ledger_journal j,
        (SELECT * FROM ledger_entry WHERE journal_id = (SELECT min(id) FROM ledger_journal WHERE kind = 'capture')) e
    WHERE j.source_kind = 'elsewhere'
"""
USAGES = """
    INSERT INTO network_gift_card_usage
    SELECT (jsonb_populate_record(u, jsonb_build_object('id', 100000 + n))).*
    FROM (SELECT usage AS u FROM network_gift_card_usage usage ORDER BY id LIMIT 1) u, generate_series(1, 5000) n
"""


@pytest.mark.parametrize("only", [None, "a1"])
async def test_large_tables_are_read_along_an_index(history: Tenants, only: str | None) -> None:
    async with history.services.db.engine.begin() as connection:
        await connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for laid in (MANY, ENTRIES, USAGES):
            await connection.exec_driver_sql(laid)
    await history.execute("ANALYZE ledger_journal, ledger_entry, ledger_account, network_gift_card_usage")
    network, partner = history.marketplaces["a"].id, only and history.partners[only].id
    values: dict[str, Any] = {
        "marketplace_id": network,
        "first": DAY,
        "last": DAY,
        "sources": ["network_gift_card_usage", "payment", "refund", "dispute"],
        "of_shares": list(OF_SHARES),
    }
    for statement in STATEMENTS[partner is not None]:
        own = values | ({"partner_id": partner} if partner else {})
        rows = await history.rows(f"EXPLAIN {statement}", **own)
        plan = "\n".join(row[0] for row in rows)
        for table in ("ledger_journal", "ledger_entry", "network_gift_card_usage"):
            assert f"Seq Scan on {table} " not in plan, plan


async def test_a_statement_takes_two_statements_however_many_partners(history: Tenants) -> None:
    network, own = history.marketplaces["a"].id, history.partners["a1"].id
    for partner_id, partners in ((None, 2), (own, 1)):
        period = SettlementPeriod(marketplace_id=network, partner_id=partner_id, first=DAY, last=DAY)
        with executed(history.services.db) as statements:
            async with history.services.db.sessions() as db:
                assert len(await settlements_of(db, period)) == partners
        assert len(statements) == 2
