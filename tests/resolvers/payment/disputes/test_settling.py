"""Settlements of lost disputes when the provider refuses, does not answer, or was used by somebody else."""

import dataclasses
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from structlog.testing import capture_logs

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.disputes import following
from resolvers.payment.disputes.settling import record_movement
from resolvers.payment.refunds.refunds import refund_payment
from schema.payment.errors import PaymentDisputed
from schema.payment.input import RefundPayment
from store.core.clock import clock
from store.providers.base import Subject
from store.providers.disputes import SettlementRequest
from store.providers.errors import TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey, new_idempotency_key
from store.providers.money import MinorAmount
from store.providers.transactions import TransactionKind
from tests.fixtures.basket import card_of
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.dispute import (
    OpenedDispute,
    balances,
    books_are_right,
    bought_disputably,
    open_dispute,
    spend_earnings,
    take_commission,
    unawaited_settlement,
)
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop


async def lost(shop: Shop) -> OpenedDispute:
    """A dispute that is lost and not settled."""
    take_commission(shop)
    await bought_disputably(shop, card_of("100.00"))
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    return dispute


async def settle_elsewhere(shop: Shop, dispute: OpenedDispute, minor: int) -> str:
    """Somebody settles it in the provider's dashboard."""
    row = await dispute.row()
    request = SettlementRequest("by hand", row.repudiation_id, row.author_id, MinorAmount("EUR", minor))
    provider = shop.services.provider
    return (await provider.settle_dispute(request, key=new_idempotency_key(), sent_at=clock.now())).id


