"""Orders of what is the partner's own and what is its network's: one payment, and each has its part of it."""

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import orjson
import pytest

from resolvers.checkout import steps
from resolvers.core.context import Context
from resolvers.payment.checkout import payment
from resolvers.payment.checkout.completion import sync_attempt
from schema.checkout.basket import BasketChoice
from schema.checkout.checkout import CheckoutKind, PaymentAttemptStatus, ShopKind
from schema.core.errors import CheckoutChanged
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.payment.errors import PaymentsNotActive
from schema.root import schema
from store.core.clock import clock
from store.invoice.fees import FeesOfPartner
from tests.fixtures.basket import (
    GIFTEE,
    Experiences,
    all_at_once,
    bought,
    card_of,
    columns,
    fill_basket,
    for_two,
    new_key,
    sale_coupon,
    settled,
    untouched,
)
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.payment.network_payment import card_of_network
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop

Goods = tuple[NetworkGoods, Experiences]


@pytest.fixture
async def goods(shop: Shop) -> Goods:
    """What is sold."""
    return await mixed_shop(shop)


async def is_proved(shop: Shop) -> None:
    """All rules of the ledger hold."""
    assert await broken_rules(shop.services.db) == {}


async def test_it_is_one_order_and_each_has_its_part(shop: Shop, goods: Goods) -> None:
    """194.00 and 50.00 are the partner's, less 10 % commission and VAT on it: 29.28; 60.00 and 120.00 the network's."""
    network, own = goods
    outcome = await bought(
        shop, for_two(own), network.cards("60.00", giftee=GIFTEE), card_of("50.00"), network.boxes(giftee=GIFTEE)
    )
    assert (outcome.status, outcome.kind) == (PaymentAttemptStatus.COMPLETED, ShopKind.MIXED)
    paid = await columns(
        shop,
        "payment",
        "payment_amount",
        "partner_share_amount",
        "commission_amount",
        "is_for_marketplace",
        "wallet_id",
    )
    assert paid == [(Decimal("424.00"), Decimal("244.00"), Decimal("29.28"), True, network.wallet.id)]
    lines = "num_nonnulls(voucher_id, gift_card_id)", "num_nonnulls(network_gift_card_id, network_voucher_id)"
    assert await columns(shop, "order_product", *lines) == [(1, 0), (0, 1), (1, 0), (0, 1)]
    assert await balances(shop) == {
        "wallet": 39472,
        "fees_wallet": 2928,
        "partner_network": 21472,
        "commission": 2440,
        "vat_on_commission": 488,
        "card": 6000 + 5000,
        "issued": 5000,
        "network_voucher": 12000,
    }
    assert await shop.one("SELECT network_amount FROM payable_item") == 21472
    await is_proved(shop)


async def test_gift_cards_pay_for_the_partners_own_only(shop: Shop, goods: Goods) -> None:
    """194.00 by an own card of 30.00, a network's of 100.00, and the bank card, which pays all of the network's 60.00."""
    network, own = goods
    mine, theirs = await shop.gift_card("30.00"), await card_of_network(shop, "100.00")
    await bought(shop, for_two(own), network.cards("60.00"), codes=(mine.code, theirs.code))
    paid = await columns(shop, "payment", "card_amount", "extra_amount", "partner_share_amount", "commission_amount")
    assert paid == [(Decimal("124.00"), Decimal("130.00"), Decimal("64.00"), Decimal("7.68"))]
    assert (await balances(shop))["partner_network"] == 10000 + 6400 - 768
    of_partner = await shop.one("SELECT id FROM wallet WHERE partner_id = :id AND kind = 'partner'", id=shop.partner.id)
    assert await columns(shop, "transfer", "credited_wallet_id") == [(of_partner,), (None,)]
    await is_proved(shop)


async def test_a_gift_card_larger_than_the_partners_part_leaves_the_networks(shop: Shop, goods: Goods) -> None:
    network, own = goods
    mine = await shop.gift_card("500.00")
    await bought(shop, for_two(own), network.boxes(), codes=(mine.code,))
    paid = await columns(shop, "payment", "card_amount", "extra_amount", "partner_share_amount", "commission_amount")
    assert paid == [(Decimal("120.00"), Decimal("194.00"), Decimal("0.00"), Decimal("0.00"))]
    found = await balances(shop)
    assert (found["wallet"], found["network_voucher"], found.get("partner_network")) == (12000, 12000, None)
    await is_proved(shop)


async def test_what_is_only_the_networks_is_all_the_networks_but_delivery(shop: Shop, goods: Goods) -> None:
    network, _ = goods
    key, _ = await fill_basket(
        shop, network.boxes(giftee=GIFTEE), reception=ReceptionMode.EXPEDITION, key=new_key(CheckoutKind.BASKET)
    )
    seen = await steps.open_checkout(shop.context, key)
    outcome = await settled(shop, key, await shop.start(key, seen))
    assert (outcome.status, outcome.kind) == (PaymentAttemptStatus.COMPLETED, ShopKind.MIXED)
    assert await columns(shop, "payment", "card_amount", "partner_share_amount") == [
        (Decimal("125.00"), Decimal("5.00"))
    ]
    await is_proved(shop)


