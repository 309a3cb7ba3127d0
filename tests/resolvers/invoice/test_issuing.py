"""Invoices are issued when a month is over: what partners were charged, what went back, each fee once, with the VAT of sums."""

import asyncio
import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from resolvers.invoice.issuing import ISSUED, issue_invoices, issue_partner_invoices
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage
from resolvers.payment.refunds.refunds import refund_payment
from schema.invoice.errors import InvoiceIncomplete, NothingToInvoice
from schema.invoice.input import IssuePartnerInvoices
from schema.invoice.invoice import InvoiceKind
from schema.payment.input import RefundPayment
from store.core.clock import clock
from tests.changes import Direct, Transport
from tests.fixtures.invoice import MONTH, can_be_invoiced, invoices, issue_now, issued, stored_invoice, take_fees
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved
from tests.fixtures.payment.api_payment import fee_rule, paid
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

LINES = """
    SELECT l.kind, l.count, l.vat_category, l.vat_rate::text, l.net_amount::text, l.vat_amount::text, l.total_amount::text
    FROM invoice_line l JOIN invoice v ON v.id = l.invoice_id ORDER BY v.sequence_number, l.position
"""


async def lines(shop: Shop) -> list[tuple[object, ...]]:
    async with shop.services.db.sessions() as db:
        return [tuple(row) for row in (await (await db.connection()).execute(text(LINES))).all()]


async def test_the_vat_is_that_of_the_sum_and_the_rounding_is_posted(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop, "4.30", fixed_amount=Decimal("0.04"))
    for amount in ("10.00", "10.00", "10.00", "10.00", "10.00", "10.00", "10.00"):
        await paid(shop, amount)  # 0.47 with 0.09 VAT each, rounded down
    (invoice,) = await issued(shop)
    assert (invoice.number, invoice.kind, str(invoice.total_amount)) == ("F-000001", InvoiceKind.INVOICE, "3.92")
    assert (str(invoice.net_amount), str(invoice.vat_amount)) == ("3.27", "0.65")  # seven times 0.09 are 0.63
    assert await lines(shop) == [("payments", 7, "S", "20.00", "3.27", "0.65", "3.92")]
    assert await shop.one("SELECT sum(vat) FROM invoiced_fee") == 63
    vat = "SELECT -sum(e.amount) FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE a.role = 'vat_on_commission'"
    assert await shop.one(vat) == 65
    assert await broken_rules(shop.services.db) == {}
    assert await issue_invoices(shop.services) == 0
    clock.advance(MONTH)
    assert await issue_invoices(shop.services) == 0


async def test_what_went_back_is_on_a_credit_note_that_names_the_invoice(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    (invoice,) = await issued(shop)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("40.00")))
    await send_refunds(shop.services)
    _, note = await issued(shop)
    assert (note.number, note.kind, str(note.total_amount), str(note.vat_amount)) == (
        "F-000002",
        InvoiceKind.CREDIT_NOTE,
        "-2.40",
        "-0.40",
    )
    assert note.corrects_id is None
    told = "SELECT data->>'number' FROM event WHERE type = 'invoice.issued' ORDER BY id"
    async with shop.services.db.sessions() as db:
        assert list((await (await db.connection()).execute(text(told))).scalars()) == [invoice.number, note.number]
    assert await broken_rules(shop.services.db) == {}


