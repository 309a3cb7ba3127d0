"""The input that saves a cart."""

import re
from typing import Annotated, Any
from uuid import UUID

import strawberry
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.core.inputs import graphql_input
from schema.validation.characters import line_up_to
from schema.validation.numbers import RowId, WholeNumberRule

MOST_ITEMS = 200
LONGEST_URL = 2048

Quantity = Annotated[int, WholeNumberRule(ge=0, le=9_999)]
"""The quantity of a product: 0 to 9,999. With 0 the customer can still set it."""

LONGEST_NAME = 64

_WEB_ADDRESS = re.compile(
    r"https?://(?:\[[0-9a-f:.]+\]|[^\s/?#@\\:\[\]\x00-\x20\x7f]+)(?::\d{1,5})?(?:[/?#][^\s\x00-\x20\x7f]*)?",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(r"https?://([^/?#\\]*)", re.IGNORECASE)


def web_address(value: str) -> str:
    """An http or https URL, or an empty text. Only surrounding whitespace is removed."""
    address = value.strip()
    if not address or _WEB_ADDRESS.fullmatch(address):
        return address
    found = _AUTHORITY.match(address)
    if found is None:
        raise PydanticCustomError("address_scheme", "Send an address that starts with http:// or https://.")
    if "@" in found[1]:
        raise PydanticCustomError("address_user", "Send an address without a user name.")
    raise PydanticCustomError("address", "Send a complete web address, such as https://shop.example/thanks.")


def _none_to_empty(value: object) -> object:
    return "" if value is None else value


OptionalProductReference = Annotated[
    str, line_up_to(LONGEST_NAME), BeforeValidator(_none_to_empty), strawberry.field(graphql_type=str | None)
]
"""The shop's own reference to a product; null and blank mean none."""
ReturnUrl = Annotated[str, Field(max_length=LONGEST_URL), AfterValidator(web_address), BeforeValidator(_none_to_empty)]
"""Where the customer is redirected after the order; null, blank and omitted mean nowhere."""


@strawberry.pydantic.input(description="The value chosen for one attribute of a product.")
class AttributeChoiceInput(BaseModel):
    """The value chosen for one attribute of a product."""

    attribute_id: RowId = Field(description="The attribute's id.")
    value: str = Field(description="The chosen value, one of the attribute's values.")


def _choices_by_attribute(value: object) -> object:
    """Turn the list that GraphQL sends into a mapping by attribute id."""
    if value is None:
        return {}
    if not isinstance(value, list):
        return value
    chosen: dict[Any, Any] = {}
    for entry in value:
        if entry["attribute_id"] in chosen:
            raise PydanticCustomError("attribute_twice", "Send each attribute once.")
        chosen[entry["attribute_id"]] = entry["value"]
    return chosen


@strawberry.pydantic.input(description="A line of a cart: a product, or a variant of one.")
class CartItemInput(BaseModel):
    """A line of a cart: a product, or a variant of one."""

    sku: OptionalProductReference = Field("", description="The SKU of the product or variant, instead of its id.")
    source_id: OptionalProductReference = Field(
        "", description="The source id of the product or variant, instead of its id."
    )
    product_id: RowId | None = Field(
        None,
        validate_default=True,
        description="The product's id; required unless `sku` or `sourceId` identifies the product.",
    )
    quantity: Quantity = Field(description="The quantity, from 0 to 9999.")
    variant_id: RowId | None = Field(None, description="The variant's id; null for a product without variants.")
    attribute_values: Annotated[
        dict[RowId, str],
        strawberry.field(graphql_type=list[AttributeChoiceInput] | None),
        BeforeValidator(_choices_by_attribute),
    ] = Field(default_factory=dict, description="The values chosen for its attributes.")

    @field_validator("product_id")
    @classmethod
    def _require_product(cls, product_id: int | None, others: ValidationInfo) -> int | None:
        """Require `product_id`, `sku` or `source_id`. An invalid reference is reported by its own field."""
        if product_id is None and not any(others.data.get(name, "wrong") for name in ("sku", "source_id")):
            raise PydanticCustomError("missing", "This field is required.")
        return product_id


@graphql_input
class SaveEcommerceCart(BaseModel):
    """Create a cart, or replace one of your carts by sending its id."""

    id: UUID | None = Field(None, description="The id of the cart to replace; null to create a cart.")
    items: list[CartItemInput] = Field(
        max_length=MOST_ITEMS, description="The cart's lines; at most 200, may be empty."
    )
    return_url: Annotated[ReturnUrl, strawberry.field(graphql_type=str | None)] = Field(
        "",
        description="Where the customer is redirected after the order; http or https, at most 2048 characters.",
    )
