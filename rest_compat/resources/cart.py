"""The cart that a shop hands over."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from rest_compat.shapes.keys import Key, Nested
from rest_compat.shapes.shape import Shape
from rest_compat.shapes.writers import MILLISECONDS, Writer
from schema.cart.ecommerce_cart import AttributeChoice, EcommerceCart, EcommerceCartItem
from schema.cart.input import LARGEST_CART, CartItemInput, SaveEcommerceCart
from schema.validation.numbers import RowId


def _by_attribute(choices: Sequence[AttributeChoice]) -> dict[str, str]:
    return {str(choice.attribute_id): choice.value for choice in choices}


BY_ATTRIBUTE = Writer(
    "values by attribute",
    (AttributeChoice,),
    {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"3": "red"}]},
    _by_attribute,
    many=True,
)

CART_ID = "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"

CART_ITEM = Shape(
    "CartItem",
    EcommerceCartItem,
    {
        "product_id": "product_id",
        "quantity": "quantity",
        "variant_id": "variant_id",
        "attribute_values": Key("attribute_values", BY_ATTRIBUTE),
    },
    example={"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}},
)
CART = Shape(
    "Cart",
    EcommerceCart,
    {
        "id": "id",
        "items": Nested("items", CART_ITEM),
        "return_url": Key("return_url", description="Where the customer is sent after the order; empty: nowhere."),
        "funnel_url": "funnel_url",
        "last_modified": Key("last_modified", MILLISECONDS, description="Its last write, in milliseconds since 1970."),
    },
    example={
        "id": CART_ID,
        "return_url": "https://shop.example/thanks",
        "funnel_url": f"https://demo.shops.example/ecommerce/shop/customization/?cart={CART_ID}",
        "last_modified": 1_893_456_000_000,
    },
)


def _left_out(value: object) -> object:
    return {} if value is None else value


class CartItemBody(CartItemInput):
    """A line of a cart as REST knows it: the chosen values are an object, by attribute."""

    attribute_values: Annotated[dict[RowId, str], BeforeValidator(_left_out)] = Field(
        default_factory=dict,
        description="The chosen value by the id of the attribute; null and left out mean none.",
        examples=[{"3": "red"}],
    )


class CartBody(SaveEcommerceCart):
    """A cart to save: a new one, or, with the id of a live cart of yours, in its place."""

    items: list[CartItemBody] = Field(  # type: ignore[assignment]  # narrower than in GraphQL, and never written to
        max_length=LARGEST_CART, description="At most 200 lines; may be empty."
    )


NEW_CART = {
    "items": [{"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}}],
    "return_url": "https://shop.example/thanks",
}
"""A request to show."""