async def test_a_business_of_another_country_of_the_union_owes_the_vat_itself(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    await paid(shop, "100.00")
    await shop.execute("UPDATE partner SET vat_id = 'DE136695976', hq_country_code = 'DE'")
    foreign = await paid(shop, "100.00")
    assert (str(foreign.commission_amount), str(foreign.net_amount)) == ("5.00", "95.00")
    (invoice,) = await issued(shop)
    assert await lines(shop) == [
        ("payments", 1, "S", "20.00", "5.00", "1.00", "6.00"),
        ("payments", 1, "AE", "0.00", "5.00", "0.00", "5.00"),
    ]
    assert (str(invoice.vat_amount), invoice.issuer_exemption_reason) == ("1.00", "")
    assert await broken_rules(shop.services.db) == {}


async def test_fees_of_usages_are_invoiced_unless_the_marketplace_pays_them(tenants: Tenants) -> None:
    await take_fees(tenants, "a1")
    await take_fees(tenants, "a2", fees_paid_by="marketplace")
    a1, a2 = (tenants.partners[name].id for name in ("a1", "a2"))
    assert await issue_now(tenants.services, a2) == []
    (invoice,) = await issue_now(tenants.services, a1)
    assert (str(invoice.total_amount), str(invoice.vat_amount)) == ("8.40", "1.40")
    usage = await tenants.one("SELECT id FROM network_gift_card_usage WHERE partner_id = :id", id=a1)
    assert (await Direct(tenants).change("market a", cancel_network_gift_card_usage, id=usage)).done
    (note,) = await issue_now(tenants.services, a1)
    assert (str(note.total_amount), note.kind) == ("-8.40", InvoiceKind.CREDIT_NOTE)
    assert await is_proved(tenants)


async def test_numbers_have_no_gaps_and_no_fee_is_charged_twice(tenants: Tenants) -> None:
    await take_fees(tenants, "a1", "a2", "b1")
    clock.advance(MONTH)
    for name in ("a", "b"):
        await tenants.execute(
            "UPDATE invoice_series SET invoiced_until = NULL WHERE marketplace_id = :id",
            id=tenants.marketplaces[name].id,
        )
    counts = await asyncio.gather(*(issue_invoices(tenants.services) for _ in range(8)))
    found = await invoices(tenants.services)
    assert sum(counts) == len(found) == await tenants.one("SELECT count(DISTINCT partner_id) FROM invoice")
    by_market: dict[int, list[int]] = {}
    for each in found:
        by_market.setdefault(each.marketplace_id, []).append(each.sequence_number)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_market.values())
    assert await is_proved(tenants)


async def test_what_is_missing_is_told_and_invoiced_once_it_is_complete(tenants: Tenants, ask: Transport) -> None:
    await take_fees(tenants, "a1")
    partner = tenants.partners["a1"]
    await tenants.execute("UPDATE marketplace SET invoicer_city = '', invoicer_vat_id = ''")
    await tenants.execute("UPDATE partner SET hq_postal_code = ''")
    clock.advance(MONTH)
    await issue_invoices(tenants.services)
    assert await invoices(tenants.services) == []
    before = await tenants.snapshot()
    wrong = await ask.change("market a", issue_partner_invoices, partner_uuid=partner.uuid)
    assert wrong.wrong == {("", "INVOICE_INCOMPLETE")}
    query = "query ($p: UUID!, $from: Date!, $to: Date!) { feeStatement(partnerUuid: $p, from: $from, to: $to) { missing } }"
    period = {"from": clock.now().date() - 2 * MONTH, "to": clock.now().date()}
    missing = (await tenants.graphql("a1", query, p=partner.uuid, **period))["data"]["feeStatement"]["missing"]
    assert missing == ["invoicing.city", "headOffice.postalCode", "invoicing.vatId"]
    assert await tenants.snapshot() == before
    for who, code in (("a1", "FORBIDDEN"), ("market b", "NOT_FOUND")):
        assert {
            code for _, code in (await ask.change(who, issue_partner_invoices, partner_uuid=partner.uuid)).wrong
        } == {code}
    await tenants.execute("UPDATE marketplace SET invoicer_city = 'Annecy', invoicer_vat_id = 'FR44732829320'")
    await tenants.execute("UPDATE partner SET hq_postal_code = '74000'")
    assert (await ask.change("market a", issue_partner_invoices, partner_uuid=partner.uuid)).done
    again = await ask.change("market a", issue_partner_invoices, partner_uuid=partner.uuid)
    assert again.wrong == {("", "NOTHING_TO_INVOICE")}
    assert len(await invoices(tenants.services)) == 1


