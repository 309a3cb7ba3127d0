"""Every creating call for those who are paid happens once: whatever gets lost, and however old its key is."""

import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from store.providers.accounts import Account as Told
from store.providers.accounts import AccountStatus, Destination, DestinationStatus, DocumentType
from store.providers.actions import UserAction
from store.providers.errors import InvalidRequest, TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey
from tests.store.providers.mangopay.account import CONFLICT, KEY_NOT_KNOWN, Account, Answer, kept_answer, ok, refusal
from tests.store.providers.mangopay.payees.people import (
    BACK,
    BANK,
    ENCODED_BACK,
    REQUEST,
    SCA,
    document,
    legal_user,
    recipient,
    session,
)

KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
RESPONSE = f"/responses/{KEY}"
ENROLLED = {"PendingUserAction": {"RedirectUrl": SCA}}


async def file() -> AsyncIterator[bytes]:
    """A small file."""
    yield b"%PDF"


@dataclass(frozen=True)
class Creating:
    """A creating call: where it goes, what it answers, where that is read again, and how it is made."""

    path: str
    resource: dict[str, Any] | None
    again: str | None
    make: Callable[[Account, dt.datetime], Awaitable[object]]


CALLS = {
    "account": Creating(
        "/sca/users/legal",
        legal_user(),
        "/sca/users/user_m_2",
        lambda on, at: on.adapter.create_account(REQUEST, return_url=BACK, key=KEY, sent_at=at),
    ),
    "enrolment": Creating(
        "/sca/users/user_m_2/enrollment",
        ENROLLED,
        None,
        lambda on, at: on.adapter.open_enrolment("user_m_2", return_url=BACK, key=KEY, sent_at=at),
    ),
    "identity": Creating(
        "/users/user_m_2/identity-verifications",
        session(),
        "/identity-verifications/idv_1",
        lambda on, at: on.adapter.open_identity_check("user_m_2", return_url=BACK, key=KEY, sent_at=at),
    ),
    "document": Creating(
        "/users/user_m_2/kyc/documents",
        document(),
        "/kyc/documents/kyc_1",
        lambda on, at: on.adapter.create_document(
            "user_m_2", DocumentType.IDENTITY_PROOF, reference="document-9", key=KEY, sent_at=at
        ),
    ),
    "page": Creating(
        "/users/user_m_2/kyc/documents/kyc_1/pages",
        None,
        None,
        lambda on, at: on.adapter.add_page("user_m_2", "kyc_1", file, key=KEY, sent_at=at),
    ),
    "destination": Creating(
        "/users/user_m_2/recipients",
        recipient(),
        "/recipients/rec_1",
        lambda on, at: on.adapter.add_destination(BANK, return_url=BACK, key=KEY, sent_at=at),
    ),
    "wallet": Creating(
        "/wallets",
        {"Id": "wlt_m_1"},
        None,
        lambda on, at: on.adapter.open_wallet("user_m_2", "EUR", "Partner", key=KEY, sent_at=at),
    ),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


def success(call: Creating) -> httpx.Response:
    """The answer to a call that works."""
    return httpx.Response(204) if call.resource is None else ok(call.resource)


class Provider:
    """Makes one object for each key, refuses a key's second use, and forgets keys when it is told to."""

    def __init__(self, account: Account, call: Creating, *troubles: tuple[str, Answer]) -> None:
        self.objects, self.sends, self.known = 0, 0, False
        self._call, self._troubles = call, list(troubles)
        account.on("POST", call.path, self._make)
        account.on("GET", RESPONSE, lambda _: self._kept_answer() if self.known else KEY_NOT_KNOWN)
        if call.again:
            account.on("GET", call.again, ok(call.resource))

    def _kept_answer(self) -> httpx.Response:
        return ok(kept_answer(self._call.resource, 204 if self._call.resource is None else 200))

    def _make(self, request: httpx.Request) -> httpx.Response:
        self.sends += 1
        assert request.headers["Idempotency-Key"] == KEY
        when, trouble = self._troubles.pop(0) if self._troubles else ("", None)
        if when != "before":
            if self.known:
                return CONFLICT
            self.objects, self.known = self.objects + 1, True
        if trouble is None:
            return success(self._call)
        if isinstance(trouble, httpx.Response):
            return trouble
        assert isinstance(trouble, type)
        raise trouble("as the test wants it")


@every_call
async def test_it_is_made_once_when_nothing_goes_wrong(account: Account, call: Creating) -> None:
    provider = Provider(account, call)
    first = await call.make(account, account.clock.now())
    second = await call.make(account, account.clock.now())
    assert (provider.objects, provider.sends) == (1, 2)
    assert same(first) == same(second)


def same(answer: object) -> object:
    """What two answers about one object share; only how long its link lasts may differ by the time between them."""
    if isinstance(answer, UserAction):
        return answer.url
    return getattr(answer, "id", answer)


LOST: list[Answer] = [
    httpx.ReadTimeout,
    httpx.RemoteProtocolError,
    refusal(500),
    refusal(502),
    refusal(504),
    httpx.Response(200, text="<html>"),
    httpx.Response(200, text='{"Id": "us'),
]


@every_call
@pytest.mark.parametrize("trouble", LOST)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_it_is_made_once_when_an_answer_is_lost(
    account: Account, call: Creating, trouble: Answer, when: str
) -> None:
    provider = Provider(account, call, (when, trouble))
    await call.make(account, account.clock.now())
    assert (provider.objects, provider.sends) == (1, 1 if when == "after" else 2)


@every_call
async def test_what_never_left_is_certainly_not_done(account: Account, call: Creating) -> None:
    provider = Provider(account, call, *[("before", httpx.ConnectError)] * 9)
    with pytest.raises(TransientError):
        await call.make(account, account.clock.now())
    assert (provider.objects, provider.sends) == (0, 5)


@every_call
async def test_a_refusal_is_told_and_not_repeated(account: Account, call: Creating) -> None:
    provider = Provider(account, call, ("before", refusal(400, "param_error", errors={"Field": "wrong"})))
    with pytest.raises(InvalidRequest) as told:
        await call.make(account, account.clock.now())
    assert (told.value.fields, provider.objects, provider.sends) == ({"Field": "wrong"}, 0, 1)


@every_call
async def test_too_many_calls_say_when_to_come_back(account: Account, call: Creating) -> None:
    provider = Provider(account, call, ("before", refusal(429, "rate_limit")))
    with pytest.raises(TransientError) as told:
        await call.make(account, account.clock.now())
    assert (told.value.retry_after, provider.objects, provider.sends) == (60, 0, 1)


# Old keys


@every_call
@pytest.mark.parametrize("minutes", [-5, 0, 60, 60 * 24 * 365])
async def test_with_a_key_that_may_be_forgotten_nothing_is_sent(account: Account, call: Creating, minutes: int) -> None:
    provider = Provider(account, call)
    with pytest.raises(UnknownOutcome) as told:
        await call.make(account, account.clock.now() - dt.timedelta(hours=24, minutes=minutes))
    assert (told.value.key, provider.objects, provider.sends) == (KEY, 0, 0)


@every_call
async def test_a_key_that_cannot_be_forgotten_yet_may_be_sent(account: Account, call: Creating) -> None:
    provider = Provider(account, call)
    await call.make(account, account.clock.now() - dt.timedelta(hours=23, minutes=54))
    assert provider.objects == 1


@every_call
async def test_an_old_key_that_is_known_all_the_same_tells_what_it_made(account: Account, call: Creating) -> None:
    provider = Provider(account, call)
    provider.known = True
    old = account.clock.now() - dt.timedelta(hours=23, minutes=57)
    told = await call.make(account, old)
    assert same(told) == same(await call.make(account, account.clock.now()))
    assert (provider.objects, provider.sends) == (0, 1)


@every_call
async def test_a_key_that_grows_too_old_meanwhile_is_not_sent_again(account: Account, call: Creating) -> None:
    provider = Provider(account, call, ("before", httpx.ReadTimeout))
    account.while_asleep = lambda: account.clock.advance(dt.timedelta(minutes=2))
    with pytest.raises(UnknownOutcome):
        await call.make(account, account.clock.now() - dt.timedelta(hours=23, minutes=54))
    assert (provider.objects, provider.sends) == (0, 1)


@every_call
@pytest.mark.parametrize("trouble", [refusal(503), httpx.ReadTimeout, refusal(429, "rate_limit"), refusal(403)])
async def test_an_old_key_that_cannot_be_asked_about_is_never_said_to_be_not_done(
    account: Account, call: Creating, trouble: Answer
) -> None:
    provider = Provider(account, call)
    account.on("GET", RESPONSE, trouble)
    with pytest.raises(UnknownOutcome):
        await call.make(account, account.clock.now() - dt.timedelta(hours=25))
    assert (provider.objects, provider.sends) == (0, 0)


@every_call
async def test_an_old_key_whose_kept_answer_settles_nothing_stays_unknown(account: Account, call: Creating) -> None:
    account.on("GET", RESPONSE, ok(kept_answer({"Message": "oops"}, 502)))
    with pytest.raises(UnknownOutcome):
        await call.make(account, account.clock.now() - dt.timedelta(hours=25))


@every_call
async def test_an_old_refusal_is_still_one(account: Account, call: Creating) -> None:
    account.on("GET", RESPONSE, ok(kept_answer(refusal(400, "param_error").json(), 400)))
    with pytest.raises(InvalidRequest):
        await call.make(account, account.clock.now() - dt.timedelta(hours=25))


# What was looked up


async def test_a_link_that_was_looked_up_lasts_from_when_it_was_first_asked_for(account: Account) -> None:
    earlier = account.clock.now() - dt.timedelta(minutes=7)
    for call in (CALLS["account"], CALLS["enrolment"], CALLS["destination"]):
        Provider(account, call).known = True
        told = await call.make(account, earlier)
        action = told if isinstance(told, UserAction) else told.action  # type: ignore[attr-defined]
        assert action.url == f"{SCA}&returnUrl={ENCODED_BACK}"
        assert action.expires_at == earlier + dt.timedelta(minutes=10)


async def test_somebody_who_has_authenticated_meanwhile_is_sent_nowhere(account: Account) -> None:
    Provider(account, CALLS["account"]).known = True
    account.on("GET", "/sca/users/user_m_2", ok(legal_user(UserStatus="ACTIVE", PendingUserAction=None)))
    told = await CALLS["account"].make(account, account.clock.now())
    assert isinstance(told, Told)
    assert (told.status, told.action) == (AccountStatus.ACTIVE, None)
    Provider(account, CALLS["destination"]).known = True
    account.on("GET", "/recipients/rec_1", ok(recipient(Status="ACTIVE", PendingUserAction=None)))
    bank = await CALLS["destination"].make(account, account.clock.now())
    assert isinstance(bank, Destination)
    assert (bank.status, bank.action) == (DestinationStatus.ACTIVE, None)


@pytest.mark.parametrize("name", ["account", "identity", "document", "destination"])
@pytest.mark.parametrize("trouble", [refusal(500), refusal(404), refusal(429), httpx.ReadTimeout])
async def test_what_exists_is_told_even_when_it_cannot_be_read_again(
    account: Account, name: str, trouble: Answer
) -> None:
    call = CALLS[name]
    Provider(account, call).known = True
    assert call.again
    assert call.resource
    account.on("GET", call.again, trouble)
    assert same(await call.make(account, account.clock.now())) == call.resource["Id"]


@pytest.mark.parametrize("name", ["account", "identity", "document", "destination", "wallet"])
@pytest.mark.parametrize("missing", ["Id", "Status", "UserStatus", "CreationDate", "UserId"])
async def test_an_answer_without_what_matters_is_not_believed(account: Account, name: str, missing: str) -> None:
    call = CALLS[name]
    assert call.resource
    needed = {
        "account": {"Id", "UserStatus"},
        "identity": {"Id", "Status", "CreationDate", "UserId"},
        "document": {"Id", "Status", "CreationDate", "UserId"},
        "destination": {"Id", "Status", "UserId"},
        "wallet": {"Id"},
    }[name]
    account.on("POST", call.path, ok({key: value for key, value in call.resource.items() if key != missing}))
    account.on("GET", RESPONSE, KEY_NOT_KNOWN)
    if missing in needed:
        with pytest.raises(UnknownOutcome):
            await call.make(account, account.clock.now())
    else:
        await call.make(account, account.clock.now())


async def test_what_was_made_is_found_by_its_key_alone(account: Account) -> None:
    for name in ("account", "identity", "document", "destination", "wallet"):
        resource = CALLS[name].resource
        assert resource
        account.on("GET", RESPONSE, ok(kept_answer(resource)))
        assert await account.adapter.resolve(KEY, sent_at=account.clock.now()) == resource["Id"]
