"""Network gift cards in the checkout: accepted, held, captured as usages, released, refunded; every cent in the books."""

import asyncio
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest

from resolvers.checkout import basket, steps
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.payment.checkout import payment, polling
from schema.cart.cart import CartItem
from schema.checkout.checkout import AgreedTotals, PaymentAttemptStatus, ProductChoice, StartedPayment
from schema.checkout.codes import CodeKind, CodeProblem
from schema.core.errors import CheckoutChanged, InsufficientBalance
from schema.delivery.delivery import DeliveryKind
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import NotUsable, UsageOfPayment
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UseNetworkGiftCard
from store.core.clock import clock
from store.core.codes import format_code
from store.gift_card.gift_cards import GiftCardRow
from store.network.issuing import network_gift_cards
from tests.fixtures.basket import card_of, new_key
from tests.fixtures.payment.api_payment import balances, books_balance, fee_rule, wallets_agree
from tests.fixtures.payment.network_payment import card_of_network, shown, take_fees, take_part, usages
from tests.fixtures.shop import DECLINED_CARD, Shop, open_shop
from tests.resolvers.checkout.fixtures import catch_refusal

COMPLETED = PaymentAttemptStatus.COMPLETED
TRANSFERS = "SELECT string_agg(concat(type, ' ', transfer_amount, ' ', debited_wallet_id, '>', credited_wallet_id), ',' ORDER BY id) FROM transfer"


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)


async def bought(
    shop: Shop, price: str, *cards: GiftCardRow, codes: tuple[str, ...] = (), by: str | None = None
) -> Any:
    """An order of something at a price, paid with these codes, and by bank card if something is left."""
    product = await shop.product(price)
    key, seen = await shop.ready(ProductChoice(product.id, 1), codes=(*codes, *(card.code for card in cards)))
    started = await shop.start(key, seen)
    if seen.totals.by_card:
        await shop.pay(started, **({"card": by} if by else {}))
    return await payment.settle_payment(shop.context, key.session_id, started.attempt_id)


async def cancel_card(shop: Shop, card: GiftCardRow) -> None:
    """The network cancels one of its cards."""
    async with shop.services.db.sessions() as db, db.begin():
        locked = await db.get_one(GiftCardRow, card.id, with_for_update=True)
        assert await network_gift_cards.cancel(db, locked)


async def test_it_pays_a_whole_order_as_a_usage(shop: Shop) -> None:
    await take_fees(shop)
    card = await card_of_network(shop)
    outcome = await bought(shop, "30.00", card)
    assert outcome.status is COMPLETED
    assert [(code.code, code.kind, code.amount) for code in (await shop.order_page(outcome)).codes] == [
        (format_code(card.code), CodeKind.GIFT_CARD, Decimal("30.00"))
    ]
    (usage,) = await usages(shop, card)
    assert (usage.payment_id, usage.partner_id, usage.is_active) == (outcome.attempt_id, shop.partner.id, True)
    assert (str(usage.value_amount), str(usage.net_amount), str(usage.commission_amount)) == ("30.00", "25.20", "3.60")
    assert await shown(shop, card) == ("using", "70.00")
    assert await balances(shop) == {
        "owed_by_marketplace": 10000,
        "card": 7000,
        "partner_network": 2520,
        "commission": 300,
        "management_fees": 100,
        "vat_on_commission": 80,
    }
    assert await shop.one("SELECT commission_amount FROM payment") == 0
    assert await shop.one(TRANSFERS) == f"payment 30.00 {card.wallet_id}>"
    kinds = "SELECT string_agg(kind, ' ' ORDER BY id) FROM gift_card_movement WHERE gift_card_id = :id"
    assert await shop.one(kinds, id=card.id) == "issue hold release capture"
    told = "SELECT data -> 'usage' ->> 'payment_id' FROM event WHERE type = 'network_gift_card.used'"
    assert await shop.one(told) == str(outcome.attempt_id)
    assert await shop.one("SELECT count(*) FROM mail WHERE kind LIKE 'network%'") == 0
    await books_balance(shop)


