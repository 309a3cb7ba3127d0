"""Order placement: a payment attempt from a quote, and an order from an attempt."""

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import Buyer, CheckoutKey, ShopKind
from schema.checkout.codes import CodeKind
from schema.checkout.legal import LegalLink
from schema.payment_method import PaymentMethod
from store.checkout.fulfilment import issue_purchases
from store.checkout.network_fulfilment import NetworkGood, issue_network_purchases
from store.checkout.quotes import Quote
from store.checkout.reading import session_digest
from store.coupon.rules import split_proportionally
from store.customer import customer_for
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.books import book_of_partner
from store.network.vouchers import NetworkVoucherRow
from store.order.fulfilment import first_state
from store.order.orders import (
    OrderDiscountRow,
    OrderProductRow,
    OrderRow,
    OrderVariantRow,
    OrderVatRow,
)
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow
from store.payment.fees import commission_of
from store.payment.payments import PaymentRow
from store.payment.recording import ORIGIN
from store.payment.snapshot import BUYER, CODES, DELIVERY, LINES, AttemptCode, AttemptLine, attempt_delivery
from store.voucher.vouchers import VoucherRow

NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class CheckoutSource:
    """The cart or basket being ordered, at one version."""

    id: UUID
    last_modified: int
    return_url: str = ""
    is_cart: bool = False


def new_attempt(
    partner_id: int,
    key: CheckoutKey,
    source: CheckoutSource,
    quote: Quote,
    buyer: Buyer,
    language: str,
    legal: Sequence[LegalLink] = (),
    method: PaymentMethod = PaymentMethod.CARD,
) -> AttemptRow:
    """A payment attempt with a snapshot of all data that the order needs. The quote must have a delivery."""
    totals, delivery = quote.totals, quote.delivery
    assert delivery is not None
    attempt = AttemptRow(
        partner_id=partner_id,
        kind=quote.content,
        cart_id=source.id,
        cart_last_modified=source.last_modified,
        from_cart=source.is_cart,
        session_digest=session_digest(key.session_id),
        language=language,
        return_url=source.return_url,
        lines=quote.attempt_lines(),
        buyer=buyer,
        delivery=attempt_delivery(delivery, quote.reception),
        vat=totals.vat,
        coupons=_applied_codes(quote, CodeKind.COUPON),
        cards=_applied_codes(quote, CodeKind.GIFT_CARD),
        currency=totals.currency,
        products_amount=totals.products,
        discount_amount=totals.discount,
        delivery_amount=delivery.price or NOTHING,
        total_amount=totals.total,
        gift_card_amount=totals.gift_cards,
        card_amount=totals.by_card,
        payment_method=method,
    )
    attempt.set_documents(legal)
    attempt.fingerprint = fingerprint_of(attempt)
    return attempt


async def add_commission(db: AsyncSession, attempt: AttemptRow) -> None:
    """Add the marketplace's commission by its fee rules to a new attempt. What a network sells is its own: there is none on
    that.
    """
    if attempt.kind is ShopKind.NETWORK:
        return
    commission = await commission_of(db, attempt.partner_id, _card_amounts(attempt), ORIGIN)
    attempt.commission_amount, attempt.commission_vat_amount = commission.amount, commission.vat
    attempt.commission_vat_rate, attempt.fee_rule_id = commission.vat_rate, commission.rule_id
    attempt.is_reverse_charge = commission.is_reverse_charge


def _card_amounts(attempt: AttemptRow) -> Mapping[str, Decimal]:
    """What comes in by bank card, by product. Gift cards of a mixed order are paid by bank card; the rest of it is shared by
    its goods and vouchers. Delivery counts as a part of the goods, without goods of the vouchers.
    """
    if attempt.kind is not ShopKind.MIXED:
        return {attempt.kind.value: attempt.card_amount}
    worth = dict.fromkeys((ShopKind.PRODUCTS, ShopKind.VOUCHERS, ShopKind.GIFT_CARDS), NOTHING)
    for line in attempt.lines:
        if not line.is_of_network:
            kind = ShopKind.PRODUCTS if line.is_goods else ShopKind.GIFT_CARDS if line.gift_card else ShopKind.VOUCHERS
            worth[kind] += line.paid
    share = attempt.partner_share_of(attempt.card_amount)
    cards = min(worth.pop(ShopKind.GIFT_CARDS), share)
    worth[ShopKind.PRODUCTS if worth[ShopKind.PRODUCTS] else ShopKind.VOUCHERS] += attempt.delivery_amount
    shares = split_proportionally(share - cards, list(worth.values()))
    return {ShopKind.GIFT_CARDS.value: cards} | {kind.value: part for kind, part in zip(worth, shares, strict=True)}


