"""The sandbox against the table of the provider's wire: every call of it, good and bad."""

import base64
import copy
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from coffret.sandbox.database import SandboxSession
from tests.coffret.sandbox.mangopay_api import HOOK, PAYER, MangopayApi, running
from tests.store.providers.mangopay.wire import wire
from tests.store.providers.mangopay.wire.wire import BY_NAME, CALLS, GOOD, Json, WireCall
from tests.store.providers.mangopay.wire.wire_objects import KEY, WireObjects

WRITING = [call for call in GOOD if call.method != "GET"]
TRAFFIC = {"token", "call_count", "call_minute", "response", "kept", "fault", "sqlite_sequence"}
"""Tables of the sandbox that tell of calls, not of what they did."""


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        # An address without the word by which the provider lets tests pass strong authentication by.
        seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "email": "ana@example.com"}
        await api.control("POST", "/seed", seed)
        yield api


@pytest.fixture
def things(api: MangopayApi) -> WireObjects:
    return WireObjects(api)


async def state(api: MangopayApi) -> dict[str, list[Any]]:
    """Everything that calls can have changed."""

    def read(session: SandboxSession) -> dict[str, list[Any]]:
        names = [row["name"] for row in session.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: [tuple(row) for row in session.rows(f"SELECT * FROM {name}")] for name in {*names} - TRAFFIC}  # noqa: S608 - names of our own tables

    rows: dict[str, list[Any]] = await api.app.state.sandbox.run(read)
    return rows


def names_field(body: Json, field: str) -> bool:
    """Whether a refusal names a field, or what is inside it, in whatever case."""
    told = [name.lower() for name in body["errors"] or ()]
    return any(f".{field.lower()}".endswith(f".{name}") or name.startswith(f"{field.lower()}.") for name in told)


def misspelt_bodies(call: WireCall) -> Iterator[tuple[str, Json]]:
    """Bodies with a required field in the wrong case, each with that field."""
    whole = call.body()
    for name in (name for name in call.required if name not in call.any_case):
        *outer, last = name.split(".")
        misspelt = wire.without(whole, name)
        wire.put(misspelt, ".".join((*outer, last[0].lower() + last[1:])), wire.at(whole, name))
        yield name, misspelt


def bad_bodies(call: WireCall) -> Iterator[tuple[str, Json]]:
    """Bodies that are refused, each with the field that is to blame."""
    yield from misspelt_bodies(call)
    whole = call.body()
    for name in call.required:
        yield name, wire.without(call.body(full=False), name)
    for name, kind in call.fields.items():
        if wire.at(whole, name) is not None:
            for value in wire.wrong_values(kind, name):
                changed = copy.deepcopy(whole)
                wire.put(changed, name, value)
                yield name, changed
    for name, longest in call.limits.items():
        yield name, {**whole, name: (wire.at(whole, name) + "x" * longest)[: longest + 1]}
    for name, value in call.refused.items():
        changed = copy.deepcopy(whole)
        wire.put(changed, name, value)
        yield name, changed
    for rule in call.when:
        for value in rule.values:
            yield rule.required, wire.without(call.body({rule.field: value}), rule.required)
    for name in call.together:
        yield name, wire.without(whole, name)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
@pytest.mark.parametrize("full", [True, False], ids=["whole", "least"])
async def test_answers_as_the_table_says(things: WireObjects, call: WireCall, full: bool) -> None:
    answer = await things.send(call, call.body(full=full))
    assert answer.status_code in call.statuses, answer.text
    assert not (answer.status_code == 204 and answer.content)
    if call.returns:
        bodies = answer.json() if call.many else [answer.json()]
        assert bodies
        assert [problem for body in bodies for problem in wire.problems(call.returns, body)] == []
    for header in wire.RATE_LIMIT_HEADERS:
        assert len(answer.headers[header].split(",")) == 4
    for header in wire.PAGE_HEADERS if call.many else ():
        assert header in answer.headers


@pytest.mark.parametrize("call", WRITING, ids=lambda call: call.name)
async def test_refuses_what_the_table_does_not_take(api: MangopayApi, things: WireObjects, call: WireCall) -> None:
    await things.prepared(call)
    before = await state(api)
    wrong: list[object] = []
    for field, body in bad_bodies(call):
        answer = await things.send(call, body)
        told = answer.json()
        if (answer.status_code, told.get("Type")) != (400, "param_error") or not names_field(told, field):
            wrong.append((field, wire.at(body, field), answer.status_code, told))
        else:
            wrong += wire.problems("error", told)
    assert wrong == []
    assert await state(api) == before


@pytest.mark.parametrize("call", [call for call in GOOD if call.query_required], ids=lambda call: call.name)
async def test_refuses_without_a_parameter(api: MangopayApi, call: WireCall) -> None:
    for name in call.query_required:
        query = {other: value for other, value in call.query.items() if other != name}
        answer = await api.call("GET", call.path, params=query)
        assert (answer.status_code, answer.json()["Type"]) == (400, "param_error")
        assert names_field(answer.json(), name)


