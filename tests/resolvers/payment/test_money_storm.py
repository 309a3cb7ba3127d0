"""Whatever happens to payments and refunds, in whatever order, and wherever it breaks off: the books prove themselves."""

import asyncio
import datetime as dt
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from resolvers.core.operation import Operation
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.payment import refund_notifications
from resolvers.payment.creation import cancel_payment
from resolvers.payment.page import process
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import AppError
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UseNetworkGiftCard
from schema.payment.input import CancelPayment, RefundPayment
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.network.issuing import network_gift_cards
from store.providers.errors import ProviderError
from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount
from store.providers.transactions import CardRefundRequest, TransactionKind, TransactionStatus
from tests.fixtures.payment.api_payment import (
    RETURN_TO_PAGE,
    books_balance,
    created,
    fee_rule,
    reread,
    wallet_uuid,
    wallets_agree,
)
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part, usages
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import DECLINED_CARD, GOOD_CARD, Shop

EXPECTED = (AppError, ProviderError)
"""What callers may be told; anything else is a bug."""
DEEDS = ("create", "create_mixed", "press", "pay", "decline", "sync", "notify", "cancel", "end", "refund", "send")
OF_NETWORK = ("create_of_network", "use_of_network", "cancel_of_network")
OUTSIDE = ("refund_outside", "tell_refunds", "lose", "fail", "wait")
EVENTS = st.lists(
    st.tuples(st.sampled_from((*DEEDS, *OF_NETWORK, *OUTSIDE)), st.integers(0, 5), st.integers(0, 40)),
    min_size=4,
    max_size=14,
)
"""What is done, to which payment, and after how many steps of the event loop it breaks off (0: never)."""


