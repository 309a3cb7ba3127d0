"""A mistake on an invoice is corrected by a credit note, which gives fees back with the next payout, and never too much."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.invoice.invoices import lines_of_invoices
from resolvers.invoice.issuing import create_credit_note, issue_invoices
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import AppError, InvalidInput
from schema.invoice.errors import NothingToCredit
from schema.invoice.input import CreateCreditNote
from schema.payment.errors import MarketplacePaymentsNotActive
from schema.payment.input import RefundPayment
from schema.payment.payout import PayoutRequestStatus
from store.core.clock import clock
from store.payment.payments import PaymentRow
from tests.changes import Direct, Transport
from tests.fixtures.invoice import MONTH, can_be_invoiced, credited, invoices, issue_now, issued, stored_invoice
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved
from tests.fixtures.payment.api_payment import fee_rule, paid, wallet_uuid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import can_be_paid_out, put_into_payout, validated
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

REASON = "The fixed fee was agreed to be nothing."
BALANCE = """
    SELECT sum(e.amount * a.side)::int FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id WHERE a.role = :role
"""
TOO_LATE = "001403"
"""What the provider answers to a refund after a year."""
GIVEN = """
    SELECT -sum(e.amount) FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
    WHERE a.role IN ('commission', 'management_fees', 'vat_on_commission')