@pytest.mark.parametrize("call", [call for call in GOOD if call.path_names], ids=lambda call: call.name)
async def test_an_address_that_names_nothing(api: MangopayApi, things: WireObjects, call: WireCall) -> None:
    _, body = await things.prepared(call)
    before = await state(api)
    for name in call.path_names:
        path = call.path.replace(f"{{{name}}}", "none-such-thing-0001")
        answer = await things.send(call, body, path)
        assert (answer.status_code, answer.json()["Type"]) == (wire.ERROR_TYPES[call.unknown], call.unknown)
        assert await state(api) == before


@pytest.mark.parametrize("call", GOOD, ids=lambda call: call.name)
async def test_who_asks_and_how(api: MangopayApi, things: WireObjects, call: WireCall) -> None:
    path, body = await things.prepared(call)
    before = await state(api)
    patched = await api.call("PATCH", path, body)
    assert patched.status_code == 405
    assert call.method in patched.headers["Allow"]
    bare = await api.http.request(call.method, f"/v2.01/sandbox{path}", json=body)
    assert bare.status_code == 401
    other = await api.http.request(
        call.method, f"/v2.01/other{path}", json=body, headers={"Authorization": f"Bearer {api.token}"}
    )
    assert other.status_code == 403
    assert await state(api) == before


@pytest.mark.parametrize("call", GOOD, ids=lambda call: call.name)
async def test_addresses_may_be_shouted_and_end_with_a_slash(things: WireObjects, call: WireCall) -> None:
    shouted = "".join(part if part[0] == "{" else part.upper() for part in re.split(r"(\{\w+\})", call.path) if part)
    assert (await things.send(call, path=f"{shouted}/")).status_code in call.statuses


@pytest.mark.parametrize("line", wire.NOT_MODELLED)
async def test_what_is_not_modelled_says_so(api: MangopayApi, things: WireObjects, line: str) -> None:
    method, path = (await things.fill(line)).split(" ")
    before = await state(api)
    answer = await api.call(method, path, {})
    assert answer.status_code == 501
    assert await state(api) == before


CHOICES = [
    ("create_legal_owner", "LegalPersonType"),
    ("create_document", "Type"),
    ("create_recipient", "RecipientType"),
    ("create_recipient", "RecipientScope"),
    ("create_hosted_payin", "CardType"),
    ("create_hosted_payin", "SecureMode"),
    ("update_hook", "Status"),
]


@pytest.mark.parametrize(("name", "field"), CHOICES)
async def test_every_value_of_a_choice_is_taken(things: WireObjects, name: str, field: str) -> None:
    call = BY_NAME[name]
    for value in wire.ENUMS[call.fields[field].removeprefix("enum:")]:
        answer = await things.send(call, call.body({field: value}))
        assert answer.status_code == 200, answer.text
        assert answer.json().get(field, value) == value


@pytest.mark.parametrize("field", ["AuthorId", "CreditedWalletId"])
async def test_a_body_that_names_nothing(api: MangopayApi, things: WireObjects, field: str) -> None:
    call = BY_NAME["create_hosted_payin"]
    _, body = await things.prepared(call)
    before = await state(api)
    answer = await things.send(call, {**body, field: "none-such-thing-0001"})
    assert answer.status_code in {400, 404}
    assert await state(api) == before


async def test_the_token(api: MangopayApi) -> None:
    token = wire.TABLE["token"]
    basic = {"Authorization": f"Basic {base64.b64encode(b'sandbox:sandbox').decode()}"}
    answer = await api.http.post(token["path"], data=token["form"], headers=basic)
    assert answer.status_code == 200
    assert wire.problems(token["returns"], answer.json()) == []
    assert (await api.http.post(token["path"], data={}, headers=basic)).json()["Type"] == "param_error"
    for wrong in ({}, {"Authorization": f"Basic {base64.b64encode(b'sandbox:other').decode()}"}):
        assert (await api.http.post(token["path"], data=token["form"], headers=wrong)).status_code == 401


@pytest.mark.parametrize("type", [type for types in wire.EVENTS.values() for type in types])
async def test_every_kind_of_event_can_be_asked_for(api: MangopayApi, type: str) -> None:
    hook = await api.create("/hooks", {"EventType": type, "Url": HOOK})
    assert (hook["EventType"], hook["Status"]) == (type, "ENABLED")
    answer = await api.call("GET", "/events", params={"EventType": type})
    assert (answer.status_code, answer.json()) == (200, [])


async def test_the_kinds_of_refusal(api: MangopayApi) -> None:
    seen = {
        answer.json()["Type"]: answer.status_code
        for answer in (
            await api.call("POST", "/wallets", {}),
            await api.call("GET", "/responses/unknown-key-of-ours"),
            await api.http.get("/v2.01/other/hooks", headers={"Authorization": f"Bearer {api.token}"}),
            await api.call("GET", "/payins/none"),
            (
                await api.call("POST", "/sca/users/natural", PAYER, key=KEY),
                await api.call("POST", "/wallets", {}, key=KEY),
            )[1],
            (await api.control("POST", "/faults", {"kind": "rate_limit"}), await api.call("GET", "/hooks"))[1],
        )
    }
    assert seen == wire.ERROR_TYPES


async def test_notifications_say_what_the_table_says(api: MangopayApi) -> None:
    await api.hook("PAYIN_NORMAL_CREATED")
    await api.payin()
    await api.notices()
    assert tuple(httpx.URL(api.received[0]).params) == wire.NOTIFICATION
