"""Payments as they are read, over both transports: every documented key, every filter and order, pages, who sees what."""

import datetime as dt
import random
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from rest_compat.resources.payment import PAYMENT, TRANSACTION
from schema.payment.payment import PaymentStatus as S
from store.payment.payments import PaymentRow, link_token
from tests.fixtures.gift_card import gift_card
from tests.fixtures.partner_rows import PartnerRows
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

START = dt.datetime(2026, 1, 1, 23, 30, tzinfo=dt.UTC)
Payments = PartnerRows[PaymentRow]
ORDERS = {"-created_on": "NEWEST", "created_on": "OLDEST", "amount": "AMOUNT", "-amount": "AMOUNT_DESCENDING"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def payments(tenants: Tenants) -> AsyncIterator[Payments]:
    """Some dozens of payments in all states."""
    rows, pick = [], random.Random(7)
    for partner, count in (("a1", 45), ("a2", 6), ("b1", 4)):
        card = await gift_card(tenants, partner, "500.00")
        for number in range(count):
            status = list(S)[number % 4]
            of_card: dict[str, Any] = {"extra": "25.00", "card": card} if number % 3 == 0 else {}
            refunded = pick.choice(["0.00", "10.00", "100.00"]) if status is S.OK else "0.00"
            more: dict[str, Any] = {
                "status": status,
                "created_on": START + dt.timedelta(hours=6 * number),
                "customer_first_name": pick.choice(["Ada", "Élodie"]),
                "customer_last_name": pick.choice(["Martin", "O'Neil"]),
                "customer_email": f"{pick.choice(['ada', 'Elo'])}.{number}@mail.example",
                "link_token": link_token() if number % 2 else None,
                "discount_amount": "5.00",
                "origin": pick.choice(["shop", "newsletter"]),
                "product": "stay",
            }
            rows.append(await stored_payment(tenants, partner, refunded=refunded, commission="3.75", **of_card, **more))
    yield Payments(tenants, rows)


async def test_the_documented_keys(payments: Payments) -> None:
    base = payments.tenants.services.settings.public_url
    for row in payments.visible_to("a1")[:12]:
        answer = await payments.get(f"/api/payments/{row.id}/")
        body = answer.json()
        assert list(body) == list(PAYMENT.keys)
        receipt = body["payment_receipt_pdf_file"]
        assert body == {**await documented(payments, row), "payment_receipt_pdf_file": receipt}
        assert receipt.startswith(base) is (row.status is S.OK)
        assert '"commission":3.75,' in answer.text
        assert f'"refunded_amount":{row.refunded_amount:.2f},' in answer.text
        payable = row.link_token is not None and row.status in (S.IN_PROGRESS, S.ERROR)
        assert answer.headers.get_list("link") == (
            [f'<{base}/pay/{row.link_token}/>; rel="payment"'] if payable else []
        )


async def documented(payments: Payments, row: PaymentRow) -> dict[str, Any]:
    """What REST writes of a payment of the first partner, without the link of its receipt."""
    partner = payments.tenants.partners["a1"]
    by_card = row.extra_wallet_id is not None
    wallet = await payments.tenants.row("wallet", row.extra_wallet_id) if row.extra_wallet_id else {"uuid": None}
    return {
        "id": str(row.id),
        "status": row.status.value,
        "currency": "EUR",
        "customer": {
            "first_name": row.customer_first_name,
            "last_name": row.customer_last_name,
            "email": row.customer_email,
        },
        "origin": row.origin,
        "payout_request_id": None,
        "payout_request_status": "",
        "payout_request_creation_date": None,
        "payout_request_validation_date": None,
        "partner": partner.id,
        "partner_uuid": str(partner.uuid),
        "created_on": moment(row.created_on),
        "modified_on": moment(row.modified_on),
        "amount": "100.00",
        "discount": "5.00",
        "commission": 3.75,
        "net_amount": 96.25,
        "refunded_amount": float(row.refunded_amount),
        "type": "credit_card",
        "product": "stay",
        "extra_source_amount": 25.0 if by_card else 0.0,
        "extra_source_wallet": row.extra_wallet_id,
        "extra_source_wallet_uuid": wallet["uuid"],
        "payin_result_code": "",
        "payin_result_message": "",
        "payment_request_id": None,
    }


def moment(value: dt.datetime) -> str:
    """A time as REST writes it."""
    return value.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def one(transport: Transport, who: str, id: UUID) -> tuple[int, Any]:
    """The status of the answer, and the id of the payment."""
    if isinstance(transport, OverRest):
        path = f"/api/payments/{id}/"
        answer = transport.to_answer(await transport.tenants.client.get(path, headers=transport.headers(who)))
    else:
        answer = await transport.ask_graphql("query ($id: UUID!) { payment(id: $id) { id } }", who, {"id": str(id)})  # type: ignore[attr-defined]
        if answer.status == 200 and answer.result is None:
            return 404, None
    return answer.status, answer.result and answer.result["id"]


async def test_for_whom_it_is_there(transport: Transport, payments: Payments) -> None:
    row = payments.visible_to("a1")[0]
    for who, status in {"a1": 200, "market a": 200, "master": 200, "a2": 404, "b1": 404, "market b": 404}.items():
        assert await one(transport, who, row.id) == (status, str(row.id) if status == 200 else None), who
    for who, status in {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403}.items():
        assert (await one(transport, who, row.id))[0] == status, who
    assert (await one(transport, "a1", uuid4()))[0] == 404


@pytest.mark.parametrize("who", ["a1", "a2", "market a", "master"])
@pytest.mark.parametrize("order", ORDERS)
async def test_lists_page_by_page(payments: Payments, who: str, order: str) -> None:
    column = {"created_on": "created_on", "amount": "payment_amount"}[order.lstrip("-")]
    rows = sorted(payments.visible_to(who), key=lambda row: (getattr(row, column), row.id), reverse=order[0] == "-")
    expected, listed, page = [str(row.id) for row in rows], [], 1
    while True:
        body = (await payments.get("/api/payments/", who, ordering=order, page=page, page_size=13)).json()
        assert list(body) == ["count", "previous", "has_previous", "has_next", "current_page", "page_range", "results"]
        assert (body["count"], body["current_page"]) == (len(expected), page)
        listed += [row["id"] for row in body["results"]]
        page += 1
        if not body["has_next"]:
            break
    assert listed == expected
    listed, after = [], None
    document = f"""query ($after: String) {{ payments(first: 13, after: $after, orderBy: {ORDERS[order]}) {{
        totalCount edges {{ node {{ id }} }} pageInfo {{ hasNextPage endCursor }} }} }}"""
    while True:
        answer = (await payments.ask(document, who, after=after))["payments"]
        assert answer["totalCount"] == len(expected)
        listed += [edge["node"]["id"] for edge in answer["edges"]]
        after = answer["pageInfo"]["endCursor"]
        if not answer["pageInfo"]["hasNextPage"]:
            break
    assert listed == expected


def part_of(text: str) -> str:
    """A text as it is compared."""
    return text.lower().replace("é", "e")


Choice = Callable[[PaymentRow], bool]
FIRST, LAST = dt.datetime(2026, 1, 2, 23, tzinfo=dt.UTC), dt.datetime(2026, 1, 5, 23, tzinfo=dt.UTC)
FILTERS: Mapping[str, tuple[Mapping[str, str], str, Choice]] = {
    "period": (
        {"created_on__gte": "2026-01-03", "created_on__lte": "2026-01-05"},
        '{createdFrom: "2026-01-02T23:00:00Z", createdUntil: "2026-01-05T22:59:59.999999Z"}',
        lambda row: FIRST <= row.created_on < LAST,
    ),
    "status": ({"status": "ok"}, "{status: OK}", lambda row: row.status is S.OK),
    "statuses": (
        {"status__in": "ip,err"},
        "{statuses: [IN_PROGRESS, ERROR]}",
        lambda row: row.status in (S.IN_PROGRESS, S.ERROR),
    ),
    "first name": ({"customer_first_name": "élOD"}, '{customerFirstName: "ELOD"}', lambda row: row.customer_first_name == "Élodie"),
    "last name": ({"customer_last_name": "o'neil"}, '{customerLastName: "O\'n"}', lambda row: row.customer_last_name == "O'Neil"),
    "e-mail": ({"customer_email": "ELO."}, '{customerEmail: "elo."}', lambda row: "elo." in part_of(row.customer_email)),
    "in part": ({"partially_refunded": "true"}, "{refundStatus: PARTIAL}", lambda row: 0 < row.refunded_amount < 100),
    "not in part": (
        {"partially_refunded": "false"},
        "{refundStatuses: [NONE, FULL]}",
        lambda row: row.refunded_amount in (0, 100),
    ),
    "fully": ({"fully_refunded": "true"}, "{refundStatus: FULL}", lambda row: row.refunded_amount == 100),
    "not fully": ({"fully_refunded": "false"}, "{refundStatuses: [NONE, PARTIAL]}", lambda row: row.refunded_amount < 100),
    "neither": (
        {"fully_refunded": "false", "partially_refunded": "false"},
        "{refundStatus: NONE}",
        lambda row: row.refunded_amount == 0,
    ),
    "both": ({"fully_refunded": "true", "partially_refunded": "true"}, "{refundStatuses: []}", lambda _row: False),
    "payout": ({"payout_request_status": "validated"}, "{ids: []}", lambda _row: False),
    "payouts": ({"payout_request_status__in": "to be validated,paid"}, "{ids: []}", lambda _row: False),
    "several": (
        {"status": "ok", "partially_refunded": "1", "customer_first_name": "ada"},
        '{status: OK, refundStatus: PARTIAL, customerFirstName: "ada"}',
        lambda row: row.status is S.OK and 0 < row.refunded_amount < 100 and row.customer_first_name == "Ada",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("who", ["a1", "market a"])
async def test_what_is_filtered(payments: Payments, name: str, who: str) -> None:
    query, filter, is_chosen = FILTERS[name]
    rows = sorted(payments.visible_to(who), key=lambda row: row.created_on, reverse=True)
    expected = {str(row.id) for row in rows if is_chosen(row)}
    assert len(expected) < len(rows)
    assert expected or name in {"both", "payout", "payouts"}
    body = (await payments.get("/api/payments/", who, page_size="100", **query)).json()
    assert {row["id"] for row in body["results"]} == expected
    assert body["count"] == len(expected)
    listed = await payments.ask(f"{{ payments(first: 100, filter: {filter}) {{ totalCount nodes {{ id }} }} }}", who)
    assert {node["id"] for node in listed["payments"]["nodes"]} == expected
    assert listed["payments"]["totalCount"] == len(expected)


async def test_a_partner_is_chosen_among_those_that_one_sees(payments: Payments) -> None:
    for who, partner, seen in (("market a", "a2", 6), ("market a", "b1", 0), ("a1", "a2", 0), ("master", "b1", 4)):
        uuid = str(payments.tenants.partners[partner].uuid)
        body = (await payments.get("/api/payments/", who, partner_uuid=uuid)).json()
        assert body["count"] == seen
        found = await payments.ask(f'{{ payments(filter: {{partnerUuid: "{uuid}"}}) {{ totalCount }} }}', who)
        assert found["payments"]["totalCount"] == seen


async def test_what_a_filter_of_graphql_has_besides(payments: Payments) -> None:
    rows = payments.visible_to("a1")
    chosen = [str(row.id) for row in rows[:3]] + [str(payments.visible_to("b1")[0].id)]
    found = await payments.ask(
        "query ($ids: [UUID!]) { payments(filter: {ids: $ids}) { nodes { id refundStatus extraWallet { kind } } } }",
        ids=chosen,
    )
    shown = {node["id"]: node for node in found["payments"]["nodes"]}
    assert set(shown) == set(chosen[:3])
    for row in rows[:3]:
        refunded = "NONE" if not row.refunded_amount else "PARTIAL" if row.refunded_amount < 100 else "FULL"
        wallet = {"kind": "GIFT_CARD"} if row.extra_wallet_id else None
        assert shown[str(row.id)] == {"id": str(row.id), "refundStatus": refunded, "extraWallet": wallet}


@pytest.mark.parametrize(
    "query",
    ["created_on__gte=soon", "created_on__lte=1", "partner_uuid=x", "status=paid", "status__in=ok,paid", "payout_request_status=ok", "payout_request_status__in=paid,ok", "partially_refunded=yes", "fully_refunded=2", "ordering=status", "page=0", "page_size=101"],
)  # fmt: skip
async def test_a_malformed_parameter_is_told_at_its_name(payments: Payments, query: str) -> None:
    name, _, value = query.partition("=")
    answer = await payments.get("/api/payments/", **{name: value})
    assert (answer.status_code, list(answer.json())) == (400, [name])
    for who, status in {NO_TOKEN: 401, "powerless": 403}.items():
        assert (await payments.get("/api/payments/", who, **{name: value})).status_code == status


async def test_the_transactions_newest_first(payments: Payments) -> None:
    row = next(row for row in payments.visible_to("a1") if row.refunded_amount and row.extra_wallet_id)
    answer = await payments.get(f"/api/payments/{row.id}/transactions/")
    body = answer.json()
    assert [list(each) for each in body] == [list(TRANSACTION.keys)] * 3
    assert [(each["type"], each["payment_method"], each["amount"], each["commission"], each["net_amount"]) for each in body] == [
        ("refund", "credit_card", float(row.refunded_amount), 0.0, float(row.refunded_amount)),
        ("payin", "credit_card", 75.0, 3.75, 71.25),
        ("payin", "gift_card", 25.0, 0.0, 25.0),
    ]  # fmt: skip
    assert '"amount":75.00,"commission":3.75,"net_amount":71.25,"currency":"EUR"' in answer.text
    same_of_all = {
        "created_on": moment(row.created_on),
        "status": "ok",
        "currency": "EUR",
        "currency_symbol": "€",
        "partner": row.partner_id,
        "payment_id": str(row.id),
        "customer": {
            "first_name": row.customer_first_name,
            "last_name": row.customer_last_name,
            "email": row.customer_email,
        },
    }
    for each in body:
        assert {key: each[key] for key in same_of_all} == same_of_all
    asked = f'{{ payment(id: "{row.id}") {{ transactions {{ id type amount {{ amount }} }} }} }}'
    shown = (await payments.ask(asked))["payment"]["transactions"]
    assert [each["id"] for each in shown] == [each["id"] for each in reversed(body)]
    paged = await payments.get(f"/api/payments/{row.id}/transactions/", page_size=2, page=2)
    assert paged.json() == body[2:]
    for who, status in {"a2": 404, "market b": 404, "powerless": 403, NO_TOKEN: 401}.items():
        assert (await payments.get(f"/api/payments/{row.id}/transactions/", who)).status_code == status
    unpaid = next(row for row in payments.visible_to("a1") if row.status is S.IN_PROGRESS)
    assert (await payments.get(f"/api/payments/{unpaid.id}/transactions/")).json() == []
