"""Payouts from the first payment to the bank account, with every cent in the books and at the provider."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.payouts.gathering import gather_payouts
from resolvers.payment.payouts.sending import send_payout
from resolvers.payment.payouts.settling import UNCONFIRMED, WAITING
from resolvers.payment.refunds.refunds import refund_payment
from schema.payment.input import RefundPayment
from schema.payment.payout import PayoutRequestStatus as Status
from store.core.clock import clock
from store.providers.actions import ActionKind, UserAction
from store.providers.base import Subject
from store.providers.transactions import TransactionKind, TransactionStatus
from tests.fixtures.payment.api_payment import balances, books_balance, fee_rule, paid, wallets_agree
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import (
    REFUSED_IBAN,
    RETURNED_IBAN,
    can_be_paid_out,
    gathered,
    payouts,
    send,
    validated,
)
from tests.fixtures.payment.refill import opened_wallet, refilled
from tests.fixtures.shop import Shop


async def all_agree(shop: Shop) -> None:
    await books_balance(shop)
    await wallets_agree(shop)


async def test_what_was_earned_in_a_month_is_paid_out(shop: Shop) -> None:
    await fee_rule(shop)
    await can_be_paid_out(shop)
    await paid(shop, "100.00")
    await paid(shop, "60.00")
    payout = await validated(shop)
    assert (payout.status, payout.payout_amount) == (Status.VALIDATED, Decimal("150.40"))
    assert await balances(shop) == {
        "wallet": 15040,
        "fees_wallet": 960,
        "commission": 800,
        "vat_on_commission": 160,
        "partner_reserved": 15040,
    }
    await books_balance(shop)
    done = await send(shop, payout)
    assert (done.status, done.detail) == (Status.PAID, "")
    assert done.paid_on is not None
    assert await balances(shop) == {"fees_wallet": 960, "commission": 800, "vat_on_commission": 160}
    await all_agree(shop)


async def use_network_card(shop: Shop, amount: str) -> None:
    """A card of the network pays at the shop, and nothing else does."""
    uuid = await shop.one(
        "SELECT w.uuid FROM wallet w JOIN gift_card c ON c.wallet_id = w.id WHERE c.id = :id",
        id=(await card_of_network(shop)).id,
    )
    await paid(shop, amount, extra_source_wallet_uuid=uuid, extra_source_amount=amount)


async def test_what_was_earned_in_the_network_is_transferred_first(shop: Shop) -> None:
    await take_part(shop)
    await take_fees(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "500.00")
    await paid(shop, "100.00")
    await use_network_card(shop, "30.00")
    payout = await validated(shop)
    assert (payout.payout_amount, payout.network_amount) == (Decimal("125.20"), Decimal("25.20"))
    found = await balances(shop)
    assert (found["partner_reserved"], found["network_reserved"]) == (10000, 2520)
    await books_balance(shop)
    done = await send(shop, payout)
    assert done.status is Status.PAID
    assert await shop.one(
        "SELECT status || ' ' || type || ' ' || transfer_amount FROM transfer WHERE payout_request_id IS NOT NULL"
    ) == ("ok settlement 25.20")
    found = await balances(shop)
    assert {"partner_reserved", "network_reserved", "partner", "partner_network"}.isdisjoint(found)
    await all_agree(shop)


async def test_without_the_network_s_money_it_waits_for_a_refill(shop: Shop) -> None:
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "10.00")
    await use_network_card(shop, "30.00")
    payout = await validated(shop)
    for _ in range(2):
        waiting = await send(shop, payout)
        assert (waiting.status, waiting.settlement_sent_at) == (Status.VALIDATED, None)
        assert waiting.detail == (
            "The marketplace's wallet holds 10.00 of 30.00 EUR: a refill of 20.00 EUR releases it."
        )
    assert await shop.one("SELECT status || ': ' || detail FROM transfer WHERE payout_request_id IS NOT NULL") == (
        f"pen: {waiting.detail}"
    )
    assert waiting.waiting_since is not None
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payout_request.waiting'") == 1
    await books_balance(shop)
    await refilled(shop, "20.00")
    done = await send(shop, payout)
    assert (done.status, done.detail, done.waiting_since) == (Status.PAID, "", None)
    await all_agree(shop)


async def test_one_that_was_refused_before_it_waits_is_told_too(shop: Shop) -> None:
    """Its detail says then why it was refused."""
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await use_network_card(shop, "30.00")
    payout = await validated(shop)
    await shop.execute("UPDATE payout_request SET detail = 'The payment provider has refused the transfer: fraud.'")
    count = WAITING._value.get()
    waiting = await send(shop, payout)
    assert waiting.detail.startswith("The marketplace's wallet holds 0.00 of 30.00 EUR")
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payout_request.waiting'") == 1
    assert WAITING._value.get() == count + 1


async def test_a_transfer_that_has_to_be_confirmed_says_where(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "30.00")
    await use_network_card(shop, "30.00")
    payout = await validated(shop)
    url = f"https://confirm.example/?token={'x' * 800}"
    provider, sent = shop.services.provider, shop.services.provider.transfer

    async def unconfirmed(_: Any, *arguments: Any, **more: Any) -> Any:
        made = await sent(*arguments, **more)
        return replace(made, status=TransactionStatus.PENDING, action=UserAction(ActionKind.AUTHENTICATION, url))

    monkeypatch.setattr(type(provider), "transfer", unconfirmed)
    waiting = await send_payout(shop.services, payout.id)
    assert (waiting.status, waiting.confirmation_url) == (Status.VALIDATED, url)
    assert waiting.detail == UNCONFIRMED
    assert await shop.one("SELECT detail FROM transfer WHERE payout_request_id IS NOT NULL") == UNCONFIRMED
    done = await send(shop, payout)  # it was confirmed
    assert (done.status, done.detail, done.confirmation_url) == (Status.PAID, "", None)
    await all_agree(shop)


async def test_what_the_bank_refuses_goes_into_the_next_one(shop: Shop) -> None:
    await can_be_paid_out(shop, REFUSED_IBAN)
    await paid(shop, "100.00")
    failed = await send(shop, await validated(shop))
    assert (failed.status, failed.paid_on) == (Status.FAILED, None)
    assert failed.failure_code
    assert (await balances(shop))["partner"] == 10000
    await all_agree(shop)
    await paid(shop, "50.00")
    following = await gathered(shop)
    assert (following.id > failed.id, following.payout_amount) == (True, Decimal("150.00"))
    await books_balance(shop)


async def test_what_comes_back_goes_into_the_next_one(shop: Shop) -> None:
    await can_be_paid_out(shop, RETURNED_IBAN)
    await paid(shop, "100.00")
    done = await send(shop, await validated(shop))
    assert done.status is Status.PAID
    clock.advance(dt.timedelta(days=2))
    refund = (await shop.services.provider.list_children(TransactionKind.PAYOUT, done.provider_id))[0]
    for _ in range(2):
        await dispatch_notification(shop.services, Subject.REFUND, refund.id)
    (back,) = await payouts(shop)
    assert (back.status, back.returned_on is None) == (Status.FAILED, False)
    assert back.detail.startswith("The bank sent it back: ")
    assert (await balances(shop))["partner"] == 10000
    await all_agree(shop)
    following = await gathered(shop)
    assert following.payout_amount == Decimal("100.00")
    await books_balance(shop)


async def test_a_return_that_is_heard_of_first_waits_for_the_payout(shop: Shop) -> None:
    await can_be_paid_out(shop, RETURNED_IBAN)
    await paid(shop, "100.00")
    payout = await send(shop, await validated(shop), after=dt.timedelta())
    assert payout.status is Status.VALIDATED
    clock.advance(dt.timedelta(days=2))
    refund = (await shop.services.provider.list_children(TransactionKind.PAYOUT, payout.provider_id))[0]
    await dispatch_notification(shop.services, Subject.REFUND, refund.id)
    (back,) = await payouts(shop)
    assert (back.status, back.paid_on is None, back.returned_on is None) == (Status.FAILED, False, False)
    await all_agree(shop)


async def test_what_is_owed_is_taken_along(shop: Shop) -> None:
    """The refund of a usage that was paid out before is the partner's debt: the next payout brings it back."""
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "30.00")
    await use_network_card(shop, "30.00")
    assert (await send(shop, await validated(shop))).status is Status.PAID
    await refund_payment(
        shop.manager,
        RefundPayment(id=await shop.one("SELECT id FROM payment WHERE extra_amount > 0"), amount=Decimal("30.00")),
    )
    assert (await balances(shop))["owed_by_partner"] == 3000
    await paid(shop, "20.00")
    clock.advance(dt.timedelta(days=32))
    await gathered(shop)
    assert len(await payouts(shop)) == 1  # all of it is kept, and nothing is left to pay out
    assert (await balances(shop))["recovery_due"] == 2000
    await books_balance(shop)
    await paid(shop, "100.00")
    payout = await validated(shop)
    assert (payout.payout_amount, payout.recovered_amount) == (Decimal("90.00"), Decimal("30.00"))
    done = await send(shop, payout)
    assert done.status is Status.PAID
    found = await balances(shop)
    assert {"owed_by_partner", "recovery_due", "partner", "partner_reserved"}.isdisjoint(found)
    assert found["fees_wallet"] == 3000
    await all_agree(shop)


async def test_a_refund_is_taken_off(shop: Shop) -> None:
    await can_be_paid_out(shop)
    payment = await paid(shop, "100.00")
    await paid(shop, "60.00")
    payout = await gathered(shop)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("30.00")))
    await send_refunds(shop.services)
    await gather_payouts(shop.services)
    assert [str(each.payout_amount) for each in await payouts(shop)] == ["130.00"]
    done = await send(shop, await validated(shop))
    assert (done.id, done.status, done.payout_amount) == (payout.id, Status.PAID, Decimal("130.00"))
    await all_agree(shop)
