"""The API log holds no bodies, and nobody can fill it or delay others with it."""

import time
from typing import Any

import pytest

from resolvers.core.context import LONGEST_MESSAGE, MOST_FAILURES, RequestFailure
from resolvers.core.request_log import MOST_BYTES
from schema.graph.failures import failures_of
from store.audit import api_requests
from store.audit.api_requests import API_LOG, ApiLog
from store.database.db import Database
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.test_api_requests import log

LONG = 300_000
CREATE_TOKEN = "mutation($i: CreateTokenInput!) { createToken(input: $i) { userErrors { code } } }"
SAVE_CART = "mutation($i: SaveEcommerceCartInput!) { saveEcommerceCart(input: $i) { userErrors { code } } }"
LOG_IN = "mutation($i: ObtainTokenInput!) { obtainToken(input: $i) { userErrors { code } } }"
BUYER = {"firstName": "Ada", "email": "ada@x.test", "street": "Rue Verte 7"}


@pytest.mark.parametrize(
    ("document", "input", "message"),
    [
        (
            CREATE_TOKEN,
            {"label": "Till", "currentPassword": PASSWORD, "nothing": 1},
            "i: Expected value of type 'CreateTokenInput' not to include unknown field 'nothing'.",
        ),
        (
            CREATE_TOKEN,
            {"label": "Till", "currentPassword": 123456},
            "i.currentPassword: String cannot represent a non string value.",
        ),
        (
            CREATE_TOKEN,
            {"label": "Till", "currentPasswort": PASSWORD},
            (
                "i: Expected value of type 'CreateTokenInput' not to include unknown field 'currentPasswort'. "
                "Did you mean 'currentPassword'?"
            ),
        ),
        (
            LOG_IN,
            {"username": "ada@x.test", "password": PASSWORD, "otp": 123456},
            "i.otp: String cannot represent a non string value.",
        ),
        (SAVE_CART, {"items": [BUYER]}, "i.items.0: Expected value of type 'CartItemInput' not to include unknown field 'firstName'."),
        (SAVE_CART, {"items": [{"productId": 7, "quantity": PASSWORD}]}, "i.items.0.quantity: Int cannot represent non-integer value."),
        (SAVE_CART, {"items": [], PASSWORD: 1}, "i: Expected value of type 'SaveEcommerceCartInput' not to include unknown field."),
    ],
)  # fmt: skip
async def test_a_wrong_variable_is_named_without_what_was_in_it(
    tenants: Tenants, document: str, input: Any, message: str
) -> None:
    await tenants.graphql("a1", document, i=input)
    (entry,) = await log(tenants)
    assert message in entry["messages"]
    assert not [
        secret
        for secret in (PASSWORD, "horse", "battery", "123456", "Ada", "ada@x", "Verte")
        if secret in str(entry["messages"])
    ]


@pytest.mark.parametrize(
    "document",
    [
        f'mutation {{ createToken(input: {{label: "Till", currentPassword: "{PASSWORD}", nothing: 1}}) {{ userErrors {{ code }} }} }}',
        f'mutation {{ createToken(input: {{label: "Till" "{PASSWORD}"}}) {{ userErrors {{ code }} }} }}',
        f'mutation {{ createToken(input: "{PASSWORD}") {{ userErrors {{ code }} }} }}',
        f'{{ apiRequests(orderBy: "{PASSWORD}") {{ totalCount }} }}',
        "{ apiRequests(orderBy: battery) { totalCount } }",
    ],
)
async def test_a_wrong_literal_is_not_in_the_log(tenants: Tenants, document: str) -> None:
    answer = await tenants.graphql("a1", document)
    assert "battery" in str(answer["errors"])
    (entry,) = await log(tenants)
    assert entry["messages"]
    assert "battery" not in str(entry)


async def test_a_wrong_value_of_an_enumeration_is_not_in_the_log(tenants: Tenants) -> None:
    document = "query($o: ApiRequestSort) { apiRequests(orderBy: $o) { totalCount } }"
    await tenants.graphql("a1", document, o="Ada' does not exist in 'Rue Verte")
    (entry,) = await log(tenants)
    assert entry["messages"] == ["o: This value does not exist in 'ApiRequestSort' enum."]


