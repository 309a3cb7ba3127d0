"""Disputes and transfers on the wire: what is made of answers, and of answers that were lost."""

import dataclasses
import datetime as dt
from typing import Any

import pytest

from store.providers.disputes import DisputeStatus
from store.providers.errors import Declined, InvalidRequest, TransientError
from store.providers.money import MinorAmount
from store.providers.transactions import FailureReason, PlatformBalance, PlatformWallet, TransactionKind
from tests.store.providers.mangopay.account import Account, ok, refusal
from tests.store.providers.mangopay.wire import wire
from tests.store.providers.mangopay.wire.answered_by_table import BACK, KEY, SETTLEMENT, TRANSFER, TRANSFER_REFUND

AMOUNT = MinorAmount("EUR", 1000)
CREATED = 1_760_000_000


def dispute(status: str, **more: Any) -> dict[str, Any]:
    return wire.answer("dispute", Id="disp_1", Status=status, **more)


async def test_a_dispute_is_read_whole(account: Account) -> None:
    body = dispute(
        "PENDING_CLIENT_ACTION",
        InitialTransactionId="payin_1",
        CreationDate=CREATED,
        ContestDeadlineDate=CREATED + 60,
        DisputedFunds={"Currency": "EUR", "Amount": 1200},
        RepudiationId="repud_1",
        **{"DisputeReason.DisputeReasonType": "FRAUD", "DisputeReason.DisputeReasonMessage": "Not me"},
    )
    account.on("GET", "/disputes/disp_1", ok(body))
    told = await account.adapter.get_dispute("disp_1")
    assert (told.payin_id, told.repudiation_id, told.contested) == ("payin_1", "repud_1", None)
    assert (told.reason_code, told.reason_message) == ("FRAUD", "Not me")
    assert told.disputed == MinorAmount("EUR", 1200)
    assert told.contest_until == told.created_at + dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("PENDING_CLIENT_ACTION", {"ContestedFunds": {"Currency": "EUR", "Amount": 1000}}),
        ("REOPENED_PENDING_CLIENT_ACTION", {}),
    ],
)
async def test_only_the_first_contestation_names_an_amount(account: Account, status: str, body: Any) -> None:
    account.on("GET", "/disputes/disp_1", ok(dispute(status)))
    sent = account.on("PUT", "/disputes/disp_1/submit", ok(dispute("SUBMITTED")))
    assert (await account.adapter.contest_dispute("disp_1", AMOUNT)).status is DisputeStatus.SUBMITTED
    assert sent.calls.last.request.content == (
        b"{}" if not body else b'{"ContestedFunds":{"Currency":"EUR","Amount":1000}}'
    )


@pytest.mark.parametrize("status", ["SUBMITTED", "PENDING_BANK_ACTION"])
async def test_what_is_contested_is_not_contested_again(account: Account, status: str) -> None:
    account.on("GET", "/disputes/disp_1", ok(dispute(status)))
    assert (await account.adapter.contest_dispute("disp_1", AMOUNT)).status.name == status


async def test_what_is_closed_is_not_closed_again(account: Account) -> None:
    account.on("GET", "/disputes/disp_1", ok(dispute("CLOSED", ResultCode="LOST")))
    assert (await account.adapter.close_dispute("disp_1")).status is DisputeStatus.CLOSED


@pytest.mark.parametrize(("action", "after"), [("submit", "SUBMITTED"), ("close", "CLOSED")])
async def test_a_refusal_after_a_lost_response_is_none(account: Account, action: str, after: str) -> None:
    account.on("GET", "/disputes/disp_1", ok(dispute("PENDING_CLIENT_ACTION")), ok(dispute(after)))
    account.on("PUT", f"/disputes/disp_1/{action}", refusal(400, "param_error"))
    adapter = account.adapter
    told = await (adapter.contest_dispute("disp_1", AMOUNT) if action == "submit" else adapter.close_dispute("disp_1"))
    assert told.status.name == after


async def test_what_awaits_nobody_cannot_be_contested(account: Account) -> None:
    account.on("GET", "/disputes/disp_1", ok(dispute("CLOSED")))
    account.on("PUT", "/disputes/disp_1/submit", refusal(400, "param_error"))
    with pytest.raises(InvalidRequest):
        await account.adapter.contest_dispute("disp_1", AMOUNT)


async def test_a_submitted_document_stays_submitted(account: Account) -> None:
    path = "/disputes/disp_1/documents/doc_1"
    account.on("PUT", path, refusal(400, "param_error"))
    body = wire.answer("dispute_document", Id="doc_1", Status="VALIDATION_ASKED")
    account.on("GET", "/dispute-documents/doc_1", ok(body), ok(body | {"Status": "CREATED"}))
    assert (await account.adapter.submit_dispute_document("disp_1", "doc_1")).id == "doc_1"
    with pytest.raises(InvalidRequest):
        await account.adapter.submit_dispute_document("disp_1", "doc_1")


