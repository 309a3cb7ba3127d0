"""Test money and live money stay apart, also when a test partner becomes a live one."""

import pytest
from sqlalchemy import text

from resolvers.checkout import steps
from resolvers.payment.checkout import payment
from schema.checkout.checkout import PaymentAttemptStatus, ProductChoice
from schema.core.errors import CheckoutChanged, GiftCardNotSpendable, InvalidInput
from store.gift_card.gift_cards import GiftCardRow
from tests.fixtures.payment.api_payment import books_balance, created, paid, wallet_uuid, wallets_agree
from tests.fixtures.shop import GOOD_CARD, Shop

TEST, LIVE = "UPDATE partner SET status = 't'", "UPDATE partner SET status = 'a'"
REMAINING = "SELECT remaining_amount FROM gift_card"


async def card_from_before(shop: Shop) -> GiftCardRow:
    """A gift card for 50.00 of the time as a test partner, which is a live one now."""
    await shop.execute(TEST)
    card = await shop.gift_card("50.00")
    await shop.execute(LIVE)
    return card


async def test_a_test_card_is_no_code_of_a_live_checkout(shop: Shop) -> None:
    card = await card_from_before(shop)
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1))
    with pytest.raises(InvalidInput):
        await steps.apply_code(shop.context, key, card.code)
    assert seen.totals.by_card == 30
    with pytest.raises(GiftCardNotSpendable):
        await created(
            shop, "30.00", extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="30.00"
        )
    assert await shop.one(REMAINING) == 50


async def test_a_test_checkout_is_not_paid_once_the_partner_is_live(shop: Shop) -> None:
    await shop.execute(TEST)
    card, candle = await shop.gift_card("50.00"), await shop.product("30.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(card.code,))
    assert seen.totals.by_card == 0
    await shop.execute(LIVE)
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert (await shop.one(REMAINING), await shop.count("shop_order"), await shop.count("payment")) == (50, 0, 0)
    await books_balance(shop)


async def test_a_test_card_that_was_held_pays_no_live_order(shop: Shop) -> None:
    """The partner becomes live while the customer types the number of a bank card: no order, and all goes back."""
    await shop.execute(TEST)
    card, candle = await shop.gift_card("50.00"), await shop.product("80.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    await shop.execute(LIVE)
    await shop.pay(started, GOOD_CARD)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is not PaymentAttemptStatus.COMPLETED
    assert (await shop.one(REMAINING), await shop.count("shop_order")) == (50, 0)
    assert await shop.one("SELECT refunded_amount FROM payment") == 30
    await books_balance(shop)


async def test_a_payment_goes_into_the_book_of_its_day(shop: Shop) -> None:
    """The wallet at the sandbox is the same; the books are not."""
    await shop.execute(TEST)
    test = await paid(shop, "10.00")
    await shop.execute(LIVE)
    live, card = await paid(shop, "20.00"), await shop.gift_card("50.00")
    both = await paid(
        shop, "30.00", extra_source_wallet_uuid=await wallet_uuid(shop, card), extra_source_amount="25.00"
    )
    assert test.book_id != live.book_id == both.book_id == card.book_id
    wallets = await shop.services.db.rows(
        text("SELECT id, is_live, provider_wallet_id FROM wallet WHERE kind = 'partner'")
    )
    assert {(row.id, row.is_live) for row in wallets} == {(test.wallet_id, False), (live.wallet_id, True)}
    assert {row.provider_wallet_id for row in wallets} == {shop.partner.provider_wallet_id}
    await books_balance(shop)
    await wallets_agree(shop)
