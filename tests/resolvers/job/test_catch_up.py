"""The provider's events are read on from where the last complete reading ended."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from resolvers.payment.checkout import polling
from store.core.clock import clock
from store.job.cursors import PROVIDER_EVENTS, advance_cursor, read_until
from store.providers.base import EventHint, Subject
from store.providers.errors import InvalidRequest, TransientError
from tests.fixtures.shop import Shop


class Listing:
    """An event list that notes from when on it is asked, and ends as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shop: Shop) -> None:
        self.asked: list[dt.datetime] = []
        self.end: Exception | None = None
        monkeypatch.setattr(shop.services.provider, "events_since", self._events)

    async def _events(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        self.asked.append(moment)
        yield EventHint("1", "KYC_FAILED", Subject.DOCUMENT, "kyc_unknown", moment)
        if self.end is not None:
            raise self.end


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch, shop: Shop) -> Listing:
    return Listing(monkeypatch, shop)


async def until(shop: Shop) -> dt.datetime | None:
    async with shop.services.db.sessions() as db:
        return await read_until(db, PROVIDER_EVENTS)


async def test_after_an_outage_nothing_is_left_out(shop: Shop, listing: Listing) -> None:
    first = clock.now()
    assert await polling.enqueue_missed_events(shop.services) == 1
    clock.advance(dt.timedelta(days=3))
    assert await polling.enqueue_missed_events(shop.services) == 1
    begun, resumed = listing.asked
    assert begun <= first - dt.timedelta(hours=1, minutes=59)
    assert first - polling.OVERLAP <= resumed < first
    assert await until(shop)


async def test_what_was_interrupted_is_read_again(shop: Shop, listing: Listing) -> None:
    await polling.enqueue_missed_events(shop.services)
    before = await until(shop)
    listing.end = TransientError("gone")
    clock.advance(dt.timedelta(hours=5))
    assert await polling.enqueue_missed_events(shop.services) == 0
    assert await until(shop) == before


async def test_types_that_are_refused_do_not_hold_up_the_others(shop: Shop, listing: Listing) -> None:
    await polling.enqueue_missed_events(shop.services)
    before = await until(shop)
    listing.end = InvalidRequest("not activated", {"EventType": "unknown"})
    clock.advance(dt.timedelta(hours=5))
    assert await polling.enqueue_missed_events(shop.services) == 1
    after = await until(shop)
    assert before
    assert after
    assert after >= before + dt.timedelta(hours=5)


async def test_a_cursor_never_goes_back(shop: Shop) -> None:
    now = clock.now()
    for moment in (now, now - dt.timedelta(hours=1)):
        async with shop.services.db.sessions() as db, db.begin():
            await advance_cursor(db, PROVIDER_EVENTS, moment)
    assert await until(shop) == now
    async with shop.services.db.engine.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM read_cursor"))).scalar_one() == 1
