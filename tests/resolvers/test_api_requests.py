"""Refused and failed requests of programs are recorded, for those whose token was used, and successes are not."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy.exc import SQLAlchemyError

from resolvers.api_request import prune
from resolvers.core.context import Context
from schema.core.permission import Permission
from store.audit import api_requests
from store.audit.api_requests import API_LOG, ApiLog
from store.database.db import Database
from tests.fixtures.tenants import Tenants

LOG = """
query Log($filter: ApiRequestFilter, $orderBy: ApiRequestSort) {
  apiRequests(first: 50, filter: $filter, orderBy: $orderBy) {
    nodes {
      id occurredOn requestId transport method path operations status errorCodes messages durationMs userId username
      tokenId tokenHint client address partnerId marketplaceId partner { id }
    }
  }
}
"""
CODE = "ABCDEFGH234567"


async def log(tenants: Tenants, who: str = "master", **asked: Any) -> list[dict[str, Any]]:
    """The API log as somebody reads it."""
    await tenants.services.api_log.flush()
    answer = await tenants.graphql(who, LOG, **asked)
    assert "errors" not in answer, answer
    nodes: list[dict[str, Any]] = answer["data"]["apiRequests"]["nodes"]
    return nodes


async def get(tenants: Tenants, who: str | None, path: str, **headers: str) -> int:
    """The status of a request over REST."""
    token = {} if who is None else {"Authorization": f"Token {tenants.tokens.get(who, who)}"}
    return (await tenants.client.get(path, headers={**token, **headers})).status_code


async def test_a_refusal_over_rest_is_told_with_who_and_why(tenants: Tenants) -> None:
    path = f"/api/vouchers/{CODE}/?secret=hunter2&page=0"
    headers = {"X-Request-Id": "req-7", "User-Agent": "shop/1.0"}
    assert await get(tenants, "a1", path, **headers) == 404
    (entry,) = await log(tenants)
    partner, user = tenants.partners["a1"], tenants.users["a1"]
    own = {"id", "occurredOn", "durationMs", "tokenId", "tokenHint", "messages", "operations"}
    assert {name: value for name, value in entry.items() if name not in own} == {
        "requestId": "req-7",
        "transport": "REST",
        "method": "GET",
        "path": f"/api/vouchers/***{CODE[-3:]}/?secret=***&page=0",
        "status": 404,
        "errorCodes": ["NOT_FOUND"],
        "userId": user.id,
        "username": user.username,
        "client": "shop/1.0",
        "address": "127.0.0.1",
        "partnerId": partner.id,
        "marketplaceId": partner.marketplace_id,
        "partner": {"id": partner.id},
    }
    assert entry["tokenHint"]
    assert entry["messages"]
    assert entry["operations"]
    assert CODE not in str(await tenants.rows("SELECT to_jsonb(r)::text FROM api_request r"))


async def test_each_problem_of_invalid_input_is_told_with_its_key(tenants: Tenants) -> None:
    headers = {"Authorization": f"Token {tenants.tokens['a1']}"}
    body = {"items": [{"product_id": 7, "quantity": "many"}]}
    assert (await tenants.client.post("/api/v2/ecommerce/cart/", json=body, headers=headers)).status_code == 400
    (entry,) = await log(tenants)
    assert (entry["status"], entry["operations"]) == (400, ["save_ecommerce_cart"])
    assert entry["messages"][0].startswith("items.0.quantity: ")
    assert "many" not in str(entry["path"])


async def test_errors_and_user_errors_of_graphql_are_told(tenants: Tenants) -> None:
    refused = "mutation { mine: updateProduct(input: {id: 999999, ranking: 2}) { product { id } } }"
    await tenants.graphql("a1", refused)
    await tenants.graphql("a1", "{ nonsense }")
    await tenants.graphql(
        "a1", "mutation M($input: UpdateProductInput!) { updateProduct(input: $input) { product { id } } }"
    )
    await tenants.user("seller", "partner", [Permission.VIEW_ORDER], partner_id=tenants.partners["a1"].id)
    await tenants.graphql("seller", "{ log: auditEntries { totalCount } }")
    forbidden, missing, nonsense, absent = await log(tenants)
    assert (absent["operations"], absent["errorCodes"], absent["status"]) == (["update_product"], ["NOT_FOUND"], 200)
    assert absent["messages"][0].startswith("id: ")
    assert (nonsense["operations"], nonsense["path"]) == ([], "/graphql")
    assert "nonsense" in nonsense["messages"][0]
    assert (missing["operations"], missing["errorCodes"]) == (["update_product"], ["BAD_USER_INPUT"])
    assert (forbidden["operations"], forbidden["errorCodes"]) == (["audit_entries"], ["FORBIDDEN"])
    assert {each["transport"] for each in (forbidden, missing, nonsense, absent)} == {"GRAPHQL"}


async def test_successes_leave_nothing(tenants: Tenants) -> None:
    product = tenants.owned["a1"].product
    await tenants.graphql(
        "a1", f"mutation {{ updateProduct(input: {{id: {product}, ranking: 2}}) {{ userErrors {{ code }} }} }}"
    )
    await tenants.graphql("a1", "{ products { totalCount } }")
    assert await get(tenants, "a1", "/api/permissions/") == 200
    assert await log(tenants) == []


async def test_a_bug_is_told_without_its_cause(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: object, _permission: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(Context, "require", fail)
    await get(tenants, "a1", f"/api/vouchers/{CODE}/")
    monkeypatch.undo()
    (entry,) = await log(tenants)
    assert (entry["status"], entry["errorCodes"]) == (500, ["INTERNAL_ERROR"])
    assert "hunter2" not in str(entry)


async def test_a_wrong_token_belongs_to_nobody(tenants: Tenants) -> None:
    assert await get(tenants, "wrong", "/api/vouchers/?email=ada@x.test") == 401
    assert await get(tenants, None, "/api/vouchers/") == 401
    answer = await tenants.client.post(
        "/graphql/", json={"query": "{ me { id } }"}, headers={"Authorization": "Token wrong"}
    )
    assert answer.status_code == 401
    entries = await log(tenants)
    assert [(e["errorCodes"], e["userId"], e["partnerId"], e["marketplaceId"]) for e in entries] == [
        (["UNAUTHENTICATED"], None, None, None)
    ] * 3
    assert "ada" not in str(entries)
    for who in ("a1", "market a", "market b"):
        assert await log(tenants, who) == []


async def test_each_sees_the_refusals_of_their_own_users(tenants: Tenants) -> None:
    for who in ("a1", "a2", "b1", "market a", "master"):
        assert await get(tenants, who, f"/api/vouchers/{CODE}/") == 404
    visible = {who: {e["username"].partition("@")[0] for e in await log(tenants, who)} for who in tenants.tokens}
    assert visible == {
        "a1": {"a1"},
        "a2": {"a2"},
        "b1": {"b1"},
        "market a": {"a1", "a2", "market-a"},
        "market b": {"b1"},
        "master": {"a1", "a2", "b1", "market-a", "master"},
    }
    (own,) = await log(tenants, "a1")
    query = "query($id: ID!) { apiRequest(id: $id) { id } }"
    assert (await tenants.graphql("a1", query, id=own["id"]))["data"]["apiRequest"] == {"id": own["id"]}
    assert (await tenants.graphql("a2", query, id=own["id"]))["data"]["apiRequest"] is None


async def test_the_log_asks_for_its_permission(tenants: Tenants) -> None:
    await tenants.user("seller", "partner", [Permission.VIEW_ORDER], partner_id=tenants.partners["a1"].id)
    for who, code in ((None, "UNAUTHENTICATED"), ("seller", "FORBIDDEN")):
        assert (await tenants.graphql(who, LOG))["errors"][0]["extensions"]["code"] == code


@pytest.mark.parametrize(
    ("filter", "number"),
    [
        ({"requestId": "req-1"}, 1),
        ({"requestId": "req"}, 0),
        ({"transport": "GRAPHQL"}, 1),
        ({"operation": "update_product"}, 1),
        ({"operation": "update"}, 0),
        ({"errorCode": "NOT_FOUND"}, 2),
        ({"errorCode": "FORBIDDEN"}, 0),
        ({"statusFrom": 400, "statusUntil": 499}, 1),
        ({"statusFrom": 500}, 0),
        ({"occurredFrom": "2020-01-01T00:00:00Z"}, 2),
        ({"occurredUntil": "2020-01-01T00:00:00Z"}, 0),
    ],
)
async def test_the_log_is_filtered(tenants: Tenants, filter: dict[str, Any], number: int) -> None:
    await get(tenants, "a1", f"/api/vouchers/{CODE}/", **{"X-Request-Id": "req-1"})
    await tenants.graphql("a1", "mutation { updateProduct(input: {id: 999999, ranking: 2}) { product { id } } }")
    assert len(await log(tenants, "a1", filter=filter)) == number
    own = {**filter, "userId": tenants.users["a1"].id}
    assert len(await log(tenants, "a1", filter=own)) == number
    assert await log(tenants, "a1", filter={**filter, "userId": tenants.users["a2"].id}) == []


async def test_old_requests_are_deleted_in_batches(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_requests, "PRUNE_BATCH_SIZE", 2)
    for _ in range(5):
        await get(tenants, "a1", f"/api/vouchers/{CODE}/")
    await prune(tenants.services)
    assert len(await log(tenants)) == 5
    tenants.services.clock.advance(dt.timedelta(days=14, minutes=1))
    await get(tenants, "a1", f"/api/vouchers/{CODE}/")
    await tenants.services.api_log.flush()
    await prune(tenants.services)
    assert await tenants.one("SELECT count(*) FROM api_request") == 1


async def test_a_flood_is_bounded_for_each_user(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[int] = []
    monkeypatch.setattr(API_LOG.lost, "inc", lambda number=1: lost.append(number))
    monkeypatch.setattr(api_requests, "MOST_PER_MINUTE", 3)
    monkeypatch.setattr(api_requests, "MOST_OF_NOBODY_PER_MINUTE", 3)
    monkeypatch.setattr("store.audit.api_requests.time.monotonic", lambda: 60.0)
    taken: list[int] = []
    api_log = ApiLog(database)
    monkeypatch.setattr(api_log._buffer, "put", lambda _draft: taken.append(1))
    for user_id in (1, 1, 1, 1, 1, 2, None, None, None, None):
        api_log.put(user_id, lambda: b"", 10)
    assert (len(taken), sum(lost)) == (7, 3)
    monkeypatch.setattr("store.audit.api_requests.time.monotonic", lambda: 120.0)
    api_log.put(1, lambda: b"", 10)
    assert (len(taken), sum(lost)) == (8, 3)


async def test_an_outage_harms_no_request(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_arguments: object) -> None:
        raise SQLAlchemyError("away")

    with monkeypatch.context() as outage:
        outage.setattr("store.audit.buffer.LogTable.write_entries", away)
        assert await get(tenants, "a1", f"/api/vouchers/{CODE}/") == 404
        with pytest.raises(SQLAlchemyError):
            await tenants.services.api_log.flush()
    assert len(await log(tenants)) == 1


@pytest.mark.parametrize("column", ["path", "messages"])
async def test_erasure_deletes_what_has_the_address(tenants: Tenants, column: str) -> None:
    for email in ("ada@x.test", "not-ada@x.test"):
        assert await get(tenants, "a1", f"/api/vouchers/{CODE}/?email={email}") == 404
    assert len(await log(tenants, "a1")) == 2
    if column == "messages":
        await tenants.rows("UPDATE api_request SET messages = ARRAY[path], path = '' RETURNING id")
    master = "mutation($input: ErasePersonalDataInput!) { erasePersonalData(input: $input) { userErrors { message } } }"
    input = {"partnerId": tenants.partners["a1"].id, "email": "Ada@x.test"}
    assert (await tenants.graphql("master", master, input=input))["data"]["erasePersonalData"]["userErrors"] == []
    (left,) = await log(tenants, "a1")
    assert "not-ada@x.test" in str(left[column])
