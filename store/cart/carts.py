"""Carts, stored for two hours after their last write. A cart is visible to its own partner only."""

import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID, uuid4

from schema.cart.cart import Cart, CartItem, decode_content, encode_content
from schema.cart.ecommerce_cart import CART_LIFETIME
from store import kv

RESPONSE_LIFE = dt.timedelta(hours=24)
EXPIRY_EVENT_DELAY = CART_LIFETIME + dt.timedelta(minutes=1)
"""Delay from a cart's last write to its expiry event. A payment started in the last moment is recorded by then."""
EXPIRED_CONTENT_LIFE = dt.timedelta(minutes=30)
"""How long the content of an expired cart stays available for the expiry event."""
EXPIRY_RECORD_LIFE = dt.timedelta(days=3)
"""How long after a cart's last write its expiry can still be reported if no worker has run."""
_ID_BYTES = 16
_HEX_DIGITS = 2 * _ID_BYTES


@dataclass(frozen=True, slots=True)
class IdempotentSave:
    """Idempotency of a create or replace: the same key returns the first response, for 24 hours."""

    token_id: int
    """Keys are scoped to this token."""
    key: str
    fingerprint: bytes
    """Identifies the request. The same key with another fingerprint raises `IdempotencyMismatch`."""
    build_response: Callable[[Cart], Awaitable[bytes]]
    """Builds the response to store. It may be called several times for one write; the last result is stored."""


@dataclass(frozen=True, slots=True)
class SavedCart:
    """A written cart. With `replayed`, the result of the first request with the same key."""

    cart: Cart
    response: bytes = b""
    """The result of `IdempotentSave.build_response` at the first use of the key; empty without `idempotent`."""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class ExpiredCart:
    """A cart that was neither written nor ordered for two hours."""

    id: UUID
    last_modified: int
    content: tuple[tuple[CartItem, ...], str] | None
    """Its items and return URL; None if they are no longer stored."""
    record: kv.ExpiredRecord


class Carts:
    """The cart store.

    Each operation is atomic and one round trip. Raises `Unavailable` if the store cannot be reached.
    """

    def __init__(self, store: kv.KeyValueStore) -> None:
        self._store = store

    async def create(
        self, partner_id: int, items: Sequence[CartItem], return_url: str, *, idempotent: IdempotentSave | None = None
    ) -> SavedCart:
        """Create a cart with a new id."""
        saved = await self._write(partner_id, uuid4(), tuple(items), return_url, kv.WriteMode.ALWAYS, idempotent)
        assert saved is not None, "an unconditional write always succeeds"
        return saved

    async def replace(
        self,
        partner_id: int,
        id: UUID,
        items: Sequence[CartItem],
        return_url: str,
        *,
        idempotent: IdempotentSave | None = None,
    ) -> SavedCart | None:
        """Replace a live cart of the partner. Returns None if there is none; then no response is stored either.

        Of concurrent writes the last wins. `last_modified` increases with each write.
        """
        return await self._write(partner_id, id, tuple(items), return_url, kv.WriteMode.PRESENT, idempotent)

    async def find_saved(self, partner_id: int, idempotent: IdempotentSave) -> SavedCart | None:
        """The result stored for the same key within 24 hours; None for a new key. Writes nothing."""
        return await self._write(partner_id, uuid4(), (), "", kv.WriteMode.PRESENT, idempotent)

    async def get(self, partner_id: int, id: UUID) -> Cart | None:
        """The partner's live cart with this id. Reading does not extend its lifetime."""
        record = await self._store.get(_key(partner_id, id))
        if record is None:
            return None
        items, return_url = decode_content(record.value)
        return Cart(id, partner_id, items, return_url, record.version)

    async def delete_if_unchanged(self, partner_id: int, id: UUID, last_modified: int) -> bool:
        """Delete the cart unless it was written since. Returns True if it was deleted."""
        return await self._store.delete(
            _key(partner_id, id), version=last_modified, expiry_index=_expiry_index(partner_id)
        )

    async def expired(self, partner_id: int, *, limit: int, skip: int = 0) -> list[ExpiredCart]:
        """Carts of the partner that expired at least a minute ago, oldest first.

        They are returned until acknowledged.
        """
        records = await self._store.expired(_expiry_index(partner_id), limit=limit, skip=skip)
        return [
            ExpiredCart(
                UUID(record.key[-_HEX_DIGITS:]),
                record.version,
                None if record.value is None else decode_content(record.value),
                record,
            )
            for record in records
        ]

    async def acknowledge(self, partner_id: int, carts: Sequence[ExpiredCart]) -> None:
        """Stop returning these from `expired`."""
        await self._store.acknowledge(_expiry_index(partner_id), [cart.record for cart in carts])

    async def _write(
        self,
        partner_id: int,
        id: UUID,
        items: tuple[CartItem, ...],
        return_url: str,
        when: kv.WriteMode,
        idempotent: IdempotentSave | None,
    ) -> SavedCart | None:
        def build_cart(id: UUID, version: int) -> Cart:
            return Cart(id, partner_id, items, return_url, version)

        key, content, expiries = _key(partner_id, id), encode_content(items, return_url), _expiry_index(partner_id)
        if idempotent is None:
            result = await self._store.write(key, content, CART_LIFETIME, when=when, expiry_index=expiries)
            return None if result is None else SavedCart(build_cart(id, result.version))

        async def answer(version: int) -> bytes:
            # The id precedes the response: a repeated create draws a new id but must return the first one.
            return id.bytes + await idempotent.build_response(build_cart(id, version))

        keep = kv.IdempotentWrite(
            f"coffret:{{p{partner_id}}}:once:{idempotent.token_id}:{idempotent.key}",
            idempotent.fingerprint,
            RESPONSE_LIFE,
            answer,
        )
        result = await self._store.write(key, content, CART_LIFETIME, when=when, idempotent=keep, expiry_index=expiries)
        if result is None:
            return None
        first = UUID(bytes=result.response[:_ID_BYTES])
        return SavedCart(build_cart(first, result.version), result.response[_ID_BYTES:], result.replayed)


def _key(partner_id: int, id: UUID) -> str:
    return f"coffret:{{p{partner_id}}}:cart:{id.hex}"


@lru_cache(maxsize=4096)
def _expiry_index(partner_id: int) -> kv.ExpiryIndex:
    return kv.ExpiryIndex(
        f"coffret:{{p{partner_id}}}:carts", EXPIRY_EVENT_DELAY, EXPIRED_CONTENT_LIFE, EXPIRY_RECORD_LIFE
    )
