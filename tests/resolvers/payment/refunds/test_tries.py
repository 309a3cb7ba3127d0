"""When refunds that fail are sent again, with the provider's notifications of each try."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from resolvers.job.registry import SCHEDULES
from resolvers.payment.refunds.refunds import refund_payment, retry_refund
from schema.payment.input import RefundPayment, RetryRefund
from schema.payment.payment import RefundState
from store.core.clock import clock
from store.database.db import Database
from store.job.jobs import JobKind
from store.payment.payments import PaymentRow, RefundRow
from store.providers.base import Subject
from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount
from store.providers.transactions import CardRefundRequest, TransactionKind
from tests.fixtures.payment.api_payment import begun, books_balance, created, paid_at_provider, wallets_agree
from tests.fixtures.payment.notified_shop import NotifiedShop, follow_only, notified_shop
from tests.fixtures.shop import GOOD_CARD

HOUR = dt.timedelta(hours=1)
REFUND_FAILS_CARD = "4970109000001203"
EMPTY_WALLET = "001001"
SENT = "POST /payins/{id}/refunds"
PLAN = [0, 1, 7, 31, 55, 79, 103]
"""The hours after which a refund that fails is sent."""
POLICIES = [
    {"kind": "immediate"},
    {"kind": "duplicated", "times": 3},
    {"kind": "out_of_order", "seconds": 5400},
    {"kind": "delayed", "seconds": 90_000},
    {"kind": "stale"},
    {"kind": "forged"},
    {"kind": "before_return"},
    {"kind": "dropped"},
]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda each: each["kind"])


@dataclass
class Refunding(NotifiedShop):
    """A shop that refunds, and whose worker a test runs hour by hour."""

    began: dt.datetime = field(default_factory=clock.now)
    sent_at: list[int] = field(default_factory=list)
    """When a refund was sent, in hours."""

    async def payment(self, card: str = GOOD_CARD) -> PaymentRow:
        """A payment of 40.00."""
        payment = await created(self.shop, "40.00")
        await paid_at_provider(self.shop, await begun(self.shop, payment), card)
        await self.live(1)
        self.began = clock.now()
        return payment

    async def refund(self, payment: PaymentRow) -> RefundRow:
        """A refund of 10.00."""
        made = await refund_payment(self.shop.manager, RefundPayment(id=payment.id, amount=Decimal("10.00")))
        assert isinstance(made, RefundRow)
        return made

    async def live(self, hours: int) -> None:
        """Let time pass: every hour the sweep, sometimes the list of events, the jobs, the notifications, and the jobs that they cause."""
        for hour in range(hours):
            await SCHEDULES["sweep_refunds"].run(self.shop.services)
            if hour % 12 == 0:
                await SCHEDULES["provider_catch_up"].run(self.shop.services)
            for _ in range(2):
                await self.run_jobs()
                await self.notify()
            clock.advance(HOUR)

    async def run_job(self, kind: JobKind, payload: dict[str, Any]) -> None:
        before = (await self.calls())[SENT]
        await super().run_job(kind, payload)
        self.sent_at += [round((clock.now() - self.began) / HOUR)] * ((await self.calls())[SENT] - before)

    async def states(self) -> list[str]:
        rows = "SELECT string_agg(state, ' ' ORDER BY created_on, id) FROM refund"
        return str(await self.shop.one(rows)).split()

    async def asked(self) -> int:
        """How often a person was asked to see to a refund."""
        return int(await self.shop.one("SELECT count(*) FROM event WHERE type = 'refund.needs_action'"))


@pytest.fixture
async def refunding(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Refunding]:
    """A shop that the sandbox notifies of payments and refunds."""
    follow_only(monkeypatch, Subject.PAYIN, Subject.REFUND)
    async with notified_shop(Refunding, database) as found:
        yield found


@every_policy
async def test_equal_refunds_are_sent_on_different_days(refunding: Refunding, policy: dict[str, Any]) -> None:
    payment = await refunding.payment()
    await refunding.shop.control("POST", "/hooks/policy", policy)
    for _ in range(2):
        await refunding.refund(payment)
    await refunding.live(24)
    assert sorted(await refunding.states()) == ["done", "pending"]
    assert "tomorrow" in await refunding.shop.one("SELECT detail FROM refund WHERE state = 'pending'")
    assert refunding.sent_at == [0, 0]
    await refunding.live(30)
    assert await refunding.states() == ["done", "done"]
    assert refunding.sent_at == [0, 0, 24]
    await books_balance(refunding.shop)
    await wallets_agree(refunding.shop)


@every_policy
async def test_a_refund_that_fails_waits_and_is_given_to_a_person(refunding: Refunding, policy: dict[str, Any]) -> None:
    payment = await refunding.payment(REFUND_FAILS_CARD)
    await refunding.shop.control("POST", "/hooks/policy", policy)
    refund = await refunding.refund(payment)
    await refunding.live(103)
    assert await refunding.states() == ["pending"]
    await refunding.live(40)
    assert refunding.sent_at == PLAN
    assert (await refunding.states(), await refunding.asked()) == (["needs_action"], 1)
    await retry_refund(refunding.shop.manager, RetryRefund(id=refund.id))
    refunding.began = clock.now()
    await refunding.live(3)
    assert refunding.sent_at == [*PLAN, 0, 1]
    assert (await refunding.states(), await refunding.asked()) == (["pending"], 1)
    await books_balance(refunding.shop)
    await wallets_agree(refunding.shop)


async def test_a_try_that_is_known_late_neither_asks_again_nor_fails(refunding: Refunding) -> None:
    """A try whose outcome was open when a person was asked fails after all; then one was made all the same."""
    shop, provider = refunding.shop, refunding.shop.services.provider
    payment = await refunding.payment()
    fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": EMPTY_WALLET, "times": len(PLAN)}
    await shop.control("POST", "/faults", fault)
    refund = await refunding.refund(payment)
    await refunding.live(110)
    payin_id = await shop.one("SELECT provider_id FROM payment_transaction WHERE type = 'payin'")
    tries = await provider.list_children(TransactionKind.PAYIN, payin_id)
    assert len(tries) == len(PLAN)
    await shop.execute("UPDATE payment_transaction SET provider_id = :id WHERE type = 'refund'", id=tries[-1].id)
    await notified_of(refunding, tries[-1].id)
    assert (await refunding.states(), await refunding.asked()) == (["needs_action"], 1)
    assert await shop.one("SELECT provider_id FROM payment_transaction WHERE type = 'refund'") == ""
    payer = (await provider.get_transaction(TransactionKind.PAYIN, payin_id)).payer_id
    made = await provider.refund(
        CardRefundRequest(str(refund.id), payin_id, payer, MinorAmount("EUR", 1000), MinorAmount("EUR", 0)),
        key=new_idempotency_key(),
        sent_at=clock.now(),
    )
    await notified_of(refunding, made.id)
    assert await refunding.states() == [RefundState.DONE]
    assert refunding.sent_at == PLAN
    await books_balance(shop)


async def notified_of(refunding: Refunding, id: str) -> None:
    """The provider notifies of a refund, twice."""
    for _ in range(2):
        await refunding.run_job(JobKind.PROVIDER_HINT, {"subject": "refund", "id": id})
