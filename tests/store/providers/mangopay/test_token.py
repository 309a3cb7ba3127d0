"""The access token: fetched once, kept for its life, renewed once."""

import asyncio
import base64
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from store.providers.errors import NotAllowed, TransientError
from store.providers.keys import new_idempotency_key
from store.providers.transactions import TransactionKind
from tests.store.providers.mangopay.account import PAYMENT, TOKEN, Account, ok, payin, refusal
from tests.store.providers.mangopay.payees.people import BACK, REQUEST, legal_user, recipient


async def read(account: Account) -> None:
    """Read a payment."""
    await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")


async def test_one_token_serves_many_calls(account: Account) -> None:
    route = account.on("GET", "/payins/payin_m_1", ok(payin()))
    for _ in range(3):
        await read(account)
    assert (account.token.call_count, route.call_count) == (1, 3)
    request = account.token.calls.last.request
    assert request.headers["Authorization"] == "Basic " + base64.b64encode(b"shop:api-key-of-shop").decode()
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert request.content == b"grant_type=client_credentials"
    assert request.extensions["timeout"] == {"connect": 5, "read": 30, "write": 30, "pool": 30}


async def test_it_is_renewed_a_minute_before_its_end(account: Account) -> None:
    route = account.on("GET", "/payins/payin_m_1", ok(payin()))
    await read(account)
    account.clock.advance(dt.timedelta(seconds=3600 - 70))
    await read(account)
    assert account.token.call_count == 1
    account.clock.advance(dt.timedelta(seconds=15))
    await read(account)
    assert account.token.call_count == 2
    assert route.calls.last.request.headers["Authorization"] == "Bearer token-2"


async def test_a_token_that_lives_a_minute_is_used_all_the_same(account: Account) -> None:
    account.routes.post(TOKEN).respond(json={"access_token": "short", "token_type": "Bearer", "expires_in": 60})
    account.on("GET", "/payins/payin_m_1", ok(payin()))
    await read(account)
    account.clock.advance(dt.timedelta(seconds=20))
    await read(account)
    assert account.token.call_count == 1
    account.clock.advance(dt.timedelta(seconds=11))
    await read(account)
    assert account.token.call_count == 2


async def test_a_refused_token_is_dropped_and_the_call_sent_once_more(account: Account) -> None:
    sent: list[tuple[str, str, bytes]] = []

    def look(request: httpx.Request) -> httpx.Response:
        sent.append((request.headers["Authorization"], request.headers["Idempotency-Key"], request.content))
        return refusal(401) if len(sent) == 1 else ok(payin())

    account.on("POST", "/payins/card/web", look)
    key = new_idempotency_key()
    await account.adapter.create_payment(PAYMENT, key=key, sent_at=account.clock.now())
    assert [each[:2] for each in sent] == [("Bearer token-1", key), ("Bearer token-2", key)]
    assert sent[0][2] == sent[1][2]


async def test_a_token_that_is_refused_again_is_not_renewed_for_ever(account: Account) -> None:
    route = account.on("GET", "/payins/payin_m_1", refusal(401))
    with pytest.raises(NotAllowed):
        await read(account)
    assert (route.call_count, account.token.call_count, account.slept) == (2, 2, [])


async def file() -> AsyncIterator[bytes]:
    """A small file."""
    yield b"%PDF"


def slowly(account: Account) -> None:
    """Make tokens take a while, so that many calls wait for one."""

    async def issue(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.02)
        return httpx.Response(200, json={"access_token": "slow", "token_type": "Bearer", "expires_in": 3600})

    account.routes.post(TOKEN).mock(side_effect=issue)
    account.on("GET", "/payins/payin_m_1", ok(payin()))


async def test_fifty_calls_at_once_get_one_token(account: Account) -> None:
    slowly(account)
    await asyncio.gather(*(read(account) for _ in range(50)))
    assert account.token.call_count == 1


async def test_fifty_calls_that_meet_the_end_of_the_token_renew_it_once(account: Account) -> None:
    slowly(account)
    await read(account)
    account.clock.advance(dt.timedelta(hours=1))
    await asyncio.gather(*(read(account) for _ in range(50)))
    assert account.token.call_count == 2


async def test_fifty_calls_of_all_kinds_that_meet_the_end_of_the_token_renew_it_once(account: Account) -> None:
    slowly(account)
    await read(account)
    adapter, now = account.adapter, account.clock.now
    opened = {"PendingUserAction": {"RedirectUrl": "https://sca.test/?token=a"}}
    account.on("GET", "/sca/users/u", ok(legal_user()))
    account.on("POST", "/sca/users/legal", ok(legal_user()))
    account.on("POST", "/sca/users/u/enrollment", ok(opened))
    account.on("POST", "/users/u/kyc/documents/d/pages", httpx.Response(204))
    account.on("PUT", "/recipients/r", ok(recipient(Status="DEACTIVATED")))
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: adapter.get_account("u"),
        lambda: adapter.create_account(REQUEST, return_url=BACK, key=new_idempotency_key(), sent_at=now()),
        lambda: adapter.open_enrolment("u", return_url=BACK, key=new_idempotency_key(), sent_at=now()),
        lambda: adapter.add_page("u", "d", file, key=new_idempotency_key(), sent_at=now()),
        lambda: adapter.deactivate_destination("r"),
    ]
    account.clock.advance(dt.timedelta(hours=1))
    await asyncio.gather(*(call() for call in calls * 10))
    assert account.token.call_count == 2


async def test_fifty_calls_refused_at_once_renew_the_token_once(account: Account) -> None:
    seen: list[str] = []
    both = asyncio.Barrier(50)

    async def look(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["Authorization"])
        if seen[-1] == "Bearer token-1":
            await both.wait()
            return httpx.Response(401)
        return httpx.Response(200, json=payin())

    account.on("GET", "/payins/payin_m_1").mock(side_effect=look)
    await asyncio.gather(*(read(account) for _ in range(50)))
    assert account.token.call_count == 2
    assert (seen.count("Bearer token-1"), seen.count("Bearer token-2")) == (50, 50)


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_wrong_credentials_are_said_to_be_wrong(account: Account, status: int) -> None:
    account.routes.post(TOKEN).mock(refusal(status, "invalid_client"))
    route = account.on("POST", "/payins/card/web", ok(payin()))
    with pytest.raises(NotAllowed, match="client id or the API key") as told:
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert told.value.code == "invalid_client"
    assert (route.call_count, account.token.call_count) == (0, 1)


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ReadTimeout("lost"),
        httpx.ConnectError("down"),
        refusal(503),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"access_token": "", "expires_in": 3600}),
        httpx.Response(200, json={"access_token": "t", "expires_in": 0}),
    ],
)
async def test_without_a_token_nothing_was_sent(
    account: Account, trouble: httpx.Response | httpx.TransportError
) -> None:
    if isinstance(trouble, httpx.Response):
        account.routes.post(TOKEN).mock(return_value=trouble)
    else:
        account.routes.post(TOKEN).mock(side_effect=trouble)
    route = account.on("POST", "/payins/card/web", ok(payin()))
    with pytest.raises(TransientError):
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert (route.call_count, account.token.call_count) == (0, 5)


async def test_too_many_tokens_say_when_to_come_back(account: Account) -> None:
    account.routes.post(TOKEN).mock(refusal(429, "rate_limit"))
    with pytest.raises(TransientError) as told:
        await read(account)
    assert (told.value.retry_after, account.token.call_count) == (60, 1)
