"""Carts on every engine: two hours, one partner, one step each."""

import asyncio
import dataclasses
import datetime as dt
from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.cart.cart import Cart, CartItem, decode_content, encode_content
from schema.core.errors import IdempotencyMismatch
from store.cart.carts import Carts, IdempotentSave
from store.core.clock import clock
from store.kv import KeyValueStore

PARTNER, OTHER = 7, 8
ITEMS = (CartItem(1, 2), CartItem(3, 0, 4, {5: "red", 6: "größer 😀"}))
URL = "https://shop.example/thanks?a=1"
JUST_BEFORE = dt.timedelta(hours=1, minutes=59)
TWO_MINUTES = dt.timedelta(minutes=2)


@pytest.fixture
def carts(kv: KeyValueStore) -> Carts:
    """All carts, of which there are none."""
    return Carts(kv)


async def saved(carts: Carts, items: Sequence[CartItem] = ITEMS, return_url: str = URL) -> Cart:
    """A new cart of PARTNER."""
    return (await carts.create(PARTNER, items, return_url)).cart


def once(key: str = "key", fingerprint: bytes = b"body", token_id: int = 1) -> IdempotentSave:
    """An idempotency key whose answer tells all of a cart."""

    async def answer(cart: Cart) -> bytes:
        return repr(cart).encode()

    return IdempotentSave(token_id, key, fingerprint, answer)


async def test_a_new_cart_is_read_as_it_was_written(carts: Carts) -> None:
    before = clock.milliseconds()
    cart = await saved(carts)
    assert cart == Cart(cart.id, PARTNER, ITEMS, URL, cart.last_modified)
    assert before <= cart.last_modified <= clock.milliseconds()
    assert cart.id.version == 4
    assert await carts.get(PARTNER, cart.id) == cart
    assert (await saved(carts)).id != cart.id


async def test_an_empty_cart(carts: Carts) -> None:
    cart = await saved(carts, [], "")
    assert (cart.items, cart.return_url) == ((), "")
    assert await carts.get(PARTNER, cart.id) == cart


async def test_replacing_overwrites_all_of_it(carts: Carts) -> None:
    old = await saved(carts)
    result = await carts.replace(PARTNER, old.id, [CartItem(9, 9)], "")
    assert result is not None
    assert result.cart == Cart(old.id, PARTNER, (CartItem(9, 9),), "", result.cart.last_modified)
    assert result.cart.last_modified > old.last_modified
    assert await carts.get(PARTNER, old.id) == result.cart


async def test_nobody_elses_cart(carts: Carts) -> None:
    cart = await saved(carts)
    assert await carts.get(OTHER, cart.id) is None
    assert await carts.replace(OTHER, cart.id, (), "") is None
    assert await carts.delete_if_unchanged(OTHER, cart.id, cart.last_modified) is False
    assert await carts.get(OTHER, cart.id) is None
    assert await carts.get(PARTNER, cart.id) == cart


async def test_an_unknown_cart_is_not_made_by_replacing_it(carts: Carts) -> None:
    unknown = uuid4()
    assert await carts.replace(PARTNER, unknown, ITEMS, URL) is None
    assert await carts.get(PARTNER, unknown) is None


async def test_a_cart_lives_two_hours_from_its_last_write(carts: Carts) -> None:
    read, replaced = await saved(carts), await saved(carts)
    clock.advance(JUST_BEFORE)
    assert await carts.get(PARTNER, read.id) == read
    result = await carts.replace(PARTNER, replaced.id, (), "")
    assert result is not None
    clock.advance(TWO_MINUTES)
    assert await carts.get(PARTNER, read.id) is None
    assert await carts.replace(PARTNER, read.id, (), "") is None
    assert await carts.delete_if_unchanged(PARTNER, read.id, read.last_modified) is False
    assert await carts.get(PARTNER, replaced.id) == result.cart
    clock.advance(JUST_BEFORE)
    assert await carts.get(PARTNER, replaced.id) is None


