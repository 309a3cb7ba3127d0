"""The sandbox against the table of the provider's wire, and against the adapter, its client in the program."""

import asyncio
import base64
import copy
import datetime as dt
import functools
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from store.providers.base import (
    Declined,
    InboundWebhook,
    MinorAmount,
    PaymentRequest,
    Person,
    RefundRequest,
    TransactionKind,
    TransactionStatus,
    new_key,
)
from store.providers.mangopay import Mangopay
from store.providers.sandbox.events import EVENT_TYPES
from tests.store.providers import wire
from tests.store.providers.sandbox_world import PAYER, World, running
from tests.store.providers.wire import CALLS, WireCall

KEY = "conformance-key-0001"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        await world.seed()
        yield world


def at(body: Any, name: str) -> Any:
    """The value of a dotted field, or an exception when it is not there."""
    return functools.reduce(lambda value, part: value[part], name.split("."), body)


def without(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A body that lacks a dotted field."""
    changed = copy.deepcopy(dict(body))
    *path, last = name.split(".")
    del functools.reduce(lambda value, part: value[part], path, changed)[last]
    return changed


async def send(world: World, call: WireCall, request: Mapping[str, Any], path: str) -> httpx.Response:
    """Make the call as the table describes it."""
    if call.public:
        basic = base64.b64encode(b"sandbox:sandbox").decode()
        return await world.http.post(f"/v2.01{path}", data=dict(request), headers={"Authorization": f"Basic {basic}"})
    if call.method == "GET":
        return await world.call("GET", path, params=dict(request))
    return await world.call(call.method, path, dict(request))


async def prepared(world: World, call: WireCall) -> tuple[dict[str, Any], str]:
    """The table's example with ids that exist here, and the call's path."""
    payin = await world.paid()
    refund = await world.made(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"], **amounts(100, -10)})
    request = copy.deepcopy(dict(call.request))
    if "Owners" in request:
        request["Owners"] = [payin["AuthorId"]]
    if "AuthorId" in request:
        request["AuthorId"] = payin["AuthorId"]
    if "CreditedWalletId" in request:
        request["CreditedWalletId"] = "wallet"
    if call.name in {"list_hooks", "update_hook"}:
        await world.hook("KYC_CREATED")
    await world.made("/sca/users/natural", PAYER, key=KEY)
    ids = {"/payins": payin["Id"], "/refunds": refund["Id"], "/responses": KEY}
    if call.name == "update_hook":
        ids["/hooks"] = (await world.read("/hooks"))[0]["Id"]
    root = "/" + call.path.split("/")[1]
    return request, re.sub(r"\{\w+\}", lambda _: ids[root], call.path)


def amounts(debited: int, fees: int) -> dict[str, Any]:
    return {"DebitedFunds": {"Currency": "EUR", "Amount": debited}, "Fees": {"Currency": "EUR", "Amount": fees}}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
async def test_answers_as_the_table_says(world: World, call: WireCall) -> None:
    request, path = await prepared(world, call)
    answer = await send(world, call, request, path)
    assert answer.status_code == 200, answer.text
    bodies = answer.json() if call.many else [answer.json()]
    assert bodies
    for body in bodies:
        for name in call.answer:
            assert at(body, name) is not None, name
        for name in call.nullable:
            at(body, name)
        for name, values in call.values.items():
            if name in body:
                assert body[name] in values, name
    for header in wire.RATE_LIMIT_HEADERS if not call.public else ():
        assert len(answer.headers[header].split(",")) == 4
    for header in wire.PAGE_HEADERS if call.many else ():
        assert header in answer.headers


@pytest.mark.parametrize(
    ("call", "field"),
    [(call, field) for call in CALLS for field in call.required],
    ids=lambda value: getattr(value, "name", value),
)
async def test_refuses_without_what_is_required(world: World, call: WireCall, field: str) -> None:
    request, path = await prepared(world, call)
    answer = await send(world, call, without(request, field), path)
    body = answer.json()
    assert (answer.status_code, body["Type"]) == (400, "param_error")
    assert set(wire.ERROR_FIELDS) <= set(body)
    assert list(body["errors"]) == [field]


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call.method != "GET" and not call.public], ids=lambda call: call.name
)
async def test_refuses_values_outside_the_table(world: World, call: WireCall) -> None:
    request, path = await prepared(world, call)
    for field in set(call.values) & {*call.required, *call.optional}:
        answer = await send(world, call, {**request, field: "SOMETHING_ELSE"}, path)
        assert answer.status_code == 400, field
        for value in call.values[field]:
            owner = {"TermsAndConditionsAccepted": True, "Birthday": 0, "Nationality": "FR", "CountryOfResidence": "FR"}
            answer = await send(world, call, {**request, field: value} | (owner if value == "OWNER" else {}), path)
            assert answer.status_code == 200, (field, value)


async def test_types_of_events_and_refusals(world: World) -> None:
    assert set(wire.EVENT_TYPES) <= EVENT_TYPES
    seen = {
        answer.json()["Type"]: answer.status_code
        for answer in (
            await world.call("POST", "/wallets", {}),
            await world.call("GET", "/responses/unknown-key-of-ours"),
            await world.http.get("/v2.01/other/hooks", headers={"Authorization": f"Bearer {world.token}"}),
            await world.call("GET", "/payins/none"),
            (
                await world.call("POST", "/sca/users/natural", PAYER, key=KEY),
                await world.call("POST", "/wallets", {}, key=KEY),
            )[1],
            (await world.control("POST", "/faults", {"kind": "rate_limit"}), await world.call("GET", "/hooks"))[1],
        )
    }
    assert seen == wire.ERROR_TYPES


async def test_notifications_say_what_the_table_says(world: World) -> None:
    await world.hook("PAYIN_NORMAL_CREATED")
    await world.payin()
    await world.notices()
    assert tuple(httpx.URL(world._received[0]).params) == wire.NOTIFICATION


@pytest.fixture
async def adapter(world: World) -> AsyncIterator[Mangopay]:
    async def no_wait(_seconds: float) -> None:
        await asyncio.sleep(0)

    adapter = Mangopay(
        base_url="http://sandbox.test/_provider",
        client_id="sandbox",
        api_key="sandbox",
        hook_secret="hook-secret",
        transport=world.http._transport,
        clock=world.clock,
        sleep=no_wait,
    )
    yield adapter
    await adapter.aclose()


async def request(adapter: Mangopay) -> PaymentRequest:
    payer = await adapter.create_payer(Person("Ada", "Payer", "ada@example.com"), "buyer 7", key=new_key())
    eur = functools.partial(MinorAmount, "EUR")
    return PaymentRequest("order 7", payer, "wallet", eur(2500), eur(250), "https://shop.example/back", "ca")


async def test_the_adapter_pays_and_refunds(world: World, adapter: Mangopay) -> None:
    asked = await request(adapter)
    payment = await adapter.create_payment(asked, key=new_key())
    assert payment.status is TransactionStatus.PENDING
    assert payment.action
    assert payment.action.expires_at == payment.created_at + dt.timedelta(minutes=15)
    page = await world.http.get(payment.action.url, headers={"Accept-Language": "ca"})
    assert '<html lang="ca">' in page.text
    await world.control("POST", f"/payins/{payment.id}/pay", {"card": "4970107111111119"})
    paid = await adapter.get_transaction(TransactionKind.PAYIN, payment.id)
    assert paid.status is TransactionStatus.SUCCEEDED
    eur = functools.partial(MinorAmount, "EUR")
    wanted = RefundRequest("refund 7", payment.id, asked.payer_id, eur(1000), eur(100))
    refund = await adapter.refund(wanted, key=new_key())
    assert (refund.status, refund.amount, refund.parent_id) == (TransactionStatus.SUCCEEDED, eur(1000), payment.id)
    with pytest.raises(Declined) as again:
        await adapter.refund(wanted, key=new_key())
    assert again.value.code == "005407"
    children = await adapter.list_children(TransactionKind.PAYIN, payment.id)
    assert [child.status for child in children] == [TransactionStatus.SUCCEEDED, TransactionStatus.FAILED]
    assert (await world.read("/wallets/wallet"))["Balance"]["Amount"] == 1350


FAULTS = [
    {"kind": kind, "when": when, **more}
    for kind, more in (
        ("drop", {}),
        ("hang", {"seconds": 0.01}),
        ("status", {"status": 502}),
        ("truncated", {}),
        ("html", {}),
    )
    for when in ("before", "after")
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['kind']}-{fault['when']}")
async def test_the_adapter_creates_once_whatever_is_lost(
    world: World, adapter: Mangopay, fault: dict[str, Any]
) -> None:
    asked = await request(adapter)
    await world.control("POST", "/faults", {"method": "POST", "path": "/payins/card/web", **fault})
    payment = await adapter.create_payment(asked, key=new_key())
    found = await world.read(f"/users/{asked.payer_id}/transactions")
    assert [item["Id"] for item in found] == [payment.id]


async def test_the_adapter_renews_a_token_once(world: World, adapter: Mangopay) -> None:
    await request(adapter)
    await world.control("POST", "/tokens/expire")
    await asyncio.gather(*(request(adapter) for _ in range(20)))
    assert (await world.control("GET", "/stats"))["token_calls"] == 2


async def test_the_adapter_hears_notifications(world: World, adapter: Mangopay) -> None:
    await adapter.ensure_webhooks("https://shop.example/hooks")
    await adapter.ensure_webhooks("https://shop.example/hooks")
    assert {hook["EventType"] for hook in await world.read("/hooks?per_page=100")} == set(wire.EVENT_TYPES)
    since = world.clock.now()
    payment = await adapter.create_payment(await request(adapter), key=new_key())
    await world.control("POST", f"/payins/{payment.id}/pay", {"card": "4970109000000106"})
    await world.notices()
    heard = [httpx.URL(url) for url in world._received]
    hints = [
        hint
        for url in heard
        for hint in adapter.read_webhook(InboundWebhook("GET", url.path, url.query.decode()))
        if hint.resource_id == payment.id
    ]
    listed = [hint async for hint in adapter.events_since(since - dt.timedelta(seconds=2))]
    assert {hint.type for hint in hints} == {"PAYIN_NORMAL_CREATED", "PAYIN_NORMAL_FAILED"}
    assert {hint.dedupe_id for hint in hints} == {hint.dedupe_id for hint in listed}
