"""Messages reach their endpoints: in order, once each unless somebody dies, for three days, and nobody waits for others."""

import asyncio
import datetime as dt

import orjson
import pytest

from resolvers.webhook import delivery
from schema.event import EVENT_EXAMPLES, EventType
from store.core.clock import clock
from store.event.events import NewEvent, emit
from store.partner.partners import MarketplaceRow, PartnerRow
from store.webhook import sender
from store.webhook.queue import RETRY_PAUSES
from tests.fixtures.shop import Shop
from tests.fixtures.webhook import Hooks
from tests.resolvers.job.workers import waited
from tests.servers.receivers import Received, Receiver, answers, closes, hangs


def message_and_event(request: Received) -> tuple[str, str]:
    return request.message_id, request.event["id"]


async def test_an_event_arrives_and_the_official_library_believes_it(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    (key,) = await hooks.tell(kind=EventType.ORDER_PAID, subject="1207")
    await hooks.deliver(endpoint)
    (request,) = receiver.received
    event = request.verified(hooks.secret(endpoint))
    assert event == {
        "type": "order.paid",
        "timestamp": event["timestamp"],
        "id": key,
        "partner": {"id": hooks.shop.partner.id, "uuid": str(hooks.shop.partner.uuid)},
        "subject": "1207",
        "data": EVENT_EXAMPLES[EventType.ORDER_PAID],
    }
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("Coffret-Webhooks/")
    (row,) = await hooks.rows("SELECT state, tries, last_status, last_error, delivered_on, key FROM webhook_delivery")
    assert tuple(row)[:4] == ("delivered", 1, 204, "")
    assert row.delivered_on is not None
    assert row.key == request.message_id
    (attempt,) = await hooks.rows("SELECT outcome, status, error, duration_ms FROM webhook_attempt")
    assert tuple(attempt)[:3] == ("delivered", 204, "")
    assert 0 <= attempt.duration_ms < 10_000


async def test_endpoints_are_told_what_they_asked_for(hooks: Hooks, receiver: Receiver) -> None:
    everything = await hooks.endpoint(receiver.url)
    payments = await hooks.endpoint(receiver.url, EventType.ORDER_PAID, EventType.ORDER_CREATED)
    carts = await hooks.endpoint(receiver.url, EventType.CART_COMPLETED)
    await hooks.tell(kind=EventType.ORDER_PAID)
    await hooks.tell(kind=EventType.CART_EXPIRED)
    await hooks.sort()
    assert [len(await hooks.states(e)) for e in (everything, payments, carts)] == [2, 1, 0]
    ids = {row[0] for row in await hooks.rows("SELECT key FROM webhook_delivery")}
    assert len(ids) == 3, "each message has an id of its own"


async def test_a_marketplace_is_told_of_all_its_partners_and_a_partner_of_itself(
    shop: Shop, receiver: Receiver
) -> None:
    hooks = Hooks.of(shop)
    first, market = shop.partner, shop.partner.marketplace_id
    second, stranger = await other_partner(hooks, market), await other_partner(hooks, None)
    endpoints = [
        await hooks.endpoint(receiver.url),
        await hooks.endpoint(receiver.url, partner_id=second),
        await hooks.endpoint(receiver.url, partner_id=None),
    ]
    for partner_id in (first.id, second, stranger):
        await hooks.tell(partner_id=partner_id)
    await hooks.sort()
    assert [len(await hooks.states(endpoint)) for endpoint in endpoints] == [1, 1, 2]


async def other_partner(hooks: Hooks, marketplace_id: int | None) -> int:
    """A partner more, of this marketplace or of another."""
    name = f"p{await hooks.shop.count('partner')}"
    of = marketplace_id or (await hooks.shop.add(MarketplaceRow(name=name))).id
    row = PartnerRow(
        marketplace_id=of, source_id=name, commercial_name=name, short_name=name, site_domain=f"{name}.localhost"
    )
    return (await hooks.shop.add(row)).id


# ---- failures


async def test_a_message_that_fails_is_sent_again_with_the_same_id_and_bytes(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.script = [answers(500, b"out of order"), closes, answers(302, location="/"), answers(200)]
    await hooks.tell()
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["waiting"]
    await hooks.deliver(endpoint)
    assert len(receiver.received) == 1, "it is tried before its time"
    while await hooks.later(endpoint):
        pass
    assert await hooks.states(endpoint) == ["delivered"]
    assert len(receiver.received) == 4
    assert len({(*message_and_event(request), request.body) for request in receiver.received}) == 1
    attempts = await hooks.rows("SELECT outcome, status, answer FROM webhook_attempt ORDER BY id")
    assert [tuple(row) for row in attempts] == [
        ("refused", 500, "out of order"),
        ("unreachable", None, ""),
        ("redirected", 302, ""),
        ("delivered", 200, ""),
    ]


async def test_the_next_message_waits_until_the_one_before_is_delivered(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.script = [answers(204), answers(503)]
    keys = await hooks.tell(5)
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered", *["waiting"] * 4]
    assert receiver.ids == [keys[0], keys[1]]
    await hooks.later(endpoint)
    assert receiver.ids == [keys[0], keys[1], *keys[1:]]
    assert await hooks.states(endpoint) == ["delivered"] * 5


async def test_pauses_grow_for_three_days_then_the_endpoint_is_disabled(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.otherwise = answers(500)
    began = clock.now()
    await hooks.tell(2)
    await hooks.deliver(endpoint)
    pauses = []
    while (pause := await hooks.later(endpoint)) is not None:
        pauses.append(pause)
    assert len(receiver.received) == len(RETRY_PAUSES) + 1
    assert len({request.message_id for request in receiver.received}) == 1
    assert dt.timedelta(days=3) < clock.now() - began < dt.timedelta(days=3.6)
    for pause, usual in zip(pauses, RETRY_PAUSES, strict=True):
        assert usual - min(usual * 0.9, dt.timedelta(minutes=1)) < pause <= usual * 1.1
    assert await hooks.states(endpoint) == ["failed", "waiting"]
    row = await hooks.now_of(endpoint)
    assert (row.is_active, row.disabled_reason) == (False, "failing")
    (mail,) = await hooks.rows("SELECT kind, recipient, partner_id, content FROM mail")
    assert tuple(mail)[:3] == ("endpoint_disabled", hooks.shop.partner.agency_email, hooks.shop.partner.id)
    assert mail.content == {"url": endpoint.url, "endpoint_id": endpoint.id, "days": 3}
    await hooks.deliver(endpoint)
    assert await delivery.sweep(hooks.services) == 0
    assert len(receiver.received) == len(RETRY_PAUSES) + 1, "a disabled endpoint is told"


async def test_whoever_is_gone_is_told_no_more(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.otherwise = answers(410)
    await hooks.tell(2)
    await hooks.deliver(endpoint)
    row = await hooks.now_of(endpoint)
    assert (row.is_active, row.disabled_reason) == (False, "gone")
    assert await hooks.states(endpoint) == ["waiting", "waiting"]
    assert len(receiver.received) == 1
    assert await hooks.shop.one("SELECT count(*) FROM mail") == 1


@pytest.mark.parametrize(
    ("wish", "least", "most"),
    [
        ("3600", 3600, 3601),
        ("1", 5, 6),
        ("nonsense", 5, 6),
        ("-5", 5, 6),
        ("9" * 30, 86_400, 86_401),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", 5, 6),
        ("Mon, 01 Jan 2029 00:00:00 +99999999999999999999", 5, 6),
    ],
)
async def test_a_receiver_may_ask_for_a_longer_pause(
    hooks: Hooks, receiver: Receiver, wish: str, least: int, most: int
) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.script = [answers(503, retry_after=wish)]
    await hooks.tell()
    await hooks.deliver(endpoint)
    pause = await hooks.later(endpoint)
    assert pause is not None
    assert least - 60 < pause.total_seconds() <= most
    assert await hooks.states(endpoint) == ["delivered"]


async def test_a_wish_may_be_a_date(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    until = (clock.now() + dt.timedelta(hours=2)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    receiver.script = [answers(429, retry_after=until)]
    await hooks.tell()
    await hooks.deliver(endpoint)
    pause = await hooks.later(endpoint)
    assert pause is not None
    assert dt.timedelta(minutes=119) < pause <= dt.timedelta(hours=2)


# ---- order, and one at a time


async def test_what_is_committed_late_is_not_left_out_and_what_depends_on_it_comes_after(
    hooks: Hooks, receiver: Receiver
) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    data, of = EVENT_EXAMPLES[EventType.CART_EXPIRED], hooks.shop.partner.id
    async with hooks.services.db.sessions() as slow:
        await emit(slow, NewEvent(EventType.CART_EXPIRED, partner_id=of, subject="slow", data=data))
        (quick,) = await hooks.tell(subject="quick")
        await hooks.deliver(endpoint)
        assert receiver.ids == [quick]
        await slow.commit()
    (late,) = (await hooks.rows("SELECT key FROM event WHERE subject = 'slow'"))[0]
    await hooks.deliver(endpoint)
    assert receiver.ids == [quick, late]


async def test_two_workers_never_send_one_message_at_the_same_time(hooks: Hooks, receiver: Receiver) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        await answers(204)(writer)

    receiver.otherwise = slowly
    endpoint = await hooks.endpoint(receiver.url)
    keys = await hooks.tell(10)
    await hooks.sort()
    await asyncio.gather(*(delivery.deliver(hooks.services, endpoint.id) for _ in range(8)))
    assert receiver.ids == list(keys)
    assert receiver.most_at_once == 1


async def test_a_lease_outlives_its_worker_for_less_than_a_minute(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    await hooks.tell()
    await hooks.sort()
    receiver.script = [hangs]
    dying = asyncio.create_task(delivery.deliver(hooks.services, endpoint.id))
    while not receiver.received:
        await asyncio.sleep(0.01)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    clock.advance(dt.timedelta(days=2))
    await hooks.deliver(endpoint)
    assert await delivery.sweep(hooks.services) == 0
    assert len(receiver.received) == 1, "time that is moved does not end a lease"
    await hooks.shop.execute("UPDATE webhook_endpoint SET leased_until = now()")
    assert await delivery.sweep(hooks.services) == 1
    await hooks.deliver(endpoint)
    assert message_and_event(receiver.received[0]) == message_and_event(receiver.received[1])
    assert await hooks.states(endpoint) == ["delivered"]


async def test_of_one_host_only_some_endpoints_are_sent_to_at_once(hooks: Hooks, receiver: Receiver) -> None:
    endpoints = [await hooks.endpoint(receiver.url) for _ in range(6)]
    await hooks.tell()
    await hooks.sort()
    receiver.otherwise = hangs
    tasks = [asyncio.create_task(delivery.deliver(hooks.services, each.id)) for each in endpoints]
    await waited(lambda: receiver.at_once + sum(task.done() for task in tasks) == len(tasks))
    assert receiver.at_once == receiver.most_at_once == 4
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    waits = "SELECT count(*) FROM pgqueuer WHERE entrypoint = 'deliver_webhooks' AND execute_after > now() + interval '0.1 s'"
    assert await hooks.shop.one(waits) >= 1


async def test_a_process_sends_only_so_much_at_once(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "MAX_CONCURRENT", 2)
    endpoints = [await hooks.endpoint(receiver.url, host=f"host-{number}") for number in range(3)]
    await hooks.tell()
    await hooks.sort()
    await hooks.shop.execute("DELETE FROM pgqueuer")
    receiver.otherwise = hangs
    tasks = [asyncio.create_task(delivery.deliver(hooks.services, each.id)) for each in endpoints[:2]]
    while receiver.at_once < 2:
        await asyncio.sleep(0.01)
    await delivery.deliver(hooks.services, endpoints[2].id)
    assert receiver.at_once == 2
    (job,) = await hooks.rows("SELECT payload FROM pgqueuer WHERE execute_after > now()")
    assert orjson.loads(job[0]) == {"id": endpoints[2].id}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert not hooks.services.webhook_sender.is_full


async def test_what_finds_no_room_looks_again_as_one_job(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "MAX_CONCURRENT", 0)
    endpoints = [await hooks.endpoint(receiver.url) for _ in range(2)]
    await hooks.tell()
    await hooks.sort()
    await hooks.shop.execute("DELETE FROM pgqueuer")
    for _ in range(10):  # as many events that happened one after another have done
        for endpoint in endpoints:
            await delivery.deliver(hooks.services, endpoint.id)
        clock.advance(dt.timedelta(milliseconds=10))
    waiting = await hooks.rows("SELECT payload FROM pgqueuer WHERE execute_after > now()")
    assert {orjson.loads(job[0])["id"] for job in waiting} == {endpoint.id for endpoint in endpoints}
    assert len(waiting) <= 3 * len(endpoints), "one for each second that this took"
    clock.advance(delivery.BUSY_PAUSE)
    await delivery.deliver(hooks.services, endpoints[0].id)
    assert await hooks.shop.count("pgqueuer") == len(waiting) + 1, "the job that looks again has another after it"


async def test_an_endpoint_deleted_while_it_is_sent_to_is_nothing_to_note(hooks: Hooks, receiver: Receiver) -> None:
    async def deleted(writer: asyncio.StreamWriter) -> None:
        await hooks.shop.execute("DELETE FROM webhook_endpoint")
        await answers(204)(writer)

    receiver.otherwise = deleted
    endpoint = await hooks.endpoint(receiver.url)
    await hooks.tell(2)
    await hooks.deliver(endpoint)
    assert len(receiver.received) == 1
    assert await hooks.shop.count("webhook_delivery") == await hooks.shop.count("webhook_attempt") == 0
