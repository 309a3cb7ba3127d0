"""Managing products, variants and attributes: what is sent is written, what is left out stays, what is wrong is told."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from resolvers import product
from resolvers.payment.checkout import payment
from schema.checkout.checkout import ProductChoice
from schema.core.errors import CheckoutChanged, InvalidInput
from schema.product.input import UpdateProduct
from schema.validation.numbers import LARGEST_AMOUNT
from tests.changes import Transport, mistake
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

NEW = {"name": {"en": "Soap"}, "price": "4.20"}
FULL = {
    "name": {"en": "Soap", "fr": "Savon"},
    "description": {"en": "Of olive oil", "pt": "De azeite"},
    "price": "4.20",
    "vat_rate": "5.50",
    "stock": 12,
    "weight_grams": 100,
    "is_physical": False,
    "is_active": False,
    "ranking": 3,
    "sku": "soap-1",
    "source_id": "erp 4711",
    "picture_url": "/media/0a1b.svg",
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"price": "-0.01"}, "price OUT_OF_RANGE"),
    ({"price": "1.001"}, "price"),
    ({"price": "10000000000"}, "price OUT_OF_RANGE"),
    ({"price": None}, "price"),
    ({"stock": -1}, "stock OUT_OF_RANGE"),
    ({"stock": 1_000_000_001}, "stock OUT_OF_RANGE"),
    ({"ranking": -1}, "ranking OUT_OF_RANGE"),
    ({"sku": "x" * 65}, "sku TOO_LONG"),
    ({"source_id": "x" * 65}, "source_id TOO_LONG"),
]
"""What neither a product nor a variant can be, and where that is told."""
WRONG_OF_PRODUCTS: list[tuple[dict[str, Any], str]] = [
    ({"vat_rate": "-1"}, "vat_rate OUT_OF_RANGE"),
    ({"vat_rate": "100.01"}, "vat_rate OUT_OF_RANGE"),
    ({"weight_grams": -1}, "weight_grams OUT_OF_RANGE"),
    ({"picture_url": "https://elsewhere.example/a.svg"}, "picture_url"),
    ({"picture_url": "/media/../secret"}, "picture_url"),
    ({"picture_url": "/media/" + "a" * 300}, "picture_url TOO_LONG"),
]


def subset(of: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: of[name] for name in names}


# ---- products


async def test_a_product_is_made_with_what_is_sent(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", product.create_product, **FULL)).done
    made = await tenants.newest("product")
    assert subset(made, FULL.keys() - {"price"}) == {
        **subset(FULL, FULL.keys() - {"price"}),
        "vat_rate": 5.5,
        "name": {"en": "Soap", "fr": "Savon"},
    }
    assert (made["price_amount"], made["currency"]) == (4.2, "EUR")
    assert made["partner_id"] == tenants.partners["a1"].id


async def test_a_product_needs_a_name_and_a_price_and_sells_in_the_marketplaces_currency(
    tenants: Tenants, ask: Transport
) -> None:
    assert (await ask.change("b1", product.create_product, **NEW)).done
    made = await tenants.newest("product")
    defaults: dict[str, Any] = {
        "stock": None, "vat_rate": 20.0, "weight_grams": 0, "is_physical": True, "is_active": True, "ranking": 1,
        "picture_url": "", "sku": "", "source_id": "", "description": {}, "currency": "CHF",
    }  # fmt: skip
    assert subset(made, defaults) == defaults


async def test_what_a_product_cannot_be_is_told_by_field(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    for wrong, at in [*WRONG, *WRONG_OF_PRODUCTS, ({"name": {}}, "name"), ({"name": {"en": " ", "fr": None}}, "name")]:
        outcome = await ask.change("a1", product.create_product, **{**NEW, **wrong})
        if wrong == {"price": None}:
            assert not outcome.done  # GraphQL's own types refuse it before it is asked
        else:
            assert outcome.wrong == mistake(at), wrong
    assert await tenants.snapshot() == before


async def test_all_that_is_wrong_is_told_at_once(tenants: Tenants, ask: Transport) -> None:
    outcome = await ask.change("a1", product.create_product, **{**NEW, "price": "-1", "stock": -1, "ranking": -1})
    assert outcome.wrong == {(at, "OUT_OF_RANGE") for at in ("price", "stock", "ranking")}


async def test_what_is_left_out_of_a_change_stays(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", product.create_product, **FULL)).done
    before = await tenants.newest("product")
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"price": "9.99"}, {"price_amount": 9.99}),
        ({"stock": 0}, {"stock": 0}),
        ({"stock": None}, {"stock": None}),
        ({"is_active": True, "ranking": 0}, {"is_active": True, "ranking": 0}),
        ({"picture_url": ""}, {"picture_url": ""}),
        ({"name": {"de": "Seife"}}, {"name": {"en": "Soap", "fr": "Savon", "de": "Seife"}}),
        ({"name": {"en": None, "fr": " "}}, {"name": {"de": "Seife"}}),
        ({"description": {"en": None, "pt": ""}}, {"description": {}}),
        ({}, {}),
    ]
    for change, expected in changes:
        assert (await ask.change("a1", product.update_product, id=before["id"], **change)).done, change
        before |= expected
        after = await tenants.newest("product")
        assert after == before | {"updated_on": after["updated_on"]}, change


async def test_a_change_that_cannot_be_leaves_all_as_it_was(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    mine = tenants.owned["a1"].product
    wrongs = [
        *WRONG,
        *WRONG_OF_PRODUCTS,
        ({"name": None}, "name"),
        ({"name": {"en": None, "fr": None}}, "name"),
        ({"is_active": None}, "is_active"),
    ]
    for wrong, at in wrongs:
        outcome = await ask.change("a1", product.update_product, id=mine, **{"ranking": 9, **wrong})
        assert outcome.wrong == mistake(at), wrong
    assert await tenants.snapshot() == before


async def test_a_price_may_be_as_large_as_the_database_holds(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("a1", product.create_product, **{**NEW, "price": str(LARGEST_AMOUNT)})).done
    assert await tenants.one("SELECT max(price_amount) FROM product") == LARGEST_AMOUNT
    assert (await ask.change("a1", product.create_product, **{**NEW, "price": "0"})).done


async def test_a_name_names_one_product_and_one_variant_of_a_partner(tenants: Tenants, ask: Transport) -> None:
    mine = tenants.owned["a1"]
    for name in ("sku", "source_id"):
        taken = {name: f"the {name}"}
        assert (await ask.change("a1", product.update_product, id=mine.product, **taken)).done
        assert (await ask.change("a1", product.update_product, id=mine.product, **taken)).done
        assert (await ask.change("a1", product.update_product_variant, id=mine.variant, **taken)).done
        assert (await ask.change("b1", product.create_product, **NEW, **taken)).done, "names are a partner's own"
        before = await tenants.snapshot()
        of_variant = {**NEW, "product_id": mine.product, **taken}
        for operation, sent in (
            (product.create_product, {**NEW, **taken}),
            (product.create_product_variant, of_variant),
        ):
            assert (await ask.change("a1", operation, **sent)).wrong == {(name, "ALREADY_TAKEN")}
        assert await tenants.snapshot() == before
        assert (await ask.change("a1", product.create_product, **NEW, **{name: " "})).done
        assert (await ask.change("a1", product.create_product, **NEW, **{name: ""})).done, "no name is none"
        assert (await ask.change("a1", product.update_product, id=mine.product, **{name: ""})).done
        assert (await ask.change("a1", product.create_product, **NEW, **taken)).done, "it is free again"


async def test_products_are_found_by_their_names(tenants: Tenants) -> None:
    await tenants.execute("UPDATE product SET sku = 'soap', source_id = 'erp'")
    query = """query ($filter: ProductFilter!) { products(filter: $filter) { nodes { id sku sourceId } } }"""
    for name in ("sku", "sourceId"):
        value = "soap" if name == "sku" else "erp"
        found = await tenants.graphql("a1", query, filter={name: value})
        expected = [{"id": tenants.owned["a1"].product, "sku": "soap", "sourceId": "erp"}]
        assert found["data"]["products"]["nodes"] == expected
        assert (await tenants.graphql("a1", query, filter={name: "else"}))["data"]["products"]["nodes"] == []


# ---- variants


async def test_a_variant_sells_at_its_own_price_in_its_products_currency(tenants: Tenants, ask: Transport) -> None:
    of = tenants.owned["b1"].product
    sent = {"product_id": of, "name": {"en": "Large"}, "price": "7.00", "stock": 4, "weight_grams": 30, "ranking": 2}
    assert (await ask.change("b1", product.create_product_variant, **sent)).done
    made = await tenants.newest("product_variant")
    assert made == {
        "id": made["id"], "partner_id": tenants.partners["b1"].id, "product_id": of, "name": {"en": "Large"},
        "price_amount": 7.0, "currency": "CHF", "stock": 4, "weight_grams": 30, "is_active": True, "ranking": 2,
        "sku": "", "source_id": "",
    }  # fmt: skip
    change = {"price": "8.00", "stock": None, "is_active": False, "name": {"fr": "Grand"}}
    assert (await ask.change("b1", product.update_product_variant, id=made["id"], **change)).done
    assert await tenants.newest("product_variant") == {
        **made, "price_amount": 8.0, "stock": None, "is_active": False, "name": {"en": "Large", "fr": "Grand"},
    }  # fmt: skip


async def test_what_a_variant_cannot_be_is_told_by_field(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    mine = tenants.owned["a1"]
    for wrong, at in [*WRONG, ({"name": {"en": ""}}, "name")]:
        sent = {"product_id": mine.product, **NEW, **wrong}
        assert not (await ask.change("a1", product.create_product_variant, **sent)).done
        if wrong != {"name": {"en": ""}}:  # which clears one of two languages
            outcome = await ask.change("a1", product.update_product_variant, id=mine.variant, **wrong)
            assert outcome.wrong == mistake(at), wrong
    assert await tenants.snapshot() == before


# ---- attributes


async def values(tenants: Tenants, attribute: int) -> list[tuple[Any, ...]]:
    found = await tenants.rows(
        "SELECT value, label->>'en', ranking, id FROM attribute_value WHERE attribute_id = :id ORDER BY ranking",
        id=attribute,
    )
    return [tuple(one) for one in found]


async def test_an_attribute_keeps_its_values_in_the_order_they_are_sent(tenants: Tenants, ask: Transport) -> None:
    sent = {
        "product_id": tenants.owned["a1"].product,
        "name": {"en": "Ribbon"},
        "is_required": True,
        "values": [{"value": "z", "label": {"en": "Zinc"}}, {"value": "a"}, {"value": "m", "label": {"en": "Mint"}}],
    }
    assert (await ask.change("a1", product.create_product_attribute, **sent)).done
    made = await tenants.newest("product_attribute")
    assert (made["is_required"], made["name"], made["ranking"]) == (True, {"en": "Ribbon"}, 1)
    first = await values(tenants, made["id"])
    assert [one[:3] for one in first] == [("z", "Zinc", 1), ("a", None, 2), ("m", "Mint", 3)]
    ids = {one[0]: one[3] for one in first}

    replaced = [{"value": "m"}, {"value": "new", "label": {"en": "New"}}, {"value": "z", "label": {"en": "Zebra"}}]
    assert (await ask.change("a1", product.update_product_attribute, id=made["id"], values=replaced)).done
    after = await values(tenants, made["id"])
    assert [one[:3] for one in after] == [("m", "Mint", 1), ("new", "New", 2), ("z", "Zebra", 3)]
    assert {one[0]: one[3] for one in after}.items() >= {"m": ids["m"], "z": ids["z"]}.items()

    assert (await ask.change("a1", product.update_product_attribute, id=made["id"], is_required=False)).done
    assert await values(tenants, made["id"]) == after


async def test_what_an_attribute_cannot_be_is_told_by_field(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    mine = tenants.owned["a1"]
    wrongs: list[tuple[list[dict[str, Any]], str]] = [
        ([], "values"),
        ([{"value": f"{n}"} for n in range(201)], "values TOO_MANY"),
        ([{"value": "a"}, {"value": ""}], "values.1.value"),
        ([{"value": "a" * 121}], "values.0.value TOO_LONG"),
        ([{"value": "a"}, {"value": "b"}, {"value": "a"}], "values.2.value"),
    ]
    for wrong, at in wrongs:
        sent = {"product_id": mine.product, "name": {"en": "Size"}, "values": wrong}
        made = await ask.change("a1", product.create_product_attribute, **sent)
        changed = await ask.change("a1", product.update_product_attribute, id=mine.attribute, values=wrong)
        assert made.wrong == changed.wrong == mistake(at), wrong[:3]
    nameless = {"product_id": mine.product, "name": {}, "values": [{"value": "a"}]}
    assert (await ask.change("a1", product.create_product_attribute, **nameless)).wrong == {("name", "INVALID")}
    assert await tenants.snapshot() == before


async def test_an_attribute_goes_with_its_values_and_nothing_else(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    mine = tenants.owned["a1"]
    assert (await ask.change("a1", product.delete_product_attribute, id=mine.attribute)).done
    after = await tenants.snapshot()
    gone = {name: len(before[name]) - len(after[name]) for name in before if before[name] != after[name]}
    assert gone == {"product_attribute": 1, "attribute_value": 1}
    again = await ask.change("a1", product.delete_product_attribute, id=mine.attribute)
    assert again.wrong == {("", "NOT_FOUND")}


# ---- reading


async def test_products_are_filtered_and_ordered(tenants: Tenants) -> None:
    for price, more in (("3.00", {"is_active": False}), ("30.00", {"is_physical": False}), ("20.00", {})):
        await tenants.graphql(
            "a1",
            "mutation($i: CreateProductInput!) { createProduct(input: $i) { userErrors { message } } }",
            i={"name": {"en": price}, "price": price, **{_camel(k): v for k, v in more.items()}},
        )
    query = "query($f: ProductFilter, $o: ProductSort!) { products(filter: $f, orderBy: $o) { nodes { name { en } } } }"

    async def names(filter: Any, order: str) -> list[str]:
        body = await tenants.graphql("a1", query, f=filter, o=order)
        return [node["name"]["en"] for node in body["data"]["products"]["nodes"]]

    assert await names(None, "PRICE") == ["3.00", "Of a1", "20.00", "30.00"]
    assert await names(None, "PRICE_DESCENDING") == ["30.00", "20.00", "Of a1", "3.00"]
    assert await names(None, "NEWEST") == ["20.00", "30.00", "3.00", "Of a1"]
    assert await names({"isActive": False}, "RANKING") == ["3.00"]
    assert await names({"isPhysical": False}, "RANKING") == ["30.00"]
    foreign = tenants.owned["a2"].product
    assert await names({"ids": [tenants.owned["a1"].product, foreign]}, "RANKING") == ["Of a1"]


async def test_a_product_is_read_with_all_that_belongs_to_it(tenants: Tenants) -> None:
    query = """query($id: Int!) { product(id: $id) {
        price { amount currency } vatRate stock
        variants { price { amount currency } stock } attributes { isRequired values { value label { fr } } } } }"""
    body = await tenants.graphql("b1", query, id=tenants.owned["b1"].product)
    assert body["data"]["product"] == {
        "price": {"amount": "10.00", "currency": "CHF"},
        "vatRate": "20.00",
        "stock": 5,
        "variants": [{"price": {"amount": "12.00", "currency": "CHF"}, "stock": 3}],
        "attributes": [{"isRequired": False, "values": [{"value": "red", "label": {"fr": "De b1"}}]}],
    }


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


# ---- at the same time


async def test_two_admins_change_two_languages_of_one_text(tenants: Tenants, ask: Transport) -> None:
    mine = tenants.owned["a1"].product
    languages = ("en", "fr", "es", "it", "de", "nl", "ca", "pt")
    changes = [
        ask.change("a1" if n % 2 else "market a", product.update_product, id=mine, name={language: f"{language} {n}"})
        for n, language in enumerate(languages)
    ]
    outcomes = await asyncio.gather(*changes)
    assert all(outcome.done for outcome in outcomes)
    expected = {language: f"{language} {n}" for n, language in enumerate(languages)}
    assert (await tenants.row("product", mine))["name"] == expected


async def test_values_replaced_at_once_are_those_of_one_of_the_two(tenants: Tenants, ask: Transport) -> None:
    mine = tenants.owned["a1"].attribute
    wanted = [[{"value": f"{n}-{place}"} for place in range(4)] for n in range(6)]
    outcomes = await asyncio.gather(
        *(ask.change("a1", product.update_product_attribute, id=mine, values=each) for each in wanted)
    )
    assert all(outcome.done for outcome in outcomes)
    left = [one[0] for one in await values(tenants, mine)]
    assert left in [[value["value"] for value in each] for each in wanted]


async def bought(shop: Shop, ready: Any) -> int:
    """How many of these customers get what they want, all at once."""
    started = await asyncio.gather(*(shop.start(key, seen) for key, seen in ready), return_exceptions=True)
    refused = [outcome for outcome in started if isinstance(outcome, BaseException)]
    assert all(isinstance(outcome, CheckoutChanged) for outcome in refused), refused
    return len(started) - len(refused)


async def test_renaming_a_product_gives_nothing_back_that_customers_take_meanwhile(shop: Shop) -> None:
    candle = await shop.product(stock=6)
    ready = [await shop.ready(ProductChoice(candle.id, 1)) for _ in range(8)]
    names = [UpdateProduct.model_validate({"id": candle.id, "name": {"en": f"Candle {n}"}}) for n in range(8)]
    renamed = asyncio.gather(*(product.update_product(shop.manager, name) for name in names))
    sold, _ = await asyncio.gather(bought(shop, ready), renamed)
    assert await shop.one("SELECT stock FROM product") == 6 - sold
    assert sold >= 1


async def test_stock_counted_anew_while_customers_take_it_is_never_sold_twice(shop: Shop) -> None:
    candle = await shop.product(stock=5)
    ready = [await shop.ready(ProductChoice(candle.id, 1)) for _ in range(10)]
    counted = UpdateProduct.model_validate({"id": candle.id, "stock": 3})
    sold, _ = await asyncio.gather(bought(shop, ready), product.update_product(shop.manager, counted))
    left = await shop.one("SELECT stock FROM product")
    sold_before = sold - (3 - left)
    assert 0 <= left <= 3
    assert 0 <= sold_before <= 5, "some were taken from the old stock, the others from the new one"
    assert await shop.one("SELECT count(*) FROM checkout_attempt WHERE held") == sold


async def test_stock_that_is_held_comes_back_onto_what_was_counted_anew(shop: Shop) -> None:
    candle = await shop.product(stock=5)
    key, seen = await shop.ready(ProductChoice(candle.id, 2))
    started = await shop.start(key, seen)
    await product.update_product(shop.manager, UpdateProduct.model_validate({"id": candle.id, "stock": 10}))
    await shop.pay(started, None)
    await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert await shop.one("SELECT stock FROM product") == 12


async def test_a_change_refused_after_the_row_was_written_to_is_undone(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=5)
    change = UpdateProduct.model_validate(
        {"id": candle.id, "price": "1.00", "name": {"en": None, "fr": None}, "stock": 1}
    )
    with pytest.raises(InvalidInput):
        await product.update_product(shop.manager, change)
    assert await shop.one("SELECT price_amount FROM product") == Decimal("20.00")
    assert await shop.one("SELECT stock FROM product") == 5
