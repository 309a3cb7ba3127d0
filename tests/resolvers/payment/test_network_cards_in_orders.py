"""What becomes of orders that network gift cards have paid: refunds of lines, vouchers, disputes, cards that end meanwhile."""

import datetime as dt
from decimal import Decimal

import pytest

from resolvers.payment.checkout import payment, polling
from resolvers.payment.refunds.order_refunds import refund_order
from schema.checkout.checkout import CheckoutKey, PaymentAttemptStatus, ProductChoice, StartedPayment
from schema.payment.input import RefundOrder, RefundOrderLine
from schema.payment.payment import RefundState
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.network.issuing import network_gift_cards
from tests.fixtures.basket import Experiences, bought, for_two
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import balances, books_balance, fee_rule, wallets_agree
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, open_dispute
from tests.fixtures.payment.network_payment import card_of_network, shown, take_fees, take_part, usages
from tests.fixtures.payment.order_refund import refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import GOOD_CARD, Shop

REMAINING = "SELECT remaining_amount FROM gift_card WHERE id = :id"


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)
    await take_fees(shop)


async def paid_order(shop: Shop, *codes: str, by: str = GOOD_CARD) -> None:
    """An order of two lines, 60.00 and 40.00, paid with these codes and a bank card."""
    lines = ProductChoice((await shop.product("60.00")).id, 1), ProductChoice((await shop.product("40.00")).id, 1)
    key, seen = await shop.ready(*lines, codes=codes)
    started = await shop.start(key, seen)
    await shop.pay(started, by)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED


async def test_lines_are_refunded_to_every_source(shop: Shop) -> None:
    await fee_rule(shop)
    network, own = await card_of_network(shop, "30.00"), await shop.gift_card("20.00")
    await paid_order(shop, own.code, network.code)
    refund = await refunded(shop, 1)
    parts = await shop.one(
        "SELECT string_agg(transaction_amount::text, ' ' ORDER BY id) FROM payment_transaction WHERE type = 'refund'"
    )
    assert parts == "8.00 12.00 20.00"
    assert (await shown(shop, network), await shop.one(REMAINING, id=own.id)) == (("using", "12.00"), Decimal("8.00"))
    await refunded(shop, 0)
    await send_refunds(shop.services)
    assert refund.state is RefundState.PENDING
    assert (await shown(shop, network), await shop.one(REMAINING, id=own.id)) == (("paid", "30.00"), Decimal("20.00"))
    assert await shop.one("SELECT status FROM shop_order") == "refunded"
    assert {"partner", "partner_network", "commission", "management_fees"}.isdisjoint(await balances(shop))
    await books_balance(shop)
    await wallets_agree(shop)


async def test_it_pays_for_vouchers(shop: Shop, sold: Experiences) -> None:
    card = await card_of_network(shop, "200.00")
    outcome = await bought(shop, for_two(sold), codes=(card.code,))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert await shop.one("SELECT payment_type FROM voucher") == "gift_card"
    assert await shown(shop, card) == ("using", "6.00")
    order = await shop.one("SELECT id FROM shop_order")
    line = await shop.one("SELECT id FROM order_product")
    refund = RefundOrder(id=order, lines=[RefundOrderLine(id=line)])
    await refund_order(shop.manager, refund)
    assert await shown(shop, card) == ("paid", "200.00")
    assert await shop.one("SELECT state FROM voucher") == "error"
    await books_balance(shop)


async def test_a_dispute_is_about_the_bank_cards_part(shop: Shop) -> None:
    card = await card_of_network(shop, "30.00")
    await paid_order(shop, card.code, by=DISPUTABLE_CARD)
    dispute = await open_dispute(shop)
    await dispute.follow()
    await dispute.contest("70.00")
    await dispute.decide("lose")
    await dispute.follow()
    (usage,) = await usages(shop)
    assert usage.is_active
    assert not usage.returned_amount
    assert (await shown(shop, card), (await balances(shop))["partner_network"]) == (("used", "0.00"), 2520)
    assert await broken_rules(shop.services.db) == {}


