"""Managing endpoints: by whom they are seen and changed, where they may lead, what is shown of their secret."""

import dataclasses
import datetime as dt
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from resolvers import event
from resolvers.core.caller import Role
from resolvers.core.context import Context
from resolvers.core.lists.listing import PageArguments
from resolvers.event import EventFilter
from resolvers.webhook import endpoints
from schema.core.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.event import EVENT_EXAMPLES, EventType
from schema.webhook.input import (
    CreateWebhookEndpoint,
    DeleteWebhookEndpoint,
    ReplayWebhooks,
    RotateWebhookSecret,
    TestWebhookEndpoint,
    UpdateWebhookEndpoint,
)
from store.core.clock import clock
from store.core.settings import Settings
from tests.fixtures.tenants import EVERYBODY, PARTNERS, Tenants
from tests.fixtures.webhook import URL, Hooks, refused_fields
from tests.servers.receivers import Receiver, answers

SEES = {"a1": {"a1"}, "a2": {"a2"}, "b1": {"b1"}, "market a": {"a1", "a2"}, "market b": {"b1"}, "master": set(PARTNERS)}


# ---- making


async def test_an_endpoint_is_made_and_its_secret_shown_once(tenants: Tenants) -> None:
    query = """mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) {
        issuedWebhookEndpoint { secret endpoint { id url description eventTypes isActive partner { id } } }
        userErrors { field code } } }"""
    sent = {"url": URL, "description": "Our shop", "eventTypes": ["ORDER_PAID"]}
    body = await tenants.graphql("a1", query, input=sent)
    issued = body["data"]["createWebhookEndpoint"]["issuedWebhookEndpoint"]
    secret, endpoint = issued["secret"], issued["endpoint"]
    assert endpoint == {
        "id": endpoint["id"], "url": URL, "description": "Our shop", "eventTypes": ["ORDER_PAID"], "isActive": True,
        "partner": {"id": tenants.partners["a1"].id},
    }  # fmt: skip
    Webhook(secret)
    assert secret not in str(await tenants.snapshot())
    schema = await tenants.graphql("a1", "{ webhookEndpoints { nodes { id } } }")
    assert {"id": endpoint["id"]} in schema["data"]["webhookEndpoints"]["nodes"]


async def test_a_partner_a_marketplace_or_any_of_them_for_a_master(tenants: Tenants) -> None:
    a1, a2 = tenants.partners["a1"], tenants.partners["a2"]
    market_a, market_b = tenants.marketplaces["a"], tenants.marketplaces["b"]
    made: list[tuple[str, dict[str, Any], int | None, int]] = [
        ("a1", {}, a1.id, market_a.id),
        ("a1", {"partner_uuid": a1.uuid}, a1.id, market_a.id),
        ("market a", {}, None, market_a.id),
        ("market a", {"marketplace_uuid": market_a.uuid}, None, market_a.id),
        ("market a", {"partner_uuid": a2.uuid}, a2.id, market_a.id),
        ("master", {"marketplace_uuid": market_b.uuid}, None, market_b.id),
        ("master", {"partner_uuid": a2.uuid}, a2.id, market_a.id),
    ]
    for who, whose, partner_id, marketplace_id in made:
        given = CreateWebhookEndpoint(url=URL, **whose)
        issued = await endpoints.create_webhook_endpoint(await tenants.context(who), given)
        row = await tenants.row("webhook_endpoint", issued.endpoint.id)
        assert (row["partner_id"], row["marketplace_id"]) == (partner_id, marketplace_id), (who, whose)
    before = await tenants.snapshot()
    not_theirs: list[tuple[str, dict[str, Any], str]] = [
        ("a1", {"partner_uuid": a2.uuid}, "partner_uuid"),
        ("a1", {"marketplace_uuid": market_a.uuid}, "marketplace_uuid"),
        ("market a", {"marketplace_uuid": market_b.uuid}, "marketplace_uuid"),
        ("market a", {"partner_uuid": tenants.partners["b1"].uuid}, "partner_uuid"),
        ("market a", {"partner_uuid": a2.uuid, "marketplace_uuid": market_a.uuid}, "marketplace_uuid"),
        ("master", {}, "marketplace_uuid"),
    ]
    for who, whose, field in not_theirs:
        context, given = await tenants.context(who), CreateWebhookEndpoint(url=URL, **whose)
        with pytest.raises(InvalidInput) as raised:
            await endpoints.create_webhook_endpoint(context, given)
        assert refused_fields(raised) == {field}, (who, whose)
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"url": "ftp://8.8.8.8/"}, "url"),
        ({"url": "https://user:word@8.8.8.8/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://169.254.169.254/latest/meta-data"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "https://nowhere.invalid/"}, "url"),
        ({"url": "https://8.8.8.8:6379/"}, "url"),
        ({"url": URL, "event_types": [EventType.WEBHOOK_TEST]}, "event_types"),
    ],
)
async def test_where_endpoints_may_not_lead(tenants: Tenants, values: dict[str, Any], field: str) -> None:
    before = await tenants.snapshot()
    endpoint = tenants.owned["a1"].webhook_endpoint
    context, changed = await tenants.context("a1"), UpdateWebhookEndpoint.model_validate({"id": endpoint, **values})
    for made in (
        endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(**values)),
        endpoints.update_webhook_endpoint(context, changed),
    ):
        with pytest.raises(InvalidInput) as raised:
            await made
        assert refused_fields(raised) == {field}
    assert await tenants.snapshot() == before


