"""Reservations of a payment attempt: stock, coupon uses and gift card amounts, from the start of the payment.

Purchased vouchers and gift cards are not reserved: they have no stock and are issued after payment.

Rows are locked in one order (products, variants, coupons, gift cards, each by ascending id), so that transactions
cannot deadlock. A transaction that releases one attempt and reserves for another locks the rows of both first. Callers
hold the lock of the attempt, or have not committed it yet.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import ShopKind
from schema.core.errors import CheckoutChanged
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.offers import is_on_sale
from store.checkout.network_fulfilment import are_network_products_on_sale
from store.coupon.coupons import CouponRow
from store.coupon.rules import is_running
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.modes import are_in_mode
from store.gift_card.movements import debit_card
from store.gift_card.states import is_capturable
from store.ledger.posting import post
from store.network.card_payments import CardPart, can_pay, capture_of_networks, capture_own, release
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow
from store.payment.snapshot import AttemptLine
from store.product.products import ProductRow, ProductVariantRow
from store.voucher.payment import zone_of

R = TypeVar("R", ProductRow, ProductVariantRow, CouponRow, GiftCardRow)


@dataclass(frozen=True, slots=True)
class LockedRows:
    """The rows that attempts hold or need, by id: locked and reloaded."""

    products: Mapping[int, ProductRow]
    variants: Mapping[int, ProductVariantRow]
    coupons: Mapping[int, CouponRow]
    cards: Mapping[int, GiftCardRow]

    def stock_of(self, line: AttemptLine) -> ProductRow | ProductVariantRow | None:
        """The row with the stock of a goods line: the variant if there is one, else the product."""
        if line.variant_id is not None:
            return self.variants.get(line.variant_id)
        return None if line.product_id is None else self.products.get(line.product_id)

    def put_back(self, line: AttemptLine, quantity: int) -> bool:
        """Put a quantity of a goods line back into stock. Returns False, without change, if no stock was taken for it or
        none is counted any more.
        """
        stocked = self.stock_of(line) if line.counted else None
        if stocked is None or stocked.stock is None:
            return False
        stocked.stock += quantity
        return True


async def lock_rows(db: AsyncSession, *attempts: AttemptRow) -> LockedRows:
    """Lock all rows that these attempts hold or need, in the common order."""
    stock = await lock_stock(db, *attempts)
    coupons = await _lock_by_id(db, CouponRow, (coupon.id for attempt in attempts for coupon in attempt.coupons))
    cards = await _lock_by_id(db, GiftCardRow, (card.id for attempt in attempts for card in attempt.cards))
    return replace(stock, coupons=coupons, cards=cards)


async def lock_stock(db: AsyncSession, *attempts: AttemptRow) -> LockedRows:
    """Lock the products and variants of these attempts, which are the first of all that is locked."""
    lines = [line for attempt in attempts for line in attempt.lines]
    products = await _lock_by_id(db, ProductRow, (line.product_id for line in lines if line.variant_id is None))
    return LockedRows(products, await _lock_by_id(db, ProductVariantRow, (line.variant_id for line in lines)), {}, {})


async def reserve(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Reserve everything the attempt needs.

    Raises CheckoutChanged if something is missing; the caller must roll back.
    """
    locked = await lock_rows(db, attempt)
    attempt.round += 1
    if attempt.kind is ShopKind.PRODUCTS:
        sold = await _products_on_sale(db, attempt)
        attempt.lines = tuple(replace(line, counted=_take_stock(locked, sold, line)) for line in attempt.lines)
    elif not await are_prototypes_on_sale(db, attempt, now):
        raise CheckoutChanged
    if attempt.is_for_marketplace and not await are_network_products_on_sale(db, attempt):
        raise CheckoutChanged
    for use in attempt.coupons:
        coupon = locked.coupons.get(use.id)
        if coupon is None or not is_running(coupon, now, kind=attempt.kind.checkout):
            raise CheckoutChanged
        coupon.usage_count += 1
    await _check_modes(db, attempt)
    journals = []
    partner = await db.get_one(PartnerRow, attempt.partner_id)
    for part in attempt.cards:
        card = locked.cards.get(part.id)
        if card is None or not can_pay(card, partner, part.amount, now):
            raise CheckoutChanged
        journals.append(debit_card(card, attempt, part.amount))
    attempt.held = True
    await post(db, journals)


