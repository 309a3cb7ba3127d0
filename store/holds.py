"""What a checkout attempt holds from the moment payment starts: stock, coupon uses, money on gift cards.

Rows are taken in one order (products, variants, coupons, gift cards, each by ascending id), so that two attempts can't wait
for each other. The attempt is locked, or not yet visible to others, whenever these run.
"""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.errors import CheckoutChanged
from schema.gift_card import GiftCardStatus
from store.attempts import AttemptRow
from store.coupon_rules import is_running
from store.coupons import CouponRow
from store.gift_cards import GiftCardEntryKind, GiftCardEntryRow, GiftCardRow
from store.products import ProductRow, ProductVariantRow

Stocked = ProductRow | ProductVariantRow
SPENDABLE = (GiftCardStatus.PAID, GiftCardStatus.USING)


async def take(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Take all that the attempt needs, or raise CheckoutChanged (and let the transaction roll back)."""
    attempt.round += 1
    lines = [dict(line) for line in attempt.lines]
    for table, key in ((ProductRow, "product_id"), (ProductVariantRow, "variant_id")):
        for identifier, wanted in _by_stock(lines, key):
            counted = await _take_stock(db, table, identifier, sum(line["quantity"] for line in wanted))
            for line in wanted:
                line["counted"] = counted
    attempt.lines = lines
    for use in sorted(attempt.coupons, key=lambda c: c["id"]):
        await _take_coupon(db, use["id"], now)
    for part in sorted(attempt.cards, key=lambda c: c["id"]):
        card = await locked_card(db, part["id"])
        amount = Decimal(part["amount"])
        if not spendable(card, now) or card.remaining_amount < amount:
            raise CheckoutChanged
        _enter(db, card, attempt, GiftCardEntryKind.HOLD, -amount)
    attempt.held = True


async def release(db: AsyncSession, attempt: AttemptRow) -> None:
    """Let everything go again; nothing happens when nothing is held."""
    if not attempt.held:
        return
    attempt.held = False
    for table, key in ((ProductRow, "product_id"), (ProductVariantRow, "variant_id")):
        for identifier, wanted in _by_stock(attempt.lines, key):
            pieces = sum(line["quantity"] for line in wanted if line.get("counted"))
            back = update(table).where(col(table.id) == identifier, col(table.stock).is_not(None))
            await db.exec(back.values(stock=col(table.stock) + pieces))
    for use in sorted(attempt.coupons, key=lambda c: c["id"]):
        less = update(CouponRow).where(col(CouponRow.id) == use["id"])
        await db.exec(less.values(usage_count=col(CouponRow.usage_count) - 1))
    for part in sorted(attempt.cards, key=lambda c: c["id"]):
        card = await locked_card(db, part["id"])
        _enter(db, card, attempt, GiftCardEntryKind.RELEASE, Decimal(part["amount"]))
        if card.status is GiftCardStatus.USED:
            card.status = GiftCardStatus.USING


async def spend(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Make the holds final. Raises CheckoutChanged when a gift card has been cancelled or has expired since."""
    for part in sorted(attempt.cards, key=lambda c: c["id"]):
        card = await locked_card(db, part["id"])
        if not (spendable(card, now) or card.status is GiftCardStatus.USED):
            raise CheckoutChanged
        card.status = GiftCardStatus.USING if card.remaining_amount else GiftCardStatus.USED


def spendable(card: GiftCardRow, now: dt.datetime) -> bool:
    """Whether a gift card can pay at all."""
    return card.status in SPENDABLE and (card.expires_on is None or now < card.expires_on)


async def locked_card(db: AsyncSession, identifier: int) -> GiftCardRow:
    """A gift card, locked, as it is now."""
    query = select(GiftCardRow).where(col(GiftCardRow.id) == identifier).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()


def _by_stock(lines: Iterable[dict[str, Any]], key: str) -> list[tuple[int, list[dict[str, Any]]]]:
    """Lines by the row that counts their stock: the variant where there is one, else the product."""
    grouped: dict[int, list[dict[str, Any]]] = {}
    for line in lines:
        if (key == "variant_id" or line["variant_id"] is None) and line[key] is not None:
            grouped.setdefault(line[key], []).append(line)
    return sorted(grouped.items())


async def _take_stock(db: AsyncSession, table: type[Stocked], identifier: int, pieces: int) -> bool:
    """Take pieces out of stock; False where stock is not counted."""
    query = select(table).where(col(table.id) == identifier, col(table.is_active))
    if table is ProductVariantRow:
        sold = select(ProductRow.id).where(col(ProductRow.is_active))
        query = query.where(col(ProductVariantRow.product_id).in_(sold))
    query = query.with_for_update()
    found = (await db.exec(query.execution_options(populate_existing=True))).one_or_none()
    row = cast("Stocked | None", found)
    if row is None or (row.stock is not None and row.stock < pieces):
        raise CheckoutChanged
    if row.stock is None:
        return False
    row.stock -= pieces
    return True


async def _take_coupon(db: AsyncSession, identifier: int, now: dt.datetime) -> None:
    query = select(CouponRow).where(col(CouponRow.id) == identifier).with_for_update()
    coupon = (await db.exec(query.execution_options(populate_existing=True))).one_or_none()
    if coupon is None or not is_running(coupon, now):
        raise CheckoutChanged
    coupon.usage_count += 1


def _enter(db: AsyncSession, card: GiftCardRow, attempt: AttemptRow, kind: GiftCardEntryKind, amount: Decimal) -> None:
    card.remaining_amount += amount
    db.add(
        GiftCardEntryRow(
            partner_id=card.partner_id,
            gift_card_id=card.id,
            kind=kind,
            amount=amount,
            attempt_id=attempt.id,
            round=attempt.round,
        )
    )
