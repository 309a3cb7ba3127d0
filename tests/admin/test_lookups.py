"""Look-ups of what lists show: who sees an object in its list finds it by its id, and nobody else does."""

import pytest

from admin.graph.schema_types import queries
from admin.resources.registry import resources
from admin.resources.resource import Resource
from tests.admin.office import DEMO_STAFF, Office

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("resource", resources().values(), ids=lambda each: each.slug)
async def test_an_object_is_found_by_who_sees_it_in_the_list(demo: Office, resource: Resource) -> None:
    kind = queries()[resource.finds].args[resource.key].type
    find = f"query($key: {kind}) {{ {resource.finds}({resource.key}: $key) {{ {resource.key} }} }}"
    keys = {who: await demo.keys(who, resource, 3) for who in DEMO_STAFF}
    everything = {key for found in keys.values() for key in found or ()}
    for who, own in keys.items():
        for key in everything if own is None else own:
            value = int(key) if str(kind).strip("!") == "Int" else key
            answer = await demo.tenants.graphql(who, find, key=value)
            if own is None:
                assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
            else:
                assert str(answer["data"][resource.finds][resource.key]) == key


@pytest.mark.parametrize("name", ["auditEntry", "ledgerJournal"])
@pytest.mark.parametrize("id", ["", "0", "-1", "1.5", "x", "9" * 19, "9" * 400])
async def test_a_number_that_no_row_has_is_not_found(demo: Office, name: str, id: str) -> None:
    answer = await demo.tenants.graphql("master", f"query($id: ID!) {{ {name}(id: $id) {{ id }} }}", id=id)
    assert answer["data"] == {name: None}
    assert "errors" not in answer


async def test_orders_are_found_by_a_part_of_their_buyer(demo: Office) -> None:
    ask = "query($buyer: String!) { orders(filter: {buyer: $buyer}) { nodes { buyer { firstName lastName email } } } }"
    every = (await demo.tenants.graphql("a", "{ orders { nodes { buyer { lastName email } } } }"))["data"]["orders"]
    somebody = every["nodes"][0]["buyer"]
    for words in (somebody["lastName"][1:-1].upper(), somebody["email"][:9], somebody["lastName"]):
        found = (await demo.tenants.graphql("a", ask, buyer=words))["data"]["orders"]["nodes"]
        assert found, words
        for each in found:
            assert words.lower() in " ".join(each["buyer"].values()).lower()
    assert (await demo.tenants.graphql("a", ask, buyer="nobody called so"))["data"]["orders"]["nodes"] == []
    assert (await demo.tenants.graphql("b", ask, buyer=somebody["email"]))["data"]["orders"]["nodes"] == []


async def test_products_are_found_by_a_part_of_their_name_in_any_language(demo: Office) -> None:
    ask = "query($name: String!) { products(filter: {nameContains: $name}) { nodes { id name { en fr } } } }"
    every = (await demo.tenants.graphql("a", "{ products { nodes { id name { en fr } } } }"))["data"]["products"][
        "nodes"
    ]
    product = next(each for each in every if each["name"]["fr"] and each["name"]["fr"] != each["name"]["en"])
    for name in product["name"].values():
        found = (await demo.tenants.graphql("a", ask, name=name[1:].upper()))["data"]["products"]["nodes"]
        assert product["id"] in [each["id"] for each in found]
