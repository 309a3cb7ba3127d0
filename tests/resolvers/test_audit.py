"""Who changed what: one entry for each change, in its transaction, for those it concerns."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest

from resolvers import product as products
from resolvers.audit import prune_entries
from resolvers.core.auditing import AuditRecord
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.product.input import UpdateProduct
from store.account.credentials import PREFIX
from tests.fixtures.tenants import PASSWORD, Tenants

LOG = """
query Log($first: Int, $after: String, $filter: AuditEntryFilter, $orderBy: AuditEntrySort) {
  auditEntries(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    nodes {
      id occurredOn operation refused actor userId username tokenId tokenHint address requestId partnerId marketplaceId
      subjectType subjectId input changes partner { id }
    }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}
"""
CHANGE = "mutation Change($input: UpdateProductInput!) { updateProduct(input: $input) { product { id } userErrors { code } } }"


async def log(tenants: Tenants, who: str = "master", **asked: Any) -> list[dict[str, Any]]:
    """The audit log as somebody reads it."""
    await tenants.services.audit_buffer.flush()
    answer = await tenants.graphql(who, LOG, **asked)
    assert "errors" not in answer, answer
    found: list[dict[str, Any]] = answer["data"]["auditEntries"]["nodes"]
    return found


def operations(entries: Sequence[dict[str, Any]]) -> list[str]:
    """What was done, the newest first."""
    return [entry["operation"] for entry in entries]


async def change(tenants: Tenants, who: str, id: int, **fields: Any) -> Any:
    """Change a product over GraphQL."""
    answer = await tenants.graphql(who, CHANGE, input={"id": id, **fields})
    return answer["data"]["updateProduct"]


async def test_a_change_is_told_with_who_when_and_from_where(tenants: Tenants) -> None:
    product, user = tenants.owned["a1"].product, tenants.users["a1"]
    answer = await tenants.client.post(
        "/graphql/",
        json={"query": CHANGE, "variables": {"input": {"id": product, "price": "11.50", "name": {"fr": "Bougie"}}}},
        headers={"Authorization": f"Token {tenants.tokens['a1']}", "X-Request-Id": "req-1"},
    )
    assert answer.json()["data"]["updateProduct"]["userErrors"] == []
    (entry,) = await log(tenants)
    partner = tenants.partners["a1"]
    assert entry["id"].isdecimal()
    assert entry["tokenHint"].startswith(PREFIX)
    told = {name: value for name, value in entry.items() if name not in {"id", "occurredOn", "tokenHint", "tokenId"}}
    assert told == {
        "operation": "update_product",
        "refused": None,
        "actor": "PARTNER",
        "userId": user.id,
        "username": user.username,
        "address": "127.0.0.1",
        "requestId": "req-1",
        "partnerId": partner.id,
        "marketplaceId": partner.marketplace_id,
        "subjectType": "Product",
        "subjectId": str(product),
        "input": {"id": product, "price": "11.50", "name": {"fr": "Bougie"}},
        "changes": [
            {
                "resource": "Product",
                "id": str(product),
                "change": "updated",
                "fields": {
                    "name": {"before": {"en": "Of a1", "fr": "De a1"}, "after": {"en": "Of a1", "fr": "Bougie"}},
                    "price_amount": {"before": "10.00", "after": "11.50"},
                },
            }
        ],
        "partner": {"id": partner.id},
    }


async def test_what_is_made_and_deleted_is_told(tenants: Tenants) -> None:
    product, attribute = tenants.owned["a1"].product, tenants.owned["a1"].attribute
    values = [{"value": "sage", "label": {"en": "Sage"}}]
    made = await tenants.graphql(
        "a1",
        "mutation M($input: CreateProductAttributeInput!) { createProductAttribute(input: $input) { productAttribute { id } } }",
        input={"productId": product, "name": {"en": "Colour"}, "values": values},
    )
    await tenants.graphql(
        "a1", f"mutation {{ deleteProductAttribute(input: {{id: {attribute}}}) {{ userErrors {{ code }} }} }}"
    )
    deleted, created = await log(tenants)
    id = str(made["data"]["createProductAttribute"]["productAttribute"]["id"])
    assert (created["subjectType"], created["subjectId"]) == ("ProductAttribute", id)
    assert [(c["resource"], c["change"]) for c in created["changes"]] == [
        ("ProductAttribute", "created"),
        ("AttributeValue", "created"),
    ]
    assert (deleted["subjectType"], deleted["subjectId"]) == ("ProductAttribute", str(attribute))
    (gone,) = deleted["changes"]
    assert gone["change"] == "deleted"
    assert gone["fields"]["name"] == {"before": {"en": "Of a1", "fr": "De a1"}}


async def test_what_is_refused_or_changes_nothing_leaves_no_entry(tenants: Tenants) -> None:
    other, own = tenants.owned["b1"].product, tenants.owned["a1"].product
    assert (await change(tenants, "a1", other, ranking=3))["userErrors"]
    assert (await change(tenants, "a1", own, name={"en": "", "fr": ""}))["userErrors"]
    assert (await change(tenants, "a1", own, price="-1"))["userErrors"]
    assert await log(tenants) == []


async def test_what_is_rolled_back_leaves_no_entry(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    written = AuditRecord.record_success

    async def lost(*arguments: Any, **named: Any) -> None:
        await written(*arguments, **named)
        raise NotFound(thing="way")

    monkeypatch.setattr(AuditRecord, "record_success", lost)
    given = UpdateProduct.model_validate({"id": tenants.owned["a1"].product, "ranking": 9})
    context = await tenants.context("a1")
    with pytest.raises(NotFound):
        await products.update_product(context, given)
    assert (await tenants.row("product", tenants.owned["a1"].product))["ranking"] == 1
    assert await log(tenants) == []


async def test_each_sees_the_log_of_what_is_theirs(tenants: Tenants) -> None:
    for who, partner in (("a1", "a1"), ("a2", "a2"), ("b1", "b1"), ("market a", "a1"), ("master", "b1")):
        assert (await change(tenants, who, tenants.owned[partner].product, ranking=7))["userErrors"] == []
    seen = {who: [e["username"].partition("@")[0] for e in await log(tenants, who)] for who in tenants.tokens}
    assert seen == {
        "a1": ["market-a", "a1"],
        "a2": ["a2"],
        "b1": ["master", "b1"],
        "market a": ["market-a", "a2", "a1"],
        "market b": ["master", "b1"],
        "master": ["master", "market-a", "b1", "a2", "a1"],
    }


@pytest.mark.parametrize("who", ["a1", "market a", "master"])
async def test_what_is_done_with_an_endpoint_belongs_to_its_owner(tenants: Tenants, who: str) -> None:
    endpoint = tenants.owned["a1"].webhook_endpoint
    for mutation in (
        f'mutation {{ replayWebhooks(input: {{id: {endpoint}, eventIds: ["evt_none"]}}) {{ userErrors {{ code }} }} }}',
        f"mutation {{ testWebhookEndpoint(input: {{id: {endpoint}, send: false}}) {{ userErrors {{ code }} }} }}",
    ):
        (payload,) = (await tenants.graphql(who, mutation))["data"].values()
        assert payload["userErrors"] == []
    seen = await log(tenants, "a1", filter={"subjectType": "WebhookEndpoint", "subjectId": str(endpoint)})
    assert operations(seen) == ["test_webhook_endpoint", "replay_webhooks"]
    assert {(entry["partnerId"], entry["username"]) for entry in seen} == {
        (tenants.partners["a1"].id, tenants.users[who].username)
    }


async def test_the_log_asks_for_its_permission(tenants: Tenants) -> None:
    await tenants.user("seller", "partner", [Permission.VIEW_ORDER], partner_id=tenants.partners["a1"].id)
    for who, code in ((None, "UNAUTHENTICATED"), ("seller", "FORBIDDEN")):
        answer = await tenants.graphql(who, LOG)
        assert answer["errors"][0]["extensions"]["code"] == code
        assert not (answer.get("data") or {}).get("auditEntries")


async def test_the_log_is_filtered_and_read_page_by_page(tenants: Tenants) -> None:
    product, variant = tenants.owned["a1"].product, tenants.owned["a1"].variant
    for ranking in range(2, 7):
        await change(tenants, "a1", product, ranking=ranking)
    await tenants.graphql(
        "a1", f"mutation {{ updateProductVariant(input: {{id: {variant}, stock: 9}}) {{ userErrors {{ code }} }} }}"
    )
    assert operations(await log(tenants, "a1", filter={"subjectType": "ProductVariant"})) == ["update_product_variant"]
    assert len(await log(tenants, "a1", filter={"subjectType": "Product", "subjectId": str(product)})) == 5
    assert len(await log(tenants, "a1", filter={"operation": "update_product"})) == 5
    assert len(await log(tenants, "a1", filter={"userId": tenants.users["a1"].id, "actor": "PARTNER"})) == 6
    assert await log(tenants, "a1", filter={"userId": tenants.users["a2"].id}) == []
    oldest = await log(tenants, "a1", orderBy="OLDEST")
    moments = [entry["occurredOn"] for entry in oldest]
    assert moments == sorted(moments)
    among = {"occurredFrom": moments[1], "occurredUntil": moments[3]}
    assert [e["id"] for e in await log(tenants, "a1", filter=among)] == [e["id"] for e in reversed(oldest[1:4])]
    await pages(tenants, [entry["id"] for entry in reversed(oldest)])


async def pages(tenants: Tenants, expected: list[str]) -> None:
    """All pages of two entries hold all entries, each once."""
    found: list[str] = []
    after = None
    while True:
        page = (await tenants.graphql("a1", LOG, first=2, after=after))["data"]["auditEntries"]
        assert page["totalCount"] == len(expected)
        found += [node["id"] for node in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    assert found == expected


async def test_changes_at_once_leave_an_entry_each(tenants: Tenants) -> None:
    product = tenants.owned["a1"].product
    await asyncio.gather(*(change(tenants, "a1", product, ranking=n) for n in range(2, 22)))
    entries = await log(tenants, "a1", first=100)
    assert len(entries) == 20
    assert len({entry["id"] for entry in entries}) == 20
    steps = {(f["before"], f["after"]) for e in entries for c in e["changes"] for f in [c["fields"]["ranking"]]}
    after = 1
    for _ in range(20):  # each begins where another ended: none was lost between two
        ((before, after),) = [step for step in steps if step[0] == after]
        steps.remove((before, after))
    assert steps == set()
    assert after == (await tenants.row("product", product))["ranking"]


# ---- what has no transaction of its own


async def test_a_log_in_is_told_and_so_is_one_that_fails(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    name = tenants.users["a1"].username
    for username, password in ((name, PASSWORD), (name, "hunter2-hunter2"), ("hunter2", "x")):
        await tenants.client.post("/api-token-auth/", json={"username": username, "password": password})
    unknown, failed, done = await log(tenants)
    assert operations([unknown, failed, done]) == ["obtain_token"] * 3
    assert (done["actor"], done["userId"], done["refused"]) == ("NOBODY", tenants.users["a1"].id, None)
    assert done["input"] == {"username": name, "password": "***"}
    assert (failed["refused"], failed["userId"], failed["username"]) == ("WRONG_CREDENTIALS", None, "")
    assert (failed["subjectType"], failed["subjectId"]) == ("User", str(tenants.users["a1"].id))
    assert failed["input"] == {"username": "a1***", "password": "***"}
    assert (unknown["input"], unknown["partnerId"]) == ({"username": "hu***", "password": "***"}, None)
    assert "hunter2" not in str(await tenants.rows("SELECT to_jsonb(e) FROM audit_entry e"))
    assert [e["id"] for e in await log(tenants, "a1")] == [failed["id"], done["id"]]
    assert await log(tenants, "a2") == []


@pytest.mark.parametrize("over", ["rest", "graphql"])
async def test_a_cart_is_told_soon_and_once(tenants: Tenants, over: str) -> None:
    item, key = {"product_id": 7, "quantity": 2}, {"Idempotency-Key": "k-1"}
    headers = {"Authorization": f"Token {tenants.tokens['a1']}", **key}
    for _ in range(3):
        if over == "rest":
            answer = await tenants.client.post("/api/v2/ecommerce/cart/", json={"items": [item]}, headers=headers)
            id = answer.json()["id"]
        else:
            said = (
                "mutation { saveEcommerceCart(input: {items: [{productId: 7, quantity: 2}]}) { ecommerceCart { id } } }"
            )
            answer = await tenants.client.post("/graphql/", json={"query": said}, headers=headers)
            id = answer.json()["data"]["saveEcommerceCart"]["ecommerceCart"]["id"]
    async with asyncio.timeout(60):
        while not (entries := await tenants.rows("SELECT operation, subject_id, partner_id, input FROM audit_entry")):
            await asyncio.sleep(0.05)
    ((operation, subject, partner, told),) = entries
    assert (operation, subject, partner) == ("save_ecommerce_cart", id, tenants.partners["a1"].id)
    assert [{name: each[name] for name in item} for each in told["items"]] == [item]


async def test_old_entries_are_deleted_only_where_that_is_wanted(tenants: Tenants) -> None:
    product, services = tenants.owned["a1"].product, tenants.services
    await change(tenants, "a1", product, ranking=2)
    services.clock.advance(dt.timedelta(days=31))
    await change(tenants, "a1", product, ranking=3)
    await prune_entries(services)
    assert len(await log(tenants)) == 2
    services.settings.audit_days = 30
    await prune_entries(services)
    pruned, kept = await log(tenants)
    assert (pruned["operation"], pruned["actor"], pruned["input"]["deleted"]) == ("prune_audit_entries", "PROGRAM", 1)
    assert kept["changes"][0]["fields"]["ranking"] == {"before": 2, "after": 3}
    await prune_entries(services)
    assert len(await log(tenants)) == 2
