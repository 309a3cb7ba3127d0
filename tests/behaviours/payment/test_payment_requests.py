"""Payment requests over both transports: asked for, read, found, their payments, who sees what, and what is refused."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from rest_compat.resources.payment import PAYMENT
from rest_compat.resources.payment_request import PAYMENT_REQUEST
from schema.core.permission import Permission
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/payment_requests/"
FIELDS = (
    "id code status amount { amount } createdOn modifiedOn reference description "
    "customer { firstName lastName email } partner { uuid } origin product paymentUrl"
)
ADA = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def partners_that_are_paid(tenants: Tenants) -> AsyncIterator[None]:
    """All partners but one of them can be paid."""
    await tenants.execute("UPDATE partner SET payments_active = true, provider_wallet_id = 'wallet-' || id")
    for name in ("reader", "asker"):
        allowed = [Permission.VIEW_PAYMENT if name == "reader" else Permission.CREATE_PAYMENT]
        await tenants.user(name, "partner", allowed, partner_id=tenants.partners["a1"].id)
    yield


def body(tenants: Tenants, partner: str = "a1", **changes: Any) -> dict[str, Any]:
    """What is sent over REST."""
    values = {
        "partner_uuid": str(tenants.partners[partner].uuid),
        "amount": 250.5,
        "customer": ADA,
        "language": "fr",
        "reference": "B-2041",
        "description": "Deposit",
        "origin": "web",
        "product": "stay",
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def camel(value: Any) -> Any:
    """The same with the names of GraphQL."""
    if not isinstance(value, dict):
        return value
    heads = {name: name.split("_") for name in value}
    return {h[0] + "".join(map(str.title, h[1:])): camel(value[name]) for name, h in heads.items()}


async def ask(transport: Transport, who: str, values: Mapping[str, Any]) -> Answer:
    """Create a request; the result has `payment_url` besides the documented keys."""
    if isinstance(transport, OverRest):
        response = await transport.tenants.client.post(PATH, json=dict(values), headers=transport.headers(who))
        answer = transport.to_answer(response)
        if answer.done:
            assert response.status_code == 201
            assert list(answer.result) == list(PAYMENT_REQUEST.keys)
            answer.result["payment_url"] = response.headers["link"].partition(">; ")[0].strip("<")
        return answer
    assert isinstance(transport, OverGraphQL)
    query = f"""mutation ($input: CreatePaymentRequestInput!) {{ createPaymentRequest(input: $input) {{
        paymentRequest {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
    answer = await transport.changed(query, who, camel(dict(values)))
    return answer if not answer.done else Answer(200, as_rest(answer.result))


def as_rest(request: dict[str, Any]) -> dict[str, Any]:
    """A request of GraphQL under the documented keys."""
    customer = request["customer"]
    return {
        **{key: request[key] for key in ("id", "code", "reference", "description", "origin", "product")},
        "status": request["status"].lower(),
        "amount": float(request["amount"]["amount"]),
        "customer": {
            "first_name": customer["firstName"], "last_name": customer["lastName"], "email": customer["email"],
        },
        "partner_uuid": request["partner"]["uuid"],
        "payment_url": request["paymentUrl"],
    }  # fmt: skip


async def test_it_is_asked_for(transport: Transport, tenants: Tenants) -> None:
    answer = await ask(transport, "a1", body(tenants))
    assert answer.done, answer
    told = answer.result
    assert told["payment_url"].startswith(f"{tenants.services.settings.public_url}/pay/")
    wanted = {"status": "pending", "amount": 250.5, "reference": "B-2041", "customer": ADA, "product": "stay"}
    assert {key: told[key] for key in wanted} == wanted
    assert await tenants.one("SELECT count(*) FROM mail WHERE content->>'url' = :url", url=told["payment_url"]) == 1


@pytest.mark.parametrize("who", ["market a", "master", "asker"])
async def test_who_may(transport: Transport, tenants: Tenants, who: str) -> None:
    assert (await ask(transport, who, body(tenants))).done


@pytest.mark.parametrize(("who", "status"), [(NO_TOKEN, 401), (BAD_TOKEN, 401), ("powerless", 403), ("reader", 403)])
async def test_who_may_not(transport: Transport, tenants: Tenants, who: str, status: int) -> None:
    before = await tenants.snapshot()
    assert (await ask(transport, who, body(tenants))).status == status
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        *[({"amount": amount}, "amount") for amount in (0, -1, "1.005", "NaN", 10**10, "1e400", None, True, "x")],
        *[({"language": language}, "language") for language in ("xx", "", "EN-GB", None)],
        ({"partner_uuid": str(uuid4())}, "partner_uuid"),
        ({"partner_uuid": None}, "partner_uuid"),
        ({"customer": None}, "customer"),
        ({"customer": {**ADA, "first_name": ""}}, "customer.first_name"),
        ({"customer": {**ADA, "last_name": "  "}}, "customer.last_name"),
        ({"customer": {**ADA, "email": ""}}, "customer.email"),
        ({"customer": {**ADA, "email": "nobody"}}, "customer.email"),
        ({"reference": "x" * 81}, "reference"),
        ({"description": "x" * 1001}, "description"),
        ({"invoicing_marketplace_id": 4711}, "invoicing_marketplace_id"),
    ],
)
async def test_what_is_wrong(transport: Transport, tenants: Tenants, changes: dict[str, Any], field: str) -> None:
    before = await tenants.snapshot()
    answer = await ask(transport, "a1", body(tenants, **changes))
    assert answer.status == 400, answer
    assert answer.fields <= {field}  # GraphQL's types refuse some before anything is checked
    assert isinstance(transport, OverGraphQL) or answer.fields == {field}
    assert await tenants.snapshot() == before


async def test_another_partner_and_another_marketplace(transport: Transport, tenants: Tenants) -> None:
    before = await tenants.snapshot()
    assert (await ask(transport, "a1", body(tenants, "a2"))).fields == {"partner_uuid"}
    foreign = body(tenants, invoicing_marketplace_id=tenants.marketplaces["b"].id)
    for who in ("a1", "market a", "master"):
        assert (await ask(transport, who, foreign)).fields == {"invoicing_marketplace_id"}
    own = body(tenants, invoicing_marketplace_id=tenants.marketplaces["a"].id)
    answer = await ask(transport, "market a", own)
    assert (answer.status, answer.code) == (409, "MARKETPLACE_PAYMENTS_NOT_ACTIVE")
    assert await tenants.snapshot() == before


def plain_code(code: str) -> str:
    """A code as somebody types it: without hyphens, in lower case."""
    return code.replace("-", "").lower()


async def listed(transport: Transport, who: str, search: str) -> Answer:
    """The ids of the requests in which something is found."""
    if isinstance(transport, OverRest):
        got = await transport.tenants.client.get(PATH, params={"search": search}, headers=transport.headers(who))
        answer = transport.to_answer(got)
        return answer if not answer.done else Answer(200, [row["id"] for row in answer.result["results"]])
    assert isinstance(transport, OverGraphQL)
    query = "query ($search: String) { paymentRequests(filter: {search: $search}) { nodes { id } } }"
    answer = await transport.ask_graphql(query, who, {"search": search})
    return answer if not answer.done else Answer(200, [row["id"] for row in answer.result["nodes"]])


async def test_it_is_found_by_its_texts(transport: Transport, tenants: Tenants) -> None:
    of = {"first_name": "Élodie", "last_name": "Dubois", "email": f"elo{transport.name}@mail.example"}
    words = body(tenants, reference=f"Ref-{transport.name}", description=f"Séjour à {transport.name}", customer=of)
    told = (await ask(transport, "a1", words)).result
    code = told["code"]
    for term in (words["reference"].lower(), f"sejour a {transport.name}", code, plain_code(code), of["email"]):
        assert (await listed(transport, "a1", term)).result == [told["id"]], term
    assert told["id"] in (await listed(transport, "reader", "elodie dub")).result
    assert (await listed(transport, "a2", told["code"])).result == []
    assert (await listed(transport, "asker", told["code"])).status == 403


async def test_one_and_its_payments(transport: Transport, tenants: Tenants) -> None:
    id = (await ask(transport, "a1", body(tenants))).result["id"]
    paid = await stored_payment(tenants, "a1", payment_request_id=id)
    for who, seen in (("a1", True), ("market a", True), ("a2", False), ("b1", False), ("market b", False)):
        if isinstance(transport, OverRest):
            client, headers = tenants.client, transport.headers(who)
            one = await client.get(f"{PATH}{id}/", headers=headers)
            payments = await client.get(f"{PATH}{id}/payments/", headers=headers)
            assert (one.status_code, payments.status_code) == ((200, 200) if seen else (404, 404))
            if seen:
                assert (one.json()["id"], 'rel="payment"' in one.headers["link"]) == (id, True)
                (payment,) = payments.json()
                assert (list(payment), payment["id"]) == (list(PAYMENT.keys), str(paid.id))
                assert payment["payment_request_id"] == id
        else:
            assert isinstance(transport, OverGraphQL)
            query = "query ($id: Int!) { paymentRequest(id: $id) { id payments { id } } }"
            answer = await transport.ask_graphql(query, who, {"id": id})
            assert answer.result == ({"id": id, "payments": [{"id": str(paid.id)}]} if seen else None)


async def test_where_to_pay_is_told_until_its_time_is_over(transport: Transport, tenants: Tenants) -> None:
    id = (await ask(transport, "a1", body(tenants))).result["id"]
    await tenants.execute("UPDATE payment_request SET expires_on = now() - interval '1 second' WHERE id = :id", id=id)
    if isinstance(transport, OverRest):
        one = await tenants.client.get(f"{PATH}{id}/", headers=transport.headers("a1"))
        assert (one.json()["status"], "link" in one.headers) == ("pending", False)
    else:
        assert isinstance(transport, OverGraphQL)
        query = "query ($id: Int!) { paymentRequest(id: $id) { status paymentUrl } }"
        answer = await transport.ask_graphql(query, "a1", {"id": id})
        assert answer.result == {"status": "PENDING", "paymentUrl": None}


async def test_the_same_key_asks_once(tenants: Tenants) -> None:
    headers = OverRest(tenants).headers("a1", f"ask {uuid4()}")
    answers = [await tenants.client.post(PATH, json=body(tenants), headers=headers) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert answers[0].headers["link"] == answers[1].headers["link"]
