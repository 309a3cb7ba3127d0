"""A creating call happens once, whatever gets lost on the way: against a provider that counts what it was made to do."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from store.providers.errors import Declined, InvalidRequest, NotAllowed, ProviderError, TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey, new_idempotency_key
from store.providers.transactions import Payer, TransactionStatus
from tests.store.providers.mangopay.account import (
    CONFLICT,
    KEY_NOT_KNOWN,
    PAYMENT,
    REFUND,
    Account,
    kept_answer,
    ok,
    payin,
    refund,
    refusal,
)

KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
RESPONSE = f"/responses/{KEY}"
WEB = "/payins/card/web"

Trouble = type[httpx.TransportError] | httpx.Response


class Till:
    """Charges once for each key it gets to see, refuses a key's second use, and tells of the first at /responses."""

    def __init__(self, account: Account) -> None:
        self.charges: list[str] = []
        self.keys: list[str] = []
        self.questions = 0
        self.troubles: list[tuple[str, Trouble]] = []
        self.hidden = 0
        account.on("POST", WEB, self._charge)
        account.on("GET", RESPONSE, self._answer)
        account.on("GET", "/payins/payin_m_1", ok(payin()))

    def trouble(self, when: str, *kinds: Trouble) -> None:
        """Have the next sends go wrong `before` or `after` they are carried out."""
        self.troubles += [(when, kind) for kind in kinds]

    def _charge(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        self.keys.append(key)
        when, kind = self.troubles.pop(0) if self.troubles else ("", None)
        if when == "before":
            return self._spoil(kind)
        if key in self.charges:
            return CONFLICT
        self.charges.append(key)
        return self._spoil(kind) if when == "after" else ok(payin())

    def _answer(self, _: httpx.Request) -> httpx.Response:
        self.questions += 1
        if self.hidden:
            self.hidden -= 1
            return KEY_NOT_KNOWN
        return ok(kept_answer(payin())) if KEY in self.charges else KEY_NOT_KNOWN

    @staticmethod
    def _spoil(kind: Trouble | None) -> httpx.Response:
        if isinstance(kind, httpx.Response):
            return kind
        assert kind is not None
        raise kind("as the test wants it")


@pytest.fixture
def till(account: Account) -> Till:
    return Till(account)


NOT_SENT = [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout]
LOST = [
    httpx.ReadTimeout,
    httpx.WriteTimeout,
    httpx.ReadError,
    httpx.WriteError,
    httpx.CloseError,
    httpx.RemoteProtocolError,
    httpx.ProxyError,
    refusal(500),
    refusal(502),
    httpx.Response(503, text="<html>"),
    httpx.Response(408),
    httpx.Response(302, headers={"Location": "https://elsewhere.test"}),
    httpx.Response(200, text="<html>"),
    httpx.Response(200, text='{"Id": "payin_m_'),
    httpx.Response(200, json={"Status": "CREATED"}),
    httpx.Response(204),
]


@pytest.mark.parametrize("trouble", LOST)
async def test_a_lost_answer_is_looked_up_and_nothing_is_charged_twice(
    account: Account, till: Till, trouble: Trouble
) -> None:
    till.trouble("after", trouble)
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.id == "payin_m_1"
    assert (till.charges, till.keys, till.questions, account.slept) == ([KEY], [KEY], 1, [])


@pytest.mark.parametrize("trouble", LOST)
async def test_a_lost_request_is_sent_again_under_the_same_key(account: Account, till: Till, trouble: Trouble) -> None:
    till.trouble("before", trouble)
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.id == "payin_m_1"
    assert (till.charges, till.keys, till.questions) == ([KEY], [KEY, KEY], 1)


@pytest.mark.parametrize("trouble", NOT_SENT)
async def test_what_never_left_is_sent_again_without_asking(account: Account, till: Till, trouble: Trouble) -> None:
    till.trouble("before", trouble, trouble)
    await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (till.charges, till.keys, till.questions, account.slept) == ([KEY], [KEY] * 3, 0, [0.2, 0.5])


@pytest.mark.parametrize("trouble", NOT_SENT)
async def test_what_never_left_within_the_attempts_is_certainly_not_done(
    account: Account, till: Till, trouble: Trouble
) -> None:
    till.trouble("before", *[trouble] * 9)
    with pytest.raises(TransientError):
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (till.charges, len(till.keys), till.questions, account.slept) == ([], 5, 0, [0.2, 0.5, 1.0, 2.0])


async def test_what_may_have_left_once_is_never_said_to_be_not_done(account: Account, till: Till) -> None:
    till.trouble("before", httpx.ReadTimeout, *[httpx.ConnectError] * 9)
    with pytest.raises(UnknownOutcome) as told:
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert told.value.key == KEY
    assert till.charges == []


async def test_several_troubles_in_a_row_still_charge_once(account: Account, till: Till) -> None:
    till.trouble("before", httpx.ConnectError, httpx.ReadTimeout)
    till.trouble("after", refusal(502))
    await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (till.charges, till.keys) == ([KEY], [KEY] * 3)


async def test_a_key_that_was_used_before_answers_what_it_made(account: Account, till: Till) -> None:
    till.charges.append(KEY)
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.id == "payin_m_1"
    assert (till.charges, till.keys, till.questions) == ([KEY], [KEY], 1)


async def test_a_call_in_flight_is_waited_for_and_not_sent_again(account: Account, till: Till) -> None:
    till.charges.append(KEY)
    till.hidden = 3
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.id == "payin_m_1"
    assert (till.charges, till.keys, account.slept) == ([KEY], [KEY], [0.2, 0.5, 1.0])


async def test_a_call_that_stays_in_flight_is_an_unknown_outcome(account: Account, till: Till) -> None:
    till.charges.append(KEY)
    till.hidden = 99
    with pytest.raises(UnknownOutcome) as told:
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert told.value.key == KEY
    assert (till.keys, till.questions) == ([KEY], 5)


async def test_a_lost_answer_whose_call_still_runs_is_waited_for(account: Account, till: Till) -> None:
    till.trouble("after", httpx.ReadTimeout)
    till.hidden = 2
    await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (till.charges, till.keys) == ([KEY], [KEY, KEY])


@pytest.mark.parametrize("broken", [httpx.ReadTimeout, httpx.ConnectError, refusal(500), refusal(401), refusal(429)])
async def test_while_nothing_can_be_asked_nothing_is_sent(account: Account, till: Till, broken: Trouble) -> None:
    till.trouble("after", httpx.ReadTimeout)
    asked = account.on("GET", RESPONSE, broken)
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (till.charges, till.keys) == ([KEY], [KEY])
    assert asked.call_count >= 5


async def test_asking_is_tried_again(account: Account, till: Till) -> None:
    till.trouble("after", httpx.ReadTimeout)
    account.on("GET", RESPONSE, refusal(502), httpx.ReadTimeout, ok(kept_answer(payin())))
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.id == "payin_m_1"
    assert till.keys == [KEY]


async def test_a_refusal_of_the_second_send_says_nothing_about_the_first(account: Account, till: Till) -> None:
    till.trouble("before", httpx.ReadTimeout, *[refusal(429)] * 9)
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())


