"""Fulfilment of what a shop sells of its network: line data stored with a payment attempt, and gift cards and vouchers
issued from them.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import update
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import BasketLine, BoxChoice, NetworkGiftCardChoice
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.checkout.network_lines import network_card_problems
from store.checkout.network_offers import load_boxes, load_network_cards, load_network_shop
from store.checkout.purchases import (
    coupon_id,
    gift_fields,
    postal_address,
    sending_moment,
    validity_by,
)
from store.core.localization.sale_texts import GIFT_CARD_NAME
from store.coupon.coupons import CouponRow
from store.coupon.rules import split_proportionally
from store.coupon.validity import validity_end
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.rows import LedgerBookRow
from store.mail.gifts import mail_network_gift_cards, mail_network_vouchers
from store.network.boxes import BoxRow
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.partner.partners import MarketplaceRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine, NetworkGiftCardPurchase, NetworkVoucherPurchase, Purchase
from store.voucher.payment import end_of_validity

NO_VAT = Decimal("0.00")
NetworkGood: TypeAlias = GiftCardRow | NetworkVoucherRow
G = TypeVar("G", GiftCardRow, NetworkVoucherRow)


# ---- stored lines ----------------------------------------------------------------------------------------------------


def network_attempt_lines(
    line: BasketLine,
    off: Decimal,
    coupons: Sequence[CouponRow],
    cards: OfferedGiftCards | None,
    usual: ReceptionMode | None,
) -> tuple[AttemptLine, ...]:
    """The stored form of a line of network products: one line for each, as each is issued, used and refunded by itself.
    The discount and what coupons add are divided to the cent. `usual` is how the order is received.
    """
    price, count = line.base_price, line.quantity
    offs = split_proportionally(off, [price] * count)
    added = split_proportionally(line.value - line.total, [price] * count)
    common = {"coupon_id": coupon_id(coupons), "validity": validity_by(coupons), **gift_fields(line, usual)}
    return tuple(
        AttemptLine(
            name=line.box.name if line.box else GIFT_CARD_NAME,
            choices=line.design.name if line.design else None,
            quantity=1,
            unit_price=price,
            total=price,
            discount=less,
            vat_rate=NO_VAT,
            picture_url=_picture_url(line),
            **_purchase(line, {"value": price + more, "paid": price - less, **common}, cards),
        )
        for less, more in zip(offs, added, strict=True)
    )


def _purchase(line: BasketLine, common: dict[str, Any], cards: OfferedGiftCards | None) -> dict[str, Any]:
    """What is to be issued for one piece of a line, by the name of the field."""
    choice = line.choice
    assert isinstance(choice, NetworkGiftCardChoice | BoxChoice), "a shop of a network sells nothing else"
    if isinstance(choice, NetworkGiftCardChoice):
        assert cards is not None, "a gift card line needs an offer"
        bought = NetworkGiftCardPurchase(**common, design_id=choice.design_id, validity_months=cards.validity_months)
        return {"network_gift_card": bought}
    assert line.box is not None, "a priced line of a box has it"
    limits = {name: getattr(line.box, name) for name in ("max_usages", "max_days_after_first_usage")}
    return {"network_voucher": NetworkVoucherPurchase(**common, box_id=line.box.id, **limits)}


def _picture_url(line: BasketLine) -> str:
    if line.box is not None:
        return line.box.pictures[0].path("card") if line.box.pictures else ""
    return line.design.picture_url if line.design else ""


# ---- on sale ---------------------------------------------------------------------------------------------------------


async def are_network_products_on_sale(db: AsyncSession, attempt: AttemptRow) -> bool:
    """True if the shop sells all boxes of the attempt, and gift cards of these amounts and designs, now."""
    if not any(line.is_of_network for line in attempt.lines):
        return True
    shop = await load_network_shop(db, attempt.partner_id)
    box_ids = {line.network_voucher.box_id for line in attempt.lines if line.network_voucher}
    if box_ids - (await load_boxes(db, shop, sorted(box_ids))).keys():
        return False
    cards = {(line.unit_price, line.network_gift_card.design_id) for line in attempt.lines if line.network_gift_card}
    offer = await load_network_cards(db, shop) if cards else None
    choices = [NetworkGiftCardChoice(amount, design_id) for amount, design_id in cards]
    return all(offer is not None and not network_card_problems(choice, offer) for choice in choices)


# ---- issuing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sale:
    """The order that goods are issued for."""

    order: OrderRow
    attempt: AttemptRow
    network: MarketplaceRow
    is_test: bool
    now: dt.datetime

    @property
    def lines(self) -> Sequence[AttemptLine]:
        """The lines that are the network's."""
        return [line for line in self.attempt.lines if line.is_of_network]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.network.time_zone)

    def columns(self, bought: Purchase, months: int) -> dict[str, Any]:
        """What gift cards and vouchers have in common. Their validity counts from the day on which they are sent."""
        buyer, giftee = self.attempt.buyer, self.attempt.buyer if bought.self_gifted else bought.giftee
        send_on = sending_moment(bought, self.attempt.reception_of(bought), self.zone, self.now)
        begins = send_on or self.now
        return {
            "code": "",
            "normal_code": "",
            "created_on": self.now,
            "starts_on": self.now,
            "expires_on": validity_end(bought.validity, begins, self.zone)
            or end_of_validity(begins, months, self.zone),
            "currency": self.attempt.currency,
            "gifter_first_name": buyer.first_name,
            "gifter_last_name": buyer.last_name,
            "gifter_email": buyer.email,
            "giftee_first_name": giftee.first_name or None,
            "giftee_last_name": giftee.last_name or None,
            "giftee_email": giftee.email or None,
            "recipient_address": postal_address(bought, self.attempt),
            "from_gifter": bought.from_gifter or None,
            "message": bought.message or None,
            "send_on": send_on,
            "language": self.attempt.language,
            "order_id": self.order.id,
        }

    def card(self, bought: NetworkGiftCardPurchase) -> GiftCardRow:
        return GiftCardRow(
            **self.columns(bought, bought.validity_months),
            network_id=self.network.id,
            status=GiftCardStatus.PAID,
            is_test=self.is_test,
            value_amount=bought.value,
            remaining_amount=bought.value,
            is_splittable=self.network.network_gift_card_is_splittable,
            reception_mode=self.attempt.reception_of(bought),
            design_id=bought.design_id,
        )

    def voucher(self, bought: NetworkVoucherPurchase) -> NetworkVoucherRow:
        """A voucher with the price and the limits at which its box was sold."""
        return NetworkVoucherRow(
            **self.columns(bought, self.network.network_voucher_validity_months),
            marketplace_id=self.network.id,
            status=NetworkVoucherStatus.TEST if self.is_test else NetworkVoucherStatus.PAID,
            box_id=bought.box_id,
            price_amount=bought.value,
            max_usages=bought.max_usages,
            max_days_after_first_usage=bought.max_days_after_first_usage,
        )