def _applied_codes(quote: Quote, kind: CodeKind) -> tuple[AttemptCode, ...]:
    """The applied codes of a kind with their effects. Gift cards that pay nothing are left out."""
    return tuple(
        AttemptCode(code.id, code.code, applied.amount, applied.added_value, applied.free_click_and_collect)
        for code, applied in zip(quote.pricing_input.codes, quote.codes, strict=True)
        if applied.applies and applied.kind is kind and (kind is CodeKind.COUPON or applied.amount > 0)
    )


def fingerprint_of(attempt: AttemptRow) -> str:
    """A digest of the checkout, to distinguish a repeated submit from a changed checkout."""
    said = (
        attempt.cart_last_modified,
        LINES.dump(attempt.lines),
        BUYER.dump(attempt.buyer),
        DELIVERY.dump(attempt.delivery),
        CODES.dump(attempt.coupons),
        CODES.dump(attempt.cards),
        str(attempt.total_amount),
        *(id for id in attempt.document_ids if id is not None),
        *([] if attempt.payment_method is PaymentMethod.CARD else [attempt.payment_method]),
    )
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


async def open_order(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> OrderRow:
    """Write the order of an attempt, still without its lines.

    The order number is drawn in the same transaction, so numbers have no gaps.
    """
    order = _order(attempt, await _next_number(db, attempt.partner_id), now)
    db.add(order)
    await db.flush()
    return order


async def fill_order(
    db: AsyncSession, order: OrderRow, attempt: AttemptRow, payment: PaymentRow | None, origin: str, now: dt.datetime
) -> None:
    """Issue the vouchers and gift cards of an order, and write its lines. What a network issues is covered by the payment,
    which is recorded before. `origin` is the URL of the shop, stored with each voucher.
    """
    if attempt.is_for_marketplace:
        book_id = payment.book_id if payment else await book_of_partner(db, attempt.partner_id)
        goods = iter(await issue_network_purchases(db, order, attempt, book_id, now))
        attempt.lines = tuple(_with_good(line, next(goods)) if line.is_of_network else line for line in attempt.lines)
    if any(line.voucher or line.gift_card for line in attempt.lines):
        issued = await issue_purchases(db, order, attempt, origin, now)
        attempt.lines = tuple(_with_issued(line, row) for line, row in zip(attempt.lines, issued, strict=True))
    await _write_lines(db, order, attempt.lines)
    _write_parts(db, order, attempt)
    await db.flush()
    if not any(line.voucher for line in attempt.lines):  # which have made their buyer a customer
        buyer = attempt.buyer
        await customer_for(db, order.partner_id, buyer.first_name, buyer.last_name, buyer.email)


def _order(attempt: AttemptRow, number: int, now: dt.datetime) -> OrderRow:
    order = OrderRow(
        partner_id=attempt.partner_id,
        kind=attempt.kind,
        has_network_lines=attempt.is_for_marketplace,
        number=number,
        attempt_id=attempt.id,
        created_on=now,
        language=attempt.language,
        cart_id=attempt.cart_id,
        has_goods=any(line.is_goods for line in attempt.lines),
        buyer_first_name=attempt.buyer.first_name,
        buyer_last_name=attempt.buyer.last_name,
        buyer_email=attempt.buyer.email,
        buyer_phone=attempt.buyer.phone,
        message=attempt.buyer.message,
        recipient_name=attempt.buyer.recipient_name,
        delivery_kind=attempt.delivery.kind,
        delivery_name=attempt.delivery.name,
        fulfilment_state=first_state(attempt.delivery.kind),
        currency=attempt.currency,
        products_amount=attempt.products_amount,
        discount_amount=attempt.discount_amount,
        delivery_amount=attempt.delivery_amount,
        total_amount=attempt.total_amount,
        gift_card_amount=attempt.gift_card_amount,
        card_amount=attempt.card_amount,
    )
    order.copy_documents(attempt)
    if attempt.delivery.is_posted_to_buyer:
        order.address_line_1, order.address_line_2 = attempt.buyer.address_line_1, attempt.buyer.address_line_2
        order.postal_code, order.city = attempt.buyer.postal_code, attempt.buyer.city
        order.country = attempt.buyer.country
    if attempt.buyer.company_name:
        _name_company(order, attempt.buyer)
    return order


def _name_company(order: OrderRow, buyer: Buyer) -> None:
    """Write the company that buys. Without an address of its own it has that of the delivery."""
    order.billing_company_name, order.billing_vat_id = buyer.company_name, buyer.vat_id
    for name in ("line_1", "line_2", "postal_code", "city", "country"):
        delivered = getattr(buyer, f"address_{name}" if name.startswith("line") else name)
        setattr(order, f"billing_{name}", getattr(buyer, f"billing_{name}") if buyer.billing_line_1 else delivered)


def _with_issued(line: AttemptLine, row: VoucherRow | GiftCardRow | None) -> AttemptLine:
    if isinstance(row, VoucherRow):
        return replace(line, voucher_id=row.id)
    return replace(line, gift_card_id=row.id) if row else line


def _with_good(line: AttemptLine, row: NetworkGood) -> AttemptLine:
    if isinstance(row, NetworkVoucherRow):
        return replace(line, network_voucher_id=row.id)
    return replace(line, network_gift_card_id=row.id)


async def _next_number(db: AsyncSession, partner_id: int) -> int:
    counted = update(PartnerRow).where(col(PartnerRow.id) == partner_id)
    counted = counted.values(last_order_number=col(PartnerRow.last_order_number) + 1)
    result = await db.exec(counted.returning(col(PartnerRow.last_order_number)))
    return int(result.scalar_one())


async def _write_lines(db: AsyncSession, order: OrderRow, lines: Sequence[AttemptLine]) -> None:
    """Write the lines in two statements: until the commit, other orders of this partner wait for the order number."""
    variants = [_variant(order, line) for line in lines]
    network_id = await _network_of(db, order) if any(line.is_of_network for line in lines) else None
    db.add_all(variant for variant in variants if variant is not None)
    await db.flush()
    db.add_all(
        _product(order, line, variant, off, network_id)
        for line, variant, off in zip(lines, variants, _discounts(order, lines), strict=True)
    )


async def _network_of(db: AsyncSession, order: OrderRow) -> int:
    query = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == order.partner_id)
    return (await db.exec(query)).one()


