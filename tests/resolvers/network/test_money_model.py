"""Whatever happens to the gift cards and vouchers of a network, in whatever order: every balance is what a model says."""

import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from resolvers.core.context import Context
from resolvers.core.operation import Operation
from resolvers.network import gift_card_issuing as cards
from resolvers.network import gift_card_usages, voucher_usages
from resolvers.network import voucher_issuing as vouchers
from resolvers.payment.creation import cancel_payment
from resolvers.payment.page.process import sync_payin
from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import AppError
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.box import OfferStatus
from schema.network.gift_card_input import CancelNetworkGiftCardUsage, UseNetworkGiftCard
from schema.network.voucher_input import CancelNetworkVoucherUsage, IssueNetworkVoucher, UseNetworkVoucher
from schema.partner.partner import PartnerStatus
from schema.payment.input import CancelPayment, RefundOrder, RefundOrderLine, RefundPayment
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import BoxRow, OfferRow
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.partner.partners import PartnerRow
from store.payment.payments import PaymentRow
from tests.fixtures.basket import bought
from tests.fixtures.network_sale import NetworkGoods, network_goods, new_box
from tests.fixtures.payment.api_payment import begun, books_balance, created, paid_at_provider
from tests.fixtures.payment.network_payment import card_of_network, take_part
from tests.fixtures.payment.refill import market, refilled
from tests.fixtures.shop import Shop
from tests.resolvers.network.money_model import Item, Model, Terms, Used

STEPS = 150
DEEDS = {
    "set_terms": 3,
    "issue_card": 5,
    "issue_voucher": 4,
    "sell": 4,
    "refund_sale": 4,
    "activate": 4,
    "use": 14,
    "cancel_usage": 6,
    "start_payment": 6,
    "end_payment": 6,
    "refund": 5,
    "extend": 4,
    "expire": 3,
    "cancel": 2,
    "refill": 1,
}
"""What happens, and how often."""
OF_ITEMS = """
    SELECT 'card', id, status, (remaining_amount * 100)::int, (unowed_amount * 100)::int FROM gift_card
    WHERE network_id IS NOT NULL
    UNION ALL SELECT 'voucher', id, status, ((price_amount - used_amount) * 100)::int, (unowed_amount * 100)::int
    FROM network_voucher
"""
OF_ACCOUNTS = """
    SELECT a.role, CASE WHEN role = 'partner_network' THEN a.owner_id END, sum(e.amount * a.side)::int
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
    WHERE a.role IN ('card', 'card_held', 'network_voucher', 'partner_network', 'owed_by_marketplace', 'owed_by_partner',
        'marketplace_funds', 'funds_shortfall', 'commission', 'management_fees', 'vat_on_commission', 'breakage', 'promotion')
    GROUP BY 1, 2 HAVING sum(e.amount) <> 0
"""


def money(cents: int) -> str:
    return str(Decimal(cents) / 100)


