"""The provider's refusals, as the port's errors."""

import httpx
import pytest

from store.providers.actions import ActionKind, UserAction
from store.providers.errors import (
    ActionRequired,
    InvalidRequest,
    NotAllowed,
    ProviderError,
    ProviderNotFound,
    TransientError,
)
from store.providers.keys import new_idempotency_key
from store.providers.transactions import TransactionKind
from tests.store.providers.mangopay.account import PAYMENT, Account, ok, payin, refusal


async def read(account: Account) -> None:
    """Read a payment."""
    await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refusal(400, "param_error"), InvalidRequest),
        (refusal(403, "forbidden_ressource"), NotAllowed),
        (refusal(404, "ressource_not_found"), ProviderNotFound),
        (refusal(405, "method_not_allowed"), InvalidRequest),
        (refusal(413), InvalidRequest),
        (refusal(415), InvalidRequest),
        (refusal(422), InvalidRequest),
        (refusal(429, "rate_limit"), TransientError),
    ],
)
async def test_a_refused_creation_is_told_by_kind_and_never_sent_again(
    account: Account, answer: httpx.Response, error: type[ProviderError]
) -> None:
    route = account.on("POST", "/payins/card/web", answer)
    with pytest.raises(error) as told:
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert type(told.value) is error
    assert told.value.code == answer.json()["Type"]
    assert told.value.request_id == "5e83fbe8#1740580804"
    assert str(told.value) == answer.json()["Message"]
    assert (route.call_count, account.slept) == (1, [])


@pytest.mark.parametrize("name", ["errors", "Errors"])
async def test_wrong_fields_are_named_under_either_spelling(account: Account, name: str) -> None:
    answer = refusal(400, "param_error", **{"errors": None, name: {"Fees": "required", "DebitedFunds": None}})
    if name == "Errors":
        body = answer.json()
        del body["errors"]
        answer = httpx.Response(400, json=body)
    account.on("POST", "/payins/card/web", answer)
    with pytest.raises(InvalidRequest) as told:
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert told.value.fields == {"Fees": "required", "DebitedFunds": "None"}


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(400, text="<html>Bad Request</html>"),
        httpx.Response(400, json=["what"]),
        httpx.Response(400, json={"Message": None, "Type": 7, "Id": None, "Date": "soon", "errors": ["odd"]}),
        httpx.Response(400),
    ],
)
async def test_a_malformed_refusal_is_still_a_refusal(account: Account, answer: httpx.Response) -> None:
    account.on("POST", "/payins/card/web", answer)
    with pytest.raises(InvalidRequest, match="The provider answered 400") as told:
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert told.value.fields == {}


@pytest.mark.parametrize(
    "challenge",
    [
        "PendingUserAction RedirectUrl=https://sca.test/?token=abc",
        'PendingUserAction RedirectUrl="https://sca.test/?token=abc"',
        "Bearer, pendinguseraction redirecturl=<https://sca.test/?token=abc>",
    ],
)
async def test_a_read_that_the_owner_must_authenticate_for_says_where(account: Account, challenge: str) -> None:
    route = account.on("GET", "/payins/payin_m_1", httpx.Response(401, headers={"WWW-Authenticate": challenge}))
    with pytest.raises(ActionRequired) as told:
        await read(account)
    assert told.value.action == UserAction(ActionKind.AUTHENTICATION, "https://sca.test/?token=abc")
    assert (route.call_count, account.token.call_count) == (1, 1)


async def test_an_address_in_another_challenge_is_nobodys_to_visit(account: Account) -> None:
    challenge = {"WWW-Authenticate": 'Bearer realm="https://provider.test", error="invalid_token"'}
    route = account.on("GET", "/payins/payin_m_1", httpx.Response(401, headers=challenge), ok(payin()))
    await read(account)
    assert (route.call_count, account.token.call_count) == (2, 2)


async def test_a_challenge_without_an_address_is_only_a_refusal(account: Account) -> None:
    account.on("GET", "/payins/payin_m_1", httpx.Response(401, headers={"WWW-Authenticate": "PendingUserAction"}))
    with pytest.raises(NotAllowed):
        await read(account)


@pytest.mark.parametrize(
    ("remaining", "waits", "expected"),
    [
        ("0, 10, 10, 10", (300, 900, 1800, 40_000), 300),
        ("5, 10, 0, 10", (300, 900, 1800, 40_000), 1800),
        ("0,0,0,0", (300, 900, 1800, 40_000), 300),
        ("0, 0", (300, 900, 1800, 40_000), 300),
        ("", (300, 900, 1800, 40_000), 300),
        ("0, 10, 10, 10", (-5, 900, 1800, 40_000), 60),
        ("10, 10, 10, 10", (300, 900, 1800, 40_000), 60),
    ],
)
async def test_too_many_calls_say_when_to_come_back(
    account: Account, remaining: str, waits: tuple[int, ...], expected: int
) -> None:
    start = account.clock.timestamp()
    resets = ", ".join(str(int(start) + wait) for wait in waits)
    answer = refusal(429, "rate_limit")
    answer.headers.update({"x-ratelimit-remaining": remaining, "x-ratelimit-reset": resets})
    route = account.on("GET", "/payins/payin_m_1", answer)
    with pytest.raises(TransientError) as told:
        await read(account)
    assert told.value.retry_after == pytest.approx(expected, abs=3)
    assert (route.call_count, account.slept) == (1, [])


@pytest.mark.parametrize("resets", ["", "soon", "1,2,x"])
async def test_too_many_calls_without_a_time_stay_away_a_minute(account: Account, resets: str) -> None:
    answer = refusal(429, "rate_limit")
    answer.headers["x-ratelimit-reset"] = resets
    account.on("GET", "/payins/payin_m_1", answer)
    with pytest.raises(TransientError) as told:
        await read(account)
    assert told.value.retry_after == 60


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.PoolTimeout,
        httpx.ReadTimeout,
        httpx.RemoteProtocolError,
        refusal(500),
        refusal(502),
        refusal(503),
        httpx.Response(302, headers={"Location": "https://elsewhere.test"}),
        httpx.Response(408),
    ],
)
async def test_a_read_is_tried_again_and_then_said_to_be_not_done(
    account: Account, trouble: httpx.Response | type[httpx.TransportError]
) -> None:
    healing = account.on("GET", "/payins/payin_m_1", trouble, trouble, ok(payin()))
    await read(account)
    assert (healing.call_count, account.slept) == (3, [0.2, 0.5])
    broken = account.on("GET", "/payins/payin_m_2", trouble)
    with pytest.raises(TransientError) as told:
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_2")
    assert told.value.retry_after is None
    assert broken.call_count == 5
