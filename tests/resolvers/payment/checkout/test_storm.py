"""Customers, provider, clock and shop do things at once, in any order: what was sold, spent and charged adds up all the same."""

import asyncio
import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.checkout import steps
from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.payment.checkout import payment, polling
from schema.cart.cart import CartItem
from schema.checkout.checkout import CheckoutKey, ProductChoice
from schema.core.errors import (
    CartNotFound,
    CheckoutChanged,
    InsufficientBalance,
    InvalidInput,
    NotFound,
    ProviderFailed,
    ProviderTimedOut,
)
from schema.delivery.delivery import DeliveryKind
from schema.network.errors import NotUsable
from schema.network.gift_card_input import UseNetworkGiftCard
from store.core.clock import clock
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import GiftCardRow
from store.product.products import ProductRow
from store.providers.errors import ProviderError
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.network_payment import card_of_network, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import BUYER, DECLINED_CARD, GOOD_CARD, Shop

STOCK = 6
USES = 3
EXPECTED = (
    CartNotFound,
    CheckoutChanged,
    InsufficientBalance,
    NotFound,
    NotUsable,
    ProviderError,
    ProviderFailed,
    ProviderTimedOut,
)
"""What customers may be told; anything else is a bug."""
FAULTS = ("/payins/card/web", "/payins/*", "*refunds", "/responses/*")


@dataclass
class Storm:
    """A shop, and customers who can do everything that customers can do."""

    shop: Shop
    chance: random.Random
    products: Sequence[ProductRow]
    coupon: CouponRow
    cards: Sequence[GiftCardRow]
    keys: list[CheckoutKey]

    def basket(self) -> list[ProductChoice]:
        """Something to buy."""
        wanted = self.chance.sample(self.products, self.chance.randint(1, 2))
        return [ProductChoice(product.id, self.chance.randint(1, 2)) for product in wanted]

    async def customer(self) -> None:
        """Somebody comes with a new cart, and perhaps with codes; now and then somebody else opens the same cart."""
        codes = [self.coupon.code, *(card.code for card in self.cards)]
        wanted = tuple(self.chance.sample(codes, self.chance.randint(0, 1)))
        try:
            key, _ = await self.shop.ready(*self.basket(), codes=wanted)
        except InvalidInput:  # the code has been used up
            return
        self.keys += [key, CheckoutKey(key.cart_id, "another browser")] if self.chance.random() < 0.2 else [key]

    async def press(self, key: CheckoutKey) -> None:
        """Pay what the page shows."""
        await self.shop.start(key, await steps.open_checkout(self.shop.context, key))

    async def give_up(self, key: CheckoutKey) -> None:
        """Cancel the payment that is open."""
        await payment.cancel_payment(self.shop.context, key)

    async def choose(self, key: CheckoutKey) -> None:
        """Want something else, or another delivery."""
        mode = self.chance.choice((DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.HOME_DELIVERY))
        await steps.choose_items(self.shop.context, key, self.basket(), self.shop.modes[mode], "FR")
        await steps.identify_buyer(self.shop.context, key, BUYER)

    async def replace(self, key: CheckoutKey) -> None:
        """The shop replaces the cart."""
        items = [CartItem(choice.product_id, choice.quantity) for choice in self.basket()]
        await self.shop.services.carts.replace(self.shop.partner.id, key.cart_id, items, "")

    async def pay(self, _key: CheckoutKey) -> None:
        """Somebody fills in a card at the provider."""
        if payin := (await self.some_attempt())[1]:
            card = self.chance.choice((GOOD_CARD, GOOD_CARD, GOOD_CARD, DECLINED_CARD))
            await self.shop.control("POST", f"/payins/{payin}/pay", {"card": card, "challenge": "confirm"})

    async def come_back(self, key: CheckoutKey) -> None:
        """A browser comes back from the provider."""
        await payment.settle_payment(self.shop.context, key.session_id, (await self.some_attempt())[0])

    async def notice(self, _key: CheckoutKey) -> None:
        """The provider notifies."""
        if payin := (await self.some_attempt())[1]:
            await polling.handle_notification(self.shop.services, payin)

    async def use(self, _key: CheckoutKey) -> None:
        """Someone uses the network's card at the till."""
        value, partner = self.chance.choice(("1.00", "4.20")), self.shop.partner.id
        used = UseNetworkGiftCard.model_validate({"code": self.cards[-1].code, "value": value, "partner_id": partner})
        await use_network_gift_card(self.shop.manager, used)

    async def fault(self, _key: CheckoutKey) -> None:
        """The provider fails for a while."""
        kind, path = self.chance.choice(("drop", "status", "html")), self.chance.choice(FAULTS)
        said = {"path": path, "kind": kind, "when": self.chance.choice(("before", "after")), "times": 3}
        await self.shop.control("POST", "/faults", said)

    async def later(self, _key: CheckoutKey) -> None:
        """Time passes, and the worker sweeps."""
        clock.advance(dt.timedelta(minutes=self.chance.choice((0, 0, 1, 20))))
        await polling.CHECKS.sweep(self.shop.services)

    async def some_attempt(self) -> Any:
        """The id and pay-in of some attempt."""
        attempts = await self.shop.services.db.rows(text("SELECT id, payin_id FROM checkout_attempt"))
        return self.chance.choice(attempts) if attempts else (self.keys[0].cart_id, "")

    async def gust(self) -> None:
        """Ten things at once."""
        deeds = [self.press] * 4 + [self.pay] * 3 + [self.choose, self.give_up, self.come_back, self.notice, self.use]
        chosen = self.chance.choices([*deeds, self.fault, self.later, self.replace], k=10)
        keys = self.chance.choices(self.keys[-5:], k=10)
        outcomes = await asyncio.gather(
            *(deed(key) for deed, key in zip(chosen, keys, strict=True)), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, EXPECTED):
                raise outcome

    async def calm(self) -> None:
        """The provider works again, the worker looks at everything until nothing can change any more."""
        await self.shop.control("DELETE", "/faults")
        for _ in range(5):
            for attempt_id, payin in await self.shop.services.db.rows(
                text("SELECT id, payin_id FROM checkout_attempt")
            ):
                await polling.CHECKS.poll(self.shop.services, attempt_id)
                if payin:
                    await polling.handle_notification(self.shop.services, payin)
            await send_refunds(self.shop.services)
            clock.advance(dt.timedelta(minutes=30))