def _discounts(order: OrderRow, lines: Sequence[AttemptLine]) -> Sequence[Decimal]:
    """The discount of each line. Of attempts that do not tell them, in proportion."""
    known = [line.discount for line in lines if line.discount is not None]
    if len(known) == len(lines):
        return known
    return split_proportionally(order.discount_amount, [line.total for line in lines])


def _variant(order: OrderRow, line: AttemptLine) -> OrderVariantRow | None:
    if not line.details:
        return None
    return OrderVariantRow(
        partner_id=order.partner_id,
        order_id=order.id,
        variant_id=line.variant_id,
        name=line.variant,
        choices=line.choices,
    )


def _product(
    order: OrderRow, line: AttemptLine, variant: OrderVariantRow | None, off: Decimal, network_id: int | None
) -> OrderProductRow:
    return OrderProductRow(
        partner_id=order.partner_id,
        order_id=order.id,
        product_id=line.product_id,
        voucher_id=line.voucher_id,
        gift_card_id=line.gift_card_id,
        network_gift_card_id=line.network_gift_card_id,
        network_voucher_id=line.network_voucher_id,
        network_id=network_id if line.is_of_network else None,
        order_variant_id=variant.id if variant else None,
        name=line.name,
        quantity=line.quantity,
        unit_price_amount=line.unit_price,
        total_amount=line.total,
        discount_amount=off,
        vat_rate=line.vat_rate,
        picture_url=line.picture_url,
        currency=order.currency,
    )


def _write_parts(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    of_order: dict[str, Any] = {"partner_id": order.partner_id, "order_id": order.id, "currency": order.currency}
    for vat in attempt.vat:
        amounts: dict[str, Any] = {"net_amount": vat.net, "vat_amount": vat.vat, "gross_amount": vat.gross}
        db.add(OrderVatRow(**of_order, rate=vat.rate, **amounts))
    for coupon in attempt.coupons:
        db.add(OrderDiscountRow(**of_order, coupon_id=coupon.id, code=coupon.code, discount_amount=coupon.amount))


async def paying_cards(db: AsyncSession, attempt: AttemptRow) -> Mapping[int, tuple[int, Decimal]]:
    """The gift cards that pay a part of an attempt: id -> (id of the wallet, amount), in the order of the codes."""
    amounts = {card.id: card.amount for card in attempt.cards}
    query = select(col(GiftCardRow.id), col(GiftCardRow.wallet_id)).where(col(GiftCardRow.id).in_(amounts))
    wallets = dict((await db.exec(query)).all())
    return {card_id: (wallets[card_id], amount) for card_id, amount in amounts.items()}
