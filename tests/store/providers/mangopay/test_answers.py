"""Answers that no provider should give: endless, drop by drop, elsewhere, of the wrong shape. None is more than a lost one."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from store.providers.accounts import DocumentType
from store.providers.errors import TransientError, UnknownOutcome
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import client
from tests.store.providers.mangopay.account import CREATED, Account, kept_answer, ok

DOCUMENT = {"Id": "kyc_1", "UserId": "user_m_1", "Type": "IDENTITY_PROOF", "Status": "CREATED", "CreationDate": CREATED}
PATH, ALL = "/kyc/documents/kyc_1", "/users/user_m_1/kyc/documents"
TOKEN = {"access_token": "token", "token_type": "Bearer", "expires_in": 3600}


def answering(account: Account, status: int, pieces: Any, **headers: str) -> list[httpx.Request]:
    """Every call but that for a token is answered by these pieces; answers the calls as they come."""
    calls: list[httpx.Request] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/oauth/token"):
            return httpx.Response(200, json=TOKEN)
        calls.append(request)
        return httpx.Response(status, content=pieces(), headers=headers)

    account.handler = handle
    return calls


async def endless() -> AsyncIterator[bytes]:
    """A body without an end."""
    while True:
        yield b" " * 65536


async def dripping() -> AsyncIterator[bytes]:
    """A body that comes so slowly that no pause is too long, and all of them are."""
    while True:
        yield b" "
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("pieces", [endless, dripping])
async def test_an_answer_without_an_end_is_a_lost_one(
    account: Account, monkeypatch: pytest.MonkeyPatch, pieces: Any
) -> None:
    monkeypatch.setattr(client, "RESPONSE_TIMEOUT", 0.1 if pieces is dripping else 60.0)
    answering(account, 200, pieces)
    with pytest.raises(TransientError):
        await account.adapter.get_document("kyc_1")
    now = account.clock.now()
    key = new_idempotency_key()
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_document(
            "user_m_1", DocumentType.IDENTITY_PROOF, reference="a", key=key, sent_at=now
        )


async def test_a_packed_answer_is_no_larger_than_what_it_holds(account: Account) -> None:
    packed = gzip.compress(b" " * (client.LARGEST_RESPONSE + 1))

    async def pieces() -> AsyncIterator[bytes]:
        yield packed

    answering(account, 200, pieces, **{"content-encoding": "gzip"})
    with pytest.raises(TransientError):
        await account.adapter.get_document("kyc_1")


async def test_a_packed_answer_is_read(account: Account) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield gzip.compress(ok(DOCUMENT).content)

    answering(account, 200, pieces, **{"content-encoding": "gzip"})
    assert (await account.adapter.get_document("kyc_1")).id == "kyc_1"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nobody_is_followed_elsewhere_with_the_token(account: Account, status: int) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b""

    calls = answering(account, status, pieces, location="https://elsewhere.example/")
    with pytest.raises(TransientError):
        await account.adapter.get_document("kyc_1")
    assert {call.url.host for call in calls} == {"provider.test"}


@pytest.mark.parametrize("date", ["2026-01-01T00:00:00", "tomorrow", None, True, 1e30, [1]])
async def test_a_date_that_says_no_moment_is_not_believed(account: Account, date: object) -> None:
    account.on("GET", PATH, ok({**DOCUMENT, "CreationDate": date}))
    with pytest.raises(TransientError):
        await account.adapter.get_document("kyc_1")


async def test_nul_is_shown_as_what_cannot_be_shown(account: Account) -> None:
    told = {"Status": "REFUSED", "RefusedReasonType": "A\0B", "RefusedReasonMessage": "\0"}
    account.on("GET", PATH, ok({**DOCUMENT, **told}))
    (refusal,) = (await account.adapter.get_document("kyc_1")).refusals
    assert (refusal.code, refusal.message) == ("A\ufffdB", "\ufffd")


async def test_a_list_without_an_end_is_given_up(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_PAGES", 3)
    route = account.on("GET", ALL, ok([DOCUMENT] * client.PAGE))
    with pytest.raises(TransientError):
        await account.adapter.list_documents("user_m_1")
    assert route.call_count == 3


@pytest.mark.parametrize("pages", ["9" * 5000, "²", "-1", "many"])
async def test_a_number_of_pages_that_is_none_is_not_believed(account: Account, pages: str) -> None:
    account.on(
        "GET", ALL, httpx.Response(200, json=[DOCUMENT], headers=[(b"x-number-of-pages", pages.encode("latin-1"))])
    )
    assert len(await account.adapter.list_documents("user_m_1")) == 1


async def test_a_kept_answer_of_another_shape_settles_nothing(account: Account) -> None:
    account.on("POST", ALL, httpx.Response(409))
    key, now = new_idempotency_key(), account.clock.now()
    account.on("GET", f"/responses/{key}", ok(kept_answer({"Id": "kyc_1"})))
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_document(
            "user_m_1", DocumentType.IDENTITY_PROOF, reference="a", key=key, sent_at=now
        )