async def test_coupons_then_own_cards_then_those_of_the_network_then_the_bank_card(shop: Shop) -> None:
    """In whichever order they are typed; and no fee is taken twice."""
    await take_fees(shop, fixed="0.00")
    await fee_rule(shop, "5.00")
    network, own, coupon = await card_of_network(shop, "20.00"), await shop.gift_card("10.00"), await shop.coupon()
    outcome = await bought(shop, "100.00", network, own, codes=(coupon.code,))
    assert [(code.code, code.amount) for code in (await shop.order_page(outcome)).codes] == [
        (coupon.code, Decimal("10.00")),
        (format_code(network.code), Decimal("20.00")),
        (format_code(own.code), Decimal("10.00")),
    ]
    totals = (await shop.order_page(outcome)).totals
    assert (totals.gift_cards, totals.by_card) == (Decimal("30.00"), Decimal("60.00"))
    (usage,) = await usages(shop, network)
    assert (str(usage.commission_amount), str(usage.net_amount)) == ("2.40", "17.60")
    assert await shop.one("SELECT commission_amount FROM payment") == Decimal("3.60")
    assert (await balances(shop))["partner"] == 5640
    await books_balance(shop)
    await wallets_agree(shop)
    less = await bought(shop, "5.00", await card_of_network(shop, "20.00"), await shop.gift_card("4.00"))
    assert [code.amount for code in (await shop.order_page(less)).codes] == [Decimal("1.00"), Decimal("4.00")]
    await books_balance(shop)


async def test_what_cannot_be_used_gets_the_answer_of_unknown_codes(shop: Shop) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    await take_part(other)
    cards = [
        await card_of_network(shop, status=GiftCardStatus.DRAFT),
        await card_of_network(shop, status=GiftCardStatus.CANCELLED),
        await card_of_network(shop, expires_on=now - day),
        await card_of_network(shop, is_active=False),
        await card_of_network(shop, starts_on=now + day),
        await card_of_network(shop, frozen_on=now),
        await card_of_network(shop, is_test=True),
        await card_of_network(other),
    ]
    _, key, before = await shop.open_checkout(CartItem((await shop.product()).id, 1))
    messages = set()
    for code in ("UNKNOWN", *(card.code for card in cards)):
        error = await catch_refusal("CODE_NOT_USABLE", steps.apply_code(shop.context, key, code))
        messages |= {(problem.path, problem.message) for problem in error.problems}
    good = await card_of_network(shop)
    for wrong in ("linked_to_ngc_settings = false", "linked_to_ngc_settings = true, status = 't'"):
        await shop.execute(f"UPDATE partner SET {wrong} WHERE id = :id", id=shop.partner.id)  # noqa: S608 - a test's words
        error = await catch_refusal("CODE_NOT_USABLE", steps.apply_code(shop.context, key, good.code))
        messages |= {(problem.path, problem.message) for problem in error.problems}
    await shop.execute("UPDATE partner SET status = 'a' WHERE id = :id", id=shop.partner.id)
    await shop.execute("UPDATE marketplace SET currency = 'CHF' WHERE id = :id", id=shop.partner.marketplace_id)
    await catch_refusal("CODE_NOT_USABLE", steps.apply_code(shop.context, key, good.code))
    await shop.execute("UPDATE marketplace SET currency = 'EUR' WHERE id = :id", id=shop.partner.marketplace_id)
    assert len(messages) == 1
    assert await steps.open_checkout(shop.context, key) == before
    assert (await steps.apply_code(shop.context, key, good.code)).totals.by_card == 0


