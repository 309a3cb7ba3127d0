"""Carts: held for two hours after their last write, each visible to its own partner only."""

import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID, uuid4

from schema.cart.cart import Cart, CartItem, decode_content, encode_content
from schema.cart.ecommerce_cart import CART_LIFE
from store import kv

ANSWER_LIFE = dt.timedelta(hours=24)
TOLD_AFTER = CART_LIFE + dt.timedelta(minutes=1)
"""When the end of a cart is told: whoever began to pay in its last moment has written so by then."""
CONTENT_KEPT = dt.timedelta(minutes=30)
"""How long the content of an expired cart is still known to whoever tells of it."""
NOTED_FOR = dt.timedelta(days=3)
"""How long after its last write a cart's end is told, should no worker have run."""
_ID_BYTES = 16
_HEX_DIGITS = 2 * _ID_BYTES


@dataclass(frozen=True, slots=True)
class Once:
    """Makes a create or a replace happen once: the same key again gets the first answer, for 24 hours."""

    token_id: int
    """Whose key it is: each token has keys of its own."""
    key: str
    fingerprint: bytes
    """Whatever tells this request from another; the same key with another fingerprint raises `IdempotencyMismatch`."""
    answer: Callable[[Cart], Awaitable[bytes]]
    """Makes the answer to keep. It may be called several times for one write, of which the last counts."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A cart as it was written, now or (`replayed`) the first time its key was used."""

    cart: Cart
    answer: bytes = b""
    """What `Once.answer` made for the first use of the key; empty without `once`."""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class ExpiredCart:
    """A cart that nobody wrote, nor ordered, for two hours."""

    id: UUID
    last_modified: int
    content: tuple[tuple[CartItem, ...], str] | None
    """Its items and return URL; None when they are no longer kept."""
    record: kv.Expired


class Carts:
    """All carts. Each operation is atomic and one round trip; a store out of reach raises `Unavailable`."""

    def __init__(self, store: kv.KeyValue) -> None:
        self._store = store

    async def create(
        self, partner_id: int, items: Sequence[CartItem], return_url: str, *, once: Once | None = None
    ) -> Saved:
        """A new cart with an id of its own."""
        saved = await self._write(partner_id, uuid4(), tuple(items), return_url, kv.When.ALWAYS, once)
        assert saved is not None, "a write on no condition takes place"
        return saved

    async def replace(
        self, partner_id: int, id: UUID, items: Sequence[CartItem], return_url: str, *, once: Once | None = None
    ) -> Saved | None:
        """Overwrite a live cart of the partner, whole; None when there is none (then no answer is kept either).

        Of several at a time the last wins. `last_modified` rises with each.
        """
        return await self._write(partner_id, id, tuple(items), return_url, kv.When.PRESENT, once)

    async def saved_before(self, partner_id: int, once: Once) -> Saved | None:
        """What the same key was answered first, within 24 hours; None for a key that is new. Nothing is written."""
        return await self._write(partner_id, uuid4(), (), "", kv.When.PRESENT, once)

    async def get(self, partner_id: int, id: UUID) -> Cart | None:
        """The live cart of the partner with this id. Looking at it does not extend its life."""
        record = await self._store.get(_key(partner_id, id))
        if record is None:
            return None
        items, return_url = decode_content(record.value)
        return Cart(id, partner_id, items, return_url, record.version)

    async def delete_if_unchanged(self, partner_id: int, id: UUID, last_modified: int) -> bool:
        """Delete the cart unless it was written since; tells whether it was there, unchanged."""
        return await self._store.delete(_key(partner_id, id), version=last_modified, expiries=_expiries(partner_id))

    async def expired(self, partner_id: int, *, most: int, skip: int = 0) -> list[ExpiredCart]:
        """Carts of the partner that expired at least a minute ago, the oldest first; all again until crossed off."""
        found = await self._store.expired(_expiries(partner_id), most=most, skip=skip)
        return [
            ExpiredCart(
                UUID(record.key[-_HEX_DIGITS:]),
                record.version,
                None if record.value is None else decode_content(record.value),
                record,
            )
            for record in found
        ]

    async def cross_off(self, partner_id: int, carts: Sequence[ExpiredCart]) -> None:
        """Never answer these again."""
        await self._store.cross_off(_expiries(partner_id), [cart.record for cart in carts])

    async def _write(
        self,
        partner_id: int,
        id: UUID,
        items: tuple[CartItem, ...],
        return_url: str,
        when: kv.When,
        once: Once | None,
    ) -> Saved | None:
        def written(id: UUID, version: int) -> Cart:
            return Cart(id, partner_id, items, return_url, version)

        key, content, expiries = _key(partner_id, id), encode_content(items, return_url), _expiries(partner_id)
        if once is None:
            result = await self._store.write(key, content, CART_LIFE, when=when, expiries=expiries)
            return None if result is None else Saved(written(id, result.version))

        async def answer(version: int) -> bytes:
            # The id goes first: a repeated create drew another one, but its content is that of the first.
            return id.bytes + await once.answer(written(id, version))

        keep = kv.Once(
            f"coffret:{{p{partner_id}}}:once:{once.token_id}:{once.key}",
            once.fingerprint,
            ANSWER_LIFE,
            answer,
        )
        result = await self._store.write(key, content, CART_LIFE, when=when, once=keep, expiries=expiries)
        if result is None:
            return None
        first = UUID(bytes=result.answer[:_ID_BYTES])
        return Saved(written(first, result.version), result.answer[_ID_BYTES:], result.replayed)


def _key(partner_id: int, id: UUID) -> str:
    return f"coffret:{{p{partner_id}}}:cart:{id.hex}"


@lru_cache(maxsize=4096)
def _expiries(partner_id: int) -> kv.Expiries:
    return kv.Expiries(f"coffret:{{p{partner_id}}}:carts", TOLD_AFTER, CONTENT_KEPT, NOTED_FOR)
