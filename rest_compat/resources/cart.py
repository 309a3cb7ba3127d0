"""The cart of a shop."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from rest_compat.shapes.keys import FieldKey, same
from rest_compat.shapes.shape import Nested, ResourceShape
from rest_compat.shapes.writers import MILLISECONDS, ValueWriter
from schema.cart.ecommerce_cart import AttributeChoice, EcommerceCart, EcommerceCartItem
from schema.cart.input import MOST_ITEMS, CartItemInput, SaveEcommerceCart
from schema.validation.numbers import RowId


def _by_attribute(choices: Sequence[AttributeChoice]) -> dict[str, str]:
    return {str(choice.attribute_id): choice.value for choice in choices}


BY_ATTRIBUTE = ValueWriter(
    "values by attribute",
    (AttributeChoice,),
    {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"3": "red"}]},
    _by_attribute,
    many=True,
)

CART_ID = "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"

CART_ITEM = ResourceShape(
    "CartItem",
    EcommerceCartItem,
    {
        **same("product_id", "quantity", "variant_id"),
        "attribute_values": FieldKey("attribute_values", BY_ATTRIBUTE),
    },
    example={"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}},
)
CART = ResourceShape(
    "Cart",
    EcommerceCart,
    {
        **same("id"),
        "items": Nested("items", CART_ITEM),
        "return_url": FieldKey(
            "return_url", description="URL that the customer is sent to after the order; empty if none."
        ),
        **same("funnel_url"),
        "last_modified": FieldKey(
            "last_modified", MILLISECONDS, description="Time of the last write, in milliseconds since 1970."
        ),
    },
    example={
        "id": CART_ID,
        "return_url": "https://shop.example/thanks",
        "funnel_url": f"https://demo.shops.example/ecommerce/shop/customization/?cart={CART_ID}",
        "last_modified": 1_893_456_000_000,
    },
)


def _empty_if_null(value: object) -> object:
    return {} if value is None else value


class CartItemBody(CartItemInput):
    """A cart item in REST: the chosen values are an object, keyed by attribute id."""

    attribute_values: Annotated[dict[RowId, str], BeforeValidator(_empty_if_null)] = Field(
        default_factory=dict,
        description="The chosen value by attribute id. Null or a missing key means none.",
        examples=[{"3": "red"}],
    )


class CartBody(SaveEcommerceCart):
    """A cart to create, or to replace by sending its `id`."""

    items: list[CartItemBody] = Field(  # type: ignore[assignment]  # narrower than in GraphQL, and never written to
        max_length=MOST_ITEMS, description="At most 200 items; may be empty."
    )


NEW_CART = {
    "items": [{"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}}],
    "return_url": "https://shop.example/thanks",
}
"""An example request for the documentation."""