async def test_a_test_card_pays_in_a_test_checkout(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET status = 't'")
    card = await card_of_network(shop, is_test=True)
    assert (await bought(shop, "30.00", card)).status is COMPLETED
    assert await shown(shop, card) == ("test", "70.00")
    assert (
        await shop.one("SELECT bool_or(is_live) FROM ledger_journal j JOIN ledger_book b ON b.id = j.book_id") is False
    )
    await books_balance(shop)


async def test_a_test_card_that_was_held_pays_no_live_order(shop: Shop) -> None:
    """The partner becomes live while the customer types the number of a bank card: no order, and all goes back."""
    await shop.execute("UPDATE partner SET status = 't'")
    card = await card_of_network(shop, "20.00", is_test=True)
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    await shop.execute("UPDATE partner SET status = 'a'")
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.REFUNDED
    assert (await shown(shop, card), await shop.count("shop_order"), await usages(shop)) == (("test", "20.00"), 0, [])
    await books_balance(shop)


async def test_it_pays_for_no_gift_card(shop: Shop) -> None:
    card, key = await card_of_network(shop), new_key()
    await basket.put_line(shop.context, key, uuid.uuid4(), card_of("50.00"))
    (code,) = (await steps.apply_code(shop.context, key, card.code)).codes
    assert (code.amount, code.applies, code.problem) == (Decimal(0), False, CodeProblem.PAYS_NO_GIFT_CARDS)


async def test_a_card_that_cannot_be_split_pays_all_of_it_or_nothing(shop: Shop) -> None:
    card, cheap, dear = (
        await card_of_network(shop, "40.00", is_splittable=False),
        await shop.product("30.00"),
        await shop.product("45.00"),
    )
    key, seen = await shop.ready(ProductChoice(cheap.id, 1), codes=(card.code,))
    (code,) = seen.codes
    assert (code.amount, code.applies, code.problem) == (Decimal(0), False, CodeProblem.USED_WHOLE)
    assert seen.totals.by_card == 30
    mode = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    seen = await steps.choose_items(shop.context, key, [ProductChoice(dear.id, 1)], mode, "FR")
    assert [(each.amount, each.applies) for each in seen.codes] == [(Decimal("40.00"), True)]
    assert (await bought(shop, "45.00", card)).status is COMPLETED
    assert await shown(shop, card) == ("used", "0.00")
    await books_balance(shop)


async def test_what_is_held_is_released_when_nothing_is_paid(shop: Shop) -> None:
    card = await card_of_network(shop)
    product = await shop.product("130.00")
    key, seen = await shop.ready(ProductChoice(product.id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    assert (await shown(shop, card), (await balances(shop))["card_held"]) == (("paid", "0.00"), 10000)
    await shop.pay(started, DECLINED_CARD)
    await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert await shown(shop, card) == ("paid", "100.00")
    await books_balance(shop)
    again = await shop.start(key, await steps.open_checkout(shop.context, key))
    assert (await balances(shop))["card_held"] == 10000
    clock.advance(dt.timedelta(hours=1))
    await polling.CHECKS.poll(shop.services, again.attempt_id)
    assert (await shown(shop, card), len(await usages(shop))) == (("paid", "100.00"), 0)
    await books_balance(shop)


async def test_its_own_hold_can_be_used_again(shop: Shop) -> None:
    """The customer goes back and pays again: what the first try holds counts."""
    card = await card_of_network(shop, "20.00", is_splittable=False)
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))
    await shop.start(key, seen)
    other = await shop.product("35.00")
    mode = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    seen = await steps.choose_items(shop.context, key, [ProductChoice(other.id, 1)], mode, "FR")
    assert [code.amount for code in seen.codes] == [Decimal("20.00")]
    again = await shop.start(key, seen)
    await shop.pay(again)
    assert (await payment.settle_payment(shop.context, key.session_id, again.attempt_id)).status is COMPLETED
    assert await shown(shop, card) == ("used", "0.00")
    await books_balance(shop)


@pytest.mark.parametrize("what", ["expired", "deactivated", "unlinked"])
async def test_what_was_held_in_time_still_pays(shop: Shop, what: str) -> None:
    card = await card_of_network(shop, "20.00")
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    await shop.execute(
        {
            "expired": "UPDATE gift_card SET status = 'exprd', expires_on = now()",
            "deactivated": "UPDATE gift_card SET is_active = false",
            "unlinked": "UPDATE partner SET linked_to_ngc_settings = false",
        }[what]
    )
    await shop.pay(started)
    assert (await payment.settle_payment(shop.context, key.session_id, started.attempt_id)).status is COMPLETED
    assert await shown(shop, card) == ("used", "0.00")
    await books_balance(shop)


async def test_a_card_that_was_cancelled_meanwhile_pays_nothing(shop: Shop) -> None:
    """The bank card is refunded in full, and the network owes nothing for the cancelled card."""
    card = await card_of_network(shop, "50.00")
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 2), codes=(card.code,))
    started = await shop.start(key, seen)
    await cancel_card(shop, card)
    assert (await balances(shop))["card_held"] == 5000
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.REFUNDED
    assert (await shop.count("shop_order"), len(await usages(shop))) == (0, 0)
    assert {"card", "card_held", "owed_by_marketplace", "partner_network"}.isdisjoint(await balances(shop))
    await books_balance(shop)


