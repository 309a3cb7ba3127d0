"""What a checkout attempt holds from the moment payment starts: stock, coupon uses, money on gift cards.

Vouchers and gift cards that are bought are not counted: nothing of them is held, and they are made when they are paid.

Rows are locked in one order (products, variants, coupons, gift cards, each by ascending id), so that two transactions can't
wait for each other; one that lets go for one attempt and takes for another locks for both first. The attempt is locked, or
not yet visible to others, whenever these run.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import ShopKind
from schema.core.errors import CheckoutChanged
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.offers import is_sold
from store.coupon.coupons import CouponRow
from store.coupon.rules import is_running
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.movements import put_back, spend_held, take_off
from store.gift_card.states import capturable, spendable
from store.payment import AttemptRow
from store.product.products import ProductRow, ProductVariantRow
from store.voucher.activation import zone_of

R = TypeVar("R", ProductRow, ProductVariantRow, CouponRow, GiftCardRow)


@dataclass(frozen=True, slots=True)
class Locked:
    """What attempts hold or want, by id: locked, and as it is now."""

    products: Mapping[int, ProductRow]
    variants: Mapping[int, ProductVariantRow]
    coupons: Mapping[int, CouponRow]
    cards: Mapping[int, GiftCardRow]

    def stock_of(self, line: Mapping[str, Any]) -> ProductRow | ProductVariantRow | None:
        """The row that counts the stock of a line of goods: the variant where there is one, else the product."""
        if line["variant_id"] is None:
            return self.products.get(line["product_id"])
        return self.variants.get(line["variant_id"])


async def lock(db: AsyncSession, *attempts: AttemptRow) -> Locked:
    """Lock all that these attempts hold or want, in the one order."""
    lines = [line for attempt in attempts for line in attempt.lines if line["product_id"] is not None]
    return Locked(
        await _rows(db, ProductRow, (line["product_id"] for line in lines if line["variant_id"] is None)),
        await _rows(db, ProductVariantRow, (line["variant_id"] for line in lines if line["variant_id"] is not None)),
        await _rows(db, CouponRow, (use["id"] for attempt in attempts for use in attempt.coupons)),
        await _rows(db, GiftCardRow, (part["id"] for attempt in attempts for part in attempt.cards)),
    )


async def take(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Take all that the attempt needs, or raise CheckoutChanged (and let the transaction roll back)."""
    locked = await lock(db, attempt)
    attempt.round += 1
    if attempt.kind is ShopKind.PRODUCTS:
        sold = await _sold(db, attempt)
        attempt.lines = [{**line, "counted": _take_stock(locked, sold, line)} for line in attempt.lines]
    elif not await all_sold(db, attempt, now):
        raise CheckoutChanged
    for use in attempt.coupons:
        coupon = locked.coupons.get(use["id"])
        if coupon is None or not is_running(coupon, now, kind=attempt.kind):
            raise CheckoutChanged
        coupon.usage_count += 1
    for part in attempt.cards:
        card, amount = locked.cards.get(part["id"]), Decimal(part["amount"])
        if card is None or not spendable(card, now) or card.remaining_amount < amount:
            raise CheckoutChanged
        take_off(db, card, attempt, amount)
    attempt.held = True


async def release(db: AsyncSession, attempt: AttemptRow) -> None:
    """Let everything go again; nothing happens when nothing is held."""
    if not attempt.held:
        return
    attempt.held = False
    locked = await lock(db, attempt)
    for line in attempt.lines:
        stocked = locked.stock_of(line) if line.get("counted") else None
        if stocked is not None and stocked.stock is not None:
            stocked.stock += line["quantity"]
    for use in attempt.coupons:
        locked.coupons[use["id"]].usage_count -= 1
    for part in attempt.cards:
        put_back(db, locked.cards[part["id"]], attempt, Decimal(part["amount"]))


async def spend(db: AsyncSession, attempt: AttemptRow) -> None:
    """Make the holds final. Raises CheckoutChanged when a gift card has been cancelled since.

    One that has expired since was held in time, and pays.
    """
    cards = await _rows(db, GiftCardRow, (part["id"] for part in attempt.cards))
    if not all(map(capturable, cards.values())):
        raise CheckoutChanged
    for part in attempt.cards:
        amount = Decimal(part["amount"])
        spend_held(db, cards[part["id"]], attempt, amount, amount)


async def _rows(db: AsyncSession, table: type[R], ids: Iterable[int]) -> dict[int, R]:
    """Rows by id, locked one after the other by ascending id."""
    wanted = set(ids)
    if not wanted:
        return {}
    query = select(table).where(col(table.id).in_(wanted)).order_by(col(table.id)).with_for_update()
    return {row.id: row for row in await db.exec(query.execution_options(populate_existing=True))}


async def all_sold(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> bool:
    """Whether the experiences that an attempt buys vouchers of are all sold now."""
    wanted = {line["voucher"]["prototype_id"] for line in attempt.lines if line.get("voucher")}
    if not wanted:
        return True
    today = now.astimezone(await zone_of(db, attempt.partner_id)).date()
    table = VoucherPrototypeRow
    rows = (
        await db.exec(select(table).where(col(table.partner_id) == attempt.partner_id, col(table.id).in_(wanted)))
    ).all()
    return len(rows) == len(wanted) and all(is_sold(row, today) for row in rows)


async def _sold(db: AsyncSession, attempt: AttemptRow) -> set[int]:
    """Those of an attempt's products that are sold now."""
    ids = {line["product_id"] for line in attempt.lines}
    return set(await db.exec(select(ProductRow.id).where(col(ProductRow.id).in_(ids), col(ProductRow.is_active))))


def _take_stock(locked: Locked, sold: set[int], line: Mapping[str, Any]) -> bool:
    """Take the pieces of a line out of stock; False where stock is not counted."""
    stocked = locked.stock_of(line)
    if stocked is None or not stocked.is_active or line["product_id"] not in sold:
        raise CheckoutChanged
    if stocked.stock is None:
        return False
    if stocked.stock < line["quantity"]:
        raise CheckoutChanged
    stocked.stock -= line["quantity"]
    return True