@pytest.mark.parametrize("seed", range(3))
async def test_everything_adds_up_in_the_end(shop: Shop, seed: int) -> None:
    await take_part(shop)
    storm = Storm(
        shop,
        random.Random(seed),
        [await shop.product(price, stock=STOCK) for price in ("10.00", "7.30", "3.33")],
        await shop.coupon(max_usages=USES),
        [await shop.gift_card("15.00"), await shop.gift_card("5.00"), await card_of_network(shop, "25.00")],
        [],
    )
    for _ in range(12):
        await storm.customer()
        if storm.keys:
            await storm.gust()
    await storm.calm()
    one, count = shop.one, shop.count
    states = {row[0] for row in await shop.services.db.rows(text("SELECT state FROM checkout_attempt"))}
    assert states <= {"completed", "failed", "refunded"}
    orders = await count("shop_order")
    assert orders == await one("SELECT count(*) FROM checkout_attempt WHERE state = 'completed'")
    assert (
        orders
        == await one("SELECT coalesce(max(number), 0) FROM shop_order")
        == await one("SELECT last_order_number FROM partner")
    )
    for product in storm.products:
        sold = await one("SELECT coalesce(sum(quantity), 0) FROM order_product WHERE product_id = :id", id=product.id)
        assert await one("SELECT stock FROM product WHERE id = :id", id=product.id) == STOCK - sold
    assert await one("SELECT usage_count FROM coupon") == await count("order_discount") <= USES
    for card in storm.cards:
        paid = """SELECT coalesce((SELECT sum(source_amount) FROM payment_source WHERE gift_card_id = :id), 0) + coalesce(
            (SELECT sum(value_amount) FROM network_gift_card_usage WHERE gift_card_id = :id AND payment_id IS NULL), 0)"""
        left = card.value_amount - Decimal(await one(paid, id=card.id))
        assert await one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id) == left
        assert await one("SELECT sum(amount) FROM gift_card_movement WHERE gift_card_id = :id", id=card.id) == left
    await charged_once(shop)
    assert await broken_rules(shop.services.db) == {}


async def charged_once(shop: Shop) -> None:
    """Each charge is an order's or was given back, and no cart was ordered twice by one customer."""
    for payin, charges in (await shop.control("GET", "/stats")).json()["charges"].items():
        state = await shop.one("SELECT state FROM checkout_attempt WHERE payin_id = :payin", payin=payin)
        assert (charges, state) in {(1, "completed"), (1, "refunded"), (0, "failed")}
    repeated = (
        "SELECT 1 FROM checkout_attempt WHERE state = 'completed' GROUP BY cart_id, session_digest, cart_last_modified"
    )
    assert not await shop.services.db.rows(text(f"{repeated} HAVING count(*) > 1"))
    assert (await shop.control("GET", "/ledger/check")).json()["balanced"] is True
