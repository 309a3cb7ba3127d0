"""What a shop may send as a cart, in GraphQL's form; the form of REST is tested through its route."""

from typing import Any

import pytest
import strawberry
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schema.cart.input import MOST_ITEMS, ReturnUrl, SaveEcommerceCart
from schema.core.messages import problems_of

URL = TypeAdapter(ReturnUrl)


@pytest.mark.parametrize(
    "address",
    [
        "https://shop.example/thanks?order=1#top",
        "http://localhost:3000",
        "HTTPS://Shop.Example",
        "https://[::1]:8443/x",
        "https://boutique-été.example/merci",
        "https://shop.example/?next=https://me@x.example/",
        "https://shop.example/" + "a" * (2048 - len("https://shop.example/")),
    ],
)
def test_an_address_is_kept_as_it_was_sent(address: str) -> None:
    assert URL.validate_python(address) == address


@pytest.mark.parametrize("nowhere", [None, "", "   "])
def test_no_address_is_an_empty_one(nowhere: str | None) -> None:
    assert URL.validate_python(nowhere) == ""


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://" + "a" * 2048, "Use at most 2048 characters."),
        ("ftp://shop.example/", "Send an address that starts with http:// or https://."),
        ("javascript:alert(1)", "Send an address that starts with http:// or https://."),
        ("//shop.example", "Send an address that starts with http:// or https://."),
        ("https:shop.example", "Send an address that starts with http:// or https://."),
        ("https://shop:secret@evil.example/", "Send an address without a user name."),
        ("https://@evil.example/", "Send an address without a user name."),
        ("https://shop.example\\@evil.example/", "Send a complete web address, such as https://shop.example/thanks."),
        ("https://", "Send a complete web address, such as https://shop.example/thanks."),
        ("https:///path", "Send a complete web address, such as https://shop.example/thanks."),
        ("https://shop.example:port/", "Send a complete web address, such as https://shop.example/thanks."),
        ("https://shop.example/a b", "Send a complete web address, such as https://shop.example/thanks."),
        (
            "https://shop.example/\r\nSet-Cookie: a=b",
            "Send a complete web address, such as https://shop.example/thanks.",
        ),
        (5, "Send a text."),
        (["https://shop.example"], "Send a text."),
    ],
)
def test_a_wrong_address_is_refused(address: object, message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        URL.validate_python(address)
    assert [p.message for p in problems_of(refusal.value)] == [message]


@given(st.builds(str.__add__, st.sampled_from(["", "http://", "HTTPS://shop.example", "javascript:"]), st.text()))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        kept = URL.validate_python(text)
    except ValidationError:
        kept = ""
    assert kept == "" or kept.lower().startswith(("http://", "https://"))


@strawberry.type
class Query:
    """Something to ask for."""

    nothing: int = 0


@strawberry.type
class Mutation:
    """What the input arrives as."""

    @strawberry.mutation
    def save(self, input: SaveEcommerceCart) -> str:
        """Show it."""
        return repr(input)


SCHEMA = strawberry.Schema(Query, Mutation)


def saved(items: list[dict[str, Any]]) -> str:
    """What a GraphQL mutation is handed."""
    result = SCHEMA.execute_sync(
        "mutation($input: SaveEcommerceCartInput!) { save(input: $input) }",
        {"input": {"items": items, "returnUrl": None}},
    )
    assert result.errors is None
    assert result.data is not None
    return str(result.data["save"])


def test_graphql_sends_attribute_values_as_a_list() -> None:
    chosen = [{"attributeId": 3, "value": "red"}, {"attributeId": 4, "value": "XL"}]
    assert "attribute_values={3: 'red', 4: 'XL'}" in saved([{"productId": 1, "quantity": 2, "attributeValues": chosen}])
    assert "attribute_values={}" in saved([{"productId": 1, "quantity": 2, "attributeValues": None}])
    assert "variant_id=None, attribute_values={}" in saved([{"productId": 1, "quantity": 2}])


def test_graphql_problems_wait_for_the_operation() -> None:
    twice = [{"attributeId": 3, "value": "red"}, {"attributeId": 3, "value": "blue"}]
    told = saved([{"productId": 1, "quantity": 1}, {"productId": 0, "quantity": 1, "attributeValues": twice}])
    assert told.startswith("RejectedInput(")
    assert "('input', 'items', '1', 'productId')" in told
    assert "Send each attribute once." in told


def test_a_cart_holds_at_most_200_lines() -> None:
    line = {"product_id": 1, "quantity": 0}
    assert len(SaveEcommerceCart.model_validate({"items": [line] * MOST_ITEMS}).items) == 200
    with pytest.raises(ValidationError) as refusal:
        SaveEcommerceCart.model_validate({"items": [line] * (MOST_ITEMS + 1)})
    assert [(p.path, p.message) for p in problems_of(refusal.value)] == [(("items",), "Send at most 200.")]
