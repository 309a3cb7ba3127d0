"""Telling events again: by their ids or by a time, in portions, and the log of every try."""

import datetime as dt
from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.webhook import endpoints
from resolvers.webhook.endpoints import WebhookDeliveryFilter
from schema.core.errors import InvalidInput
from schema.event import EventType
from schema.webhook.input import CreateWebhookEndpoint, ReplayWebhooks
from schema.webhook.webhook import DeliveryState
from store.core.clock import clock
from store.webhook import queue
from store.webhook.rows import WebhookEndpointRow
from tests.fixtures.tenants import Tenants
from tests.fixtures.webhook import URL, Hooks, refused_fields
from tests.servers.receivers import Receiver, answers


async def delivered(hooks: Hooks, receiver: Receiver, endpoint: WebhookEndpointRow, number: int = 3) -> list[str]:
    keys = list(await hooks.tell(number))
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered"] * number
    return keys


async def test_single_events_are_told_again_under_the_same_id(hooks: Hooks, receiver: Receiver) -> None:
    endpoint, other = await hooks.endpoint(receiver.url), await hooks.endpoint("http://127.0.0.1:1024/")
    keys = await delivered(hooks, receiver, endpoint)
    given = ReplayWebhooks(id=endpoint.id, event_ids=[keys[1], "evt_unknown"])
    assert await endpoints.replay_webhooks(hooks.shop.manager, given) == 1
    assert await hooks.states(endpoint) == ["delivered", "waiting", "delivered"]
    assert await endpoints.replay_webhooks(hooks.shop.manager, given) == 0, "what waits waits on"
    await hooks.deliver(endpoint)
    assert receiver.ids == [*keys, keys[1]]
    first, again = receiver.received[1], receiver.received[3]
    assert (first.message_id, first.body) == (again.message_id, again.body)
    assert await hooks.states(other) == ["waiting"] * 3


async def test_a_time_is_told_again_with_what_was_never_told(hooks: Hooks, receiver: Receiver) -> None:
    since = clock.now()
    before = list(await hooks.tell(2))
    await hooks.tell(kind=EventType.ORDER_PAID)
    await hooks.sort()
    endpoint = await hooks.endpoint(receiver.url, EventType.CART_EXPIRED)
    keys = await delivered(hooks, receiver, endpoint, 2)
    until = clock.now()
    clock.advance(dt.timedelta(seconds=1))
    await hooks.tell()
    await hooks.sort()
    given = ReplayWebhooks(id=endpoint.id, since=since, until=until)
    assert await endpoints.replay_webhooks(hooks.shop.manager, given) == 4
    await hooks.deliver(endpoint)
    assert receiver.ids[:6] == [*keys, *before, *keys]
    assert len(receiver.received) == 7


async def test_what_is_too_much_for_one_replay_is_put_in_line_by_the_next(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_REPLAYED", 2)
    since = clock.now()
    keys = await hooks.tell(5)
    await hooks.sort()
    endpoint = await hooks.endpoint(receiver.url)
    given = ReplayWebhooks(id=endpoint.id, since=since)
    assert [await endpoints.replay_webhooks(hooks.shop.manager, given) for _ in range(4)] == [2, 2, 1, 0]
    await hooks.deliver(endpoint)
    assert receiver.ids == list(keys)


async def test_a_failed_message_can_be_replayed(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    (key,) = await hooks.tell()
    await hooks.sort()
    await hooks.shop.execute("UPDATE webhook_delivery SET state = 'failed', tries = 10, last_status = 500")
    await endpoints.replay_webhooks(hooks.shop.manager, ReplayWebhooks(id=endpoint.id, event_ids=[key]))
    (row,) = await hooks.rows("SELECT state, tries, next_try_on FROM webhook_delivery")
    assert tuple(row) == ("waiting", 0, None)
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered"]


async def test_the_events_of_others_are_not_replayed(tenants: Tenants) -> None:
    before = await tenants.snapshot()
    context, ours = await tenants.context("a1"), tenants.owned["a1"].webhook_endpoint
    for given in (
        ReplayWebhooks(id=ours, event_ids=["evt_a2", "evt_b1"]),
        ReplayWebhooks(id=ours, since=clock.now() + dt.timedelta(hours=1)),
    ):
        assert await endpoints.replay_webhooks(context, given) == 0
    assert await tenants.snapshot() == before
    market = await endpoints.create_webhook_endpoint(await tenants.context("market a"), CreateWebhookEndpoint(url=URL))
    since = clock.now() - dt.timedelta(days=1)
    given = ReplayWebhooks(id=market.endpoint.id, since=since)
    assert await endpoints.replay_webhooks(await tenants.context("market a"), given) == 2


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "since"),
        ({"event_ids": ["evt_a1"], "since": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, "since"),
        ({"event_ids": ["evt_a1"], "until": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, "until"),
        (
            {"since": dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "until": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)},
            "until",
        ),
    ],
)
async def test_what_to_replay_is_said_in_one_way(tenants: Tenants, values: dict[str, Any], field: str) -> None:
    context, given = await tenants.context("a1"), ReplayWebhooks(id=tenants.owned["a1"].webhook_endpoint, **values)
    with pytest.raises(InvalidInput) as raised:
        await endpoints.replay_webhooks(context, given)
    assert refused_fields(raised) == {field}


