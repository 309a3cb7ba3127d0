"""Places the orders of the demo data, as customers, staff and the payment provider would."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx
from sqlmodel import col, select

from coffret.demo.orders.content import DemoGift, DemoOrder, DemoOrderLine, DemoRefundRequest
from coffret.demo.payment_content import DemoCustomer
from resolvers.checkout import basket, steps
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.order.fulfilment import (
    mark_order_collected,
    mark_order_delivered,
    mark_order_ready,
    mark_order_sent,
)
from resolvers.order.withdrawal import request_refund
from resolvers.payment.checkout import payment
from schema.cart.cart import CartItem
from schema.checkout.basket import BasketChoice, GiftCardChoice, Giftee, VoucherChoice
from schema.checkout.checkout import AgreedTotals, Buyer, CheckoutKey, CheckoutKind, ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.order.fulfilment import FulfilmentState
from schema.order.input import MarkOrderCollected, MarkOrderDelivered, MarkOrderReady, MarkOrderSent
from schema.order.page import FIND_PATH
from schema.order.page_requests import BuyerWish
from schema.order.refund_request import RefundRequestKind
from store.catalogue.catalogue import VoucherPrototypeRow
from store.core.session_ids import new_session_id
from store.delivery import DeliveryModeRow
from store.order.links import order_path
from store.order.orders import OrderRow
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow
from store.product.products import ProductRow

DAY = dt.timedelta(days=1)
CARRIER, TRACKING_NUMBER = "Colissimo", "6A12345678901"
GOOD_PAYMENT = {"card": "4970107111111119", "challenge": "confirm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSeeder:
    """Places the orders of one partner."""

    services: Services
    control: httpx.AsyncClient
    """The control plane of the sandbox."""
    partner: PartnerRow
    customers: Mapping[str, DemoCustomer]
    customer: Context
    staff: Context

    async def add(self, story: DemoOrder) -> None:
        """Place one order, record what staff has done, and ask for its refund."""
        clock = self.services.clock
        with clock.set_back(DAY * story.days_ago):
            order = await self._order(story)
        for number, state in enumerate(story.states, 1):
            with clock.set_back(DAY * max(story.days_ago - number, 0)):
                await self._record(order.id, state)
        if story.request is not None:
            with clock.set_back(DAY * story.request.days_ago):
                await self._withdraw(order, story, story.request)

    async def _order(self, story: DemoOrder) -> OrderRow:
        key = await (self._cart(story) if story.reception is None else self._basket(story))
        who = self.customers[story.customer]
        seen = await steps.identify_buyer(self.customer, key, self._buyer(story))
        agreed, back = AgreedTotals.of(seen.totals, seen.brand.order_documents), f"{self.services.public_url}/"
        started = await payment.start_payment(self.customer, key, agreed, who.language, back, story.method)
        async with self.services.db.sessions() as db:
            attempt = await db.get_one(AttemptRow, started.attempt_id)
        paid = await self.control.post(f"/payins/{attempt.payin_id}/pay", json=self._payment(story))
        paid.raise_for_status()
        await payment.settle_payment(self.customer, key.session_id, started.attempt_id)
        async with self.services.db.sessions() as db:
            return (await db.exec(select(OrderRow).where(col(OrderRow.attempt_id) == started.attempt_id))).one()

    @staticmethod
    def _payment(story: DemoOrder) -> dict[str, Any]:
        """What the buyer does at the provider: other methods than cards have a confirmation alone."""
        return GOOD_PAYMENT if story.method.value == "card" else {"challenge": "confirm"}

    def _buyer(self, story: DemoOrder) -> Buyer:
        who = self.customers[story.customer]
        buyer = Buyer(first_name=who.first_name, last_name=who.last_name, email=who.email)
        if (address := story.address) is None:
            return buyer
        return replace(
            buyer,
            address_line_1=address.line,
            postal_code=address.postal_code,
            city=address.city,
            country=address.country,
        )

    # ---- what is ordered

    async def _cart(self, story: DemoOrder) -> CheckoutKey:
        """A cart of goods, with its delivery."""
        products, modes = await self._products(), await self._modes()
        choices = [ProductChoice(products[line.name], line.quantity) for line in story.lines]
        items = [CartItem(choice.product_id, choice.quantity, None) for choice in choices]
        cart = (await self.services.carts.create(self.partner.id, items, "")).cart
        key = CheckoutKey(cart.id, new_session_id())
        country = story.address.country if story.address else "FR"
        assert story.delivery is not None, "checked by `load_orders`"
        await steps.choose_items(self.customer, key, choices, modes[story.delivery], country)
        return key

    async def _basket(self, story: DemoOrder) -> CheckoutKey:
        """A basket of experiences and gift cards, with its reception."""
        key, prototypes = (
            CheckoutKey(uuid.uuid4(), new_session_id(), CheckoutKind.BASKET),
            await self._prototypes(),
        )
        for line in story.lines:
            await basket.put_line(self.customer, key, uuid.uuid4(), self._choice(line, prototypes))
        assert story.reception is not None, "this is a basket"
        await basket.choose_reception(self.customer, key, story.reception, country="FR")
        return key

    def _choice(self, line: DemoOrderLine, prototypes: Mapping[str, int]) -> BasketChoice:
        gift: dict[str, Any] = {"self_gifted": True} if line.gift is None else self._gift(line.gift)
        if line.gift_card is not None:
            return GiftCardChoice(value=line.gift_card, **gift)
        return VoucherChoice(prototype_id=prototypes[line.name], adults=line.quantity, **gift)

    def _gift(self, person: DemoGift) -> dict[str, Any]:
        """The fields of `Gift`, as arguments of the choices that have them."""
        first_name, _, last_name = person.name.partition(" ")
        days = person.days_until_sent
        return {
            "giftee": Giftee(first_name=first_name, last_name=last_name, email=person.email),
            "message": person.message,
            "send_on": None if days is None else (self.services.clock.now() + DAY * days).date(),
        }

    async def _products(self) -> dict[str, int]:
        """The ids of the partner's goods by English name."""
        async with self.services.db.sessions() as db:
            rows = await db.exec(select(ProductRow).where(col(ProductRow.partner_id) == self.partner.id))
            return {row.name.in_language("en"): row.id for row in rows.all()}

    async def _prototypes(self) -> dict[str, int]:
        """The same of its experiences."""
        table = VoucherPrototypeRow
        async with self.services.db.sessions() as db:
            rows = await db.exec(select(table).where(col(table.partner_id) == self.partner.id))
            return {row.name.in_language("en"): row.id for row in rows.all()}

    async def _modes(self) -> dict[DeliveryKind, int]:
        """The ids of its ways to deliver goods, by kind."""
        async with self.services.db.sessions() as db:
            modes = select(DeliveryModeRow).where(col(DeliveryModeRow.partner_id) == self.partner.id)
            return {mode.kind: mode.id for mode in (await db.exec(modes)).all()}

    # ---- what follows

    async def _record(self, id: int, state: FulfilmentState) -> None:
        match state:
            case FulfilmentState.READY_TO_COLLECT:
                await mark_order_ready(self.staff, MarkOrderReady(id=id))
            case FulfilmentState.COLLECTED:
                await mark_order_collected(self.staff, MarkOrderCollected(id=id))
            case FulfilmentState.SENT:
                sent = MarkOrderSent(id=id, carrier=CARRIER, tracking_number=TRACKING_NUMBER)
                await mark_order_sent(self.staff, sent)
            case FulfilmentState.DELIVERED:
                await mark_order_delivered(self.staff, MarkOrderDelivered(id=id))
            case _:
                raise ValueError(f"Staff records no {state}.")

    async def _withdraw(self, order: OrderRow, story: DemoOrder, request: DemoRefundRequest) -> None:
        who = self.customers[story.customer]
        wish = BuyerWish(
            key=uuid.uuid4(),
            kind=RefundRequestKind.WITHDRAWAL,
            quantities=dict.fromkeys(range(len(story.lines)), 1),
            name=f"{who.first_name} {who.last_name}",
            email=who.email,
            reason=request.reason,
        )
        token = order_path(self.services.settings, order.uuid).removeprefix(FIND_PATH).rstrip("/")
        await request_refund(self.customer, token, wish)
