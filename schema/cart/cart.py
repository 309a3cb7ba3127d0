"""The cart as stored, and its serialization."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import orjson


@dataclass(frozen=True, slots=True)
class CartItem:
    """One line of a cart. Numbers fit 64 bits; `attribute_values` maps attribute ids to chosen values."""

    product_id: int
    quantity: int
    variant_id: int | None = None
    attribute_values: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cart:
    """A customer's cart. `return_url` is empty if there is none."""

    id: UUID
    partner_id: int
    items: tuple[CartItem, ...]
    return_url: str
    last_modified: int
    """Milliseconds since 1970; increases with each write."""


def encode_content(items: Sequence[CartItem], return_url: str) -> bytes:
    """Serialize a cart's content as compact JSON. Raises TypeError for a number beyond 64 bits or a lone surrogate."""
    lines = [
        (item.product_id, item.quantity, item.variant_id, {str(id): text for id, text in item.attribute_values.items()})
        for item in items
    ]
    return orjson.dumps((return_url, lines))


def decode_content(value: bytes) -> tuple[tuple[CartItem, ...], str]:
    """The items and the `return_url` that `encode_content` serialized."""
    return_url, lines = orjson.loads(value)
    items = [
        CartItem(product, quantity, variant, {int(id): text for id, text in chosen.items()} if chosen else {})
        for product, quantity, variant, chosen in lines
    ]
    return tuple(items), return_url
