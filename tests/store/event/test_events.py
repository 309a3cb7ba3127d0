"""Events are written with what they tell of, or not at all."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text

from schema.event import EVENT_DATA_KEYS, EVENT_EXAMPLES, EventType
from store.event.events import NewEvent, emit
from tests.fixtures.shop import Shop


async def tell(
    shop: Shop, subject: str = "cart", once: str | None = None, kind: EventType = EventType.CART_EXPIRED
) -> None:
    """One event, in a transaction of its own."""
    async with shop.services.db.sessions() as db, db.begin():
        await emit(
            db, NewEvent(kind, partner_id=shop.partner.id, subject=subject, data=EVENT_EXAMPLES[kind], unique_key=once)
        )


async def test_an_event_is_there_when_its_transaction_is_committed(shop: Shop) -> None:
    async with shop.services.db.sessions() as db, db.begin():
        data = EVENT_EXAMPLES[EventType.CART_EXPIRED]
        await emit(db, NewEvent(EventType.CART_EXPIRED, partner_id=shop.partner.id, subject="cart", data=data))
        assert await shop.count("event") == 0
        assert await shop.count("pgqueuer") == 0
    (row,) = await shop.services.db.rows(text("SELECT * FROM event"))
    assert row.key.startswith("evt_")
    assert (row.type, row.subject, row.data) == ("cart.expired", "cart", data)
    assert (row.partner_id, row.marketplace_id) == (shop.partner.id, shop.partner.marketplace_id)
    assert await shop.one("SELECT entrypoint FROM pgqueuer") == "sort_events"


async def test_what_is_rolled_back_is_told_to_nobody(shop: Shop) -> None:
    async def fall() -> None:
        async with shop.services.db.sessions() as db, db.begin():
            data = EVENT_EXAMPLES[EventType.CART_EXPIRED]
            await emit(
                db,
                NewEvent(EventType.CART_EXPIRED, partner_id=shop.partner.id, subject="cart", data=data, unique_key="x"),
            )
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fall()
    assert await shop.count("event") == await shop.count("pgqueuer") == 0
    await tell(shop, once="x")
    assert await shop.count("event") == 1


async def test_a_second_event_of_the_same_word_is_nothing(shop: Shop) -> None:
    await asyncio.gather(*(tell(shop, once="x") for _ in range(8)))
    assert await shop.count("event") == await shop.count("pgqueuer") == 1
    await tell(shop, once="y")
    await tell(shop, once="x", kind=EventType.ORDER_PAID)
    await tell(shop)
    await tell(shop)
    assert await shop.count("event") == await shop.count("pgqueuer") == 5


@pytest.mark.parametrize("data", [{}, {"id": "x"}, {**EVENT_EXAMPLES[EventType.CART_EXPIRED], "more": 1}])
async def test_the_keys_of_an_event_are_the_documented_ones(shop: Shop, data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="keys"):
        async with shop.services.db.sessions() as db, db.begin():
            await emit(db, NewEvent(EventType.CART_EXPIRED, partner_id=shop.partner.id, subject="cart", data=data))
    assert await shop.count("event") == 0


@pytest.mark.parametrize("kind", EventType)
def test_every_type_has_documented_keys_and_an_example(kind: EventType) -> None:
    assert list(EVENT_EXAMPLES[kind]) == list(EVENT_DATA_KEYS[kind])