async def test_what_was_paid_to_a_test_partner_is_never_invoiced(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    await shop.execute("UPDATE partner SET status = 't'")
    await paid(shop, "100.00")
    assert await issued(shop) == []
    by_hand = IssuePartnerInvoices(partner_uuid=shop.partner.uuid)
    with pytest.raises(NothingToInvoice):
        await issue_partner_invoices(market(shop), by_hand)
    with pytest.raises(ValueError, match="never invoiced"):
        await issue_now(shop.services, shop.partner.id)
    await shop.execute("UPDATE partner SET status = 'a'")
    await paid(shop, "50.00")
    await shop.execute("UPDATE partner SET status = 't'")
    clock.advance(MONTH)
    (invoice,) = await issue_partner_invoices(market(shop), by_hand)
    assert str(invoice.total_amount) == "3.00"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE invoice SET total_amount = total_amount + 1, net_amount = net_amount + 1",
        "UPDATE invoice SET customer_company_name = 'Somebody else'",
        "UPDATE invoice_line SET count = 7",
        "DELETE FROM invoiced_fee",
        "DELETE FROM invoice_line",
    ],
)
async def test_what_is_issued_is_never_changed(tenants: Tenants, change: str) -> None:
    await stored_invoice(tenants, "a1")
    with pytest.raises(DBAPIError, match="never changed"):
        await tenants.execute(change)


async def test_fees_from_before_the_first_day_are_on_no_invoice(tenants: Tenants) -> None:
    await take_fees(tenants, "a1")
    later = clock.now().date() + dt.timedelta(days=2)  # it is tomorrow already where the marketplace is
    await tenants.execute("UPDATE marketplace SET invoicer_starts_on = :day", day=later)
    clock.advance(MONTH)
    assert await issue_invoices(tenants.services) == 0
    assert await issue_now(tenants.services, tenants.partners["a1"].id) == []


@pytest.mark.parametrize(
    ("vat_id", "rate", "later", "category"),
    [("DE136695976", "20.00", "FR40303265045", "AE"), ("FR40303265045", "0.00", "DE136695976", "E")],
)
async def test_how_vat_applies_is_decided_when_the_fee_is_taken(
    shop: Shop, vat_id: str, rate: str, later: str, category: str
) -> None:
    await can_be_invoiced(shop, exemption_reason="Exempt under article 261 of the CGI")
    await shop.execute("UPDATE partner SET vat_id = :vat_id", vat_id=vat_id)
    await fee_rule(shop, vat_rate=Decimal(rate))
    await paid(shop, "100.00")
    await shop.execute("UPDATE partner SET vat_id = :vat_id", vat_id=later)
    await issued(shop)
    assert [line[2] for line in await lines(shop)] == [category]


async def test_what_was_taken_with_another_rate_is_not_invoiced(shop: Shop) -> None:
    await can_be_invoiced(shop, exemption_reason="Exempt")
    await fee_rule(shop)
    await paid(shop, "100.00")
    await shop.execute("UPDATE payment SET commission_vat_rate = 0")
    assert await issued(shop) == []
    with pytest.raises(InvoiceIncomplete):
        await issue_partner_invoices(market(shop), IssuePartnerInvoices(partner_uuid=shop.partner.uuid))


async def test_a_partner_whose_invoice_fails_stops_no_other_and_takes_no_number(tenants: Tenants) -> None:
    await take_fees(tenants, "a1", "a2", "b1")
    journal = await tenants.one(
        "SELECT max(id) FROM ledger_journal WHERE partner_id = :id", id=tenants.partners["a1"].id
    )
    await tenants.execute(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$"
    )
    await tenants.execute(
        f"CREATE TRIGGER fails BEFORE INSERT ON invoiced_fee FOR EACH ROW WHEN (NEW.journal_id = {journal}) EXECUTE FUNCTION fail()"
    )
    clock.advance(MONTH)
    counted = ISSUED.labels(InvoiceKind.INVOICE.value)
    before = counted._value.get()
    await issue_invoices(tenants.services)
    found = {each.partner_id: each.sequence_number for each in await invoices(tenants.services)}
    assert found == {tenants.partners[name].id: 1 for name in ("a2", "b1")}
    assert counted._value.get() == before + 2
    assert await is_proved(tenants)
