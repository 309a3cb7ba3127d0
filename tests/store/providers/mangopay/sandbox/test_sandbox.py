"""The adapter and the sandbox together, over the wire that both are held to."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from store.providers.base import EventHint, InboundWebhook, Subject
from store.providers.errors import Declined, InvalidRequest, ProviderNotFound, TransientError, UnknownOutcome
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.transactions import (
    CardRefundRequest,
    FailureReason,
    Payer,
    PayinRequest,
    Transaction,
    TransactionKind,
    TransactionStatus,
)
from tests.coffret.sandbox.mangopay_api import MangopayApi, running
from tests.store.providers.mangopay.connected_provider import HOOKS, ROOT, adapter_of
from tests.store.providers.mangopay.sandbox.faults import before_and_after, each_fault

DECLINED_CARD = "4970109000000106"


@dataclass
class Shop:
    """A shop whose payments go through the adapter to a sandbox, into a partner's wallet."""

    api: MangopayApi
    adapter: Mangopay
    payer: str

    @property
    def request(self) -> PayinRequest:
        """25.00 EUR, 2.50 of them ours."""
        return PayinRequest(
            reference="order-7",
            payer_id=self.payer,
            wallet_id="wallet",
            amount=MinorAmount("EUR", 2500),
            fee=MinorAmount("EUR", 250),
            return_url="https://shop.example/back/7",
            language="ca",
        )

    async def paid(self, **card: str) -> Transaction:
        """A payment that the buyer went through with."""
        started = await self.adapter.create_payment(
            self.request, key=new_idempotency_key(), sent_at=self.api.clock.now()
        )
        await self.api.control("POST", f"/payins/{started.id}/pay", card)
        return await self.adapter.get_transaction(TransactionKind.PAYIN, started.id)

    def refund_of(self, payment: Transaction, amount: int, fee_back: int) -> CardRefundRequest:
        """Part of a payment."""
        return CardRefundRequest(
            "refund-7", payment.id, self.payer, MinorAmount("EUR", amount), MinorAmount("EUR", fee_back)
        )

    async def payments(self) -> set[str]:
        """The ids of all payments that were ever started."""
        hints = self.adapter.events_since(self.api.clock.now() - dt.timedelta(days=30))
        return {hint.resource_id async for hint in hints if hint.type == "PAYIN_NORMAL_CREATED"}


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    async with running() as api:
        await api.seed()
        adapter = adapter_of(api)
        payer = await adapter.create_payer(
            Payer("Ada", "Payer", "ada@example.com"), "buyer-7", key=new_idempotency_key(), sent_at=api.clock.now()
        )
        yield Shop(api, adapter, payer)
        await adapter.aclose()


async def test_a_payment_from_the_first_call_to_two_refunds(shop: Shop) -> None:
    started = await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    assert (started.status, started.reference) == (TransactionStatus.PENDING, "order-7")
    assert started.action
    assert started.action.url.startswith(f"{ROOT}/pay/")
    assert started.action.expires_at == started.created_at + dt.timedelta(minutes=15)
    await shop.api.control("POST", f"/payins/{started.id}/pay", {"card": "4970107111111119"})
    paid = await shop.adapter.get_transaction(TransactionKind.PAYIN, started.id)
    assert (paid.status, paid.amount.decimal, paid.fee.decimal) == (
        TransactionStatus.SUCCEEDED,
        shop.request.amount.decimal,
        shop.request.fee.decimal,
    )
    first = await shop.adapter.refund(
        shop.refund_of(paid, 1000, 100), key=new_idempotency_key(), sent_at=shop.api.clock.now()
    )
    second = await shop.adapter.refund(
        shop.refund_of(paid, 1500, 150), key=new_idempotency_key(), sent_at=shop.api.clock.now()
    )
    assert (first.amount, first.fee, first.parent_id) == (MinorAmount("EUR", 1000), MinorAmount("EUR", 100), paid.id)
    children = await shop.adapter.list_children(TransactionKind.PAYIN, paid.id)
    assert [child.id for child in children] == [first.id, second.id]
    assert await shop.adapter.get_transaction(TransactionKind.REFUND, second.id) == second
    with pytest.raises(Declined) as told:
        await shop.adapter.refund(shop.refund_of(paid, 10, 0), key=new_idempotency_key(), sent_at=shop.api.clock.now())
    assert told.value.transaction.failure
    assert told.value.transaction.failure.reason is FailureReason.ALREADY_REFUNDED


async def test_a_declined_card_and_an_abandoned_page_say_why(shop: Shop) -> None:
    declined = await shop.paid(card=DECLINED_CARD)
    assert declined.failure
    assert declined.failure.reason is FailureReason.ISSUER_DECLINED
    left = await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    await shop.api.advance(15 * 60 + 1)
    expired = await shop.adapter.get_transaction(TransactionKind.PAYIN, left.id)
    assert expired.failure
    assert expired.failure.reason is FailureReason.EXPIRED


