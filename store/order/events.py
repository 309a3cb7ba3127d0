"""What shops are told of their orders and carts: the events, and the data that `schema.event.DATA` documents of each."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.cart.ecommerce_cart import CART_LIFE, EPOCH
from schema.checkout.checkout import ShopKind
from schema.event import EventType
from store.cart.carts import ExpiredCart
from store.event.data import told_moment, told_money
from store.event.events import emit
from store.order.orders import OrderRow
from store.payment import AttemptRow


async def tell_of_order(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    """Tell of a paid order, in the transaction that makes it: that there is one, that it is paid, what became of its cart.

    Bags of vouchers and gift cards are no carts: nobody handed them over, and nobody waits to hear of them.
    """
    about: dict[str, Any] = {"partner_id": order.partner_id, "once": str(attempt.id)}
    await emit(db, EventType.ORDER_CREATED, subject=str(order.id), data=_created(order, attempt), **about)
    await emit(db, EventType.ORDER_PAID, subject=str(order.id), data=_paid(order), **about)
    if order.kind is ShopKind.PRODUCTS:
        await emit(db, EventType.CART_COMPLETED, subject=str(order.cart_id), data=_completed(order, attempt), **about)


async def tell_of_expiry(db: AsyncSession, partner_id: int, cart: ExpiredCart) -> None:
    """Tell of a cart that has expired. However often, and by however many, it is one event."""
    data = _expired(cart)
    once = f"{cart.id}:{cart.last_modified}"
    await emit(db, EventType.CART_EXPIRED, partner_id=partner_id, subject=str(cart.id), data=data, once=once)


def _created(order: OrderRow, attempt: AttemptRow) -> Mapping[str, Any]:
    return {
        **_which(order),
        "kind": order.kind.value,
        "created_on": told_moment(order.created_on),
        "language": order.language,
        "return_url": attempt.return_url or None,
        "message": order.message,
        "buyer": {
            "first_name": order.buyer_first_name,
            "last_name": order.buyer_last_name,
            "email": order.buyer_email,
            "phone": order.buyer_phone,
        },
        "delivery": {
            "kind": order.delivery_kind.value,
            "name": order.delivery_name.model_dump(exclude_none=True),
            "recipient_name": order.recipient_name,
            "address": _address(order),
        },
        "products": [_product(line, order.currency) for line in attempt.lines],
        "products_total": told_money(order.products_amount, order.currency),
        "discount_total": told_money(order.discount_amount, order.currency),
        "delivery_total": told_money(order.delivery_amount, order.currency),
        "total": told_money(order.total_amount, order.currency),
    }


def _paid(order: OrderRow) -> Mapping[str, Any]:
    return {
        **_which(order),
        "total": told_money(order.total_amount, order.currency),
        "gift_card_total": told_money(order.gift_card_amount, order.currency),
        "card_total": told_money(order.card_amount, order.currency),
    }


def _completed(order: OrderRow, attempt: AttemptRow) -> Mapping[str, Any]:
    return {
        "id": str(order.cart_id),
        "last_modified": attempt.cart_last_modified,
        "return_url": attempt.return_url or None,
        "order_id": order.id,
        "order_uuid": str(order.uuid),
        "order_number": order.number,
    }


def _expired(cart: ExpiredCart) -> Mapping[str, Any]:
    items, return_url = cart.content or (None, None)
    return {
        "id": str(cart.id),
        "last_modified": cart.last_modified,
        "expired_on": told_moment(EPOCH + dt.timedelta(milliseconds=cart.last_modified) + CART_LIFE),
        "return_url": return_url or None,
        "items": None
        if items is None
        else [{"product_id": i.product_id, "variant_id": i.variant_id, "quantity": i.quantity} for i in items],
    }


def _which(order: OrderRow) -> Mapping[str, Any]:
    return {"id": order.id, "uuid": str(order.uuid), "number": order.number, "cart_id": str(order.cart_id)}


def _address(order: OrderRow) -> Mapping[str, Any] | None:
    if order.address_line_1 is None:
        return None
    return {
        "line_1": order.address_line_1,
        "line_2": order.address_line_2,
        "postal_code": order.postal_code,
        "city": order.city,
        "country": order.country,
    }


def _product(line: Mapping[str, Any], currency: str) -> Mapping[str, Any]:
    named = ("product_id", "variant_id", "name", "variant", "choices", "quantity", "vat_rate")
    return {
        **{key: line[key] for key in named},
        **{key: line.get(key) for key in ("voucher_id", "gift_card_id")},
        "unit_price": told_money(Decimal(line["unit_price"]), currency),
        "total": told_money(Decimal(line["total"]), currency),
    }