async def test_a_partners_coupons_are_not_for_what_the_network_sells(shop: Shop, goods: Goods) -> None:
    network, own = goods
    everything = list(CouponTarget)
    coupon = await sale_coupon(shop, targets=everything)
    await bought(shop, for_two(own), network.boxes(), codes=(coupon.code,))
    assert await columns(shop, "order_product", "discount_amount") == [(Decimal("19.40"),), (Decimal("0.00"),)]
    assert await columns(shop, "payment", "partner_share_amount") == [(Decimal("174.60"),)]
    await is_proved(shop)


async def test_coupons_of_the_networks_own_shop_are_for_both(shop: Shop) -> None:
    """What one takes off its own, the network owes."""
    network, own = await mixed_shop(shop, is_own=True)
    coupon = await sale_coupon(shop, targets=list(CouponTarget))
    await bought(shop, for_two(own), network.boxes(), codes=(coupon.code,))
    assert await columns(shop, "payment", "payment_amount", "partner_share_amount") == [
        (Decimal("282.60"), Decimal("174.60"))
    ]
    assert (await balances(shop))["owed_by_marketplace"] == 1200
    await is_proved(shop)


async def test_without_a_wallet_of_the_marketplace_it_cannot_be_paid(shop: Shop, goods: Goods) -> None:
    """What is the partner's own can."""
    network, own = goods
    await shop.execute("DELETE FROM wallet_opening")
    await shop.execute("DELETE FROM wallet WHERE kind = 'marketplace'")
    key, seen = await fill_basket(shop, for_two(own), network.boxes())
    with pytest.raises(PaymentsNotActive):
        await shop.start(key, seen)
    await untouched(shop)
    assert (await bought(shop, for_two(own))).status is PaymentAttemptStatus.COMPLETED


