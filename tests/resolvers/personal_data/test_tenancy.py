"""Who may read and erase whose data, over GraphQL, and the file behind its address."""

import json
from typing import Any

import pytest

from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from tests.fixtures.tenants import Tenants

EXPORT = """
mutation Export($input: ExportPersonalDataInput!) {
  exportPersonalData(input: $input) {
    personalData { email partnerId fileUrl orders { number buyer { email } total { amount currency } } }
    userErrors { field code message }
  }
}
"""
ERASE = """
mutation Erase($input: ErasePersonalDataInput!) {
  erasePersonalData(input: $input) {
    personalDataErasure { partnerId erasedOn customers orders checkouts payments mails }
    userErrors { field code }
  }
}
"""
EMAIL = "ada@example.com"


@pytest.fixture
async def bought(tenants: Tenants) -> None:
    """The same person has bought at two partners."""
    await tenants.execute("UPDATE shop_order SET buyer_email = 'Ada@Example.com', buyer_first_name = 'Ada'")
    await tenants.execute("UPDATE checkout_attempt SET state = 'completed'")


async def send(tenants: Tenants, who: str, document: str, **input: Any) -> Any:
    answer = await tenants.graphql(who, document, input={"email": EMAIL, **input})
    assert "errors" not in answer, answer
    (payload,) = answer["data"].values()
    return payload


async def buyers(tenants: Tenants) -> dict[str, str]:
    """The buyer's address of the order of each partner."""
    names = {partner.id: name for name, partner in tenants.partners.items()}
    rows = await tenants.rows("SELECT partner_id, buyer_email FROM shop_order ORDER BY id")
    return {names[row[0]]: row[1] for row in rows}


async def test_each_reads_and_erases_its_own(tenants: Tenants, bought: None) -> None:
    for who, partner, at in (("a1", "a1", {}), ("market a", "a2", {"partnerId": tenants.partners["a2"].id})):
        data = (await send(tenants, who, EXPORT, **at))["personalData"]
        assert (data["email"], data["partnerId"]) == (EMAIL, tenants.partners[partner].id)
        assert [order["buyer"]["email"] for order in data["orders"]] == ["Ada@Example.com"]
        path = data["fileUrl"][data["fileUrl"].index("/documents/") :]
        file = await tenants.client.get(path)
        assert (file.status_code, file.headers["content-type"]) == (200, "application/json")
        assert "attachment" in file.headers["content-disposition"]
        assert file.json()["orders"][0]["buyer"]["email"] == "Ada@Example.com"
        assert (await tenants.client.get(path.replace(".json", "x.json"))).status_code == 404
        erasure = (await send(tenants, who, ERASE, **at))["personalDataErasure"]
        assert (erasure["orders"], erasure["partnerId"]) == (1, tenants.partners[partner].id)
        assert (await tenants.client.get(path)).json()["orders"] == []
    assert await buyers(tenants) == {"a1": "", "a2": "", "b1": "Ada@Example.com"}


async def test_an_export_is_not_stored_for_repetitions(tenants: Tenants, bought: None) -> None:
    headers = {
        "Authorization": f"Token {tenants.tokens['a1']}",
        "Idempotency-Key": "k",
        "Content-Type": "application/json",
    }
    for document, number in ((EXPORT, 0), (ERASE, 1)):
        said = json.dumps({"query": document, "variables": {"input": {"email": EMAIL}}})
        answers = [await tenants.client.post("/graphql/", content=said, headers=headers) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert ["idempotent-replayed" in answer.headers for answer in answers] == [False, bool(number)]
        assert await tenants.one("SELECT count(*) FROM kept_answer") == number


@pytest.mark.parametrize("document", [EXPORT, ERASE])
async def test_nobody_reaches_what_is_others(tenants: Tenants, bought: None, document: str) -> None:
    before = await tenants.snapshot()
    for who, partner in (("a1", "a2"), ("a1", "b1"), ("market a", "b1"), ("market b", "a1")):
        payload = await send(tenants, who, document, partnerId=tenants.partners[partner].id)
        assert [error["code"] for error in payload["userErrors"]] == ["NOT_FOUND"], (who, partner)
    for who in ("market a", "master"):
        payload = await send(tenants, who, document)
        assert [(error["field"], error["code"]) for error in payload["userErrors"]] == [(["partnerId"], "REQUIRED")]
    payload = await send(tenants, "a1", document, email="ada at example")
    assert payload["userErrors"][0]["field"] == ["email"]
    assert await tenants.snapshot() == before


@pytest.mark.parametrize("document", [EXPORT, ERASE])
async def test_it_needs_a_permission_of_its_own(tenants: Tenants, bought: None, document: str) -> None:
    others = sorted(GRANTABLE_PERMISSIONS - {Permission.MANAGE_PERSONAL_DATA, Permission.MANAGE_MASTERADMIN})
    await tenants.user("curious", "partner", others, partner_id=tenants.partners["a1"].id)
    before = await tenants.snapshot()
    answer = await tenants.graphql("curious", document, input={"email": EMAIL})
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert await tenants.snapshot() == before
