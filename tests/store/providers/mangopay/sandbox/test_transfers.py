"""The adapter and the sandbox together: transfers between wallets, and the platform's own wallets."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest

from store.providers.base import Subject
from store.providers.errors import Declined
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.transactions import (
    FailureReason,
    PlatformWallet,
    Transaction,
    TransactionKind,
    TransactionStatus,
    TransferRefundRequest,
    TransferRequest,
)
from tests.coffret.sandbox.disputes.disputed import open_dispute
from tests.coffret.sandbox.mangopay_api import MangopayApi, running
from tests.store.providers.mangopay.connected_provider import adapter_of
from tests.store.providers.mangopay.wire.answered_by_table import BACK

RECEIVER = {"user_id": "other", "wallet_id": "other_wallet", "name": "Maison Lune"}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "email": "ana@example.com"}
        for each in (seed, RECEIVER):
            await api.control("POST", "/seed", each)
        for _ in range(2):
            await api.paid()  # 22.50 EUR for the partner's wallet
        yield api


@pytest.fixture
async def adapter(api: MangopayApi) -> AsyncIterator[Mangopay]:
    adapter = adapter_of(api)
    yield adapter
    await adapter.aclose()


def eur(minor: int) -> MinorAmount:
    return MinorAmount("EUR", minor)


async def send(api: MangopayApi, adapter: Mangopay, amount: int, fee: int = 0) -> Transaction:
    """A transfer from one partner to another."""
    request = TransferRequest("transfer-7", "partner", "wallet", "other_wallet", eur(amount), eur(fee))
    return await adapter.transfer(request, return_url=BACK, key=new_idempotency_key(), sent_at=api.clock.now())


async def balance(api: MangopayApi, wallet: str) -> int:
    accounts = (await api.control("GET", "/ledger/check"))["accounts"]
    return sum(each["balance"] for each in accounts if each["account"] == f"wallet:{wallet}")


async def test_a_small_transfer_and_its_refund(api: MangopayApi, adapter: Mangopay) -> None:
    since = api.clock.now()
    sent = await send(api, adapter, 3000, 300)
    assert (sent.kind, sent.status, sent.action, sent.reference) == (
        *(TransactionKind.TRANSFER, TransactionStatus.SUCCEEDED, None),
        "transfer-7",
    )
    assert (sent.debited_wallet_id, sent.credited_wallet_id) == ("wallet", "other_wallet")
    assert (await balance(api, "wallet"), await balance(api, "other_wallet")) == (1500, 2700)
    back = await adapter.refund_transfer(
        TransferRefundRequest("back-7", sent.id, "partner", eur(1000), eur(100)),
        key=new_idempotency_key(),
        sent_at=since,
    )
    assert (back.amount, back.fee, back.parent_kind, back.parent_id) == (
        *(eur(1000), eur(100)),
        *(TransactionKind.TRANSFER, sent.id),
    )
    assert (await balance(api, "wallet"), await balance(api, "other_wallet")) == (2500, 1800)
    assert await adapter.list_children(TransactionKind.TRANSFER, sent.id) == [back]
    hints = {(hint.subject, hint.resource_id) async for hint in adapter.events_since(since)}
    assert {(Subject.TRANSFER, sent.id), (Subject.REFUND, back.id)} <= hints


@pytest.mark.parametrize(
    ("outcome", "status"), [("succeed", TransactionStatus.SUCCEEDED), ("fail", TransactionStatus.FAILED)]
)
async def test_a_larger_transfer_is_confirmed_by_its_author(
    api: MangopayApi, adapter: Mangopay, outcome: str, status: TransactionStatus
) -> None:
    begun = await send(api, adapter, 3001)
    assert begun.status is TransactionStatus.PENDING
    assert begun.action
    [token] = parse_qs(urlsplit(begun.action.url).query)["token"]
    await api.control("POST", f"/sca/{token}", {"outcome": outcome})
    ended = await adapter.get_transaction(TransactionKind.TRANSFER, begun.id)
    assert (ended.status, ended.action) == (status, None)
    if ended.failure:
        assert ended.failure.reason is FailureReason.TRANSFER_AUTHENTICATION
    assert await balance(api, "other_wallet") == (3001 if outcome == "succeed" else 0)


async def test_transfers_that_are_declined(api: MangopayApi, adapter: Mangopay) -> None:
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    await api.control("POST", "/users/other", {"kyc_level": "LIGHT"})
    for amount, reason in ((100, FailureReason.KYC_REQUIRED), (3000, FailureReason.KYC_REQUIRED)):
        with pytest.raises(Declined) as declined:
            await send(api, adapter, amount)
        assert declined.value.transaction.failure
        assert declined.value.transaction.failure.reason is reason
    await api.control("POST", "/users/other", {"kyc_level": "REGULAR"})
    await send(api, adapter, 3000)
    with pytest.raises(Declined) as declined:
        await send(api, adapter, 1501)
    assert declined.value.transaction.failure
    assert declined.value.transaction.failure.reason is FailureReason.INSUFFICIENT_WALLET


async def test_the_platforms_wallets(api: MangopayApi, adapter: Mangopay) -> None:
    await open_dispute(api)
    held = {each.wallet: (each.id, each.balance) for each in await adapter.platform_balances()}
    assert held == {
        PlatformWallet.FEES: ("FEES_EUR", eur(750)),
        PlatformWallet.REPUDIATION: ("CREDIT_EUR", eur(-2500)),
    }
    [taken] = await api.read("/clients/wallets/CREDIT/EUR/transactions")
    assert taken["Nature"] == "REPUDIATION"
