"""What was sold with the order of a payment: vouchers and gift cards. They are withdrawn when its money goes back."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.payment.locking import LockedPayment, lock_after_cards, paying_card_ids
from schema.voucher.voucher import VoucherState
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.holds import cancel_card
from store.gift_card.locks import card_ids_of_order, lock_cards
from store.network.card_payments import is_of_network
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.network.vouchers import NetworkVoucherRow, lock_network_vouchers_of_order
from store.order.orders import lock_order
from store.order.refunds import OrderRefund, take_back_order_refund
from store.payment.payments import PaymentRow, RefundRow
from store.voucher.states import lock_vouchers_of_order
from store.voucher.states import transition as move_voucher
from store.voucher.vouchers import VoucherRow

UNUSED = (VoucherState.DRAFT, VoucherState.PAID)
NOTHING = Decimal("0.00")
Good: TypeAlias = tuple[type[GiftCardRow | NetworkVoucherRow], int]
"""A gift card or voucher of a network, by its kind and id."""


@dataclass(frozen=True, slots=True)
class SoldGoods:
    """A payment with its sources, and the gift cards and vouchers that were sold with its order, all locked."""

    locked: LockedPayment
    cards: Sequence[GiftCardRow]
    vouchers: Sequence[VoucherRow]
    network_vouchers: Sequence[NetworkVoucherRow]

    @property
    def payment(self) -> PaymentRow:
        return self.locked.payment


async def lock_goods(db: AsyncSession, payment: PaymentRow) -> SoldGoods:
    """Lock the gift cards that were sold or have paid, then vouchers, those of networks last, then the payment: the order
    in which all lock them.
    """
    sold = () if payment.order_id is None else await card_ids_of_order(db, payment.order_id)
    cards = await lock_cards(db, {*sold, *await paying_card_ids(db, payment)})
    vouchers = () if payment.order_id is None else await lock_vouchers_of_order(db, payment.order_id)
    of_networks = () if payment.order_id is None else await lock_network_vouchers_of_order(db, payment.order_id)
    return SoldGoods(await lock_after_cards(db, payment, cards), [cards[id] for id in sold], vouchers, of_networks)


async def reopen_lines(db: AsyncSession, payment: PaymentRow, refund: RefundRow, failed: Decimal) -> OrderRefund | None:
    """A part of a refund will never be made: its lines can be refunded again. Returns what of them it was for; None if
    it was for no lines and no delivery. The goods stay as they are: `release_vouchers`.
    """
    if payment.order_id is None:
        return None
    taken = await take_back_order_refund(db, refund, await lock_order(db, payment.order_id), failed)
    return taken if taken.lines or taken.delivery else None


async def release_vouchers(db: AsyncSession, reopened: OrderRefund | None) -> None:
    """Vouchers of lines that can be refunded again stay withdrawn, but can be made usable again by staff. One that was
    used stays barred: its refund is made again. The vouchers must be locked.
    """
    if reopened is None:
        return
    whole = {each.line.voucher_id for each in reopened.lines if not each.line.refunded_quantity}
    for voucher in await lock_vouchers_of_order(db, reopened.order.id):
        if voucher.id in whole and voucher.state is VoucherState.ERROR:
            voucher.refunded_on = None


async def withdraw(
    db: AsyncSession, goods: SoldGoods, now: dt.datetime, refunded: Mapping[Good, Decimal] | None = None
) -> None:
    """Withdraw what was bought: unused vouchers become ERROR, gift cards are cancelled with what is left of them, and so are
    vouchers of networks: their usages stay. Used vouchers of partners stay as they are.

    `refunded` is what goes back for gift cards and vouchers of networks, out of what these no longer owe.
    """
    back = refunded or {}
    for voucher in goods.vouchers:
        if voucher.state in UNUSED:
            await move_voucher(db, voucher, VoucherState.ERROR, now)
    for card in goods.cards:
        if is_of_network(card):
            await network_gift_cards.cancel(db, card, back.get((GiftCardRow, card.id), NOTHING))
        else:
            await cancel_card(db, card, now)
    for sold in goods.network_vouchers:
        await network_vouchers.cancel(db, sold, back.get((NetworkVoucherRow, sold.id), NOTHING))


def goods_of(goods: SoldGoods, refund: OrderRefund) -> SoldGoods:
    """What was sold with the lines that are refunded. What belongs to lines for which only an amount is still owed is
    withdrawn already.
    """
    lines = [each.line for each in refund.lines if each.quantity]
    cards = {line.gift_card_id or line.network_gift_card_id for line in lines}
    vouchers, of_networks = {line.voucher_id for line in lines}, {line.network_voucher_id for line in lines}
    return replace(
        goods,
        cards=[row for row in goods.cards if row.id in cards],
        vouchers=[row for row in goods.vouchers if row.id in vouchers],
        network_vouchers=[row for row in goods.network_vouchers if row.id in of_networks],
    )


async def withdraw_refunded(db: AsyncSession, goods: SoldGoods, refund: OrderRefund, now: dt.datetime) -> None:
    """Withdraw what was bought with the lines of a refund. Used vouchers cannot be used further. The money of what a network
    has sold is its funds afterwards, out of which it goes back: withdraw first, then refund.
    """
    bought, refunded = goods_of(goods, refund), dict[Good, Decimal]()
    for each in refund.lines:
        if each.line.network_gift_card_id is not None:
            refunded[GiftCardRow, each.line.network_gift_card_id] = each.amount
        if each.line.network_voucher_id is not None:
            refunded[NetworkVoucherRow, each.line.network_voucher_id] = each.amount
    await withdraw(db, bought, now, refunded)
    for voucher in bought.vouchers:
        voucher.refunded_on = now
