"""Payouts on the wire: what is sent, what is made of answers and of lost ones, and payouts that come back."""

import dataclasses
import datetime as dt
import json
from typing import Any

import httpx
import pytest

from store.providers.errors import Declined, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.calls import call_name_of
from store.providers.money import MinorAmount
from store.providers.transactions import (
    Failure,
    FailureReason,
    PayoutInstruction,
    Transaction,
    TransactionKind,
    TransactionStatus,
)
from tests.store.providers.mangopay.account import CONFLICT, KEY_NOT_KNOWN, Account, Answer, kept_answer, ok, refusal
from tests.store.providers.mangopay.account import refund as payin_refund
from tests.store.providers.mangopay.wire import wire

KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
RESPONSE = f"/responses/{KEY}"
REQUEST = PayoutInstruction(
    reference="payout-7",
    author_id="user_m_1",
    wallet_id="wlt_m_1",
    destination_id="rec_1",
    amount=MinorAmount("EUR", 4000),
    fee=MinorAmount("EUR", 100),
    statement="Août 2026",
)


def eur(amount: int) -> dict[str, Any]:
    return {"Currency": "EUR", "Amount": amount}


def payout(status: str = "CREATED", **more: Any) -> dict[str, Any]:
    """A payout of 40.00, of which 1.00 is ours."""
    amounts = {"DebitedFunds": eur(4000), "CreditedFunds": eur(3900), "Fees": eur(100)}
    ids = {"Id": "po_1", "Tag": "payout-7", "AuthorId": "user_m_1", "DebitedWalletId": "wlt_m_1"}
    return wire.answer("payout", Status=status, **{**ids, **amounts, **more})


def returned(fees: int = -100, **more: Any) -> dict[str, Any]:
    """The return of that payout."""
    amounts = {"DebitedFunds": eur(3900), "CreditedFunds": eur(3900 - fees), "Fees": eur(fees)}
    ids = {"Id": "refund_1", "AuthorId": "user_m_1", "CreditedWalletId": "wlt_m_1", "InitialTransactionId": "po_1"}
    why = {"RefundReasonType": "BANKACCOUNT_HAS_BEEN_CLOSED", "RefundReasonMessage": "Closed in May"}
    return wire.answer("payout_refund", **{"Status": "SUCCEEDED", "RefundReason": why, **ids, **amounts, **more})


async def pay_out(account: Account, **changes: Any) -> Transaction:
    request = dataclasses.replace(REQUEST, **changes)
    return await account.adapter.pay_out(request, key=KEY, sent_at=account.clock.now())


async def test_a_payout_is_asked_for_as_a_standard_transfer_to_a_recipient(account: Account) -> None:
    sent = account.on("POST", "/payouts/bankwire", ok(payout()))
    told = await pay_out(account)
    assert json.loads(sent.calls.last.request.content) == {
        "AuthorId": "user_m_1",
        "DebitedFunds": eur(4000),
        "Fees": eur(100),
        "DebitedWalletId": "wlt_m_1",
        "RecipientId": "rec_1",
        "PayoutModeRequested": "STANDARD",
        "BankWireRef": "Aout2026",
        "Tag": "payout-7",
    }
    assert sent.calls.last.request.headers["Idempotency-Key"] == KEY
    assert (told.id, told.kind, told.status) == ("po_1", TransactionKind.PAYOUT, TransactionStatus.PENDING)
    assert (told.amount, told.fee, told.reference) == (MinorAmount("EUR", 4000), MinorAmount("EUR", 100), "payout-7")
    assert (told.payer_id, told.debited_wallet_id, told.credited_wallet_id) == ("user_m_1", "wlt_m_1", None)
    assert (told.parent_id, told.parent_kind, told.action, told.failure, told.return_reason) == (None,) * 5


@pytest.mark.parametrize(
    ("statement", "reference"),
    [("Invoice 4711/2026-09", "Invoice47112"), ("Été n° 12", "Eten12"), ("123456789012", "123456789012")],
)
async def test_the_bank_statement_has_twelve_letters_and_digits(
    account: Account, statement: str, reference: str
) -> None:
    sent = account.on("POST", "/payouts/bankwire", ok(payout()))
    await pay_out(account, statement=statement)
    assert json.loads(sent.calls.last.request.content)["BankWireRef"] == reference


