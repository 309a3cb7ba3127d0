"""Invoices over the API: who sees them, over GraphQL and REST, by which filters, and what they contain."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.invoice.invoices import invoice as invoice_by_id
from resolvers.invoice.invoices import invoices as invoice_list
from resolvers.invoice.invoices import payments_of_invoices
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage
from store.core.clock import clock
from store.invoice.invoices import InvoiceRow
from store.invoice.payments import payments_of
from tests.changes import Direct
from tests.fixtures.invoice import can_be_invoiced, issue_now, issued, stored_invoice
from tests.fixtures.payment.api_payment import fee_rule, paid
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

ALL = """
    {
      invoices(first: 10) {
        nodes {
          number kind total { amount currency } net { amount } vat { amount } invoicingDate firstDay lastDay reason
          issuer { companyName vatId } customer { companyName city } partner { id } marketplace { id }
          lines { position kind count vatCategory vatRate net { amount } vat { amount } total { amount } credited { amount } }
          vatBreakdown { category rate net { amount } vat { amount } }
          payments { id } corrects { number } pdfUrl
        }
      }
    }
"""

COPIES = {
    "payment": {"id": "gen_random_uuid()", "attempt_id": "NULL", "link_token": "NULL", "document_token": "n::text"},
    "ledger_journal": {
        "id": "1000000 + n",
        "source_id": "(SELECT id::text FROM payment WHERE document_token = n::text)",
    },
    "invoiced_fee": {"journal_id": "1000000 + n"},
}
"""The columns in which copies of a payment, its journal and its invoiced fee differ."""


async def rest(tenants: Tenants, who: str, path: str) -> Any:
    headers = {"Authorization": f"Token {tenants.tokens[who]}"}
    return await tenants.client.get(f"/api/invoices/{path}", headers=headers)


async def test_it_is_shown_with_its_lines_to_whom_it_is_of(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    partner = tenants.partners["a1"]
    (node,) = (await tenants.graphql("a1", ALL))["data"]["invoices"]["nodes"]
    assert node["pdfUrl"].startswith("http")
    amounts = {"net": {"amount": "7.00"}, "vat": {"amount": "1.40"}}
    assert {name: node[name] for name in node if name != "pdfUrl"} == {
        "number": "F-000001",
        "kind": "INVOICE",
        "total": {"amount": "8.40", "currency": "EUR"},
        **amounts,
        "invoicingDate": str(row.invoicing_date),
        "firstDay": str(row.first_day),
        "lastDay": str(row.last_day),
        "reason": "",
        "issuer": {"companyName": "Réseau des Cimes SAS", "vatId": "FR44732829320"},
        "customer": {"companyName": partner.name or partner.commercial_name, "city": "Annecy"},
        "partner": {"id": partner.id},
        "marketplace": {"id": partner.marketplace_id},
        "lines": [
            {
                "position": 1,
                "kind": "USAGES",
                "count": 1,
                "vatCategory": "STANDARD",
                "vatRate": "20.00",
                **amounts,
                "total": {"amount": "8.40"},
                "credited": {"amount": "0.00"},
            }
        ],
        "vatBreakdown": [{"category": "STANDARD", "rate": "20.00", **amounts}],
        "payments": [],
        "corrects": None,
    }
    assert (await tenants.graphql("market a", ALL))["data"]["invoices"]["nodes"] != []
    for who in ("a2", "b1", "market b"):
        assert (await tenants.graphql(who, ALL))["data"]["invoices"]["nodes"] == []
        assert (await rest(tenants, who, f"{row.id}/")).status_code == 404
        assert (await rest(tenants, who, f"{row.id}/payments/")).status_code == 404
    found = (await tenants.graphql("a1", f'{{ invoice(id: "{row.id}") {{ id }} }}'))["data"]["invoice"]
    assert found == {"id": str(row.id)}


async def test_rest_answers_the_documented_keys(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    partner = tenants.partners["a1"]
    body = (await rest(tenants, "a1", f"{row.id}/")).json()
    assert body.pop("payins_pdf_file").endswith(".pdf")
    assert body.pop("creation_date").endswith("Z")
    assert body == {
        "id": str(row.id),
        "number": "F-000001",
        "partner_customer": partner.id,
        "partner_uuid": str(partner.uuid),
        "partner_agency_name": partner.commercial_name,
        "marketplace_customer_id": None,
        "marketplace_invoicer_id": partner.marketplace_id,
        "provider_invoicer_id": None,
        "customer_company_name": partner.name or partner.commercial_name,
        "invoicer_company_name": "Réseau des Cimes SAS",
        "invoicing_date": str(row.invoicing_date),
        "total_amount_without_vat": 7.0,
        "total_amount_of_vat": 1.4,
        "total_amount_with_vat": 8.4,
    }
    assert (await rest(tenants, "a1", f"{row.id}/payments/")).json() == []
    for unknown in ("7", "2f7d1c7e-6f0e-4c55-9a59-6d6f3b1a2c11"):
        assert (await rest(tenants, "a1", f"{unknown}/")).status_code == 404


async def test_rest_filters_find_invoices(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    usage = await tenants.one("SELECT max(id) FROM network_gift_card_usage")
    assert (await Direct(tenants).change("market a", cancel_network_gift_card_usage, id=usage)).done
    (note,) = await issue_now(tenants.services, tenants.partners["a1"].id)
    day, partner = row.invoicing_date, tenants.partners["a1"]
    both = {str(row.id), str(note.id)}
    for query, expected in (
        ("", both),
        (f"invoicing_date__gte={day}", both),
        (f"invoicing_date__gte={day.replace(year=day.year + 1)}", set()),
        (f"invoicing_date__lte={day}", both),
        (f"invoicing_date__range={day},{day}", both),
        (f"invoicing_date__range=2001-01-01,{day.replace(year=2002)}", set()),
        (f"invoicing_date__range={day},{day}&invoicing_date__gte={day}&invoicing_date__lte={day}", both),
        (f"invoicing_date__range=2001-01-01,{day}&invoicing_date__lte={day.replace(year=2002)}", set()),
        (f"partner_customer={partner.id}", both),
        ("partner_customer=4711", set()),
        (f"partner_uuid={partner.uuid}", both),
        (f"partner_uuid={tenants.partners['a2'].uuid}", set()),
        (f"marketplace_invoicer_id={partner.marketplace_id}", both),
        ("marketplace_customer_id=1", set()),
        ("provider_invoicer_id=1", set()),
    ):
        body = (await rest(tenants, "market a", f"?{query}")).json()
        assert {each["id"] for each in body["results"]} == expected, query
    shown = (await rest(tenants, "market a", "")).json()["results"]
    assert {each["id"]: each["total_amount_with_vat"] for each in shown} == {str(row.id): 8.4, str(note.id): -8.4}


@pytest.mark.parametrize(
    "query",
    [
        "invoicing_date__gte=soon",
        "invoicing_date__range=2026-01-01",
        "invoicing_date__range=2026-01-01,2026-13-01",
        "invoicing_date__range=2026-01-01,2026-01-02,2026-01-03",
        "partner_customer=first",
        "partner_uuid=7",
        "marketplace_invoicer_id=x",
    ],
)
async def test_rest_refuses_malformed_filters(tenants: Tenants, query: str) -> None:
    answer = await rest(tenants, "a1", f"?{query}")
    assert answer.status_code == 400
    assert list(answer.json()) == [query.partition("=")[0]]


async def test_without_the_permission_nothing_is_shown(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    await tenants.user("powerless", "partner", [], partner_id=tenants.partners["a1"].id)
    for path in ("", f"{row.id}/", f"{row.id}/payments/"):
        assert (await rest(tenants, "powerless", path)).status_code == 403
        assert (await tenants.client.get(f"/api/invoices/{path}")).status_code == 401
    assert invoice_list.permission is invoice_by_id.permission


async def test_a_number_that_no_row_has_is_refused_at_its_key(tenants: Tenants) -> None:
    for number in (2**31, 2**63, 10**30):
        answer = await rest(tenants, "a1", f"?partner_customer={number}&marketplace_invoicer_id={number}")
        told = [f"Send a number from -{2**31 - 1} to {2**31 - 1}."]
        assert (answer.status_code, answer.json()) == (
            400,
            {"partner_customer": told, "marketplace_invoicer_id": told},
        )


async def test_its_payments_are_those_whose_fees_it_charges(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    first, second = await paid(shop, "100.00"), await paid(shop, "50.00")
    (row,) = await issued(shop)
    assert isinstance(row, InvoiceRow)
    found = await payments_of_invoices(shop.manager, [row.id])
    assert [payment.id for payment in found[row.id]] == [second.id, first.id]


async def test_the_fees_of_a_period_are_listed_with_their_invoice(tenants: Tenants) -> None:
    await stored_invoice(tenants, "a1")
    day, partner = clock.now().date(), tenants.partners["a1"]
    query = (
        "query ($p: UUID!, $from: Date!, $to: Date!) { feeStatement(partnerUuid: $p, from: $from, to: $to) "
        "{ total { amount } vat { amount } missing lines { totalCount nodes { kind sourceKind amount { amount } vatRate invoiceNumber } } } }"
    )
    until = {"p": str(partner.uuid), "to": str(day + dt.timedelta(days=30))}
    told = (await tenants.graphql("a1", query, **until, **{"from": str(day.replace(day=1))}))["data"]["feeStatement"]
    assert told == {
        "total": {"amount": "8.40"},
        "vat": {"amount": "1.40"},
        "missing": [],
        "lines": {
            "totalCount": 1,
            "nodes": [
                {
                    "kind": "USAGES",
                    "sourceKind": "network_gift_card_usage",
                    "amount": {"amount": "8.40"},
                    "vatRate": "20.00",
                    "invoiceNumber": "F-000001",
                }
            ],
        },
    }
    of_another = await tenants.graphql("a2", query, **until, **{"from": str(day)})
    assert of_another["data"]["feeStatement"] is None
    for start in (day.replace(year=day.year + 2), day.replace(year=day.year - 2)):
        refused = await tenants.graphql("a1", query, **until, **{"from": str(start)})
        assert [error["extensions"]["code"] for error in refused["errors"]] == ["BAD_USER_INPUT"]


async def test_payments_are_found_beyond_what_a_statement_takes_as_parameters(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    (row,) = await issued(shop)
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        await connection.execute(text("SET LOCAL session_replication_role = replica"))
        for table, own in COPIES.items():
            named = f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER'"  # noqa: S608 - words of a test
            names = list((await connection.execute(text(named))).scalars())
            values = ", ".join(own.get(name, name) for name in names)
            copies = f"FROM (SELECT * FROM {table} LIMIT 1) o, generate_series(1, 33000) n"  # noqa: S608 - words of a test
            await connection.execute(text(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} {copies}"))
            await connection.execute(text("CREATE INDEX IF NOT EXISTS tokens ON payment (document_token)"))
    async with shop.services.db.sessions() as db:
        found = (await payments_of(db, [row.id]))[row.id]
    assert len(found) == 33_001
    assert payment.id in {each.id for each in found}


async def test_the_id_of_a_journal_may_be_large(tenants: Tenants) -> None:
    await tenants.execute("ALTER SEQUENCE ledger_journal_id_seq RESTART WITH 3000000000")
    await stored_invoice(tenants, "a1")
    query = "query ($p: UUID!, $d: Date!, $e: Date!) { feeStatement(partnerUuid: $p, from: $d, to: $e) { lines { nodes { journalId } } } }"
    today = clock.now().date()  # it may be tomorrow already where the partner is
    period = {"d": str(today), "e": str(today + dt.timedelta(days=1))}
    answer = await tenants.graphql("a1", query, p=str(tenants.partners["a1"].uuid), **period)
    assert int(answer["data"]["feeStatement"]["lines"]["nodes"][0]["journalId"]) >= 3_000_000_000