async def test_there_are_only_so_many(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST_ENDPOINTS", 2)
    context = await tenants.context("a1")
    await endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(url=URL))
    with pytest.raises(InvalidInput) as raised:
        await endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(url=URL))
    assert [problem.code for problem in raised.value.problems] == ["TOO_MANY"]
    assert await tenants.one("SELECT count(*) FROM webhook_endpoint WHERE url = :url", url=URL) == 1
    await endpoints.create_webhook_endpoint(await tenants.context("a2"), CreateWebhookEndpoint(url=URL))


# ---- who may


def calls(context: Context, id: int) -> list[Any]:
    """Every operation on an endpoint."""
    since = clock.now()
    return [
        endpoints.update_webhook_endpoint(
            context, UpdateWebhookEndpoint.model_validate({"id": id, "description": "x"})
        ),
        endpoints.rotate_webhook_secret(context, RotateWebhookSecret(id=id)),
        endpoints.replay_webhooks(context, ReplayWebhooks(id=id, since=since)),
        endpoints.test_webhook_endpoint(context, TestWebhookEndpoint(id=id, send=False)),
        endpoints.delete_webhook_endpoint(context, DeleteWebhookEndpoint(id=id)),
    ]


async def test_the_endpoints_of_others_do_not_exist(tenants: Tenants) -> None:
    market = await endpoints.create_webhook_endpoint(await tenants.context("market a"), CreateWebhookEndpoint(url=URL))
    owners = {tenants.owned[name].webhook_endpoint: name for name in PARTNERS} | {market.endpoint.id: "market a"}
    before = await tenants.snapshot()
    for who in EVERYBODY:
        sees = SEES[who] | ({"market a"} if who in {"market a", "master"} else set())
        context = await tenants.context(who)
        listed = await endpoints.webhook_endpoints(context, PageArguments())
        assert {owners[row.id] for row in await listed.rows.objects()} == sees
        for id in [id for id, owner in owners.items() if owner not in sees] + [999_999]:
            for call in calls(context, id):
                with pytest.raises(NotFound):
                    await call
            body = await tenants.graphql(who, "query($id: Int!) { webhookEndpoint(id: $id) { id } }", id=id)
            assert body["data"] == {"webhookEndpoint": None}
    assert await tenants.snapshot() == before
    context = await tenants.context("market a")
    for call in calls(context, market.endpoint.id):
        await call


async def test_a_permission_is_needed(tenants: Tenants) -> None:
    of = {"partner_id": tenants.partners["a1"].id}
    await tenants.user(
        "hand",
        "partner",
        sorted(GRANTABLE_PERMISSIONS - {Permission.MANAGE_WEBHOOK, Permission.MANAGE_MASTERADMIN}),
        **of,
    )
    before = await tenants.snapshot()
    for who, error in (("hand", Forbidden), (None, Unauthenticated)):
        context = await tenants.context(who)
        for call in [
            *calls(context, tenants.owned["a1"].webhook_endpoint),
            endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(url=URL)),
            endpoints.webhook_endpoints(context, PageArguments()),
            endpoints.webhook_endpoint(context, tenants.owned["a1"].webhook_endpoint),
            endpoints.webhook_deliveries(context, PageArguments()),
            event.events(context, PageArguments()),
        ]:
            with pytest.raises(error):
                await call
    assert await tenants.snapshot() == before


