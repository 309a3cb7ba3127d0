"""Multi-product carts: network products that an API client puts into a basket, stored for two hours."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from schema.cart.ecommerce_cart import CART_LIFETIME
from schema.checkout.basket import BoxChoice, NetworkChoice, NetworkGiftCardChoice
from store.kv import KeyValueStore


@dataclass(frozen=True, slots=True)
class MultiProductContent:
    """What is in a multi-product cart."""

    gift_cards: tuple[NetworkGiftCardChoice, ...]
    boxes: tuple[BoxChoice, ...]

    @property
    def choices(self) -> tuple[NetworkChoice, ...]:
        return (*self.gift_cards, *self.boxes)

    def lines(self, cart_id: UUID) -> Mapping[UUID, NetworkChoice]:
        """The lines of the basket that it becomes. Their ids are the same whenever it is read."""
        return {uuid.uuid5(cart_id, str(at)): choice for at, choice in enumerate(self.choices)}


CONTENT = TypeAdapter(MultiProductContent)


@dataclass(frozen=True, slots=True)
class StoredMultiProductCart:
    """A stored cart and its version: milliseconds since 1970."""

    id: UUID
    content: MultiProductContent
    version: int


class MultiProductCarts:
    """The store of multi-product carts. Raises `Unavailable` if it cannot be reached."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store

    async def create(self, partner_id: int, content: MultiProductContent) -> StoredMultiProductCart:
        """Store a new cart of a partner's shop."""
        id = uuid4()
        written = await self._store.write(_key(partner_id, id), CONTENT.dump_json(content), CART_LIFETIME)
        assert written is not None, "an unconditional write always succeeds"
        return StoredMultiProductCart(id, content, written.version)

    async def get(self, partner_id: int, id: UUID) -> StoredMultiProductCart | None:
        """The live cart of a partner's shop with this id. Reading does not extend its lifetime."""
        record = await self._store.get(_key(partner_id, id))
        return record and StoredMultiProductCart(id, CONTENT.validate_json(record.value), record.version)

    async def delete(self, partner_id: int, id: UUID) -> None:
        """Delete a cart that has become an order."""
        await self._store.delete(_key(partner_id, id))


def _key(partner_id: int, id: UUID) -> str:
    return f"coffret:{{p{partner_id}}}:multi:{id.hex}"