async def test_the_log_tells_each_try(hooks: Hooks, receiver: Receiver) -> None:
    endpoint, other = await hooks.endpoint(receiver.url), await hooks.endpoint("http://127.0.0.1:1024/")
    receiver.script = [answers(503, b"a moment")]
    await hooks.tell()
    await hooks.tell(kind=EventType.ORDER_PAID)
    await hooks.deliver(endpoint)
    await hooks.later(endpoint)

    async def count_deliveries(**filter: Any) -> int:
        found = await endpoints.webhook_deliveries(hooks.shop.manager, PageArguments(), WebhookDeliveryFilter(**filter))
        return len(await found.rows.objects())

    (key,) = (await hooks.rows("SELECT key FROM webhook_delivery LIMIT 1"))[0]
    assert await count_deliveries() == 4
    assert await count_deliveries(endpoint_id=endpoint.id) == await count_deliveries(endpoint_id=other.id) == 2
    assert (
        await count_deliveries(states=[DeliveryState.WAITING])
        == await count_deliveries(states=[DeliveryState.DELIVERED])
        == 2
    )
    assert await count_deliveries(event_types=[EventType.ORDER_PAID]) == 2
    assert await count_deliveries(ids=[key]) == 1
    assert await count_deliveries(created_from=clock.now() + dt.timedelta(seconds=9)) == 0
    assert await count_deliveries(created_until=clock.now()) == 4


async def test_the_log_over_graphql(tenants: Tenants) -> None:
    await tenants.execute(
        "INSERT INTO webhook_attempt (delivery_id, started_on, duration_ms, outcome, status, error, answer)"
        " SELECT id, now(), 12, 'refused', 500, 'It answered 500.', 'oh' FROM webhook_delivery WHERE key = 'msg_a1'"
    )
    query = """{ webhookDeliveries(filter: {states: [DELIVERED]}) { totalCount nodes {
        id state tries nextTryOn lastStatus lastError event { id type } endpoint { id url }
        attempts { durationMs outcome status error answer } } } }"""
    body = await tenants.graphql("a1", query)
    (node,) = body["data"]["webhookDeliveries"]["nodes"]
    assert node == {
        "id": "msg_a1", "state": "DELIVERED", "tries": 0, "nextTryOn": None, "lastStatus": None, "lastError": "",
        "event": {"id": "evt_a1", "type": "CART_EXPIRED"},
        "endpoint": {"id": tenants.owned["a1"].webhook_endpoint, "url": "https://8.8.8.8/a1"},
        "attempts": [
            {"durationMs": 12, "outcome": "REFUSED", "status": 500, "error": "It answered 500.", "answer": "oh"}
        ],
    }  # fmt: skip
    assert (await tenants.graphql("market a", query))["data"]["webhookDeliveries"]["totalCount"] == 2
