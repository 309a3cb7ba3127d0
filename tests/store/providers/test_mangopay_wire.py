"""The adapter against the provider's wire as written down in `wire`: what it sends, and the least it must be able to read."""

import datetime as dt
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

import httpx
import orjson
import pytest

from store.providers.base import (
    Declined,
    Key,
    Person,
    ProviderError,
    TransactionKind,
    TransactionStatus,
    Transient,
    UnknownOutcome,
    new_key,
)
from store.providers.mangopay.hooks import EVENT_TYPES
from tests.store.providers import wire
from tests.store.providers.mangopay_account import ACCOUNT, BASE, PAYMENT, REFUND, SECRET, Account, notification
from tests.store.providers.wire import BY_NAME, CALLS, WireCall

KEY = Key("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
PERSON = Person("Ana", "Puig", "ana@example.com")

Operation = Callable[[Account], Awaitable[object]]


async def all_events(account: Account) -> list[object]:
    """Every event."""
    return [hint async for hint in account.adapter.events_since(account.clock.now())]


OPERATIONS: Mapping[str, Operation] = {
    "token": lambda account: account.adapter.get_transaction(TransactionKind.PAYIN, "id-1"),
    "create_natural_user": lambda account: account.adapter.create_payer(PERSON, "buyer-1", key=KEY),
    "create_wallet": lambda account: account.adapter.open_wallet("user_m_1", "EUR", "Buyer", key=KEY),
    "create_web_payin": lambda account: account.adapter.create_payment(PAYMENT, key=KEY),
    "get_payin": lambda account: account.adapter.get_transaction(TransactionKind.PAYIN, "id-1"),
    "refund_payin": lambda account: account.adapter.refund(REFUND, key=KEY),
    "get_refund": lambda account: account.adapter.get_transaction(TransactionKind.REFUND, "id-1"),
    "list_payin_refunds": lambda account: account.adapter.list_children(TransactionKind.PAYIN, "id-1"),
    "get_response": lambda account: account.adapter.resolve(KEY, sent_at=account.clock.now()),
    "create_hook": lambda account: account.adapter.ensure_webhooks("https://shop.example/hooks"),
    "list_hooks": lambda account: account.adapter.ensure_webhooks("https://shop.example/hooks"),
    "update_hook": lambda account: account.adapter.ensure_webhooks("https://shop.example/hooks"),
    "list_events": all_events,
}
"""What of the port makes each call."""

ANSWERS: Mapping[str, object] = {
    "CreationDate": 1_760_000_000,
    "Date": 1_760_000_000,
    "expires_in": 3600,
    "Owners": ["user_m_1"],
    "Resource": {"Id": "user_m_1"},
    "EventType": "PAYIN_NORMAL_SUCCEEDED",
    "StatusCode": "200",
    "Url": "https://old.example/hooks",
}
"""Values of fields that are not just some text."""


def answer_to(call: WireCall, **chosen: str) -> object:
    """The least that the provider answers: the fields that are always there, and nothing else."""
    body: dict[str, Any] = {}
    for name in call.answer:
        *outer, last = name.split(".")
        place = body
        for part in outer:
            place = place.setdefault(part, {})
        some = 1260 if last == "Amount" else "EUR" if last == "Currency" else "text-1"
        place[last] = chosen.get(name) or ANSWERS.get(name) or call.values.get(name, (some,))[0]
    body |= dict.fromkeys(call.nullable) | {name: chosen[name] for name in call.nullable if name in chosen}
    return [body] if call.many else body


class Wire:
    """Answers every call of the table with the least, and keeps what was sent."""

    def __init__(self, account: Account, **chosen: str) -> None:
        self.sent: dict[str, list[httpx.Request]] = {call.name: [] for call in CALLS}
        self.answers = {call.name: answer_to(call, **chosen) for call in CALLS}
        self.unknown: list[str] = []
        account.routes.clear()
        account.routes.route().mock(side_effect=self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        address = str(request.url.copy_with(query=None))
        for call in CALLS:
            root = re.escape(f"{BASE}/v2.01" if call.public else ACCOUNT)
            path = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(call.path))
            if call.method == request.method and re.fullmatch(root + path, address):
                self.sent[call.name].append(request)
                return httpx.Response(200, json=self.answers[call.name])
        self.unknown.append(f"{request.method} {address}")
        return httpx.Response(501)


def fields(body: object, outer: str = "") -> Iterator[tuple[str, object]]:
    """Every field of a body by its dotted name."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from fields(value, f"{outer}.{name}" if outer else name)
    else:
        yield outer, body


def sent_fields(call: WireCall, request: httpx.Request) -> dict[str, object]:
    """What a request says: its form, its query, or its JSON."""
    if call.form:
        return dict(parse_qsl(request.content.decode()))
    if call.method == "GET":
        return dict(request.url.params)
    assert request.headers["Content-Type"] == "application/json"
    return dict(fields(orjson.loads(request.content)))


async def run(account: Account, call: WireCall) -> Wire:
    """Have the adapter make the call."""
    answering = Wire(account)
    if call.name == "create_hook":
        answering.answers["list_hooks"] = []
    await OPERATIONS[call.name](account)
    return answering


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
async def test_what_is_sent_is_what_the_provider_takes(account: Account, call: WireCall) -> None:
    answering = await run(account, call)
    assert answering.unknown == []
    assert answering.sent[call.name], "the operation never made this call"
    for request in answering.sent[call.name]:
        sent = sent_fields(call, request)
        assert set(call.required) <= set(sent)
        assert set(sent) <= {*call.required, *call.optional}
        for name, allowed in call.values.items():
            assert sent.get(name, allowed[0]) in allowed
        for name, value in sent.items():
            assert isinstance(value, int if name.endswith(".Amount") else (str, bool, list)), name


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
async def test_every_creation_has_a_key_and_nothing_else_has(account: Account, call: WireCall) -> None:
    answering = await run(account, call)
    for request in answering.sent[call.name]:
        key = request.headers.get("Idempotency-Key")
        if call.method == "POST" and not call.public:
            assert key is not None
            assert re.fullmatch(wire.IDEMPOTENCY_KEY, key)
        else:
            assert key is None


async def test_the_adapter_makes_no_call_besides(account: Account) -> None:
    assert set(OPERATIONS) == set(BY_NAME)
    answering = Wire(account)
    for operation in OPERATIONS.values():
        await operation(account)
    answering.answers["list_hooks"] = []
    await OPERATIONS["create_hook"](account)
    assert answering.unknown == []
    assert all(answering.sent.values())


MEANINGS = {
    "CREATED": TransactionStatus.PENDING,
    "SUCCEEDED": TransactionStatus.SUCCEEDED,
    "FAILED": TransactionStatus.FAILED,
}


@pytest.mark.parametrize("name", ["create_web_payin", "get_payin", "refund_payin", "get_refund", "list_payin_refunds"])
async def test_every_status_of_the_table_has_a_meaning(account: Account, name: str) -> None:
    assert set(BY_NAME[name].values["Status"]) == set(MEANINGS)
    for status, meaning in MEANINGS.items():
        Wire(account, Status=status)
        try:
            told: Any = await OPERATIONS[name](account)
        except Declined as declined:
            assert BY_NAME[name].method == "POST"
            told = declined.transaction
        assert (told[0] if isinstance(told, list) else told).status is meaning


@pytest.mark.parametrize("name", ["create_web_payin", "get_payin", "refund_payin", "get_refund", "list_payin_refunds"])
async def test_without_what_money_depends_on_an_answer_is_not_believed(account: Account, name: str) -> None:
    for missing in ("Id", "CreationDate", "DebitedFunds", "Fees", "Status"):
        answering = Wire(account)
        answer = answering.answers[name]
        body = answer[0] if isinstance(answer, list) else answer
        assert isinstance(body, dict)
        del body[missing]
        answering.answers["get_response"] = answer_to(BY_NAME["get_response"]) | {"Resource": body}  # type: ignore[operator]
        with pytest.raises((Transient, UnknownOutcome)):
            await OPERATIONS[name](account)


@pytest.mark.parametrize(("type", "status"), wire.ERROR_TYPES.items())
async def test_every_refusal_of_the_table_is_an_error_of_the_port(account: Account, type: str, status: int) -> None:
    body = dict.fromkeys(wire.ERROR_FIELDS, "text") | {"Type": type, "Date": 1740581497.0, "errors": None}
    account.on("GET", "/payins/id-1", httpx.Response(status, json=body))
    with pytest.raises(ProviderError) as told:
        await OPERATIONS["get_payin"](account)
    assert (told.value.code, told.value.request_id) == (type, "text")


def test_the_events_of_the_table_are_those_that_are_registered() -> None:
    assert tuple(EVENT_TYPES) == wire.EVENT_TYPES


@pytest.mark.parametrize("type", wire.EVENT_TYPES)
def test_a_notification_of_the_table_is_read(account: Account, type: str) -> None:
    values = dict(zip(wire.NOTIFICATION, (type, "id-1", "1760000000"), strict=True))
    [hint] = account.adapter.read_webhook(notification(f"/hooks/{SECRET}", **values))
    assert (hint.type, hint.resource_id) == (type, "id-1")
    assert hint.occurred_at == dt.datetime.fromtimestamp(1_760_000_000, dt.UTC)


def test_new_keys_are_ones_the_provider_takes() -> None:
    assert re.fullmatch(wire.IDEMPOTENCY_KEY, new_key())