class MoneyStorm:
    """A shop whose payments anything can happen to."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.payments: list[UUID] = []
        self.cards: list[GiftCardRow] = []

    async def create(self, number: int) -> None:
        amount = ("10.00", "33.33", "0.01", "99.99", "50.00", "7.77")[number]
        self.payments.append((await created(self.shop, amount)).id)

    async def create_mixed(self, number: int) -> None:
        card = await self.shop.gift_card("12.34")
        extra = ("12.34", "5.00", "0.01", "9.99", "1.10", "12.00")[number]
        wallet = await wallet_uuid(self.shop, card)
        amount = str(Decimal(extra) + number * 10)
        made = await created(self.shop, amount, extra_source_wallet_uuid=wallet, extra_source_amount=extra)
        self.payments.append(made.id)

    async def create_of_network(self, number: int) -> None:
        """With a fresh card of the network, or with one that pays elsewhere, too."""
        if number % 2 or not self.cards:
            self.cards.append(await card_of_network(self.shop, "20.00", is_splittable=number != 3))
        extra = ("20.00", "5.00", "0.01", "20.00", "3.33", "12.00")[number]
        wallet, amount = await wallet_uuid(self.shop, self.cards[-1]), str(Decimal(extra) + number * 10)
        made = await created(self.shop, amount, extra_source_wallet_uuid=wallet, extra_source_amount=extra)
        self.payments.append(made.id)

    async def use_of_network(self, number: int) -> None:
        if self.cards:
            sent = {"code": self.cards[-1].code, "value": f"{number + 1}.11", "partner_id": self.shop.partner.id}
            await self.operate(use_network_gift_card, UseNetworkGiftCard.model_validate(sent))

    async def cancel_of_network(self, number: int) -> None:
        """The network cancels a card, or one of its usages."""
        for usage in (await usages(self.shop))[:number]:
            with suppress(AppError):
                await self.operate(cancel_network_gift_card_usage, CancelNetworkGiftCardUsage(id=usage.id))
        if self.cards and not number:
            async with self.shop.services.db.sessions() as db, db.begin():
                await network_gift_cards.cancel(
                    db, await db.get_one(GiftCardRow, self.cards[-1].id, with_for_update=True)
                )

    async def press(self, number: int) -> None:
        if (id := self.chosen(number)) is not None:
            payment = await reread(self.shop, id)
            if payment.card_amount:
                await process.start_payin(self.shop.services, payment, RETURN_TO_PAGE)

    async def pay(self, number: int, card: str = GOOD_CARD) -> None:
        for payin in await self.payins(number):
            if payin.provider_id:
                said = {"card": card, "challenge": "confirm"}
                await self.shop.control("POST", f"/payins/{payin.provider_id}/pay", said)

    async def decline(self, number: int) -> None:
        await self.pay(number, DECLINED_CARD)

    async def sync(self, number: int) -> None:
        for payin in await self.payins(number):
            await asyncio.gather(*(process.CHECKS.poll(self.shop.services, payin.id) for _ in range(2)))

    async def notify(self, number: int) -> None:
        for payin in await self.payins(number):
            if payin.provider_id:
                await process.handle_payin_notification(self.shop.services, payin.provider_id)

    async def cancel(self, number: int) -> None:
        if (id := self.chosen(number)) is not None:
            await self.operate(cancel_payment, CancelPayment(id=id))

    async def end(self, number: int) -> None:
        if (id := self.chosen(number)) is not None:
            await process.ENDS.poll(self.shop.services, id)

    async def refund(self, number: int) -> None:
        if (id := self.chosen(number)) is not None:
            amount = (await reread(self.shop, id)).payment_amount * (number + 1) / 7
            cents = max(amount.quantize(Decimal("0.01")), Decimal("0.01"))
            await self.operate(refund_payment, RefundPayment(id=id, amount=cents))

    async def send(self, _number: int) -> None:
        await send_refunds(self.shop.services)

    async def refund_outside(self, number: int) -> None:
        """Somebody refunds a third of what is left, at the provider."""
        provider = self.shop.services.provider
        for row in await self.payins(number):
            if row.provider_id and row.status == "ok":
                payin = await provider.get_transaction(TransactionKind.PAYIN, row.provider_id)
                made = await provider.list_children(TransactionKind.PAYIN, row.provider_id)
                gone = sum(each.amount.minor for each in made if each.status is not TransactionStatus.FAILED)
                if part := (payin.amount.minor - payin.fee.minor - gone) // 3:
                    nothing, some = MinorAmount("EUR", 0), MinorAmount("EUR", max(part, 0))
                    request = CardRefundRequest("by hand", row.provider_id, payin.payer_id, some, nothing)
                    await provider.refund(request, key=new_idempotency_key(), sent_at=clock.now())

    async def tell_refunds(self, number: int) -> None:
        """The provider notifies of all refunds, twice."""
        for row in await self.payins(number):
            if row.provider_id:
                made = await self.shop.services.provider.list_children(TransactionKind.PAYIN, row.provider_id)
                for each in (*made, *reversed(made)):
                    await refund_notifications.handle_refund_notification(self.shop.services, each.id)

    async def lose(self, number: int) -> None:
        paths = ("/payins/card/web", "/payins/*", "*refunds", "/responses/*", "/payins/card/web", "*refunds")
        fault = {"path": paths[number], "kind": "drop", "when": ("before", "after")[number % 2], "times": 2}
        await self.shop.control("POST", "/faults", fault)

    async def fail(self, number: int) -> None:
        code = ("001001", "005407", "001001", "005405", "001401", "001001")[number]
        fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": code, "times": 1}
        await self.shop.control("POST", "/faults", fault)

    async def wait(self, number: int) -> None:
        clock.advance(dt.timedelta(minutes=(0, 1, 5, 40, 300, 1500)[number]))

    async def operate(self, operation: Operation[Any, Any], input: Any) -> None:
        await operation(self.shop.manager, input)

    def chosen(self, number: int) -> UUID | None:
        return self.payments[-1 - number % len(self.payments)] if self.payments else None

    async def payins(self, number: int) -> Any:
        query = "SELECT id, provider_id, status FROM payment_transaction WHERE payment_id = :id AND type = 'payin' AND payment_method = 'credit_card'"
        return await self.shop.services.db.rows(text(query), {"id": self.chosen(number)})

    async def happen(self, deed: str, number: int, steps: int) -> None:
        """Do it; with `steps`, the process dies after so many steps of the event loop."""
        task = asyncio.create_task(getattr(self, deed)(number))
        if steps:
            for _ in range(steps * 3):
                await asyncio.sleep(0)
            task.cancel()
        with suppress(asyncio.CancelledError, *EXPECTED):
            await task

    async def calm(self) -> None:
        """The provider works again, and the worker looks at everything until nothing can change any more."""
        await self.shop.control("DELETE", "/faults")
        for _ in range(3):
            clock.advance(dt.timedelta(days=2))
            open_payins = "SELECT id FROM payment_transaction WHERE type = 'payin' AND status = 'ip'"
            for row in await self.shop.services.db.rows(text(open_payins)):
                await process.CHECKS.poll(self.shop.services, row.id)
            for row in await self.shop.services.db.rows(text("SELECT id FROM payment WHERE status IN ('ip', 'err')")):
                await process.ENDS.poll(self.shop.services, row.id)
            for number in range(len(self.payments)):
                await self.tell_refunds(number)
            for _ in range(3):
                await send_refunds(self.shop.services)


@pytest.mark.parametrize("with_fee", [False, True])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS)
async def test_the_books_prove_themselves_whatever_happens(shop: Shop, with_fee: bool, events: Any) -> None:
    if with_fee and not await shop.count("fee_rule"):
        await fee_rule(shop, "10.00")
        await take_fees(shop, "7.50", "0.35")
    await take_part(shop)
    storm = MoneyStorm(shop)
    for deed, number, steps in events:
        await storm.happen(deed, number, steps)
        await books_balance(shop)
    await storm.calm()
    await books_balance(shop)
    await wallets_agree(shop)
    assert await shop.count("payment_transaction WHERE type = 'payin' AND status = 'ip'") == 0
