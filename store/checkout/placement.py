"""Order placement: a payment attempt from a quote, and an order from an attempt."""

import dataclasses
import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import update
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import Buyer, CheckoutKey, CodeKind, ShopKind
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.order import PaymentMethod, PaymentStatus
from store.checkout.fulfilment import issue_purchases
from store.checkout.quotes import Quote
from store.checkout.reading import session_digest
from store.gift_card.gift_cards import GiftCardRow
from store.order.orders import (
    OrderDiscountRow,
    OrderPaymentRow,
    OrderProductRow,
    OrderRow,
    OrderVariantRow,
    OrderVatRow,
)
from store.partner.partners import PartnerRow
from store.payment import AttemptRow
from store.voucher.vouchers import VoucherRow


@dataclass(frozen=True, slots=True)
class CheckoutSource:
    """The cart or basket being ordered, at one version."""

    id: UUID
    last_modified: int
    return_url: str = ""


def new_attempt(
    partner_id: int, key: CheckoutKey, source: CheckoutSource, quote: Quote, buyer: Buyer, language: str
) -> AttemptRow:
    """A payment attempt with a snapshot of all data that the order needs. The quote must have a delivery."""
    totals, delivery = quote.totals, quote.delivery
    assert delivery is not None
    attempt = AttemptRow(
        partner_id=partner_id,
        kind=key.kind,
        cart_id=source.id,
        cart_last_modified=source.last_modified,
        session_digest=session_digest(key.session_id),
        language=language,
        return_url=source.return_url,
        lines=quote.attempt_lines(),
        buyer=dataclasses.asdict(buyer),
        delivery={
            "mode_id": delivery.id,
            "kind": delivery.kind,
            "name": delivery.name.model_dump(exclude_none=True),
            "description": delivery.description.model_dump(exclude_none=True),
            "to_giftees": delivery.to_giftees,
            "reception": quote.reception,
        },
        vat=[{k: str(v) for k, v in dataclasses.asdict(v).items()} for v in totals.vat],
        coupons=_applied_codes(quote, CodeKind.COUPON),
        cards=_applied_codes(quote, CodeKind.GIFT_CARD),
        currency=totals.currency,
        products_amount=totals.products,
        discount_amount=totals.discount,
        delivery_amount=delivery.price or Decimal("0.00"),
        total_amount=totals.total,
        gift_card_amount=totals.gift_cards,
        card_amount=totals.by_card,
    )
    attempt.fingerprint = _fingerprint(attempt)
    return attempt


def _applied_codes(quote: Quote, kind: CodeKind) -> list[dict[str, Any]]:
    """The applied codes of a kind with their effects. Gift cards that pay nothing are left out."""
    return [
        {
            "id": code.id,
            "code": code.code,
            "amount": str(applied.amount),
            "adds": str(applied.added_value),
            "frees": applied.free_click_and_collect,
        }
        for code, applied in zip(quote.usable, quote.codes, strict=True)
        if applied.applies and applied.kind is kind and (kind is CodeKind.COUPON or applied.amount > 0)
    ]


def _fingerprint(attempt: AttemptRow) -> str:
    """A digest of the checkout, to distinguish a repeated submit from a changed checkout."""
    said = (attempt.cart_last_modified, attempt.lines, attempt.buyer, attempt.delivery, attempt.coupons, attempt.cards)
    return hashlib.sha256(orjson.dumps((*said, str(attempt.total_amount)), option=orjson.OPT_SORT_KEYS)).hexdigest()


async def write_order(db: AsyncSession, attempt: AttemptRow, origin: str, now: dt.datetime) -> OrderRow:
    """Write the order of an attempt, and issue its vouchers and gift cards.

    The order number is drawn in the same transaction, so numbers have no gaps. `origin` is the URL of the shop, stored
    with each voucher.
    """
    order = OrderRow(
        partner_id=attempt.partner_id,
        kind=attempt.kind,
        number=await _next_number(db, attempt.partner_id),
        attempt_id=attempt.id,
        created_on=now,
        language=attempt.language,
        cart_id=attempt.cart_id,
        message=attempt.buyer["message"],
        recipient_name=attempt.buyer["recipient_name"],
        delivery_kind=DeliveryKind(attempt.delivery["kind"]),
        delivery_name=Text(**attempt.delivery["name"]),
        currency=attempt.currency,
        products_amount=attempt.products_amount,
        discount_amount=attempt.discount_amount,
        delivery_amount=attempt.delivery_amount,
        total_amount=attempt.total_amount,
        gift_card_amount=attempt.gift_card_amount,
        card_amount=attempt.card_amount,
        **_buyer_columns(attempt),
        **_address_columns(attempt),
    )
    db.add(order)
    await db.flush()
    if attempt.kind is not ShopKind.PRODUCTS:
        issued = await issue_purchases(db, order, attempt, origin, now)
        attempt.lines = [{**line, **_issued_ids(row)} for line, row in zip(attempt.lines, issued, strict=True)]
    await _write_lines(db, order, attempt.lines)
    _write_parts(db, order, attempt)
    await db.flush()
    return order