async def test_a_cart_made_with_a_key_lives_as_long(carts: Carts) -> None:
    cart = (await carts.create(PARTNER, ITEMS, URL, idempotent=once())).cart
    clock.advance(JUST_BEFORE)
    assert await carts.get(PARTNER, cart.id) == cart
    clock.advance(TWO_MINUTES)
    assert await carts.get(PARTNER, cart.id) is None


async def test_deleting_only_what_was_seen(carts: Carts) -> None:
    old = await saved(carts)
    result = await carts.replace(PARTNER, old.id, (), "")
    assert result is not None
    assert await carts.delete_if_unchanged(PARTNER, old.id, old.last_modified) is False
    assert await carts.get(PARTNER, old.id) == result.cart
    assert await carts.delete_if_unchanged(PARTNER, old.id, result.cart.last_modified) is True
    assert await carts.get(PARTNER, old.id) is None
    assert await carts.delete_if_unchanged(PARTNER, old.id, result.cart.last_modified) is False


async def test_of_many_replaces_at_once_one_wins_whole(carts: Carts) -> None:
    cart = await saved(carts)
    offers = [([CartItem(n, n, n, {n: str(n)})] * (n % 7 + 1), f"https://shop.example/{n}") for n in range(50)]
    results = await asyncio.gather(*(carts.replace(PARTNER, cart.id, items, url) for items, url in offers))
    written = [result.cart for result in results if result]
    assert len({cart.last_modified for cart in written}) == 50
    assert await carts.get(PARTNER, cart.id) == max(written, key=lambda cart: cart.last_modified)


async def test_a_replace_against_a_delete(carts: Carts) -> None:
    for _ in range(20):
        cart = await saved(carts)
        result, deleted = await asyncio.gather(
            carts.replace(PARTNER, cart.id, (), ""),
            carts.delete_if_unchanged(PARTNER, cart.id, cart.last_modified),
        )
        assert deleted is (result is None)
        assert await carts.get(PARTNER, cart.id) == (result.cart if result else None)


async def test_the_same_key_creates_one_cart(carts: Carts) -> None:
    results = await asyncio.gather(*(carts.create(PARTNER, ITEMS, URL, idempotent=once()) for _ in range(50)))
    (first,) = [result for result in results if not result.replayed]
    assert first.response == repr(first.cart).encode()
    assert all(result == dataclasses.replace(first, replayed=True) for result in results if result.replayed)
    assert await carts.get(PARTNER, first.cart.id) == first.cart


async def test_the_same_key_replaces_once(carts: Carts) -> None:
    cart = await saved(carts)
    results = await asyncio.gather(*(carts.replace(PARTNER, cart.id, (), "", idempotent=once()) for _ in range(50)))
    (first,) = [result for result in results if result and not result.replayed]
    assert first.cart.last_modified > cart.last_modified
    assert all(result == dataclasses.replace(first, replayed=True) for result in results if result and result.replayed)
    assert None not in results
    assert await carts.get(PARTNER, cart.id) == first.cart


async def test_the_first_answer_outlives_the_cart(carts: Carts) -> None:
    first = await carts.create(PARTNER, ITEMS, URL, idempotent=once())
    later = await carts.replace(PARTNER, first.cart.id, (), "")
    assert later is not None
    assert await carts.create(PARTNER, ITEMS, URL, idempotent=once()) == dataclasses.replace(first, replayed=True)
    assert await carts.get(PARTNER, first.cart.id) == later.cart
    assert await carts.delete_if_unchanged(PARTNER, first.cart.id, later.cart.last_modified)
    clock.advance(dt.timedelta(hours=23, minutes=59))
    assert await carts.create(PARTNER, ITEMS, URL, idempotent=once()) == dataclasses.replace(first, replayed=True)
    assert await carts.get(PARTNER, first.cart.id) is None
    clock.advance(TWO_MINUTES)
    again = await carts.create(PARTNER, ITEMS, URL, idempotent=once())
    assert not again.replayed
    assert again.cart.id != first.cart.id


async def test_a_key_is_for_one_request(carts: Carts) -> None:
    first = await carts.create(PARTNER, ITEMS, URL, idempotent=once())
    with pytest.raises(IdempotencyMismatch):
        await carts.create(PARTNER, (), "", idempotent=once(fingerprint=b"another"))
    with pytest.raises(IdempotencyMismatch):
        await carts.replace(PARTNER, first.cart.id, (), "", idempotent=once(fingerprint=b"another"))
    assert await carts.get(PARTNER, first.cart.id) == first.cart


