"""The cart that a shop hands over."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from rest_compat.keys import Key, Nested
from rest_compat.shapes import Shape
from rest_compat.writers import MILLISECONDS, Writer
from schema.cart_input import LARGEST_CART, CartInput, CartItemInput
from schema.ecommerce_cart import AttributeChoice, EcommerceCart, EcommerceCartItem
from schema.numbers import RowId


def _by_attribute(choices: Sequence[AttributeChoice]) -> dict[str, str]:
    return {str(choice.attribute_id): choice.value for choice in choices}


BY_ATTRIBUTE = Writer(
    "values by attribute",
    (AttributeChoice,),
    {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"3": "red"}]},
    _by_attribute,
    many=True,
)

CART_ITEM = Shape(
    "CartItem",
    EcommerceCartItem,
    {
        "product_id": "product_id",
        "quantity": "quantity",
        "variant_id": "variant_id",
        "attribute_values": Key("attribute_values", BY_ATTRIBUTE),
    },
)
CART = Shape(
    "Cart",
    EcommerceCart,
    {
        "id": "id",
        "items": Nested("items", CART_ITEM),
        "return_url": "return_url",
        "funnel_url": "funnel_url",
        "last_modified": Key("last_modified", MILLISECONDS),
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


class CartBody(CartInput):
    """A cart to save: a new one, or, with the id of a live cart of yours, in its place."""

    items: list[CartItemBody] = Field(  # type: ignore[assignment]  # narrower than in GraphQL, and never written to
        max_length=LARGEST_CART, description="At most 200 lines; may be empty."
    )