async def test_a_failed_settlement_is_sent_again(shop: Shop) -> None:
    dispute = await lost(shop)
    provider: Any = shop.services.provider
    settle = provider.settle_dispute

    async def refuse(request: SettlementRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Any:
        raise TransientError("The provider is away.")

    provider.settle_dispute = refuse
    await following.CHECKS.poll(shop.services, (await dispute.row()).id)
    row = await dispute.row()
    assert (row.settled_on, row.tries) == (None, 0)
    provider.settle_dispute = settle
    await books_are_right(shop)
    assert (await dispute.check()).settled_amount == 94
    await books_are_right(shop)


async def test_an_empty_wallet_is_told_and_tried_again(shop: Shop) -> None:
    dispute = await lost(shop)
    elsewhere = await _drain(shop)
    row = await dispute.check()
    assert (row.settled_on, row.tries) == (None, 1)
    assert "does not hold enough money" in row.detail
    assert row.check_on is not None
    assert row.check_on > clock.now()
    key = row.key
    await _refill(shop, elsewhere)
    clock.advance(dt.timedelta(hours=2))
    row = await dispute.check()
    assert (row.settled_amount, row.detail, row.key) == (Decimal(94), "", key)
    await books_are_right(shop)


async def _drain(shop: Shop) -> Any:
    """The wallet at the provider is empty, whatever the books say."""
    provider: Any = shop.services.provider
    settle = provider.settle_dispute

    async def ask_too_much(request: SettlementRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Any:

        return await settle(dataclasses.replace(request, amount=MinorAmount("EUR", 9500)), key=key, sent_at=sent_at)

    provider.settle_dispute = ask_too_much
    return settle


async def _refill(shop: Shop, settle: Any) -> None:
    provider: Any = shop.services.provider
    provider.settle_dispute = settle


async def test_an_unknown_outcome_is_never_sent_with_another_key(shop: Shop) -> None:
    dispute = await lost(shop)
    provider: Any = shop.services.provider
    settle, keys = provider.settle_dispute, []

    async def lose_the_answer(request: SettlementRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Any:
        keys.append((await settle(request, key=key, sent_at=sent_at)).id)
        raise UnknownOutcome(key)

    provider.settle_dispute = lose_the_answer
    row = await dispute.check()
    assert (row.settled_on, row.tries) == (None, 0)
    assert "look it up" in row.detail
    await dispatch_notification(shop.services, Subject.SETTLEMENT, keys[0])
    row = await dispute.row()
    assert (row.settled_amount, row.settlement_id, row.detail) == (Decimal(94), keys[0], "")
    await books_are_right(shop)


@pytest.mark.parametrize(
    ("minor", "after"),
    [
        (5000, {"partner": 4400, "wallet": 4400, "owed_by_partner": 4400, "dispute_loss": 600}),
        (9400, {"dispute_loss": 600}),
    ],
)
async def test_somebody_settles_at_the_provider(shop: Shop, minor: int, after: dict[str, int]) -> None:
    dispute = await lost(shop)
    settlement = await settle_elsewhere(shop, dispute, minor)
    for _ in range(2):
        await dispatch_notification(shop.services, Subject.SETTLEMENT, settlement)
    row = await dispute.row()
    assert (row.settled_amount, row.held_amount) == (Decimal(minor) / 100, Decimal(0))
    found = await balances(shop)
    assert {role: found.get(role, 0) for role in after} == after
    assert found["repudiation_wallet"] == minor - 10000
    await books_are_right(shop)


async def test_more_is_settled_at_the_provider_than_is_kept_back(shop: Shop) -> None:
    """The partner has earned more since, and somebody takes the lost commission from the wallet too."""
    dispute = await lost(shop)
    await bought_disputably(shop, card_of("50.00"))
    settlement = await settle_elsewhere(shop, dispute, 10000)
    await dispatch_notification(shop.services, Subject.SETTLEMENT, settlement)
    found = await balances(shop)
    assert (found["partner"], found["wallet"]) == (4100, 4100)
    assert not {"dispute_loss", "owed_by_partner", "repudiation_wallet"} & found.keys()
    await books_are_right(shop)


async def test_somebody_settles_once_more(shop: Shop) -> None:
    """First a part of what is kept back, then the rest of it, then the lost commission too."""
    dispute = await lost(shop)
    await bought_disputably(shop, card_of("50.00"))
    expected = [
        (5000, {"partner": 9100, "owed_by_partner": 4400, "dispute_loss": 600, "repudiation_wallet": -5000}),
        (4400, {"partner": 4700, "owed_by_partner": 0, "dispute_loss": 600, "repudiation_wallet": -600}),
        (600, {"partner": 4100, "owed_by_partner": 0, "dispute_loss": 0, "repudiation_wallet": 0}),
    ]
    for minor, after in expected:
        settlement = await settle_elsewhere(shop, dispute, minor)
        for _ in range(2):
            await dispatch_notification(shop.services, Subject.SETTLEMENT, settlement)
        found = await balances(shop)
        assert {role: found.get(role, 0) for role in after} == after
        await books_are_right(shop)
    row = await dispute.row()
    assert (row.settled_amount, row.lost_amount) == (Decimal(100), Decimal(100))


async def test_more_is_settled_than_the_partner_has(shop: Shop) -> None:
    """What the earnings do not cover is missing in the wallet: it is recorded, and nothing goes below zero."""
    dispute = await lost(shop)
    assert (await dispute.check()).settled_amount == 94
    await bought_disputably(shop, card_of("50.00"))
    await spend_earnings(shop, 4500)
    settlement = await settle_elsewhere(shop, dispute, 600)
    await dispatch_notification(shop.services, Subject.SETTLEMENT, settlement)
    found = await balances(shop)
    assert (found["partner_shortfall"], found["wallet"]) == (400, -400)
    assert not {"partner", "dispute_loss", "repudiation_wallet", "suspense"} & found.keys()
    assert await broken_rules(shop.services.db) == {}


async def test_more_is_settled_than_was_lost(shop: Shop) -> None:
    """The provider refuses that. If it happens all the same, a person has to explain it."""
    dispute = await lost(shop)
    await bought_disputably(shop, card_of("50.00"))
    settlement = await settle_elsewhere(shop, dispute, 9400)
    made = await shop.services.provider.get_transaction(TransactionKind.SETTLEMENT, settlement)
    too_much = dataclasses.replace(made, amount=MinorAmount("EUR", 10500))
    with capture_logs() as lines:
        await record_movement(shop.services, too_much)
    told = [line["minor"] for line in lines if line["event"] == "more of a dispute was settled than was lost"]
    assert told == [500]
    row, found = await dispute.row(), await balances(shop)
    assert (row.settled_amount, found["suspense"], found["partner"]) == (Decimal(100), 500, 3600)
    assert set(await broken_rules(shop.services.db)) == {"suspense_is_empty"}


@pytest.mark.parametrize("is_won", [True, False])
async def test_a_settlement_that_nothing_awaits_is_in_the_books(shop: Shop, is_won: bool) -> None:
    """The provider settles lost disputes only. If it happens all the same, the wallet agrees, and a person is told."""
    take_commission(shop)
    await bought_disputably(shop, card_of("100.00"))
    dispute = await open_dispute(shop)
    await bought_disputably(shop, card_of("50.00"))
    await dispute.follow()
    await dispute.contest()
    if is_won:
        await dispute.decide("win")
    await dispute.follow()
    before, row = await balances(shop), await dispute.row()
    made = unawaited_settlement(row)
    with capture_logs() as lines:
        for _ in range(2):
            await record_movement(shop.services, made)
    told = [(line["source"], line["minor"]) for line in lines if line["log_level"] == "error"]
    assert told == [(f"{row.id}:{made.id}", 3000)]
    after = await balances(shop)
    moved = {role: after.get(role, 0) - before.get(role, 0) for role in before.keys() | after.keys()}
    moved = {role: by for role, by in moved.items() if by}
    assert moved == {"wallet": -3000, "partner": -3000, "repudiation_wallet": 3000, "suspense": 3000}
    assert (await dispute.row()).settled_amount == 0
    assert set(await broken_rules(shop.services.db)) == {"suspense_is_empty"}
    if not is_won:
        await dispute.decide("lose")
        await dispute.follow()
        await record_movement(shop.services, made)
        assert (await dispute.row()).settled_on is None
        assert (await dispute.check()).settled_amount == 94
        assert (await balances(shop))["suspense"] == 3000
        assert set(await broken_rules(shop.services.db)) == {"suspense_is_empty"}


async def test_a_refund_that_was_promised_before_fails_for_good(shop: Shop) -> None:
    take_commission(shop)
    await bought_disputably(shop, card_of("100.00"))
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("40.00")))
    dispute = await open_dispute(shop)
    assert (await dispute.follow()).held_amount == Decimal("56.40")
    await send_refunds(shop.services)
    assert await shop.one("SELECT state FROM refund") == "failed"
    await books_are_right(shop)
    with pytest.raises(PaymentDisputed):
        await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("10.00")))
    await dispute.decide("void")
    await dispute.follow()
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("10.00")))
    await books_are_right(shop)


async def test_a_payment_that_was_partly_refunded(shop: Shop) -> None:
    """The commission that went back with the refund is not lost again."""
    take_commission(shop)
    await bought_disputably(shop, card_of("100.00"))
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("40.00")))
    dispute = await open_dispute(shop, amount=6000, type="NOT_CONTESTABLE")
    row = await dispute.follow()
    assert (row.held_amount, row.commission_amount) == (Decimal("56.40"), Decimal("3.60"))
    assert (await dispute.check()).settled_amount == Decimal("56.40")
    assert await shop.one("SELECT status FROM shop_order") == "charged_back"
    await books_are_right(shop)