async def test_keys_of_tokens_do_not_meet(carts: Carts) -> None:
    one = await carts.create(PARTNER, ITEMS, URL, idempotent=once())
    other = await carts.create(PARTNER, (), "", idempotent=once(fingerprint=b"another", token_id=2))
    assert not other.replayed
    assert other.cart.id != one.cart.id


async def test_a_refused_replace_leaves_its_key_free(carts: Carts) -> None:
    assert await carts.replace(PARTNER, uuid4(), (), "", idempotent=once()) is None
    result = await carts.create(PARTNER, ITEMS, URL, idempotent=once(fingerprint=b"put right"))
    assert not result.replayed


NUMBERS = st.integers(-(2**63), 2**63 - 1)
CART_ITEMS = st.builds(
    CartItem,
    product_id=NUMBERS,
    quantity=st.integers(0, 9_999),
    variant_id=st.none() | NUMBERS,
    attribute_values=st.dictionaries(st.integers(), st.text(), max_size=5),
)


@given(items=st.lists(CART_ITEMS, max_size=8).map(tuple), return_url=st.text(max_size=2048))
def test_content_comes_back_as_it_was(items: tuple[CartItem, ...], return_url: str) -> None:
    assert decode_content(encode_content(items, return_url)) == (items, return_url)


def test_items_have_defaults() -> None:
    assert CartItem(1, 2) == CartItem(product_id=1, quantity=2, variant_id=None, attribute_values={})
    assert UUID(int=1) == Cart(UUID(int=1), 1, (), "", 0).id


# ---- carts that expire ------------------------------------------------------------------------------------------------


async def expired(carts: Carts, partner_id: int = PARTNER) -> list[tuple[UUID, int, object]]:
    """The id, last write and content of the carts that are told to have expired."""
    return [(cart.id, cart.last_modified, cart.content) for cart in await carts.expired(partner_id, limit=100)]


async def test_the_end_of_a_cart_is_told_with_its_content(carts: Carts) -> None:
    old = await saved(carts)
    clock.advance(dt.timedelta(hours=1))
    kept = await saved(carts, (), "")
    with_key = (await carts.create(OTHER, ITEMS, "", idempotent=once())).cart
    clock.advance(dt.timedelta(hours=1))
    assert await expired(carts) == []
    clock.advance(dt.timedelta(minutes=1, seconds=1))
    assert await expired(carts) == [(old.id, old.last_modified, (ITEMS, URL))]
    assert await expired(carts, OTHER) == []
    clock.advance(dt.timedelta(hours=1))
    assert await expired(carts, OTHER) == [(with_key.id, with_key.last_modified, (ITEMS, ""))]
    (first, second) = await carts.expired(PARTNER, limit=100)
    assert (first.id, second.id) == (old.id, kept.id)
    assert await carts.expired(PARTNER, limit=1) == [first]
    assert await carts.expired(PARTNER, limit=1, skip=1) == [second]
    await carts.acknowledge(PARTNER, [first])
    assert await carts.expired(PARTNER, limit=100) == [second]
    await carts.acknowledge(PARTNER, [second])
    assert await expired(carts) == []


async def test_a_cart_that_was_replaced_expires_once(carts: Carts) -> None:
    cart = await saved(carts)
    clock.advance(JUST_BEFORE)
    result = await carts.replace(PARTNER, cart.id, (), "")
    assert result is not None
    clock.advance(JUST_BEFORE)
    assert await expired(carts) == []
    clock.advance(dt.timedelta(minutes=2))
    assert await expired(carts) == [(cart.id, result.cart.last_modified, ((), ""))]


async def test_a_cart_that_was_ordered_does_not_expire(carts: Carts) -> None:
    cart = await saved(carts)
    assert await carts.delete_if_unchanged(PARTNER, cart.id, cart.last_modified)
    clock.advance(dt.timedelta(hours=3))
    assert await expired(carts) == []