@pytest.mark.parametrize("part", ["password", "password-", "secret_code-", "a", "redeem a"])
async def test_a_key_as_long_as_a_body_costs_next_to_nothing(tenants: Tenants, part: str) -> None:
    await tenants.graphql(None, LOG_IN, i={part * (LONG // len(part)): 1})
    begun = time.process_time()
    await tenants.services.api_log.flush()
    assert time.process_time() - begun < 2
    (entry,) = await log(tenants)
    assert len(str(entry)) < 4_000


def test_a_failure_is_cut_before_it_waits() -> None:
    failure = RequestFailure("C" * LONG, "m" * LONG, "o" * LONG, ["f" * LONG] * LONG)
    assert len(failure.message) == LONGEST_MESSAGE
    assert len(str(failure)) < 3_000


@pytest.mark.parametrize("quoted", ["Value 'x", "unknown field 'x", "found: 'x", "Variable '$x", "Syntax Error: x"])
def test_reading_a_message_is_not_slower_than_its_length(quoted: str) -> None:
    begun = time.process_time()
    errors = [{"message": quoted * (LONG // len(quoted)), "extensions": {"code": "BAD_USER_INPUT"}}]
    assert len(list(failures_of(errors, None))) == 1
    assert time.process_time() - begun < 2


async def test_a_record_is_small_whatever_was_asked(tenants: Tenants) -> None:
    fields = " ".join(
        f"f{n}: updateProduct(input: {{id: {n}9999999, name: 7}}) {{ product {{ id }} }}" for n in range(15)
    )
    await tenants.graphql("a1", f"mutation {{ {fields} }}")
    names = " ".join(f"n{n}{'x' * 900}" for n in range(15))
    await tenants.graphql("a1", f"{{ {names} }}")
    headers = {"Authorization": f"Token {tenants.tokens['a1']}", "User-Agent": "x" * 5_000}
    await tenants.client.get(f"/api/vouchers/{'z' * 3_000}/?page={'y' * 3_000}", headers=headers)
    entries = await log(tenants)
    assert len(entries) == 3
    for entry in entries:
        assert max(len(entry[name]) for name in ("messages", "operations", "errorCodes")) <= MOST_FAILURES
        assert len("".join(entry["messages"]).encode()) <= MOST_BYTES


async def test_callers_without_a_token_have_less_room(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.audit.api_requests.time.monotonic", lambda: 60.0)
    lost: list[int] = []
    monkeypatch.setattr(API_LOG.lost, "inc", lambda number=1: lost.append(number))
    taken: list[int] = []
    api_log = ApiLog(database)
    monkeypatch.setattr(api_log._buffer, "put", lambda _draft: taken.append(1))
    for _ in range(100):
        api_log.put(None, lambda: b"", 10)
    assert (len(taken), len(lost)) == (
        api_requests.MOST_OF_NOBODY_PER_MINUTE,
        100 - api_requests.MOST_OF_NOBODY_PER_MINUTE,
    )
    taken.clear()
    for _ in range(10):
        api_log.put(7, lambda: b"", api_requests.MOST_BYTES_PER_MINUTE // 3)
    assert len(taken) == 3


async def test_what_is_refused_before_its_caller_is_known_breaks_nothing(tenants: Tenants) -> None:
    query = {"query": "{ __typename }"}
    wrong = await tenants.client.post("/graphql/", json=query, headers={"Accept": "image/png"})
    assert wrong.status_code == 406
    assert (await tenants.client.put("/graphql/", json=query)).status_code == 405
    assert await log(tenants) == []


async def test_equal_request_ids_have_an_ordered_index(tenants: Tenants) -> None:
    for name in ("api_request_request_idx", "audit_entry_request_idx"):
        assert "USING btree" in await tenants.one("SELECT indexdef FROM pg_indexes WHERE indexname = :name", name=name)