async def issue_network_purchases(
    db: AsyncSession, order: OrderRow, attempt: AttemptRow, book_id: int, now: dt.datetime
) -> list[NetworkGood]:
    """Issue the gift cards and vouchers that an attempt has of its network in a book, and queue their mail, in the
    transaction of the order.

    Returns one row for each of these lines.
    """
    book = await db.get_one(LedgerBookRow, book_id)
    network = await db.get_one(MarketplaceRow, book.marketplace_id)
    sale = _Sale(order, attempt, network, is_test=not book.is_live, now=now)
    issued = [_good(sale, line) for line in sale.lines]
    cards = [row for row in issued if isinstance(row, GiftCardRow)]
    vouchers = [row for row in issued if isinstance(row, NetworkVoucherRow)]
    await network_gift_cards.issue(db, *cards)
    await network_vouchers.issue(db, *vouchers)
    sold = {voucher.box_id for voucher in vouchers}
    counted = update(BoxRow).where(is_any_of(col(BoxRow.id), sorted(sold)))
    unchanged = col(BoxRow.updated_on)  # a sale is no change of the box
    await db.exec(counted.values(orders_count=col(BoxRow.orders_count) + 1, updated_on=unchanged))
    await _mail(db, sale, issued)
    return issued


def _good(sale: _Sale, line: AttemptLine) -> NetworkGood:
    if line.network_gift_card is not None:
        return sale.card(line.network_gift_card)
    assert line.network_voucher is not None, "a network sells nothing else"
    return sale.voucher(line.network_voucher)


async def _mail(db: AsyncSession, sale: _Sale, issued: Sequence[NetworkGood]) -> None:
    """Queue the messages with the documents. What is posted or collected is not e-mailed: the order confirmation tells how
    it is delivered.
    """
    for mode in (ReceptionMode.PRINT_AT_HOME, ReceptionMode.GIFTEE_EMAIL):
        mailed = [
            row
            for line, row in zip(sale.lines, issued, strict=True)
            if line.purchase and sale.attempt.reception_of(line.purchase) is mode
        ]
        to_giftees = mode is ReceptionMode.GIFTEE_EMAIL
        await mail_network_gift_cards(db, _of(GiftCardRow, mailed), to_giftees=to_giftees)
        await mail_network_vouchers(db, _of(NetworkVoucherRow, mailed), to_giftees=to_giftees)


def _of(kind: type[G], rows: Iterable[NetworkGood]) -> list[G]:
    return [row for row in rows if isinstance(row, kind)]