async def held(shop: Shop, card: GiftCardRow) -> tuple[CheckoutKey, StartedPayment]:
    """A customer who types the number of a bank card, for what the gift card leaves of 100.00."""
    key, seen = await shop.ready(ProductChoice((await shop.product("100.00")).id, 1), codes=(card.code,))
    return key, await shop.start(key, seen)


@pytest.mark.parametrize("is_paid", [False, True])
async def test_a_card_that_expires_meanwhile_in_a_network_that_books_it(shop: Shop, is_paid: bool) -> None:
    """What is left is income of the network; what is held is not, and pays, or is owed."""
    await shop.execute("UPDATE marketplace SET network_gift_card_books_breakage = true")
    card = await card_of_network(shop, "40.00")
    other = await shop.ready(ProductChoice((await shop.product("10.00")).id, 1), codes=(card.code,))
    await shop.start(*other)
    key, started = await held(shop, card)
    assert await shown(shop, card) == ("using", "0.00")
    await shop.execute("UPDATE gift_card SET expires_on = :now, remaining_amount = remaining_amount", now=clock.now())
    clock.advance(dt.timedelta(minutes=1))
    async with shop.services.db.sessions() as db, db.begin():
        assert await network_gift_cards.expire(db, clock.now(), 10) == 1
    await books_balance(shop)
    if is_paid:
        await shop.pay(started)
        await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    else:
        clock.advance(dt.timedelta(hours=1))
        await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shown(shop, card) == (("used", "0.00") if is_paid else ("exprd", "30.00"))
    await books_balance(shop)
    if not is_paid:
        async with shop.services.db.sessions() as db, db.begin():
            row = await db.get_one(GiftCardRow, card.id, with_for_update=True)
            await network_gift_cards.extend(db, row, clock.now() + dt.timedelta(days=30))
        assert await shown(shop, card) == ("using", "30.00")
        await books_balance(shop)


async def test_a_card_that_is_extended_while_it_is_held_is_whole_again(shop: Shop) -> None:
    card = await card_of_network(shop, "40.00")
    _, started = await held(shop, card)
    await shop.execute("UPDATE gift_card SET status = 'exprd'")
    async with shop.services.db.sessions() as db, db.begin():
        row = await db.get_one(GiftCardRow, card.id, with_for_update=True)
        await network_gift_cards.extend(db, row, clock.now() + dt.timedelta(days=800))
    assert await shown(shop, card) == ("used", "0.00")
    clock.advance(dt.timedelta(hours=1))
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shown(shop, card) == ("paid", "40.00")
    await books_balance(shop)


async def test_two_cards_that_the_partner_no_longer_has_the_money_of(shop: Shop) -> None:
    """What the partner has left covers one of two returns and a part of the other; the rest it owes."""
    await take_fees(shop, "0", "0.00")
    cards = [await card_of_network(shop, "20.00") for _ in range(2)]
    await paid_order(shop, *(card.code for card in cards))
    await shop.execute("UPDATE ledger_account SET balance = -3000 WHERE role = 'partner_network'")
    await refunded(shop, 0, 1)
    assert [await shown(shop, card) for card in cards] == [("paid", "20.00")] * 2
    assert (await balances(shop))["owed_by_partner"] == 1000


async def test_two_cards_that_are_cancelled_while_they_are_held(shop: Shop) -> None:
    """The network has paid in a part of what it owed for them: that part are its funds again."""
    cards = [await card_of_network(shop, "20.00") for _ in range(2)]
    lines = ProductChoice((await shop.product("100.00")).id, 1)
    key, seen = await shop.ready(lines, codes=tuple(card.code for card in cards))
    await shop.start(key, seen)
    await shop.execute("UPDATE ledger_account SET balance = 3000 WHERE role = 'owed_by_marketplace'")
    for card in cards:
        async with shop.services.db.sessions() as db, db.begin():
            await network_gift_cards.cancel(db, await db.get_one(GiftCardRow, card.id, with_for_update=True))
    await payment.cancel_payment(shop.context, key)
    assert [await shown(shop, card) for card in cards] == [("cncld", "20.00")] * 2
    assert await shop.one("SELECT balance FROM ledger_account WHERE role = 'owed_by_marketplace'") == 0
    assert (await balances(shop))["marketplace_funds"] == 1000