def _issued_ids(row: VoucherRow | GiftCardRow | None) -> dict[str, int]:
    if isinstance(row, VoucherRow):
        return {"voucher_id": row.id}
    return {"gift_card_id": row.id} if row else {}


def _buyer_columns(attempt: AttemptRow) -> dict[str, Any]:
    return {f"buyer_{name}": attempt.buyer[name] for name in ("first_name", "last_name", "email", "phone")}


def _address_columns(attempt: AttemptRow) -> dict[str, Any]:
    if attempt.delivery["kind"] != DeliveryKind.HOME_DELIVERY or attempt.delivery.get("to_giftees"):
        return {}
    names = ("address_line_1", "address_line_2", "postal_code", "city", "country")
    return {name: attempt.buyer[name] for name in names}


async def _next_number(db: AsyncSession, partner_id: int) -> int:
    counted = update(PartnerRow).where(col(PartnerRow.id) == partner_id)
    counted = counted.values(last_order_number=col(PartnerRow.last_order_number) + 1)
    result = await db.exec(counted.returning(col(PartnerRow.last_order_number)))
    return int(result.scalar_one())


async def _write_lines(db: AsyncSession, order: OrderRow, lines: Sequence[dict[str, Any]]) -> None:
    """Write the lines in two statements: until the commit, other orders of this partner wait for the order number."""
    variants = [_variant(order, line) for line in lines]
    db.add_all(variant for variant in variants if variant is not None)
    await db.flush()
    db.add_all(_product(order, line, variant) for line, variant in zip(lines, variants, strict=True))


def _variant(order: OrderRow, line: dict[str, Any]) -> OrderVariantRow | None:
    if not (line["variant"] or line["choices"]):
        return None
    return OrderVariantRow(
        partner_id=order.partner_id,
        order_id=order.id,
        variant_id=line["variant_id"],
        name=Text(**line["variant"]) if line["variant"] else None,
        choices=Text(**line["choices"]) if line["choices"] else None,
    )


def _product(order: OrderRow, line: dict[str, Any], variant: OrderVariantRow | None) -> OrderProductRow:
    return OrderProductRow(
        partner_id=order.partner_id,
        order_id=order.id,
        product_id=line["product_id"],
        voucher_id=line.get("voucher_id"),
        gift_card_id=line.get("gift_card_id"),
        order_variant_id=variant.id if variant else None,
        name=Text(**line["name"]),
        quantity=line["quantity"],
        unit_price_amount=Decimal(line["unit_price"]),
        total_amount=Decimal(line["total"]),
        vat_rate=Decimal(line["vat_rate"]),
        picture_url=line["picture_url"],
        currency=order.currency,
    )


def _write_parts(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    of_order: dict[str, Any] = {"partner_id": order.partner_id, "order_id": order.id, "currency": order.currency}
    for vat in attempt.vat:
        amounts: dict[str, Any] = {f"{name}_amount": Decimal(vat[name]) for name in ("net", "vat", "gross")}
        db.add(OrderVatRow(**of_order, rate=Decimal(vat["rate"]), **amounts))
    for coupon in attempt.coupons:
        amount = Decimal(coupon["amount"])
        db.add(OrderDiscountRow(**of_order, coupon_id=coupon["id"], code=coupon["code"], discount_amount=amount))
    paid: dict[str, Any] = {"status": PaymentStatus.OK, "created_on": attempt.created_on}
    for card in attempt.cards:
        amount = Decimal(card["amount"])
        method = PaymentMethod.GIFT_CARD
        db.add(OrderPaymentRow(**of_order, **paid, method=method, paid_amount=amount, gift_card_id=card["id"]))
    if attempt.card_amount:
        method = PaymentMethod.CREDIT_CARD
        card_payment: dict[str, Any] = {
            "method": method,
            "paid_amount": attempt.card_amount,
            "provider_id": attempt.payin_id,
        }
        db.add(OrderPaymentRow(**of_order, **paid, **card_payment))