async def test_what_follows_what(account: Account) -> None:
    account.on("GET", "/repudiations/r", ok(wire.answer("repudiation", InitialTransactionId="payin_1")))
    account.on("GET", "/settlements/s", ok(wire.answer("settlement", RepudiationId="repud_1")))
    account.on("GET", "/refunds/t", ok(wire.answer("transfer_refund", InitialTransactionId="xfer_1")))
    account.on("GET", "/refunds/w", ok(wire.answer("repudiation_refund", InitialTransactionId="repud_1")))
    parents = [
        (told.kind, told.parent_kind, told.parent_id)
        for told in [
            await account.adapter.get_transaction(TransactionKind.REPUDIATION, "r"),
            await account.adapter.get_transaction(TransactionKind.SETTLEMENT, "s"),
            await account.adapter.get_transaction(TransactionKind.REFUND, "t"),
            await account.adapter.get_transaction(TransactionKind.REFUND, "w"),
        ]
    ]
    assert parents == [
        (TransactionKind.REPUDIATION, TransactionKind.PAYIN, "payin_1"),
        (TransactionKind.SETTLEMENT, TransactionKind.REPUDIATION, "repud_1"),
        (TransactionKind.REFUND, TransactionKind.TRANSFER, "xfer_1"),
        (TransactionKind.REFUND, TransactionKind.REPUDIATION, "repud_1"),
    ]


async def test_a_settlement_that_the_wallet_cannot_pay(account: Account) -> None:
    body = wire.answer("settlement", Status="FAILED", ResultCode="001001", ResultMessage="Insufficient")
    account.on("POST", "/repudiations/id-5/settlementtransfer", ok(body))
    with pytest.raises(Declined) as told:
        await account.adapter.settle_dispute(SETTLEMENT, key=KEY, sent_at=account.clock.now())
    failure = told.value.transaction.failure
    assert failure
    assert failure.reason is FailureReason.INSUFFICIENT_WALLET


async def test_a_transfer_that_its_author_has_to_confirm(account: Account) -> None:
    link = {"PendingUserAction": {"RedirectUrl": "https://provider.test/sca?token=1"}}
    account.on("POST", "/transfers", ok(wire.answer("transfer", Status="CREATED") | link))
    sent_at = account.clock.now()
    told = await account.adapter.transfer(TRANSFER, return_url=BACK, key=KEY, sent_at=sent_at)
    assert told.action
    assert told.action.url == ("https://provider.test/sca?token=1&returnUrl=https%3A%2F%2Fshop.example%2Fk%2Fabcdefgh")
    assert told.action.expires_at
    assert told.action.expires_at >= sent_at + dt.timedelta(minutes=10)


async def test_a_transfer_without_anybody(account: Account) -> None:
    account.on("POST", "/transfers", ok(wire.answer("transfer", Status="SUCCEEDED", DebitedWalletId="wlt_1")))
    told = await account.adapter.transfer(TRANSFER, return_url=BACK, key=KEY, sent_at=account.clock.now())
    assert (told.kind, told.action, told.debited_wallet_id) == (TransactionKind.TRANSFER, None, "wlt_1")


async def test_a_transfer_refund_takes_the_fee_from_ours(account: Account) -> None:
    sent = account.on("POST", "/transfers/id-4/refunds", ok(wire.answer("transfer_refund", Status="SUCCEEDED")))
    request = dataclasses.replace(TRANSFER_REFUND, fee_back=MinorAmount("EUR", 70))
    await account.adapter.refund_transfer(request, key=KEY, sent_at=account.clock.now())
    assert b'"DebitedFunds":{"Currency":"EUR","Amount":630}' in sent.calls.last.request.content
    assert b'"Fees":{"Currency":"EUR","Amount":-70}' in sent.calls.last.request.content


async def test_the_platforms_wallets(account: Account) -> None:
    def wallet(funds: str, amount: int) -> dict[str, Any]:
        balance = {"Currency": "EUR", "Amount": amount}
        return wire.answer("client_wallet", FundsType=funds, Id=f"{funds}_EUR", Balance=balance)

    account.on("GET", "/clients/wallets", ok([wallet("FEES", 250), wallet("CREDIT", -2500), wallet("NEWER", 0)]))
    assert await account.adapter.platform_balances() == [
        PlatformBalance(PlatformWallet.FEES, "FEES_EUR", MinorAmount("EUR", 250)),
        PlatformBalance(PlatformWallet.REPUDIATION, "CREDIT_EUR", MinorAmount("EUR", -2500)),
        PlatformBalance(PlatformWallet.UNKNOWN, "NEWER_EUR", MinorAmount("EUR", 0)),
    ]


async def test_a_conversion_is_no_transaction_of_the_port(account: Account) -> None:
    account.on("GET", "/payins/id-1", ok(wire.answer("payin", Type="CONVERSION")))
    with pytest.raises(TransientError, match="MangopayTransaction cannot be read"):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "id-1")