async def test_what_changes_before_paying_is_found(shop: Shop) -> None:
    card = await card_of_network(shop, "20.00")
    key, seen = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1), codes=(card.code,))
    await shop.execute("UPDATE gift_card SET is_active = false")
    with pytest.raises(CheckoutChanged):
        await payment.start_payment(shop.context, key, AgreedTotals.of(seen.totals), "en", "http://x/")
    assert (await shop.count("checkout_attempt"), await shop.count("payment")) == (0, 0)
    await books_balance(shop)


async def test_a_usage_of_an_order_is_not_cancelled_but_refunded(shop: Shop) -> None:
    card = await card_of_network(shop)
    await bought(shop, "30.00", card)
    (usage,) = await usages(shop)
    with pytest.raises(UsageOfPayment):
        await cancel_network_gift_card_usage(shop.manager, CancelNetworkGiftCardUsage(id=usage.id))
    assert await usages(shop) == [usage]
    assert await shown(shop, card) == ("using", "70.00")
    await books_balance(shop)


async def test_a_hot_card_is_never_spent_twice(shop: Shop) -> None:
    """Checkouts that it pays wholly and in part, and usages over the API, all at once."""
    await take_fees(shop)
    card = await card_of_network(shop)
    cheap, dear = await shop.product("7.00"), await shop.product("107.00")
    of_code = {"code": card.code, "value": "7.00", "partner_id": shop.partner.id}
    used = UseNetworkGiftCard.model_validate(of_code)
    ready = [await shop.ready(ProductChoice(cheap.id, 1), codes=(card.code,)) for _ in range(20)]
    large = [await shop.ready(ProductChoice(dear.id, 1), codes=(card.code,)) for _ in range(2)]
    outcomes = await asyncio.gather(
        *(shop.start(key, seen) for key, seen in [*ready, *large]),
        *(use_network_gift_card(shop.manager, used) for _ in range(20)),
        return_exceptions=True,
    )
    refused = {type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)}
    assert refused <= {CheckoutChanged, InsufficientBalance, NotUsable}
    taken = sum((usage.value_amount for usage in await usages(shop)), Decimal(0))
    held = Decimal((await balances(shop)).get("card_held", 0)) / 100
    assert await shown(shop, card) == ("using" if taken else "paid", str(Decimal("100.00") - taken - held))
    assert taken + held > 90
    await books_balance(shop)
    for started in [each for each in outcomes if isinstance(each, StartedPayment) and each.redirect_url]:
        await shop.pay(started)
        await asyncio.gather(*(polling.CHECKS.poll(shop.services, started.attempt_id) for _ in range(3)))
    await books_balance(shop)
    await wallets_agree(shop)