async def test_a_wallet_of_ones_own(shop: Shop) -> None:
    first = await shop.adapter.open_wallet(
        shop.payer, "EUR", "Ada", key=new_idempotency_key(), sent_at=shop.api.clock.now()
    )
    assert first
    with pytest.raises(InvalidRequest) as told:
        await shop.adapter.open_wallet(
            "nobody", "EUR", "Nobody", key=new_idempotency_key(), sent_at=shop.api.clock.now()
        )
    assert told.value.fields


@before_and_after
@each_fault
@pytest.mark.parametrize("times", [1, 3])
async def test_whatever_goes_wrong_one_payment_is_made(
    shop: Shop, fault: dict[str, object], when: str, times: int
) -> None:
    await shop.api.control(
        "POST", "/faults", {"method": "POST", "path": "/payins/card/web", "when": when, "times": times, **fault}
    )
    made = await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    await shop.api.http.delete("/_sb/faults")
    assert await shop.payments() == {made.id}


async def test_an_unknown_outcome_is_resolved_later(shop: Shop) -> None:
    key, sent_at = new_idempotency_key(), shop.api.clock.now()
    for path in ("/payins/card/web", "/responses/*"):
        await shop.api.control("POST", "/faults", {"path": path, "kind": "drop", "when": "after", "times": 9})
    with pytest.raises(UnknownOutcome) as told:
        await shop.adapter.create_payment(shop.request, key=key, sent_at=shop.api.clock.now())
    await shop.api.http.delete("/_sb/faults")
    found = await shop.adapter.resolve(told.value.key, sent_at=sent_at)
    assert isinstance(found, Transaction)
    assert await shop.payments() == {found.id}
    again = await shop.adapter.create_payment(shop.request, key=key, sent_at=shop.api.clock.now())
    assert again.id == found.id
    await shop.api.advance(24 * 3600)
    with pytest.raises(UnknownOutcome):
        await shop.adapter.resolve(key, sent_at=sent_at)


async def test_a_key_that_was_never_sent_is_not_known(shop: Shop) -> None:
    assert await shop.adapter.resolve(new_idempotency_key(), sent_at=shop.api.clock.now()) is None


async def test_a_decline_at_once_is_told_with_its_transaction(shop: Shop) -> None:
    await shop.api.control("POST", "/faults", {"path": "/payins/card/web", "kind": "failed", "code": "101101"})
    with pytest.raises(Declined) as told:
        await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    assert await shop.payments() == {told.value.transaction.id}


async def test_too_many_calls_say_when_to_come_back(shop: Shop) -> None:
    await shop.api.control("POST", "/faults", {"path": "/payins/card/web", "kind": "rate_limit"})
    with pytest.raises(TransientError) as told:
        await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    assert told.value.retry_after == pytest.approx(15 * 60, abs=61)
    assert await shop.payments() == set()


async def test_tokens_that_end_or_are_taken_away_are_renewed(shop: Shop) -> None:
    before = await shop.paid(card="4970107111111119")
    await shop.api.advance(3600)
    assert await shop.adapter.get_transaction(TransactionKind.PAYIN, before.id) == before
    await shop.api.control("POST", "/tokens/expire")
    assert await shop.adapter.get_transaction(TransactionKind.PAYIN, before.id) == before


async def test_notifications_come_back_as_hints(shop: Shop) -> None:
    await shop.adapter.ensure_webhooks(HOOKS)
    await shop.adapter.ensure_webhooks(HOOKS)
    paid = await shop.paid(card="4970107111111119")
    refunded = await shop.adapter.refund(
        shop.refund_of(paid, 100, 10), key=new_idempotency_key(), sent_at=shop.api.clock.now()
    )
    await shop.api.notices()
    hints: list[EventHint] = []
    for url in shop.api.received:
        parts = urlsplit(url)
        assert url.startswith(f"{HOOKS}/s3cret?")
        hints += shop.adapter.read_webhook(InboundWebhook("GET", parts.path, parts.query))
    assert {(hint.type, hint.subject, hint.resource_id) for hint in hints} == {
        ("PAYIN_NORMAL_CREATED", Subject.PAYIN, paid.id),
        ("PAYIN_NORMAL_SUCCEEDED", Subject.PAYIN, paid.id),
        ("PAYIN_REFUND_CREATED", Subject.REFUND, refunded.id),
        ("PAYIN_REFUND_SUCCEEDED", Subject.REFUND, refunded.id),
    }
    listed = [hint async for hint in shop.adapter.events_since(paid.created_at)]
    assert {hint.dedupe_id for hint in listed} == {hint.dedupe_id for hint in hints}


async def test_events_go_back_as_far_as_the_provider_keeps_them(shop: Shop) -> None:
    started = await shop.adapter.create_payment(shop.request, key=new_idempotency_key(), sent_at=shop.api.clock.now())
    await shop.api.advance(44 * 24 * 3600)
    moment = shop.api.clock.now() - dt.timedelta(days=400)
    assert started.id in {hint.resource_id async for hint in shop.adapter.events_since(moment)}


async def test_what_is_not_there_is_not_found(shop: Shop) -> None:
    with pytest.raises(ProviderNotFound):
        await shop.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_none")
    with pytest.raises(ProviderNotFound):
        await shop.adapter.list_children(TransactionKind.PAYIN, "payin_m_none")