@pytest.mark.parametrize(
    ("status", "error"), [(400, InvalidRequest), (403, NotAllowed), (401, NotAllowed), (422, InvalidRequest)]
)
async def test_a_kept_refusal_is_the_outcome(account: Account, status: int, error: type[ProviderError]) -> None:
    body = refusal(status, "param_error", errors={"Fees": "too much"}).json()
    account.on("POST", WEB, httpx.ReadTimeout)
    account.on("GET", RESPONSE, ok(kept_answer(body, status)))
    with pytest.raises(error) as told:
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (told.value.code, told.value.request_id) == ("param_error", "5e83fbe8#1740580804")
    if isinstance(told.value, InvalidRequest):
        assert told.value.fields == {"Fees": "too much"}


@pytest.mark.parametrize(
    "answer",
    [
        kept_answer({"Message": "oops"}, 500),
        kept_answer(None),
        kept_answer({"Unexpected": 1}),
        kept_answer("text"),
        {"Resource": payin()},
    ],
)
async def test_a_kept_answer_that_settles_nothing_leaves_the_outcome_unknown(
    account: Account, answer: dict[str, Any]
) -> None:
    sent = account.on("POST", WEB, httpx.ReadTimeout)
    account.on("GET", RESPONSE, ok(answer))
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert sent.call_count == 1