async def test_a_partner_without_payments_of_its_own_sells_only_what_is_the_networks(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await shop.execute("UPDATE partner SET payments_active = false")
    key, seen = await fill_basket(shop, for_two(own), network.boxes())
    with pytest.raises(PaymentsNotActive):
        await shop.start(key, seen)
    await untouched(shop)
    outcome = await bought(shop, network.boxes(), key=new_key(CheckoutKind.BASKET))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    await is_proved(shop)


async def test_what_the_network_no_longer_sells_keeps_all_from_being_paid(shop: Shop, goods: Goods) -> None:
    network, own = goods
    key, seen = await fill_basket(shop, for_two(own), network.boxes())
    await shop.execute("UPDATE box SET is_active = false")
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    await untouched(shop)


@pytest.mark.parametrize("gone", ["UPDATE box SET is_active = false", "UPDATE voucher_prototype SET is_active = false"])
async def test_what_cannot_be_supplied_goes_back_to_both(shop: Shop, goods: Goods, gone: str) -> None:
    network, own = goods
    key, seen = await fill_basket(shop, for_two(own), network.boxes())
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.execute(gone)
    await shop.pay(started)
    for _ in range(2):
        await sync_attempt(shop.services, started.attempt_id)
    assert (await payment.payment_outcome(shop.context, key)).status is PaymentAttemptStatus.REFUNDED
    assert await balances(shop) == {
        "wallet": 31400 - 2328,
        "fees_wallet": 2328,
        "refund_due": 31400 - 2328,
        "commission_back": 2328,
    }
    assert [await shop.count(table) for table in ("shop_order", "voucher", "network_voucher")] == [0, 0, 0]
    await is_proved(shop)
    await send_refunds(shop.services)
    assert await balances(shop) == {}
    await is_proved(shop)


async def test_more_or_less_than_is_due_goes_back_to_both(shop: Shop, goods: Goods) -> None:
    """A pay-in of another amount pays for nothing."""
    network, own = goods
    key, seen = await fill_basket(shop, for_two(own), network.boxes())
    started = await shop.start(key, seen)
    await shop.pay(started)
    await shop.execute("UPDATE checkout_attempt SET card_amount = 313, total_amount = 313")
    await sync_attempt(shop.services, started.attempt_id)
    assert (await payment.payment_outcome(shop.context, key)).status is PaymentAttemptStatus.REFUNDED
    await send_refunds(shop.services)
    assert await balances(shop) == {}
    await is_proved(shop)


async def test_any_number_of_completions_make_one_order(shop: Shop, goods: Goods) -> None:
    network, own = goods
    key, seen = await fill_basket(shop, for_two(own), network.cards("60.00", 2), network.boxes())
    pressed = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({started.attempt_id for started in pressed}) == 1
    await shop.pay(pressed[0])
    results = await asyncio.gather(*await all_at_once(shop, key, pressed[0]), return_exceptions=True)
    assert [r for r in results if isinstance(r, BaseException)] == []
    counted = [await shop.count(table) for table in ("shop_order", "voucher", "gift_card", "network_voucher")]
    assert counted == [1, 1, 2, 1]
    await is_proved(shop)


async def test_many_buyers_at_once_wait_for_each_other_in_one_order(shop: Shop, goods: Goods) -> None:
    network, own = goods

    async def buy(position: int) -> None:
        chosen: list[BasketChoice] = [for_two(own), network.boxes(), network.cards("30.00")]
        await bought(shop, *(chosen if position % 2 else chosen[:1]))

    await asyncio.gather(*(buy(position) for position in range(8)))
    assert await shop.one("SELECT array_agg(number ORDER BY number) FROM shop_order") == list(range(1, 9))
    assert (await balances(shop))["partner_network"] == 4 * (19400 - 2328)
    await is_proved(shop)


FORGERIES = {
    "the share": "UPDATE payment SET partner_share_amount = 200",
    "the share of its pay-in": "UPDATE payment_transaction SET partner_share_amount = 200",
    "whose line it is": "UPDATE order_product SET discount_amount = 1 WHERE network_id IS NOT NULL",
}


@pytest.mark.parametrize("forged", FORGERIES)
async def test_a_share_that_is_forged_is_noticed(shop: Shop, goods: Goods, forged: str) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    await is_proved(shop)
    await shop.execute(FORGERIES[forged])
    assert "partner_shares" in await broken_rules(shop.services.db)


async def test_a_payment_that_was_only_the_networks_earns_the_partner_nothing(shop: Shop, goods: Goods) -> None:
    """A share that its rows do not tell of is noticed as such."""
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    await shop.execute("UPDATE payment_transaction SET partner_share_amount = 0")
    await shop.execute("UPDATE payment SET partner_share_amount = 0, product = 'network'")
    broken = await broken_rules(shop.services.db)
    assert {"partner_shares", "journals_are_of_their_owner"} <= broken.keys()


async def test_an_own_basket_is_paid_into_the_partners_wallet_as_ever(shop: Shop, goods: Goods) -> None:
    _, own = goods
    await bought(shop, for_two(own), card_of("50.00"))
    assert await columns(shop, "payment", "is_for_marketplace", "partner_share_amount") == [(False, Decimal("0.00"))]
    assert (await balances(shop))["partner"] == 21472
    await is_proved(shop)


# ---- who sees and hears of it


PAGE_URL = "query($id: Int!) { order(id: $id) { kind pageUrl products { networkGiftCard { code } voucher { code } } } }"
PAYMENT = "query { payments { edges { node { isForMarketplace partnerShare { amount currency } journal { kind } } } } }"


async def asked(context: Context, query: str, **variables: Any) -> Any:
    """The answer of the graph."""
    body = (await GraphQLServer(schema).execute(GraphQLRequest(query, variables=variables), context)).body
    found = orjson.loads(orjson.dumps(body))
    assert "errors" not in found, found
    return found["data"]


async def test_a_seller_sees_its_own_codes_only(shop: Shop, goods: Goods) -> None:
    """The page of the order has all codes: a seller gets no address of it."""
    network, own = goods
    outcome = await bought(shop, for_two(own), network.cards("60.00"))
    (voucher, card) = (await shop.order_page(outcome)).lines
    assert voucher.issued_item is not None
    assert card.issued_item is not None
    id = await shop.one("SELECT id FROM shop_order")
    seen = (await asked(shop.manager, PAGE_URL, id=id))["order"]
    assert (seen["kind"], seen["pageUrl"]) == ("MIXED", None)
    assert [line["networkGiftCard"] for line in seen["products"]] == [None, None]
    assert seen["products"][0]["voucher"]["code"] == voucher.issued_item.code
    seen = (await asked(market(shop), PAGE_URL, id=id))["order"]
    assert seen["pageUrl"]
    assert seen["products"][1]["networkGiftCard"]["code"] == card.issued_item.code


async def test_a_payment_tells_the_partners_share(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.cards("60.00"))
    (paid,) = (await asked(shop.manager, PAYMENT))["payments"]["edges"]
    paid = paid["node"]
    assert paid["isForMarketplace"] is True
    assert paid["partnerShare"] == {"amount": "194.00", "currency": "EUR"}
    assert [journal["kind"] for journal in paid["journal"]] == ["PAYMENT"]


async def test_each_is_sent_what_is_its_own(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await shop.execute("UPDATE marketplace SET email = 'network@example.com'")
    await bought(shop, for_two(own), network.cards("60.00"), network.boxes())
    sent = sorted((kind, to) for kind, to in await columns(shop, "mail", "kind", "recipient"))
    assert [kind for kind, _ in sent] == [
        "network_gift_card",
        "network_voucher",
        "new_order",
        "order_confirmation",
        "voucher",
    ]
    await bought(shop, for_two(own), network.boxes(giftee=GIFTEE, reception=ReceptionMode.EXPEDITION))
    newest = await columns(shop, "mail", "kind", "recipient")
    assert ("new_order", "network@example.com") in newest


async def test_the_fees_of_a_share_are_invoiced_to_the_partner(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    today = clock.now().date() + dt.timedelta(days=1)
    async with shop.services.db.sessions() as db:
        book = await shop.one("SELECT book_id FROM payment")
        fees = await FeesOfPartner(shop.partner.id, book, today).read(db)
    assert [(fee.amount, fee.vat, fee.source_kind) for fee in fees] == [(2328, 388, "payment")]
