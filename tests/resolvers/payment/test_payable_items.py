"""The days on which payments, usages, refunds and disputes count for payouts."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.payment.creation import update_payment
from resolvers.payment.page.process import sync_payin
from resolvers.payment.refunds.refunds import refund_payment
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UseNetworkGiftCard
from schema.payment.input import RefundPayment, UpdatePayment
from store.core.clock import clock
from store.payment.payments import PaymentRow
from tests.fixtures.payment.api_payment import begun, books_balance, created, paid, paid_at_provider, wallet_uuid
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, dispute_payin
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.shop import Shop
from tests.store.migrations.revisions import at

BEFORE = "0044"
ITEMS = """
    SELECT j.source_kind, j.kind, i.own_amount, i.network_amount, i.payable_on
    FROM payable_item i JOIN ledger_journal j ON j.id = i.journal_id ORDER BY j.id
"""
WHOLE = "SELECT journal_id, book_id, marketplace_id, partner_id, own_amount, network_amount, payable_on FROM payable_item ORDER BY 1"


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)
    await shop.execute("UPDATE partner SET freeze_payout = true")


async def items(shop: Shop) -> list[tuple[Any, ...]]:
    """What counts for payouts: source, event, own and network's amount in cents, and in how many days it counts."""
    today = clock.now().date()
    return [(*row[:4], (row[4] - today).days) for row in await shop.services.db.rows(text(ITEMS))]


def in_days(days: int) -> dt.datetime:
    """Noon of a day to come, or gone."""
    return clock.now().replace(hour=12, minute=0, second=0, microsecond=0) + dt.timedelta(days=days)


@pytest.fixture(autouse=True)
def noon() -> None:
    """No test begins today and ends tomorrow, here or where the marketplace is."""
    now = clock.now()
    clock.advance(now.replace(hour=12, minute=0, second=0, microsecond=0) + dt.timedelta(days=1) - now)


async def freeze(shop: Shop, payment: PaymentRow, days: int | None) -> None:
    """Choose another date for the payout of a payment."""
    date = None if days is None else in_days(days)
    await update_payment(shop.manager, UpdatePayment(id=payment.id, freeze_payout_date=date))


async def refund(shop: Shop, payment: PaymentRow, amount: str) -> None:
    await refund_payment(shop.manager, RefundPayment.model_validate({"id": payment.id, "amount": amount}))


async def test_a_refund_counts_with_its_payment_and_never_before(shop: Shop) -> None:
    early, frozen = await paid(shop, "100.00"), await paid(shop, "50.00", freeze_payout_date=in_days(40))
    await refund(shop, early, "10.00")
    await refund(shop, frozen, "20.00")
    assert await items(shop) == [
        ("payment", "payment", 10000, 0, 0),
        ("payment", "payment", 5000, 0, 40),
        ("refund", "refund", -1000, 0, 0),
        ("refund", "refund", -2000, 0, 40),
    ]
    await freeze(shop, early, -3)
    await freeze(shop, frozen, 7)
    assert [item[-1] for item in await items(shop)] == [-3, 7, 0, 7]
    await freeze(shop, early, None)
    await freeze(shop, frozen, None)
    assert [item[-1] for item in await items(shop)] == [0, 0, 0, 0]
    await books_balance(shop)


async def test_a_usage_counts_on_the_day_of_its_use_or_the_chosen_one(shop: Shop) -> None:
    await take_fees(shop)
    card = await card_of_network(shop)
    clock.advance(dt.timedelta(days=5))
    for more in ({"used_on": in_days(-2)}, {"used_on": in_days(-2), "freeze_payout_date": in_days(30)}, {}):
        use = {"code": card.code, "value": "10.00", "partner_id": shop.partner.id, **more}
        made = await use_network_gift_card(shop.manager, UseNetworkGiftCard.model_validate(use))
        await cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=made.id))
    used, taken_back = ("network_gift_card_usage", "capture", 0, 760), ("network_gift_card_usage", "reversal", 0, -760)
    days = (-2, 0), (30, 30), (0, 0)
    assert await items(shop) == [each for use, back in days for each in ((*used, use), (*taken_back, back))]
    await books_balance(shop)


async def test_what_a_payment_moves_counts_together_and_is_worked_out_for_old_ones(shop: Shop) -> None:
    """By bank card, by a card of the network, refunded, disputed, and not disputed any more."""
    card = await card_of_network(shop)
    source = {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": "30.00"}
    payment = await created(shop, "100.00", **source, freeze_payout_date=in_days(20))
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin, DISPUTABLE_CARD)
    await sync_payin(shop.services, payin.id)
    await refund(shop, payment, "10.00")
    await use_network_gift_card(
        shop.manager,
        UseNetworkGiftCard.model_validate({"code": card.code, "value": "5.00", "partner_id": shop.partner.id}),
    )
    dispute = await dispute_payin(
        shop, (await shop.one("SELECT provider_id FROM payment_transaction WHERE id = :id", id=payin.id))
    )
    await dispute.follow()
    await freeze(shop, payment, 25)
    await dispute.decide("void")
    await dispute.follow()
    expected = [
        ("payment", "payment", 7000, 0, 25),
        ("network_gift_card_usage", "capture", 0, 3000, 25),
        ("refund", "refund", -700, 0, 25),
        ("refund", "reversal", 0, -300, 25),
        ("network_gift_card_usage", "capture", 0, 500, 0),
        ("dispute", "dispute", -6300, 0, 25),
        ("dispute", "dispute_won", 6300, 0, 25),
    ]
    assert sorted(await items(shop)) == sorted(expected)
    await books_balance(shop)
    before = await shop.services.db.rows(text(WHOLE))
    await at(shop.services.db, BEFORE, down=True)
    await at(shop.services.db, "head")
    assert await shop.services.db.rows(text(WHOLE)) == before