async def release_reservations(db: AsyncSession, attempt: AttemptRow) -> None:
    """Release the reservations of the attempt. Does nothing if it holds none."""
    if not attempt.held:
        return
    attempt.held = False
    locked = await lock_rows(db, attempt)
    for line in attempt.lines:
        locked.put_back(line, line.quantity)
    for use in attempt.coupons:
        locked.coupons[use.id].usage_count -= 1
    await release(db, attempt, _parts(attempt, locked.cards))


async def consume_reservations(db: AsyncSession, attempt: AttemptRow) -> None:
    """Spend the gift card holds of the attempt; those on cards of networks are spent by `spend_on_networks`. Raises
    CheckoutChanged if one of the cards was cancelled.

    A card that has expired since the hold still pays. So does one that its network has deactivated since, and one of a
    network in which the partner no longer takes part.
    """
    cards = await _lock_by_id(db, GiftCardRow, (part.id for part in attempt.cards))
    if not all(map(is_capturable, cards.values())):
        raise CheckoutChanged
    await _check_modes(db, attempt)
    await capture_own(db, attempt, _parts(attempt, cards))


async def spend_on_networks(db: AsyncSession, attempt: AttemptRow, payment: PaymentRow, now: dt.datetime) -> None:
    """Spend the holds of the attempt on gift cards of networks, once its payment is recorded."""
    cards = await _lock_by_id(db, GiftCardRow, (part.id for part in attempt.cards))
    await capture_of_networks(db, attempt, payment, _parts(attempt, cards), now)


def _parts(attempt: AttemptRow, cards: Mapping[int, GiftCardRow]) -> list[CardPart]:
    return [(cards[part.id], part.amount) for part in attempt.cards]


async def _check_modes(db: AsyncSession, attempt: AttemptRow) -> None:
    """Raise CheckoutChanged if a gift card of the attempt is of another mode than the partner."""
    if not await are_in_mode(db, (part.id for part in attempt.cards), attempt.partner_id):
        raise CheckoutChanged


async def _lock_by_id(db: AsyncSession, table: type[R], ids: Iterable[int | None]) -> dict[int, R]:
    """Rows by id, locked in ascending order."""
    unique_ids = {id for id in ids if id is not None}
    if not unique_ids:
        return {}
    query = select(table).where(col(table.id).in_(unique_ids)).order_by(col(table.id)).with_for_update()
    return {row.id: row for row in await db.exec(query.execution_options(populate_existing=True))}


async def are_prototypes_on_sale(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> bool:
    """True if all voucher prototypes of the attempt are on sale now."""
    prototype_ids = {line.voucher.prototype_id for line in attempt.lines if line.voucher}
    if not prototype_ids:
        return True
    today = now.astimezone(await zone_of(db, attempt.partner_id)).date()
    table = VoucherPrototypeRow
    rows = (
        await db.exec(
            select(table).where(col(table.partner_id) == attempt.partner_id, col(table.id).in_(prototype_ids))
        )
    ).all()
    return len(rows) == len(prototype_ids) and all(is_on_sale(row, today) for row in rows)


async def _products_on_sale(db: AsyncSession, attempt: AttemptRow) -> set[int]:
    """The ids of the attempt's products that are active."""
    ids = {line.product_id for line in attempt.lines}
    return set(await db.exec(select(ProductRow.id).where(col(ProductRow.id).in_(ids), col(ProductRow.is_active))))


def _take_stock(locked: LockedRows, sold: set[int], line: AttemptLine) -> bool:
    """Decrement the stock of a line; returns False if its stock is unlimited.

    Raises CheckoutChanged if it is not available.
    """
    stocked = locked.stock_of(line)
    if stocked is None or not stocked.is_active or line.product_id not in sold:
        raise CheckoutChanged
    if stocked.stock is None:
        return False
    if stocked.stock < line.quantity:
        raise CheckoutChanged
    stocked.stock -= line.quantity
    return True
