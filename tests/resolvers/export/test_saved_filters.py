"""Saved filters: of one user and one list, replaced by name, and never of anybody else."""

from typing import Any

import pytest

from resolvers.export import saved_filters
from tests.fixtures.tenants import Tenants

SAVE = """
    mutation($input: SaveFilterInput!) {
        saveFilter(input: $input) {
            savedFilter { id list name filter orderBy } userErrors { field code }
        }
    }
"""
LIST = "query($list: String) { savedFilters(list: $list) { id list name filter orderBy createdOn } }"
DELETE = """
    mutation($id: Int!) {
        deleteSavedFilter(input: {id: $id}) { savedFilter { name } userErrors { field code } }
    }
"""


async def save(tenants: Tenants, who: str, list: str, name: str, **input: Any) -> Any:
    """Save a filter; answers the payload, or the codes of the request."""
    body = await tenants.graphql(who, SAVE, input={"list": list, "name": name, **input})
    if "errors" in body:
        return [error["extensions"]["code"] for error in body["errors"]]
    return body["data"]["saveFilter"]


async def names(tenants: Tenants, who: str, list: str | None = None) -> Any:
    """The names of somebody's filters."""
    return [each["name"] for each in (await tenants.graphql(who, LIST, list=list))["data"]["savedFilters"]]


async def test_a_filter_is_saved_and_replaced_by_its_name(tenants: Tenants) -> None:
    first = await save(tenants, "a1", "coupons", "Off", filter={"isActive": False})
    assert first["userErrors"] == []
    saved = {"list": "coupons", "name": "Off", "filter": {"isActive": False}, "orderBy": ""}
    assert first["savedFilter"] | saved == first["savedFilter"]
    second = await save(tenants, "a1", "coupons", "Off", filter={"isActive": True}, orderBy="CODE")
    changed = {"id": first["savedFilter"]["id"], "filter": {"isActive": True}, "orderBy": "CODE"}
    assert second["savedFilter"] | changed == second["savedFilter"]
    await save(tenants, "a1", "orders", "Off")
    await save(tenants, "a1", "coupons", "all")
    assert await names(tenants, "a1", "coupons") == ["all", "Off"]
    assert await names(tenants, "a1") == ["all", "Off", "Off"]


async def test_nobody_else_sees_it_or_deletes_it(tenants: Tenants) -> None:
    id = (await save(tenants, "a1", "coupons", "Mine"))["savedFilter"]["id"]
    await tenants.user("colleague", "partner", partner_id=tenants.partners["a1"].id)
    for who in ("colleague", "market a", "master"):
        assert await names(tenants, who) == []
        body = await tenants.graphql(who, DELETE, id=id)
        assert [each["code"] for each in body["data"]["deleteSavedFilter"]["userErrors"]] == ["NOT_FOUND"]
    body = await tenants.graphql("a1", DELETE, id=id)
    assert body["data"]["deleteSavedFilter"] == {"savedFilter": {"name": "Mine"}, "userErrors": []}
    assert await names(tenants, "a1") == []


@pytest.mark.parametrize(
    ("list", "input", "expected"),
    [
        ("nothing", {}, [(["list"], "INVALID")]),
        ("jobs", {}, "FORBIDDEN"),
        ("coupons", {"filter": {"isActive": "perhaps"}}, [(["filter"], "INVALID")]),
        ("coupons", {"filter": {"colour": 1}}, [(["filter"], "INVALID")]),
        ("coupons", {"filter": {"colour": 1}, "orderBy": "X"}, [(["orderBy"], "INVALID"), (["filter"], "INVALID")]),
    ],
)
async def test_what_does_not_fit_the_list_is_told(tenants: Tenants, list: str, input: Any, expected: Any) -> None:
    before = await tenants.snapshot()
    payload = await save(tenants, "a1", list, "Wrong", **input)
    if expected == "FORBIDDEN":
        assert payload == ["FORBIDDEN"]
    else:
        assert [(each["field"], each["code"]) for each in payload["userErrors"]] == expected
    assert await tenants.snapshot() == before


async def test_a_user_has_a_limited_number_for_a_list(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_filters, "MOST_SAVED", 2)
    for name in ("one", "two"):
        assert (await save(tenants, "a1", "coupons", name))["userErrors"] == []
    refused = await save(tenants, "a1", "coupons", "three")
    assert refused["userErrors"] == [{"field": ["name"], "code": "INVALID"}]
    assert (await save(tenants, "a1", "coupons", "two", filter={"isActive": True}))["userErrors"] == []
    assert (await save(tenants, "a1", "orders", "three"))["userErrors"] == []
    assert saved_filters.save_filter.name == "save_filter"