@pytest.mark.parametrize("statement", ["", "—  /"])
async def test_without_letters_there_is_no_reference(account: Account, statement: str) -> None:
    sent = account.on("POST", "/payouts/bankwire", ok(payout()))
    await pay_out(account, statement=statement)
    assert "BankWireRef" not in json.loads(sent.calls.last.request.content)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("CREATED", TransactionStatus.PENDING),
        ("NEWER", TransactionStatus.PENDING),
        ("SUCCEEDED", TransactionStatus.SUCCEEDED),
        ("FAILED", TransactionStatus.FAILED),
    ],
)
async def test_a_payout_is_read_as_it_is(account: Account, status: str, expected: TransactionStatus) -> None:
    account.on("GET", "/payouts/po_1", ok(payout(status, ExecutionDate=1_760_000_060, ResultCode="121009")))
    told = await account.adapter.get_transaction(TransactionKind.PAYOUT, "po_1")
    assert (told.kind, told.status) == (TransactionKind.PAYOUT, expected)
    assert (told.executed_at is not None) is (expected is TransactionStatus.SUCCEEDED)
    assert (told.failure is not None) is (expected is TransactionStatus.FAILED)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("001001", FailureReason.INSUFFICIENT_WALLET),
        ("002999", FailureReason.KYC_REQUIRED),
        ("008700", FailureReason.FRAUD_REFUSED),
        ("121001", FailureReason.PAYOUT_REFUSED),
        ("121006", FailureReason.BANK_ACCOUNT),
        ("121009", FailureReason.EXPIRED),
        ("121999", FailureReason.PROVIDER_TECHNICAL),
        ("121777", FailureReason.UNKNOWN),
    ],
)
async def test_a_payout_that_fails_at_once_is_declined(account: Account, code: str, reason: FailureReason) -> None:
    sent = account.on("POST", "/payouts/bankwire", ok(payout("FAILED", ResultCode=code, ResultMessage="No")))
    with pytest.raises(Declined) as declined:
        await pay_out(account)
    told = declined.value.transaction
    assert (told.id, told.kind, told.failure) == ("po_1", TransactionKind.PAYOUT, Failure(code, "No", reason))
    assert (sent.call_count, account.slept) == (1, [])


LOST: list[Answer] = [httpx.ReadTimeout, refusal(502), httpx.Response(200, text='{"Id": "po_'), CONFLICT]


@pytest.mark.parametrize("answer", LOST)
async def test_a_lost_answer_is_looked_up_and_nothing_is_paid_twice(account: Account, answer: Answer) -> None:
    sent = account.on("POST", "/payouts/bankwire", answer)
    account.on("GET", RESPONSE, ok(kept_answer(payout())))
    account.on("GET", "/payouts/po_1", ok(payout("SUCCEEDED", ExecutionDate=1_760_000_060)))
    told = await pay_out(account)
    assert (told.id, told.status, sent.call_count) == ("po_1", TransactionStatus.SUCCEEDED, 1)


async def test_a_payout_that_was_looked_up_may_have_failed_since(account: Account) -> None:
    account.on("POST", "/payouts/bankwire", httpx.ReadTimeout)
    account.on("GET", RESPONSE, ok(kept_answer(payout())))
    account.on("GET", "/payouts/po_1", ok(payout("FAILED", ResultCode="121006")))
    with pytest.raises(Declined) as declined:
        await pay_out(account)
    assert declined.value.code == "121006"


async def test_an_outcome_that_cannot_be_found_is_unknown(account: Account) -> None:
    account.on("POST", "/payouts/bankwire", httpx.ReadTimeout)
    account.on("GET", RESPONSE, refusal(503))
    with pytest.raises(UnknownOutcome) as unknown:
        await pay_out(account)
    assert unknown.value.key == KEY


async def test_with_a_key_of_yesterday_nothing_is_sent(account: Account) -> None:
    sent = account.on("POST", "/payouts/bankwire", ok(payout()))
    account.on("GET", RESPONSE, KEY_NOT_KNOWN)
    with pytest.raises(UnknownOutcome):
        await account.adapter.pay_out(REQUEST, key=KEY, sent_at=account.clock.now() - dt.timedelta(hours=24))
    assert sent.call_count == 0