async def test_a_kept_answer_is_old_so_the_payment_is_read_again(account: Account, till: Till) -> None:
    till.trouble("after", httpx.ReadTimeout)
    now = account.on("GET", "/payins/payin_m_1", ok(payin(Status="SUCCEEDED", ExecutionDate=1_760_000_300)))
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert made.status is TransactionStatus.SUCCEEDED
    assert now.call_count == 1


async def test_a_decline_that_was_lost_is_a_decline(account: Account, till: Till) -> None:
    till.trouble("after", httpx.ReadTimeout)
    account.on("GET", "/payins/payin_m_1", ok(payin(Status="FAILED", ResultCode="101101")))
    with pytest.raises(Declined) as told:
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert told.value.transaction.id == "payin_m_1"


@pytest.mark.parametrize("trouble", [refusal(500), refusal(429), refusal(404), httpx.ReadTimeout])
async def test_a_payment_that_exists_is_told_even_when_it_cannot_be_read_again(
    account: Account, till: Till, trouble: Trouble
) -> None:
    till.trouble("after", httpx.ReadTimeout)
    account.on("GET", "/payins/payin_m_1", trouble)
    made = await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert (made.id, made.status) == ("payin_m_1", TransactionStatus.PENDING)


async def test_refunds_payers_and_wallets_are_found_again_the_same_way(account: Account) -> None:
    account.on("GET", "/refunds/refund_m_1", ok(refund()))
    person = Payer("Ana", "Puig", "ana@example.com")
    makes: list[tuple[str, dict[str, Any], Callable[[], Any]]] = [
        (
            "/payins/payin_m_1/refunds",
            refund(),
            lambda: account.adapter.refund(REFUND, key=KEY, sent_at=account.clock.now()),
        ),
        (
            "/sca/users/natural",
            {"Id": "user_m_1"},
            lambda: account.adapter.create_payer(person, "b", key=KEY, sent_at=account.clock.now()),
        ),
        (
            "/wallets",
            {"Id": "wlt_m_1"},
            lambda: account.adapter.open_wallet("user_m_1", "EUR", "b", key=KEY, sent_at=account.clock.now()),
        ),
    ]
    for path, resource, make in makes:
        sent = account.on("POST", path, httpx.ReadTimeout)
        account.on("GET", RESPONSE, ok(kept_answer(resource)))
        made = await make()
        assert (made if isinstance(made, str) else made.id) == resource["Id"]
        assert sent.call_count == 1


@pytest.mark.parametrize("key", ["", "too-short", "x" * 37, "with spaces in the key", "ünïcode-key-of-thirty-chars"])
async def test_a_key_the_provider_would_not_take_is_not_sent(account: Account, key: str) -> None:
    with pytest.raises(ValueError, match="16 to 36"):
        await account.adapter.create_payment(PAYMENT, key=IdempotencyKey(key), sent_at=account.clock.now())
    assert account.token.call_count == 0


async def test_every_send_of_a_call_is_the_same(account: Account) -> None:
    bodies: list[bytes] = []

    def lose(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        raise httpx.ReadTimeout("lost")

    account.on("POST", WEB, lose)
    account.on("GET", RESPONSE, KEY_NOT_KNOWN)
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now())
    assert len(bodies) == 5
    assert len(set(bodies)) == 1
    assert json.loads(bodies[0])["Tag"] == "order-1"


async def test_two_payments_are_two(account: Account, till: Till) -> None:
    first, second = new_idempotency_key(), new_idempotency_key()
    await account.adapter.create_payment(PAYMENT, key=first, sent_at=account.clock.now())
    await account.adapter.create_payment(PAYMENT, key=second, sent_at=account.clock.now())
    assert till.charges == [first, second]
