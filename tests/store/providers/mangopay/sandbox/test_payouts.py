"""The adapter and the sandbox together: payouts that arrive, fail, get lost on the way, and come back."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from store.providers.accounts import DestinationStatus
from store.providers.base import EventHint, InboundWebhook, Subject
from store.providers.errors import Declined, ProviderNotFound, UnknownOutcome
from store.providers.money import MinorAmount
from store.providers.transactions import (
    Failure,
    FailureReason,
    PayoutInstruction,
    PlatformWallet,
    Transaction,
    TransactionKind,
    TransactionStatus,
)
from tests.coffret.sandbox.disputes.disputed import decided
from tests.store.providers.mangopay.connected_provider import HOOKS, ConnectedProvider
from tests.store.providers.mangopay.payees.people import BACK, BANK
from tests.store.providers.mangopay.sandbox.faults import before_and_after, each_fault

GOOD, REFUSED, CLOSED = "FR7630004000031234567890143", "DE09000000000000000001", "DE79000000000000000002"
NOT_PROCESSED, STRANGER = "DE52000000000000000003", "DE25000000000000000004"
WEEK = 7 * 86400


def eur(minor: int) -> MinorAmount:
    return MinorAmount("EUR", minor)


@dataclass
class PaidPartner:
    """A partner with 45.00 EUR in the wallet, of which the platform pays out."""

    provider: ConnectedProvider

    async def destination(self, iban: str = GOOD) -> str:
        """A bank account for which the partner has authenticated."""
        adapter, request = self.provider.adapter, replace(BANK, account_id="partner", iban=iban)
        added = await adapter.add_destination(request, return_url=BACK, **self.provider.once())
        await self.provider.authenticate(added.action)
        assert (await adapter.get_destination(added.id)).status is DestinationStatus.ACTIVE
        return added.id

    async def request(self, iban: str = GOOD, amount: int = 4000) -> PayoutInstruction:
        """A payout to a new bank account; 1.00 EUR of it is ours."""
        destination = await self.destination(iban)
        return PayoutInstruction("payout-7", "partner", "wallet", destination, eur(amount), eur(100), "August")

    async def pay_out(self, iban: str = GOOD, amount: int = 4000) -> Transaction:
        """A payout that the provider has taken."""
        return await self.provider.adapter.pay_out(await self.request(iban, amount), **self.provider.once())

    async def read(self, payout: Transaction) -> Transaction:
        return await self.provider.adapter.get_transaction(TransactionKind.PAYOUT, payout.id)

    async def returns(self, payout: Transaction) -> list[Transaction]:
        return list(await self.provider.adapter.list_children(TransactionKind.PAYOUT, payout.id))

    async def balances(self) -> tuple[int, int]:
        """What is in the platform's wallet of fees, and in the partner's wallet."""
        held = {each.wallet: each.balance.minor for each in await self.provider.adapter.platform_balances()}
        wallet = await self.provider.adapter.get_balance("wallet", return_url=BACK)
        return held.get(PlatformWallet.FEES, 0), wallet.minor

    async def payouts(self) -> set[str]:
        """The ids of all payouts that were ever made."""
        return {id for type, _, id in await self.provider.events() if type == "PAYOUT_NORMAL_CREATED"}


@pytest.fixture
async def partner(provider: ConnectedProvider) -> PaidPartner:
    seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "email": "ana@example.com"}
    await provider.api.control("POST", "/seed", seed)
    for _ in range(2):
        await provider.api.paid()
    return PaidPartner(provider)


async def test_a_payout_from_the_first_call_to_its_arrival(partner: PaidPartner) -> None:
    assert await partner.balances() == (500, 4500)
    begun = await partner.pay_out()
    assert (begun.kind, begun.status, begun.reference) == (
        *(TransactionKind.PAYOUT, TransactionStatus.PENDING),
        "payout-7",
    )
    assert (begun.amount, begun.fee, begun.debited_wallet_id) == (eur(4000), eur(100), "wallet")
    assert (begun.action, begun.executed_at) == (None, None)
    assert await partner.balances() == (500, 500)
    await partner.provider.api.advance(61)
    done = await partner.read(begun)
    assert (done.status, done.failure) == (TransactionStatus.SUCCEEDED, None)
    assert done.executed_at
    assert await partner.balances() == (600, 500)
    assert await partner.returns(done) == []
    assert (await partner.provider.api.read(f"/payouts/{done.id}"))["BankWireRef"] == "August"


@pytest.mark.parametrize(
    ("iban", "amount", "after", "reason"),
    [
        (REFUSED, 4000, 61, FailureReason.PAYOUT_REFUSED),
        (STRANGER, 4000, 61, FailureReason.BANK_ACCOUNT),
        (NOT_PROCESSED, 4000, WEEK + 1, FailureReason.EXPIRED),
        (GOOD, 4501, 61, FailureReason.INSUFFICIENT_WALLET),
    ],
)
async def test_a_payout_that_fails_gives_everything_back(
    partner: PaidPartner, iban: str, amount: int, after: int, reason: FailureReason
) -> None:
    begun = await partner.pay_out(iban, amount)
    assert begun.status is TransactionStatus.PENDING
    await partner.provider.api.advance(after)
    failed = await partner.read(begun)
    assert (failed.status, failed.executed_at) == (TransactionStatus.FAILED, None)
    assert failed.failure
    assert (failed.failure.reason, bool(failed.failure.message)) == (reason, True)
    assert await partner.balances() == (500, 4500)
    assert await partner.returns(failed) == []
    assert ("PAYOUT_NORMAL_FAILED", Subject.PAYOUT, failed.id) in await partner.provider.events()


async def test_only_identified_partners_are_paid_to_active_accounts(partner: PaidPartner) -> None:
    api, request = partner.provider.api, await partner.request()
    await api.control("POST", "/users/partner", {"kyc_level": "LIGHT"})
    light = await partner.provider.adapter.pay_out(request, **partner.provider.once())
    await api.advance(61)
    await api.control("POST", "/users/partner", {"kyc_level": "REGULAR"})
    await partner.provider.adapter.deactivate_destination(request.destination_id)
    inactive = await partner.provider.adapter.pay_out(request, **partner.provider.once())
    await api.advance(61)
    failures = [(await partner.read(payout)).failure for payout in (light, inactive)]
    assert [failure and failure.reason for failure in failures] == [
        FailureReason.KYC_REQUIRED,
        FailureReason.BANK_ACCOUNT,
    ]
    assert await partner.balances() == (500, 4500)


async def test_a_payout_that_fails_at_once_is_declined(partner: PaidPartner) -> None:
    fault = {"path": "/payouts/bankwire", "kind": "failed", "code": "121005"}
    await partner.provider.api.control("POST", "/faults", fault)
    with pytest.raises(Declined) as declined:
        await partner.pay_out()
    assert declined.value.transaction.failure
    assert declined.value.transaction.failure.reason is FailureReason.FRAUD_REFUSED
    assert await partner.payouts() == {declined.value.transaction.id}
    assert await partner.balances() == (500, 4500)


# ---- payouts that come back


async def test_a_payout_that_comes_back_stays_paid_and_has_a_refund(partner: PaidPartner) -> None:
    begun = await partner.pay_out(CLOSED)
    await partner.provider.api.advance(61)
    done = await partner.read(begun)
    assert (done.status, await partner.returns(done)) == (TransactionStatus.SUCCEEDED, [])
    await partner.provider.api.advance(86400)
    [back] = await partner.returns(done)
    assert (back.kind, back.status, back.parent_kind, back.parent_id) == (
        *(TransactionKind.REFUND, TransactionStatus.SUCCEEDED),
        *(TransactionKind.PAYOUT, done.id),
    )
    assert (back.amount, back.fee, back.credited_wallet_id) == (eur(4000), eur(100), "wallet")
    assert back.return_reason == Failure("BANKACCOUNT_HAS_BEEN_CLOSED", "", FailureReason.BANK_ACCOUNT)
    assert await partner.read(begun) == done
    assert await partner.provider.adapter.get_transaction(TransactionKind.REFUND, back.id) == back
    assert await partner.balances() == (500, 4500)
    assert {(type, subject, id) for type, subject, id in await partner.provider.events() if "PAYOUT" in type} == {
        ("PAYOUT_NORMAL_CREATED", Subject.PAYOUT, done.id),
        ("PAYOUT_NORMAL_SUCCEEDED", Subject.PAYOUT, done.id),
        ("PAYOUT_REFUND_CREATED", Subject.REFUND, back.id),
        ("PAYOUT_REFUND_SUCCEEDED", Subject.REFUND, back.id),
    }


@pytest.mark.parametrize(
    ("asked", "amount", "fee", "reason"),
    [
        ({"reason": "FOCR_RECALLED", "message": "Recalled"}, 4000, 100, FailureReason.PAYOUT_REFUSED),
        ({"reason": "OTHER", "fees_back": 0}, 3900, 0, FailureReason.UNKNOWN),
        ({"reason": "TM01_CUT_OFF_TIME", "fees_back": 30}, 3930, 30, FailureReason.PROVIDER_TECHNICAL),
    ],
)
async def test_a_payout_comes_back_with_or_without_its_fees(
    partner: PaidPartner, asked: dict[str, Any], amount: int, fee: int, reason: FailureReason
) -> None:
    payout, api = await partner.pay_out(), partner.provider.api
    await api.control("POST", f"/payouts/{payout.id}", {"outcome": "succeed"})
    await api.control("POST", f"/payouts/{payout.id}/return", asked)
    [back] = await partner.returns(payout)
    assert (back.amount, back.fee) == (eur(amount), eur(fee))
    assert back.return_reason == Failure(asked["reason"], asked.get("message", ""), reason)
    assert await partner.balances() == (600 - fee, 500 + amount)


async def test_a_return_that_fails_is_followed_by_another(partner: PaidPartner) -> None:
    payout, api = await partner.pay_out(), partner.provider.api
    await api.control("POST", f"/payouts/{payout.id}", {"outcome": "succeed"})
    await api.control("POST", f"/payouts/{payout.id}/return", {"code": "001999"})
    await api.control("POST", f"/payouts/{payout.id}/return", {})
    returns = await partner.returns(payout)
    assert [each.status for each in returns] == [TransactionStatus.FAILED, TransactionStatus.SUCCEEDED]
    assert returns[0].failure
    assert returns[0].failure.reason is FailureReason.PROVIDER_TECHNICAL
    assert await partner.balances() == (500, 4500)


async def test_the_return_of_a_won_dispute_is_none_of_a_payout(partner: PaidPartner) -> None:
    dispute = await decided(partner.provider.api, "win")
    [id] = [id for type, _, id in await partner.provider.events() if type == "PAYOUT_REFUND_SUCCEEDED"]
    back = await partner.provider.adapter.get_transaction(TransactionKind.REFUND, id)
    assert (back.parent_kind, back.parent_id, back.return_reason) == (
        *(TransactionKind.REPUDIATION, dispute["RepudiationId"]),
        None,
    )


# ---- lost answers


@before_and_after
@each_fault
@pytest.mark.parametrize("times", [1, 3])
async def test_whatever_goes_wrong_one_payout_is_made(
    partner: PaidPartner, fault: dict[str, object], when: str, times: int
) -> None:
    request, once, api = await partner.request(amount=1000), partner.provider.once(), partner.provider.api
    spec = {"method": "POST", "path": "/payouts/bankwire", "when": when, "times": times, **fault}
    await api.control("POST", "/faults", spec)
    made = await partner.provider.adapter.pay_out(request, **once)
    await api.http.delete("/_sb/faults")
    assert (await partner.provider.adapter.pay_out(request, **once)).id == made.id
    assert await partner.payouts() == {made.id}
    assert await partner.balances() == (500, 3500)


async def test_an_unknown_outcome_is_resolved_later(partner: PaidPartner) -> None:
    request, once, api = await partner.request(), partner.provider.once(), partner.provider.api
    for path in ("/payouts/bankwire", "/responses/*"):
        await api.control("POST", "/faults", {"path": path, "kind": "drop", "when": "after", "times": 9})
    with pytest.raises(UnknownOutcome) as unknown:
        await partner.provider.adapter.pay_out(request, **once)
    await api.http.delete("/_sb/faults")
    await api.advance(61)
    found = await partner.provider.adapter.resolve(unknown.value.key, sent_at=once["sent_at"])
    assert isinstance(found, Transaction)
    assert (found.kind, found.status) == (TransactionKind.PAYOUT, TransactionStatus.SUCCEEDED)
    assert await partner.payouts() == {found.id}
    await api.advance(24 * 3600)
    for late in (
        partner.provider.adapter.resolve(unknown.value.key, sent_at=once["sent_at"]),
        partner.provider.adapter.pay_out(request, **once),
    ):
        with pytest.raises(UnknownOutcome):
            await late
    assert await partner.payouts() == {found.id}


async def test_twenty_at_once_with_one_key_are_one_payout(partner: PaidPartner) -> None:
    request, once = await partner.request(amount=100 + 101), partner.provider.once()
    made = await asyncio.gather(*(partner.provider.adapter.pay_out(request, **once) for _ in range(20)))
    assert {each.id for each in made} == await partner.payouts()
    assert len(await partner.payouts()) == 1
    assert await partner.balances() == (500, 4500 - 201)


# ---- notifications


async def test_notifications_come_back_as_hints(partner: PaidPartner) -> None:
    await partner.provider.adapter.ensure_webhooks(HOOKS)
    payout, failed = await partner.pay_out(CLOSED, 2000), await partner.pay_out(REFUSED, 2000)
    await partner.provider.api.later(2)
    await partner.provider.api.notices()
    hints: list[EventHint] = []
    for url in partner.provider.api.received:
        parts = urlsplit(url)
        hints += partner.provider.adapter.read_webhook(InboundWebhook("GET", parts.path, parts.query))
    [back] = await partner.returns(payout)
    assert {(hint.type, hint.subject, hint.resource_id) for hint in hints if "PAYOUT" in hint.type} == {
        ("PAYOUT_NORMAL_CREATED", Subject.PAYOUT, payout.id),
        ("PAYOUT_NORMAL_SUCCEEDED", Subject.PAYOUT, payout.id),
        ("PAYOUT_NORMAL_CREATED", Subject.PAYOUT, failed.id),
        ("PAYOUT_NORMAL_FAILED", Subject.PAYOUT, failed.id),
        ("PAYOUT_REFUND_CREATED", Subject.REFUND, back.id),
        ("PAYOUT_REFUND_SUCCEEDED", Subject.REFUND, back.id),
    }


async def test_what_is_not_there_is_not_found(partner: PaidPartner) -> None:
    for read in (partner.provider.adapter.get_transaction, partner.provider.adapter.list_children):
        with pytest.raises(ProviderNotFound):
            await read(TransactionKind.PAYOUT, "po_m_none")