class Network:
    """A network to which anything can happen, and the model beside it."""

    def __init__(self, goods: NetworkGoods, partners: Sequence[int], boxes: Sequence[BoxRow], seed: int) -> None:
        self.shop, self.goods, self.partners, self.boxes = goods.shop, goods, partners, boxes
        self.model, self.chance = Model(), random.Random(seed)
        self.rows: dict[int, GiftCardRow] = {}
        self.open: list[tuple[PaymentRow, Item, int]] = []
        """Payments that hold a part of a card."""
        self.paid: list[tuple[UUID, Used]] = []
        self.sold: list[tuple[int, Item]] = []
        """Lines of orders, with what each has sold."""

    async def set_terms(self) -> None:
        of_voucher, draw = self.chance.random() < 0.4, self.chance
        fixed = draw.choice((0, 1, 35, 100))
        terms = Terms(draw.choice((0, 333, 1000, 9960)), fixed, draw.choice((0, 770, 2000)))
        terms.payer, terms.books_breakage = draw.choice(("partner", "marketplace")), draw.random() < 0.5
        self.model.terms[of_voucher] = terms
        product = "voucher" if of_voucher else "gift_card"
        columns = "commission_rate", "management_fee_amount", "vat_rate", "fees_paid_by", "books_breakage"
        assigned = ", ".join(f"network_{product}_{name} = :{name}" for name in columns)
        values = Decimal(terms.rate) / 100, Decimal(terms.fixed) / 100, Decimal(terms.vat) / 100
        written = dict(zip(columns, (*values, terms.payer, terms.books_breakage), strict=True))
        await self.shop.execute(f"UPDATE marketplace SET {assigned}", **written)  # noqa: S608 - a test's words

    async def issue_card(self) -> None:
        value, status = self.chance.choice((1, 777, 5000, 10000)), self.chance.choice(("paid", "paid", "draft"))
        card = await card_of_network(self.shop, money(value), status=GiftCardStatus(status))
        self.rows[card.id] = card
        self.model.issue(Item(card.id, card.code, value, status))

    async def issue_voucher(self) -> None:
        box, status = self.chance.choice(self.boxes), self.chance.choice(("paid", "paid", "draft"))
        sent = IssueNetworkVoucher.model_validate({"box_id": box.id, "status": status})
        voucher = await vouchers.issue_network_voucher(market(self.shop), sent)
        value = int(box.price_amount * 100)
        self.model.issue(Item(voucher.id, voucher.code, value, status, box.max_usages))

    async def sell(self) -> None:
        """In the network's shop, paid by bank card."""
        of_voucher, value = self.chance.random() < 0.5, self.chance.choice((1000, 5000))
        await bought(self.shop, self.goods.boxes(1) if of_voucher else self.goods.cards(money(value), 1))
        line = "SELECT id, network_gift_card_id, network_voucher_id FROM order_product ORDER BY id DESC LIMIT 1"
        ((line_id, card_id, voucher_id),) = await self.shop.services.db.rows(text(line))
        if of_voucher:
            code = await self.shop.one("SELECT code FROM network_voucher WHERE id = :id", id=voucher_id)
            item = Item(voucher_id, code, 12000, "paid", self.goods.box.max_usages)
        else:
            async with self.shop.services.db.sessions() as db:
                self.rows[card_id] = card = await db.get_one(GiftCardRow, card_id)
            item = Item(card_id, card.code, value, "paid")
        self.model.sell(item)
        self.sold.append((line_id, item))

    async def refund_sale(self) -> None:
        """What was used is included."""
        if self.sold:
            line_id, item = self.chance.choice(self.sold)
            order = await self.shop.one("SELECT order_id FROM order_product WHERE id = :id", id=line_id)
            wish = RefundOrder(id=order, lines=[RefundOrderLine(id=line_id)], include_used=True)
            await self.run(self.model.refund_sale(item), refund_order, market(self.shop), wish)

    async def activate(self) -> None:
        if item := self.item():
            operation = vouchers.activate_network_voucher if item.is_voucher else cards.activate_network_gift_card
            await self.ask(self.model.activate(item), operation, id=item.id)

    async def cancel(self) -> None:
        if item := self.item():
            operation = vouchers.cancel_network_voucher if item.is_voucher else cards.cancel_network_gift_card
            await self.ask(self.model.cancel(item), operation, id=item.id)

    async def extend(self) -> None:
        if item := self.item():
            operation = vouchers.extend_network_voucher if item.is_voucher else cards.extend_network_gift_card
            until = clock.now() + dt.timedelta(days=800)
            await self.ask(self.model.extend(item), operation, id=item.id, expires_on=until.isoformat())

    async def expire(self) -> None:
        if item := self.item():
            item.is_over = True
            table = "network_voucher" if item.is_voucher else "gift_card"
            statement = f"UPDATE {table} SET expires_on = :now WHERE id = :id"  # noqa: S608 - of a name above
            await self.shop.execute(statement, now=clock.now(), id=item.id)
            async with self.shop.services.db.sessions() as db, db.begin():
                done = [await kind.expire(db, clock.now(), 100) for kind in (network_gift_cards, network_vouchers)]
            assert sum(done) == self.model.expire()

    async def use(self) -> None:
        item, partner = self.item(), self.chance.choice(self.partners)
        if item is None:
            return
        value = item.next_value if item.is_voucher else self.part(item.left)
        sent: dict[str, Any] = {"code": item.code, "partner_id": partner}
        sent, operation = (
            (sent, voucher_usages.use_network_voucher)
            if item.is_voucher
            else ({**sent, "value": money(value)}, gift_card_usages.use_network_gift_card)
        )
        model = UseNetworkVoucher if item.is_voucher else UseNetworkGiftCard
        may = self.model.may_use(item, value)
        usage = await self.run(may, operation, market(self.shop), model.model_validate(sent))
        if may:
            self.model.use(item, usage.id, partner, value)

    async def cancel_usage(self) -> None:
        if self.model.used:
            used = self.chance.choice(self.model.used)
            of_voucher = used.item.is_voucher
            operation: Operation[Any, Any] = (
                voucher_usages.cancel_network_voucher_usage
                if of_voucher
                else gift_card_usages.cancel_network_gift_card_usage
            )
            sent = CancelNetworkVoucherUsage(id=used.id) if of_voucher else CancelNetworkGiftCardUsage(id=used.id)
            await self.run(self.model.cancel_usage(used), operation, market(self.shop), sent)

    async def start_payment(self) -> None:
        """With a card alone, which pays at once, or with a bank card too, for which it waits."""
        item = self.item(usable_card=True)
        if item is None or not item.left:
            return
        part, more = self.part(item.left, most=item.left), self.chance.choice((0, 500))
        wallet = await self.shop.one("SELECT uuid FROM wallet WHERE id = :id", id=self.rows[item.id].wallet_id)
        extra = {"extra_source_wallet_uuid": wallet, "extra_source_amount": money(part)}
        payment = await created(self.shop, money(part + more), **extra)
        self.model.hold(item, part)
        if more:
            self.open.append((payment, item, part))
        else:
            await self.captured(payment, item, part)

    async def end_payment(self) -> None:
        if not self.open:
            return
        payment, item, part = self.open.pop(self.chance.randrange(len(self.open)))
        if item.status == "cncld" or self.chance.random() < 0.5:
            await cancel_payment(self.shop.manager, CancelPayment(id=payment.id))
            self.model.release(item, part)
            return
        payin = await begun(self.shop, payment)
        await paid_at_provider(self.shop, payin)
        await sync_payin(self.shop.services, payin.id)
        await self.captured(payment, item, part)

    async def captured(self, payment: PaymentRow, item: Item, part: int) -> None:
        id = await self.shop.one("SELECT id FROM network_gift_card_usage WHERE payment_id = :id", id=payment.id)
        self.model.capture(item, part, id, self.shop.partner.id)
        self.paid.append((payment.id, self.model.used[-1]))

    async def refund(self) -> None:
        if self.paid:
            id, used = self.chance.choice(self.paid)
            amount = self.part(used.value - used.returned)
            split = {"extra_source_amount": money(amount), "additional_payin_amount": "0.00"}
            sent = RefundPayment.model_validate({"id": id, "amount": money(amount), "split": split})
            await self.run(self.model.give_back(used, amount), refund_payment, self.shop.manager, sent)

    async def refill(self) -> None:
        amount = self.chance.choice((1000, 12345, 100000))
        await refilled(self.shop, money(amount))
        self.model.refill(amount)

    # ----

    def item(self, *, usable_card: bool = False) -> Item | None:
        """Any of them; of gift cards, one that can be used."""
        among = [item for item in self.model.items if not usable_card or (item.can_be_used and not item.is_voucher)]
        return self.chance.choice(among) if among else None

    def part(self, left: int, most: int | None = None) -> int:
        """A part of what is left, all of it, or a little more unless there is a `most`."""
        drawn = self.chance.choice((1, max(1, left // 3), max(1, left), left + 1))
        return drawn if most is None else min(drawn, most)

    async def ask(self, may: bool, operation: Operation[Any, Any], **fields: Any) -> None:
        input = operation.function.__annotations__["input"]
        await self.run(may, operation, market(self.shop), input.model_validate(fields))

    async def run(self, may: bool, operation: Operation[Any, Any], context: Context, input: Any) -> Any:
        """Run it. What may not be is refused."""
        if may:
            return await operation(context, input)
        with pytest.raises(AppError):
            await operation(context, input)
        return None

    async def agrees(self) -> None:
        rows = await self.shop.services.db.rows(text(OF_ITEMS))
        found = {(kind, id): (status, left, unowed) for kind, id, status, left, unowed in rows}
        assert found == {
            ("voucher" if item.is_voucher else "card", item.id): (item.status, item.left, item.unowed)
            for item in self.model.items
        }
        accounts = await self.shop.services.db.rows(text(OF_ACCOUNTS))
        earned = {owner: amount for role, owner, amount in accounts if role == "partner_network"}
        assert earned == {partner: amount for partner, amount in self.model.earned.items() if amount}
        others = {role: amount for role, _, amount in accounts if role != "partner_network"}
        expected = self.model.balances()
        assert others == {role: amount for role, amount in expected.items() if role != "partner_network"}


async def open_network(shop: Shop, seed: int) -> Network:
    """Two partners take part. Both accept the vouchers of two boxes."""
    await take_part(shop)
    goods = await network_goods(shop)
    links: dict[str, Any] = {
        "linked_to_nv_settings": True,
        "linked_to_ngc_settings": True,
        "status": PartnerStatus.ACTIVE,
    }
    names: dict[str, Any] = dict.fromkeys(("commercial_name", "short_name", "site_domain"), "other.localhost")
    at = shop.partner.marketplace_id
    other = await shop.add(PartnerRow(marketplace_id=at, source_id="2", **names, **links))
    await shop.execute("UPDATE partner SET linked_to_nv_settings = true")
    boxes = [await new_box(shop, price_amount=Decimal("100.00"), max_usages=3), await new_box(shop, max_usages=1)]
    dates: dict[str, Any] = dict.fromkeys(("created_on", "edited_on", "submitted_on", "accepted_on"), clock.now())
    texts: dict[str, Any] = dict.fromkeys(("name", "description", "terms_of_use"), Text(en="A massage"))
    of: dict[str, Any] = {"partner_id": other.id, "marketplace_id": at, "status": OfferStatus.ACCEPTED}
    for box in (*boxes, goods.box):
        await shop.add(OfferRow(box_id=box.id, **of, **texts, **dates))
    return Network(goods, (shop.partner.id, other.id), boxes, seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_every_balance_is_what_the_model_says(shop: Shop, seed: int) -> None:
    network = await open_network(shop, seed)
    done: list[str] = []
    for _ in range(STEPS):
        (deed,) = network.chance.choices(list(DEEDS), list(DEEDS.values()))
        done.append(deed)
        clock.advance(dt.timedelta(minutes=1))
        try:
            await getattr(network, deed)()
            await network.agrees()
        except BaseException as error:
            error.add_note(f"seed {seed}, step {len(done)}: {', '.join(done)}")
            raise
    await books_balance(shop)
