"""Webhooks with workers: storms in order, slow endpoints in nobody's way, lost jobs made up for, old events forgotten."""

import asyncio
import datetime as dt
import itertools
import time
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY

from resolvers.job import worker
from resolvers.webhook import delivery
from store.core.clock import clock
from store.webhook import queue, sender
from tests.fixtures.webhook import Hooks
from tests.resolvers.job.workers import working
from tests.servers.receivers import Receiver, answers, hangs, receiving


@pytest.fixture
async def workers(hooks: Hooks, database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Two workers on one database. Nothing is on a schedule: sweeps emit events of their own."""
    monkeypatch.setattr(worker, "SCHEDULES", {})
    async with working(hooks.services, database_url, 2):
        yield


async def test_a_storm_of_events_reaches_every_endpoint_in_order(
    hooks: Hooks, workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Subjects change one after another, each change in a transaction of its own; all of them at once."""
    monkeypatch.setattr(queue, "RETRY_PAUSES", (dt.timedelta(seconds=0.05),) * 9)

    async def changes(subject: str) -> None:
        for _ in range(6):
            await hooks.tell(subject=subject)

    async with receiving() as steady, receiving() as moody, receiving() as hanging:
        moody.script = [answers(500) if number % 4 == 3 else answers(204) for number in range(60)]
        hanging.otherwise = hangs
        endpoints = [await hooks.endpoint(each.url) for each in (steady, moody)]
        await hooks.endpoint(hanging.url)
        await asyncio.gather(*(changes(f"s{number}") for number in range(8)))
        await hooks.shop.becomes("SELECT count(*) FROM webhook_delivery WHERE state = 'delivered'", 2 * 48)
        assert len(steady.received) == 48
        assert len(moody.received) > 48
        for receiver, endpoint in zip((steady, moody), endpoints, strict=True):
            assert receiver.most_at_once == 1
            told_in_order = [key for key, _again in itertools.groupby(receiver.ids)]
            assert len(told_in_order) == len(set(told_in_order)) == 48, "something came after what follows it"
            subjects = {
                request.event["id"]: request.verified(hooks.secret(endpoint))["subject"]
                for request in receiver.received
            }
            for subject in set(subjects.values()):
                rows = await hooks.rows("SELECT key FROM event WHERE subject = :subject ORDER BY id", subject=subject)
                assert [key for key in told_in_order if subjects[key] == subject] == [row[0] for row in rows]


async def test_a_slow_endpoint_keeps_no_other_waiting(hooks: Hooks, workers: None) -> None:
    async with receiving() as slow, receiving() as quick:
        slow.otherwise = hangs
        for _ in range(3):
            await hooks.endpoint(slow.url)
        endpoint = await hooks.endpoint(quick.url, host="quick")
        began = time.monotonic()
        await hooks.tell(20)
        await hooks.shop.becomes("SELECT count(*) FROM webhook_delivery WHERE state = 'delivered'", 20)
        assert await hooks.states(endpoint) == ["delivered"] * 20
        assert time.monotonic() - began < sender.TOTAL_TIMEOUT.total_seconds() - 2


async def test_a_lost_job_is_made_up_for(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    await hooks.tell(3)
    await hooks.shop.execute("DELETE FROM pgqueuer")
    assert await delivery.sweep(hooks.services) == 1
    assert await hooks.states(endpoint) == ["waiting"] * 3
    assert REGISTRY.get_sample_value("coffret_webhook_waiting") == 3
    await hooks.shop.execute("DELETE FROM pgqueuer")
    assert await delivery.sweep(hooks.services) == 1
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered"] * 3
    assert await delivery.sweep(hooks.services) == 0
    assert REGISTRY.get_sample_value("coffret_webhook_waiting") == 0


async def test_events_are_forgotten_after_a_while_with_their_log(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    await hooks.tell(2)
    await hooks.deliver(endpoint)
    clock.advance(dt.timedelta(days=89))
    (key,) = await hooks.tell()
    await hooks.sort()
    assert await delivery.prune_events(hooks.services) == 0
    clock.advance(dt.timedelta(days=2))
    assert await delivery.prune_events(hooks.services) == 2
    assert await hooks.rows("SELECT key FROM event") == [(key,)]
    assert await hooks.states(endpoint) == ["waiting"]
    assert await hooks.shop.count("webhook_attempt") == 0
