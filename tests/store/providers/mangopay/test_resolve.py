"""What became of a call whose outcome was unknown."""

import datetime as dt

import httpx
import pytest

from store.providers.errors import InvalidRequest, TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.transactions import Transaction, TransactionKind, TransactionStatus
from tests.store.providers.mangopay.account import KEY_NOT_KNOWN, Account, kept_answer, ok, payin, refund, refusal

KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
RESPONSE = f"/responses/{KEY}"


async def resolve(account: Account, age: dt.timedelta = dt.timedelta(minutes=5)) -> Transaction | str | None:
    """Ask about a call that was sent a while ago."""
    return await account.adapter.resolve(KEY, sent_at=account.clock.now() - age)


async def test_a_payment_is_told_as_it_is_now(account: Account) -> None:
    account.on("GET", RESPONSE, ok(kept_answer(payin())))
    account.on("GET", "/payins/payin_m_1", ok(payin(Status="FAILED", ResultCode="101109")))
    found = await resolve(account)
    assert isinstance(found, Transaction)
    assert (found.id, found.status) == ("payin_m_1", TransactionStatus.FAILED)


async def test_a_refund_is_told_as_a_refund(account: Account) -> None:
    account.on("GET", RESPONSE, ok(kept_answer(refund(Status="CREATED"))))
    account.on("GET", "/refunds/refund_m_1", ok(refund()))
    found = await resolve(account)
    assert isinstance(found, Transaction)
    assert (found.kind, found.status) == (TransactionKind.REFUND, TransactionStatus.SUCCEEDED)


@pytest.mark.parametrize("resource", [{"Id": "user_m_1", "PersonType": "NATURAL"}, {"Id": "wlt_m_1", "Owners": ["u"]}])
async def test_payers_and_wallets_are_told_by_id(account: Account, resource: dict[str, object]) -> None:
    account.on("GET", RESPONSE, ok(kept_answer(resource)))
    assert await resolve(account) == resource["Id"]


async def test_a_key_that_was_never_seen_may_be_sent_again(account: Account) -> None:
    asked = account.on("GET", RESPONSE, KEY_NOT_KNOWN)
    assert await resolve(account) is None
    assert await resolve(account, dt.timedelta(hours=23, minutes=54)) is None
    assert asked.call_count == 2


async def test_a_key_that_may_be_forgotten_proves_nothing(account: Account) -> None:
    account.on("GET", RESPONSE, KEY_NOT_KNOWN)
    with pytest.raises(UnknownOutcome) as told:
        await resolve(account, dt.timedelta(hours=23, minutes=56))
    assert told.value.key == KEY


async def test_an_old_key_that_is_still_known_is_told(account: Account) -> None:
    account.on("GET", RESPONSE, ok(kept_answer({"Id": "user_m_1"})))
    assert await resolve(account, dt.timedelta(hours=24)) == "user_m_1"


async def test_a_refusal_is_told_as_one(account: Account) -> None:
    body = refusal(400, "param_error", errors={"Fees": "too much"}).json()
    account.on("GET", RESPONSE, ok(kept_answer(body, 400)))
    with pytest.raises(InvalidRequest) as told:
        await resolve(account)
    assert told.value.fields == {"Fees": "too much"}


@pytest.mark.parametrize(
    "answer",
    [kept_answer({"Message": "oops"}, 502), kept_answer(None), kept_answer({"Nature": "REGULAR"}), kept_answer({})],
)
async def test_an_answer_that_settles_nothing_stays_unknown(account: Account, answer: dict[str, object]) -> None:
    account.on("GET", RESPONSE, ok(answer))
    with pytest.raises(UnknownOutcome):
        await resolve(account)


async def test_a_provider_that_cannot_be_asked_is_asked_later(account: Account) -> None:
    asked = account.on("GET", RESPONSE, httpx.ReadTimeout)
    with pytest.raises(TransientError):
        await resolve(account)
    assert asked.call_count == 5


async def test_a_wrong_question_is_not_taken_for_a_key_that_is_not_known(account: Account) -> None:
    account.on("GET", RESPONSE, refusal(400, "param_error"))
    with pytest.raises(InvalidRequest):
        await resolve(account)
