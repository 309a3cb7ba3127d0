"""Lines of carts that name products by SKU or source id, and what a line leads to."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from schema.graph.executor import FALLBACKS
from tests.fixtures.tenants import Tenants
from tests.statements import executed, fetched, record_statements
from tests.transports import Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")
Stored = Callable[[], Awaitable[Any]]
NAMES = {"product": ("soap", "erp-1"), "variant": ("soap-xl", "erp-2")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def named_tenants(tenants: Tenants) -> Tenants:
    """The same names at two partners; at the first, a product and a variant that share one."""
    for partner in ("a1", "b1"):
        own = tenants.owned[partner]
        for kind, id in (("product", own.product), ("variant", own.variant)):
            table = "product" if kind == "product" else "product_variant"
            statement = f"UPDATE {table} SET sku = :sku, source_id = :source WHERE id = :id"  # noqa: S608 - our words
            await tenants.execute(statement, sku=NAMES[kind][0], source=NAMES[kind][1], id=id)
    own = tenants.owned["a1"]
    copied = """INSERT INTO {0} ({1}, sku, source_id) SELECT {1}, 'twice', '' FROM {0} WHERE id = {2}"""
    columns = "partner_id, name, price_amount, currency, weight_grams, is_active, ranking"
    of_product = f"{columns}, description, vat_rate, is_physical, picture_url, created_on, updated_on"
    await tenants.execute(copied.format("product", of_product, own.product))
    await tenants.execute(copied.format("product_variant", f"{columns}, product_id", own.variant))
    return tenants


async def lines(transport: Transport, *items: dict[str, Any], who: str = "a1") -> Any:
    """What is answered of the lines of a cart."""
    answer = await transport.save_cart(who, {"items": [{"quantity": 1, **item} for item in items]})
    if not answer.done:
        return answer.wrong
    found = [(item["product_id"], item["variant_id"]) for item in answer.result["items"]]
    assert all(
        set(item) == {"product_id", "quantity", "variant_id", "attribute_values"} for item in answer.result["items"]
    )
    return found


async def test_a_line_names_what_it_holds_by_sku_or_by_source_id(transport: Transport, named_tenants: Tenants) -> None:
    for who in ("a1", "b1"):
        own = named_tenants.owned[who]
        product, variant = (own.product, None), (own.product, own.variant)
        by_name: list[tuple[dict[str, Any], tuple[int, int | None]]] = [
            ({"sku": "soap"}, product),
            ({"source_id": "erp-1"}, product),
            ({"sku": "soap-xl"}, variant),
            ({"source_id": "erp-2"}, variant),
            ({"sku": " soap ", "source_id": "erp-1"}, product),
            ({"sku": "soap", "source_id": "erp-2"}, variant),
            ({"sku": "soap", "variant_id": own.variant}, variant),
            ({"product_id": own.product, "sku": "soap-xl"}, variant),
            ({"product_id": own.product, "variant_id": own.variant, "sku": "soap-xl", "source_id": "erp-1"}, variant),
            ({"product_id": 999, "sku": None, "source_id": ""}, (999, None)),
        ]
        assert await lines(transport, *(item for item, _ in by_name), who=who) == [line for _, line in by_name]


async def test_what_names_nothing_or_several_things_is_told_at_its_key(
    transport: Transport, named_tenants: Tenants, stored: Stored
) -> None:
    own, before = named_tenants.owned["a1"], await stored()
    wrong = await lines(
        transport,
        {"sku": "soap"},
        {"sku": "unknown"},
        {"source_id": "soap"},
        {"product_id": own.product + 1_000, "sku": "soap"},
        {"variant_id": own.variant + 1_000, "sku": "soap-xl"},
        {"sku": "soap", "source_id": "nothing"},
        {"sku": "twice"},
        {"sku": "SOAP"},
    )
    assert set(wrong) == {
        "items.1.sku", "items.2.source_id", "items.3.sku", "items.4.sku", "items.5.source_id", "items.6.sku", "items.7.sku",
    }  # fmt: skip
    assert "SKU" in wrong["items.1.sku"]
    assert set(await lines(transport, {}, {"product_id": None, "sku": " "}, {"sku": "x" * 65})) == {
        "items.0.product_id", "items.1.product_id", "items.2.sku",
    }  # fmt: skip
    assert await stored() == before
    assert await lines(transport, {"sku": "twice", "product_id": own.product}) == [
        (own.product, await named_tenants.one("SELECT max(id) FROM product_variant"))
    ]


async def test_another_partners_names_are_unknown(transport: Transport, named_tenants: Tenants) -> None:
    assert set(await lines(transport, {"sku": "soap"}, who="a2")) == {"items.0.sku"}


async def test_a_name_that_a_product_shares_with_its_own_variant_is_told_apart_by_the_variant(
    transport: Transport, named_tenants: Tenants
) -> None:
    own = named_tenants.owned["a2"]
    await named_tenants.execute("UPDATE product SET sku = 'both' WHERE id = :id", id=own.product)
    await named_tenants.execute("UPDATE product_variant SET sku = 'both' WHERE id = :id", id=own.variant)
    wrong = await lines(transport, {"sku": "both"}, {"sku": "both", "product_id": own.product}, who="a2")
    assert set(wrong) == {"items.0.sku", "items.1.sku"}
    assert await lines(
        transport, {"sku": "both", "variant_id": own.variant}, {"product_id": own.product}, who="a2"
    ) == [
        (own.product, own.variant),
        (own.product, None),
    ]


async def test_graphql_tells_of_shared_names_in_its_own_words(named_tenants: Tenants) -> None:
    made = 'mutation { saveEcommerceCart(input: {items: [{sku: "twice", quantity: 1}]}) { userErrors { message } } }'
    (error,) = (await named_tenants.graphql("a1", made))["data"]["saveEcommerceCart"]["userErrors"]
    assert "`variantId`" in error["message"]
    assert "_" not in error["message"]


async def test_names_cost_one_statement_and_ids_none(transport: Transport, named_tenants: Tenants) -> None:
    async def statements(*items: dict[str, Any]) -> int:
        assert isinstance(await lines(transport, *items), list)
        with record_statements(named_tenants.services.db) as seen:
            await lines(transport, *items)
        return len([one for one in seen if "product" in one])

    assert await statements({"product_id": 7}) == 0
    assert await statements({"sku": "soap"}) == await statements(*[{"sku": "soap"}, {"source_id": "erp-2"}] * 50) == 1


# ---- what a line leads to, over GraphQL

LEADS = """items { productId product { id sku sourceId name { en } partner { commercialName } } variant { id sku price { amount } } }"""


async def test_a_line_leads_to_its_product_and_its_variant(named_tenants: Tenants) -> None:
    own, other = named_tenants.owned["a1"], named_tenants.owned["b1"]
    items = [
        {"productId": own.product, "variantId": own.variant, "quantity": 1},
        {"productId": own.product, "quantity": 1},
        {"productId": 2_000_000_000, "variantId": 2_000_000_000, "quantity": 1},
        {"productId": other.product, "variantId": other.variant, "quantity": 1},
    ]
    made = f"mutation ($input: SaveEcommerceCartInput!) {{ saveEcommerceCart(input: $input) {{ ecommerceCart {{ id {LEADS} }} userErrors {{ field message }} }} }}"
    read = f"query ($id: UUID!) {{ ecommerceCart(id: $id) {{ id {LEADS} }} }}"
    before = _fallbacks()
    cart = (await named_tenants.graphql("a1", made, input={"items": items}))["data"]["saveEcommerceCart"][
        "ecommerceCart"
    ]
    first, plain, unknown, foreign = cart["items"]
    assert first["product"]["sku"] == "soap"
    assert first["product"]["partner"] == {"commercialName": "Shop a1"}
    assert first["variant"] == {"id": own.variant, "sku": "soap-xl", "price": {"amount": "12.00"}}
    assert plain["product"] == first["product"]
    assert plain["variant"] is None
    for nothing in (unknown, foreign):
        assert (nothing["product"], nothing["variant"]) == (None, None), "what another tenant owns does not exist"
    with fetched(named_tenants.services.db) as seen:
        assert (await named_tenants.graphql("a1", read, id=cart["id"]))["data"]["ecommerceCart"] == cart
    assert len(seen) == 3, "products, their partners, variants"
    many = (await named_tenants.graphql("a1", made, input={"items": items * 40}))["data"]["saveEcommerceCart"][
        "ecommerceCart"
    ]
    with fetched(named_tenants.services.db) as seen:
        assert (await named_tenants.graphql("a1", read, id=many["id"]))["data"]["ecommerceCart"]["items"] == cart[
            "items"
        ] * 40
    assert len(seen) == 3
    assert _fallbacks() == before


async def test_a_cart_that_leads_nowhere_reads_nothing(named_tenants: Tenants) -> None:
    made = "mutation ($input: SaveEcommerceCartInput!) { saveEcommerceCart(input: $input) { ecommerceCart { items { productId } } } }"
    given = {"items": [{"productId": 1, "quantity": 1}]}
    await named_tenants.graphql("a1", made, input=given)
    with fetched(named_tenants.services.db) as seen, executed(named_tenants.services.db) as ran:
        await named_tenants.graphql("a1", made, input=given)
    assert not [sql for sql in (*(sql for sql, _ in seen), *ran) if "product" in sql]


async def test_an_empty_cart_and_the_plain_path_answer_alike(named_tenants: Tenants) -> None:
    made = f"mutation ($input: SaveEcommerceCartInput!) {{ saveEcommerceCart(input: $input) {{ ecommerceCart {{ {LEADS} }} }} }}"
    answer = await named_tenants.graphql("a1", made, input={"items": []})
    assert answer["data"]["saveEcommerceCart"]["ecommerceCart"] == {"items": []}


def _fallbacks() -> dict[str, float]:
    return {str(sample.labels): sample.value for metric in FALLBACKS.collect() for sample in metric.samples}