@pytest.mark.parametrize(
    ("now", "status"), [("SUCCEEDED", TransactionStatus.SUCCEEDED), ("FAILED", TransactionStatus.FAILED)]
)
async def test_a_key_resolves_to_the_payout_as_it_is_now(account: Account, now: str, status: TransactionStatus) -> None:
    account.on("GET", RESPONSE, ok(kept_answer(payout())))
    account.on("GET", "/payouts/po_1", ok(payout(now, ResultCode="121001")))
    told = await account.adapter.resolve(KEY, sent_at=account.clock.now())
    assert isinstance(told, Transaction)
    assert (told.id, told.kind, told.status) == ("po_1", TransactionKind.PAYOUT, status)


# ---- payouts that come back


@pytest.mark.parametrize(("fees", "amount", "fee"), [(-100, 4000, 100), (0, 3900, 0), (-40, 3940, 40)])
async def test_a_payout_that_came_back_is_a_refund_with_its_reason(
    account: Account, fees: int, amount: int, fee: int
) -> None:
    account.on("GET", "/refunds/refund_1", ok(returned(fees)))
    told = await account.adapter.get_transaction(TransactionKind.REFUND, "refund_1")
    assert (told.kind, told.parent_kind, told.parent_id) == (TransactionKind.REFUND, TransactionKind.PAYOUT, "po_1")
    assert (told.amount, told.fee) == (MinorAmount("EUR", amount), MinorAmount("EUR", fee))
    assert (told.debited_wallet_id, told.credited_wallet_id) == (None, "wlt_m_1")
    assert told.return_reason == Failure("BANKACCOUNT_HAS_BEEN_CLOSED", "Closed in May", FailureReason.BANK_ACCOUNT)


@pytest.mark.parametrize("why", [{}, {"RefundReason": None}, {"RefundReason": {"RefundReasonType": None}}])
async def test_a_return_without_a_reason_has_an_unknown_one(account: Account, why: dict[str, Any]) -> None:
    body = returned()
    del body["RefundReason"]
    account.on("GET", "/refunds/refund_1", ok(body | why))
    told = await account.adapter.get_transaction(TransactionKind.REFUND, "refund_1")
    assert told.return_reason == Failure("", "", FailureReason.UNKNOWN)


@pytest.mark.parametrize(
    ("status", "expected"), [("CREATED", TransactionStatus.PENDING), ("FAILED", TransactionStatus.FAILED)]
)
async def test_a_return_may_be_open_and_may_fail(account: Account, status: str, expected: TransactionStatus) -> None:
    account.on("GET", "/refunds/refund_1", ok(returned(Status=status, ResultCode="005405")))
    told = await account.adapter.get_transaction(TransactionKind.REFUND, "refund_1")
    assert (told.status, told.parent_kind) == (expected, TransactionKind.PAYOUT)
    assert told.return_reason
    assert (told.failure is not None) is (status == "FAILED")


async def test_the_returns_of_a_payout_are_its_children(account: Account) -> None:
    listed = account.on("GET", "/payouts/po_1/refunds", ok([returned(Status="FAILED"), returned(Id="refund_2")]))
    told = await account.adapter.list_children(TransactionKind.PAYOUT, "po_1")
    assert [(child.id, child.parent_kind) for child in told] == [
        ("refund_1", TransactionKind.PAYOUT),
        ("refund_2", TransactionKind.PAYOUT),
    ]
    assert listed.calls.last.request.url.params["Sort"] == "CreationDate:ASC"


@pytest.mark.parametrize(
    ("body", "parent"),
    [
        (payin_refund(), TransactionKind.PAYIN),
        (wire.answer("transfer_refund"), TransactionKind.TRANSFER),
        (wire.answer("repudiation_refund"), TransactionKind.REPUDIATION),
    ],
)
async def test_other_refunds_are_no_returns(account: Account, body: dict[str, Any], parent: TransactionKind) -> None:
    account.on("GET", "/refunds/refund_1", ok(body))
    told = await account.adapter.get_transaction(TransactionKind.REFUND, "refund_1")
    assert (told.parent_kind, told.return_reason) == (parent, None)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/payouts/bankwire", "POST /payouts/bankwire"),
        ("GET", "/payouts/po_1", "GET /payouts/{id}"),
        ("GET", "/payouts/po_1/refunds", "GET /payouts/{id}/refunds"),
    ],
)
def test_calls_are_counted_without_ids(method: str, path: str, name: str) -> None:
    assert call_name_of(method, path) == name
