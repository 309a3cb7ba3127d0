"""What a shop sends to save a cart."""

import re
from typing import Annotated, Any
from uuid import UUID

import strawberry
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schema.core.resource import writable
from schema.validation.characters import up_to
from schema.validation.numbers import RowId, Whole

LARGEST_CART = 200
LONGEST_URL = 2048

Quantity = Annotated[int, Whole(ge=0, le=9_999)]
"""How many of a product: 0 to 9,999. None of it is a line that the customer may still fill in."""

LONGEST_NAME = 64

_WEB_ADDRESS = re.compile(
    r"https?://(?:\[[0-9a-f:.]+\]|[^\s/?#@\\:\[\]\x00-\x20\x7f]+)(?::\d{1,5})?(?:[/?#][^\s\x00-\x20\x7f]*)?",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(r"https?://([^/?#\\]*)", re.IGNORECASE)


def web_address(value: str) -> str:
    """An http or https address, or nothing; its edges trimmed, otherwise as it was sent."""
    address = value.strip()
    if not address or _WEB_ADDRESS.fullmatch(address):
        return address
    found = _AUTHORITY.match(address)
    if found is None:
        raise PydanticCustomError("address_scheme", "Send an address that starts with http:// or https://.")
    if "@" in found[1]:
        raise PydanticCustomError("address_user", "Send an address without a user name.")
    raise PydanticCustomError("address", "Send a complete web address, such as https://shop.example/thanks.")


def _nothing(value: object) -> object:
    return "" if value is None else value


Name = Annotated[str, up_to(LONGEST_NAME), BeforeValidator(_nothing), strawberry.field(graphql_type=str | None)]
"""What a shop itself calls a product; null and blank name nothing."""
ReturnUrl = Annotated[str, Field(max_length=LONGEST_URL), AfterValidator(web_address), BeforeValidator(_nothing)]
"""Where the customer goes when the order is finished; null, blank and left out mean nowhere."""


@strawberry.pydantic.input(description="The choice made for one attribute of a product.")
class AttributeChoiceInput(BaseModel):
    """The choice made for one attribute of a product."""

    attribute_id: RowId = Field(description="The attribute.")
    value: str = Field(description="The chosen value, one of those the attribute offers.")


def _by_attribute(value: object) -> object:
    """GraphQL has no maps: there the choices are a list, here they are kept by attribute."""
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


@strawberry.pydantic.input(description="A product, or a variant of one, that the customer has chosen.")
class CartItemInput(BaseModel):
    """A product, or a variant of one, that the customer has chosen."""

    sku: Name = Field("", description="The SKU of the product or of the variant, where that names it.")
    source_id: Name = Field("", description="The source id of the product or of the variant, where that names it.")
    product_id: RowId | None = Field(
        None, validate_default=True, description="The product; needed where neither `sku` nor `sourceId` names it."
    )
    quantity: Quantity = Field(description="How many, from 0 to 9999.")
    variant_id: RowId | None = Field(None, description="The variant; null for a product without variants.")
    attribute_values: Annotated[
        dict[RowId, str],
        strawberry.field(graphql_type=list[AttributeChoiceInput] | None),
        BeforeValidator(_by_attribute),
    ] = Field(default_factory=dict, description="What was chosen for its attributes.")

    @field_validator("product_id")
    @classmethod
    def _is_named(cls, sent: int | None, others: ValidationInfo) -> int | None:
        """A line names its product in one way at least. A name that cannot be one is told itself."""
        if sent is None and not any(others.data.get(name, "wrong") for name in ("sku", "source_id")):
            raise PydanticCustomError("missing", "This field is required.")
        return sent


@writable
class SaveEcommerceCart(BaseModel):
    """A cart to save. With the id of a cart of yours it replaces that cart; without one it makes a new cart."""

    id: UUID | None = Field(None, description="The cart to replace; null for a new one.")
    items: list[CartItemInput] = Field(max_length=LARGEST_CART, description="At most 200; may be empty.")
    return_url: Annotated[ReturnUrl, strawberry.field(graphql_type=str | None)] = Field(
        "",
        description="Where the customer is sent after the order; http or https, at most 2048 characters.",
    )