"""
"""What was charged less what went back, in minor units."""


async def refusal(tenants: Tenants, ask: Transport, who: str, **values: Any) -> set[tuple[str, str]]:
    """What is wrong with a credit note, which changes nothing."""
    before = await tenants.snapshot()
    wrong = (await ask.change(who, create_credit_note, **values)).wrong
    assert await tenants.snapshot() == before
    return set(wrong)


async def test_a_part_and_then_the_rest_go_back(tenants: Tenants, ask: Transport) -> None:
    invoice = await stored_invoice(tenants, "a1")  # 8.40 with 1.40 VAT
    about = {"invoice_id": str(invoice.id), "reason": REASON}
    part = [{"position": 1, "amount": "1.20"}]
    assert (await ask.change("market a", create_credit_note, **about, lines=part)).done
    too_much = [{"position": 1, "amount": "7.21"}, {"position": 2, "amount": "1.00"}]
    assert await refusal(tenants, ask, "market a", **about, lines=too_much) == {
        ("lines.0.amount", "OUT_OF_RANGE"),
        ("lines.1.position", "INVALID"),
    }
    wrong = await refusal(tenants, ask, "market a", **{**about, "reason": "x" * 301}, lines=too_much[:1])
    assert {at for at, _ in wrong} == {"reason", "lines.0.amount"}
    assert (await ask.change("market a", create_credit_note, **about)).done
    assert await refusal(tenants, ask, "market a", **about) == {("", "NOTHING_TO_CREDIT")}
    first, *notes = await invoices(tenants.services)
    assert [(each.number, str(each.net_amount), str(each.vat_amount), str(each.total_amount)) for each in notes] == [
        ("F-000002", "-1.00", "-0.20", "-1.20"),
        ("F-000003", "-6.00", "-1.20", "-7.20"),
    ]
    assert {each.corrects_id for each in notes} == {first.id}
    assert {each.customer_company_name for each in notes} == {first.customer_company_name}
    assert await tenants.one(BALANCE, role="vat_on_commission") == 0
    assert await tenants.one(BALANCE, role="partner_network") == 6000
    assert await is_proved(tenants)
    payout = await put_into_payout(tenants.services, tenants.partners["a1"].id)
    assert str(await tenants.one("SELECT payout_amount FROM payout_request WHERE id = :id", id=payout)) == "60.00"
    assert await is_proved(tenants)


async def test_only_the_marketplace_corrects_its_invoices(tenants: Tenants, ask: Transport) -> None:
    invoice = await stored_invoice(tenants, "a1")
    about = {"invoice_id": str(invoice.id), "reason": REASON}
    assert await refusal(tenants, ask, "a1", **about) == {("", "FORBIDDEN")}
    assert await refusal(tenants, ask, "market b", **about) == {("", "NOT_FOUND")}
    assert {at for at, _ in await refusal(tenants, ask, "market a", **about, lines=[])} == {"lines"}
    assert await refusal(tenants, ask, "market a", **about, lines=[{"position": 1, "amount": "0.00"}]) == {
        ("lines.0.amount", "OUT_OF_RANGE")
    }
    assert (await ask.change("market a", create_credit_note, **about)).done
    note = (await invoices(tenants.services))[-1]
    assert await refusal(tenants, ask, "market a", **{**about, "invoice_id": str(note.id)}) == {
        ("", "CREDIT_NOTE_NOT_CORRECTABLE")
    }


async def test_twenty_at_once_give_back_no_more_than_was_charged(tenants: Tenants) -> None:
    invoice = await stored_invoice(tenants, "a1")
    context = await tenants.context("market a")
    part = CreateCreditNote.model_validate(
        {"invoice_id": invoice.id, "reason": REASON, "lines": [{"position": 1, "amount": "1.00"}]}
    )
    answers = await asyncio.gather(*(create_credit_note(context, part) for _ in range(20)), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, BaseException)]
    assert len(refused) == 12
    assert all(isinstance(each, AppError) for each in refused)
    assert str(await tenants.one("SELECT max(credited_amount) FROM invoice_line")) == "8.00"
    assert [each.sequence_number for each in await invoices(tenants.services)] == list(range(1, 10))
    assert await is_proved(tenants)


async def test_it_comes_out_of_the_funds_of_the_marketplace_as_far_as_they_go(tenants: Tenants) -> None:
    invoice = await stored_invoice(tenants, "a1")
    owed = await tenants.one(BALANCE, role="owed_by_marketplace")
    assert (
        await Direct(tenants).change("market a", create_credit_note, invoice_id=str(invoice.id), reason=REASON)
    ).done
    assert await tenants.one(BALANCE, role="owed_by_marketplace") == owed + 840
    assert await tenants.one(BALANCE, role="freed_fees") == 840
    assert await is_proved(tenants)


async def test_what_the_marketplace_then_owes_is_of_no_partner(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    await paid(shop, "100.00")
    (invoice,) = await issued(shop)
    await credited(shop, invoice)
    assert await shop.one("SELECT partner_id FROM ledger_account WHERE role = 'owed_by_marketplace'") is None
    assert await broken_rules(shop.services.db) == {}


async def test_credit_notes_take_back_net_and_vat_of_each_line_to_the_cent(shop: Shop) -> None:
    """Two lines with one rate share its rounding: the net amount of each does not follow from its total alone."""
    await can_be_invoiced(shop)
    await take_part(shop)
    await take_fees(shop, rate="0", fixed="0.87")
    await fee_rule(shop, "0", fixed_amount=Decimal("0.87"))
    card = await card_of_network(shop)
    for _ in range(2):
        more = {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": "20.00"}
        await paid(shop, "100.00", **more)
        invoice = (await issued(shop))[-1]
        assert [str(amount) for amount in (invoice.net_amount, invoice.vat_amount)] == ["1.73", "0.35"]
        if invoice.sequence_number > 1:
            await credited(shop, invoice, "0.34", "0.51")
        await credited(shop, invoice)
        of_it = "SELECT sum(net_amount), sum(vat_amount) FROM invoice WHERE :id IN (id, corrects_id)"
        async with shop.services.db.sessions() as db:
            assert (await (await db.connection()).execute(text(of_it), {"id": invoice.id})).one() == (0, 0)
    assert await broken_rules(shop.services.db) == {}


async def test_without_a_wallet_that_could_pay_it_none_is_issued(shop: Shop) -> None:
    await can_be_paid_out(shop)
    await can_be_invoiced(shop)
    await fee_rule(shop)
    await paid(shop, "1000.00")
    (invoice,) = await issued(shop)
    about = CreateCreditNote(invoice_id=invoice.id, reason=REASON)
    with pytest.raises(MarketplacePaymentsNotActive):
        await create_credit_note(market(shop), about)
    assert len(await invoices(shop.services)) == 1
    assert (await validated(shop)).status is PayoutRequestStatus.VALIDATED


async def refunded(shop: Shop, payment: PaymentRow, amount: str) -> None:
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal(amount)))
    await send_refunds(shop.services)


async def test_what_refunds_gave_back_is_not_left_to_correct(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    (invoice,) = await issued(shop)
    await refunded(shop, payment, "40.00")
    with pytest.raises(InvalidInput) as refused:
        await credited(shop, invoice, "3.61")
    assert "at most 3.60" in refused.value.problems[0].message
    await credited(shop, invoice, "3.60")
    await issued(shop)
    assert [str(each.total_amount) for each in await invoices(shop.services)] == ["6.00", "-3.60", "-2.40"]
    shown = await lines_of_invoices(shop.manager, [invoice.id])
    assert [str(line.credited.amount) for line in shown[invoice.id]] == ["6.00"]
    with pytest.raises(NothingToCredit):
        await credited(shop, invoice)
    assert await shop.one(GIVEN) == 0
    assert await broken_rules(shop.services.db) == {}
    await shop.execute("UPDATE invoice_line SET credited_amount = 3.61 WHERE credited_amount = 3.60")
    assert set(await broken_rules(shop.services.db)) == {"credit_notes", "fees_given_back"}


@pytest.mark.parametrize(("corrected", "again"), [("6.00", []), ("4.00", ["-2.00"])])
async def test_a_refund_does_not_give_back_what_a_correction_did(shop: Shop, corrected: str, again: list[str]) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    (invoice,) = await issued(shop)
    await paid(shop, "200.00")  # so that the wallet has what the fee was
    await credited(shop, invoice, corrected)
    await refunded(shop, payment, "60.00")
    await issued(shop)
    await refunded(shop, payment, "40.00")
    await issued(shop)
    clock.advance(MONTH)
    assert await issue_invoices(shop.services) == 0
    amounts = [str(each.total_amount) for each in await invoices(shop.services)]
    assert amounts == ["6.00", f"-{corrected}", "12.00", *again]
    assert await shop.one(GIVEN) == 1200
    assert await broken_rules(shop.services.db) == {}


async def test_what_was_taken_again_is_given_back_if_the_refund_fails(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    (invoice,) = await issued(shop)
    await paid(shop, "200.00")
    await credited(shop, invoice, "4.00")
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("100.00")))
    await issue_now(shop.services, shop.partner.id)
    assert await shop.one(GIVEN) == 1200
    fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": TOO_LATE, "times": 1}
    assert (await shop.control("POST", "/faults", fault)).status_code == 200
    await send_refunds(shop.services)
    await issued(shop)
    amounts = [str(each.total_amount) for each in await invoices(shop.services)]
    assert amounts == ["6.00", "-4.00", "12.00", "-2.00", "2.00"]
    assert await shop.one(GIVEN) == 1400
    assert await broken_rules(shop.services.db) == {}


async def test_a_cancelled_usage_does_not_give_back_what_a_correction_did(tenants: Tenants) -> None:
    invoice = await stored_invoice(tenants, "a1")  # 8.40, of which 1.20 are management fees
    direct, partner = Direct(tenants), tenants.partners["a1"].id
    part = [{"position": 1, "amount": "4.20"}]
    about = {"invoice_id": str(invoice.id), "reason": REASON}
    assert (await direct.change("market a", create_credit_note, **about, lines=part)).done
    assert await tenants.one(BALANCE, role="management_fees") == 50
    usage = await tenants.one("SELECT max(id) FROM network_gift_card_usage")
    assert (await direct.change("market a", cancel_network_gift_card_usage, id=usage)).done
    (note,) = await issue_now(tenants.services, partner)
    assert str(note.total_amount) == "-4.20"
    roles = ("commission", "management_fees", "vat_on_commission", "partner_network")
    assert [await tenants.one(BALANCE, role=role) for role in roles] == [0, 0, 0, 0]
    assert await issue_now(tenants.services, partner) == []
    assert await is_proved(tenants)