async def test_no_secret_is_in_the_log_of_who_changed_what(tenants: Tenants) -> None:
    context = await tenants.context("a1")
    issued = await endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(url=URL))
    row = await tenants.row("webhook_endpoint", issued.endpoint.id)
    rotated = await endpoints.rotate_webhook_secret(context, RotateWebhookSecret(id=issued.endpoint.id))
    written = str(await tenants.one("SELECT jsonb_agg(to_jsonb(e))::text FROM audit_entry e"))
    assert '"rotate_webhook_secret"' in written
    for secret in (issued.secret, rotated.secret, row["secret_salt"].removeprefix("\\x")):
        assert secret not in written


# ---- changing


async def test_what_is_left_out_stays(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url, EventType.ORDER_PAID, description="Old")
    changed = UpdateWebhookEndpoint.model_validate({"id": endpoint.id, "description": "New"})
    await endpoints.update_webhook_endpoint(hooks.shop.manager, changed)
    row = await hooks.now_of(endpoint)
    assert (row.url, row.description, row.event_types) == (endpoint.url, "New", [EventType.ORDER_PAID])
    assert row.secret_salt == endpoint.secret_salt
    assert await hooks.shop.count("pgqueuer") == 0


async def test_an_endpoint_made_active_again_goes_on_with_what_waits(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    receiver.otherwise = answers(410)
    keys = list(await hooks.tell(2))
    await hooks.deliver(endpoint)
    keys += await hooks.tell()
    await hooks.deliver(endpoint)
    assert len(receiver.received) == 1
    receiver.otherwise = answers(204)
    active = UpdateWebhookEndpoint.model_validate({"id": endpoint.id, "is_active": True})
    assert (await endpoints.update_webhook_endpoint(hooks.shop.manager, active)).disabled_reason is None
    jobs = await hooks.rows("SELECT payload FROM pgqueuer WHERE entrypoint = 'deliver_webhooks'")
    assert [orjson.loads(row[0]) for row in jobs][-1] == {"id": endpoint.id}
    await hooks.deliver(endpoint)
    assert receiver.ids == [keys[0], *keys]


async def test_a_paused_endpoint_waits_and_misses_nothing(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    for is_active, told in ((False, 0), (True, 3)):
        change = UpdateWebhookEndpoint.model_validate({"id": endpoint.id, "is_active": is_active})
        row = await endpoints.update_webhook_endpoint(hooks.shop.manager, change)
        assert (row.is_active, row.disabled_reason) == (is_active, None)
        if not is_active:
            await hooks.tell(3)
        await hooks.deliver(endpoint)
        assert len(receiver.received) == told


async def test_a_new_address_is_tried_at_once(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint("http://127.0.0.1:1024/")
    await hooks.tell()
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["waiting"]
    moved = UpdateWebhookEndpoint.model_validate({"id": endpoint.id, "url": receiver.url})
    await endpoints.update_webhook_endpoint(hooks.shop.manager, moved)
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered"]


async def test_a_deleted_endpoint_leaves_nothing(hooks: Hooks, receiver: Receiver) -> None:
    endpoint, other = await hooks.endpoint(receiver.url), await hooks.endpoint(receiver.url)
    await hooks.tell()
    await hooks.deliver(endpoint)
    await endpoints.delete_webhook_endpoint(hooks.shop.manager, DeleteWebhookEndpoint(id=endpoint.id))
    assert await hooks.states(endpoint) == []
    assert await hooks.shop.count("webhook_attempt") == 0
    assert await hooks.states(other) == ["waiting"]
    assert await hooks.shop.count("event") == 1


async def test_after_a_rotation_both_secrets_verify_for_a_day(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url)
    old = hooks.secret(endpoint)
    issued = await endpoints.rotate_webhook_secret(hooks.shop.manager, RotateWebhookSecret(id=endpoint.id))
    assert issued.endpoint.previous_secret_until is not None
    await hooks.tell()
    await hooks.deliver(endpoint)
    for secret in (old, issued.secret):
        receiver.received[0].verified(secret)
    row = await hooks.now_of(endpoint)
    clock.advance(dt.timedelta(hours=24))
    rotated = await endpoints.test_webhook_endpoint(hooks.shop.manager, TestWebhookEndpoint(id=endpoint.id, send=False))
    assert next(h.value for h in rotated.headers if h.name == "webhook-signature").count("v1,") == 1
    again = RotateWebhookSecret(id=endpoint.id, revoke_previous=True)
    revoked = await endpoints.rotate_webhook_secret(hooks.shop.manager, again)
    assert revoked.endpoint.previous_secret_until is None
    assert (await hooks.now_of(endpoint)).secret_salt != row.secret_salt
    await hooks.tell()
    await hooks.deliver(endpoint)
    receiver.received[1].verified(revoked.secret)
    for secret in (old, issued.secret):
        with pytest.raises(WebhookVerificationError):
            receiver.received[1].verified(secret)


# ---- trying


@pytest.mark.parametrize("kind", EventType)
async def test_what_would_be_sent_is_shown_and_verifies(hooks: Hooks, receiver: Receiver, kind: EventType) -> None:
    endpoint = await hooks.endpoint(receiver.url, is_active=False)
    given = TestWebhookEndpoint(id=endpoint.id, type=kind, send=False)
    shown = await endpoints.test_webhook_endpoint(hooks.shop.manager, given)
    headers = {header.name: header.value for header in shown.headers}
    assert shown.url == endpoint.url
    assert Webhook(hooks.secret(endpoint)).verify(shown.body, headers)["data"] == EVENT_EXAMPLES[kind]
    assert shown.answer is None
    assert receiver.received == []


async def test_a_test_is_sent_and_its_answer_told_and_nothing_kept(hooks: Hooks, receiver: Receiver) -> None:
    endpoint = await hooks.endpoint(receiver.url, partner_id=None)
    receiver.script = [answers(200, b"well done"), answers(500)]
    market = Context(hooks.services, dataclasses.replace(hooks.shop.manager.required_caller, role=Role.MASTER))
    given = TestWebhookEndpoint(id=endpoint.id)
    good, bad = [await endpoints.test_webhook_endpoint(market, given) for _ in range(2)]
    assert good.answer is not None
    assert (good.answer.outcome, good.answer.status, good.answer.body) == ("delivered", 200, "well done")
    assert bad.answer is not None
    assert (bad.answer.outcome, bad.answer.status, bad.answer.error) == ("refused", 500, "It answered 500.")
    assert receiver.received[0].verified(hooks.secret(endpoint))["type"] == "webhook.test"
    assert receiver.received[0].body == good.body.encode()
    for table in ("event", "webhook_delivery", "webhook_attempt"):
        assert await hooks.shop.count(table) == 0
    assert (await hooks.now_of(endpoint)).is_active


# ---- events


async def test_missed_events_can_be_read(tenants: Tenants) -> None:
    query = """query($filter: EventFilter) { events(filter: $filter) {
        nodes { id type occurredOn subject data partner { id } } } }"""
    body = await tenants.graphql("a1", query)
    (node,) = body["data"]["events"]["nodes"]
    assert node == {
        "id": "evt_a1", "type": "CART_EXPIRED", "occurredOn": node["occurredOn"], "subject": "x",
        "data": EVENT_EXAMPLES[EventType.CART_EXPIRED], "partner": {"id": tenants.partners["a1"].id},
    }  # fmt: skip
    for filter, found in (
        ({"ids": ["evt_a1", "evt_b1"]}, 1),
        ({"ids": ["evt_b1"]}, 0),
        ({"types": ["CART_EXPIRED"]}, 1),
        ({"types": ["ORDER_PAID"]}, 0),
        ({"subject": "x"}, 1),
        ({"subject": "y"}, 0),
        ({"occurredFrom": node["occurredOn"], "occurredUntil": node["occurredOn"]}, 1),
        ({"occurredFrom": clock.now().isoformat()}, 0),
        ({"occurredUntil": (clock.now() - dt.timedelta(days=1)).isoformat()}, 0),
    ):
        body = await tenants.graphql("a1", query, filter=filter)
        assert len(body["data"]["events"]["nodes"]) == found, filter


async def test_the_newest_event_comes_first_unless_told(hooks: Hooks) -> None:
    keys = list(await hooks.tell(3))
    found = await event.events(hooks.shop.manager, PageArguments())
    assert [row.key for row in await found.rows.objects()] == keys[::-1]
    found = await event.events(hooks.shop.manager, PageArguments(), EventFilter(), "id")
    assert [row.key for row in await found.rows.objects()] == keys


async def test_production_takes_https_only(tenants: Tenants) -> None:
    settings = Settings(funnel_scheme="http").model_copy(update={"environment": "production"})
    services = dataclasses.replace(tenants.services, settings=settings)
    context = Context(services, (await tenants.context("a1")).caller)
    with pytest.raises(InvalidInput) as raised:
        await endpoints.create_webhook_endpoint(context, CreateWebhookEndpoint(url="http://8.8.8.8/"))
    assert refused_fields(raised) == {"url"}
