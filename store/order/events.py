"""Emits the order and cart events. `schema.event.EVENT_DATA_KEYS` documents their data."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.cart.ecommerce_cart import CART_LIFETIME, EPOCH
from schema.event import EventType
from schema.order.fulfilment import FulfilmentState
from store.cart.carts import ExpiredCart
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine


async def emit_order_events(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    """Emit `order.created`, `order.paid` and, for a cart, `cart.completed`, in the order's transaction.

    Baskets exist in Coffret's shop only, so they have no cart events.
    """
    about: dict[str, Any] = {"partner_id": order.partner_id, "unique_key": str(attempt.id)}
    events = [
        NewEvent(EventType.ORDER_CREATED, str(order.id), _order_created_data(order, attempt), **about),
        NewEvent(EventType.ORDER_PAID, str(order.id), _order_paid_data(order), **about),
    ]
    if attempt.orders_cart:
        done = _cart_completed_data(order, attempt)
        events.append(NewEvent(EventType.CART_COMPLETED, str(order.cart_id), done, **about))
    await emit(db, *events)


async def emit_fulfilment_changed(db: AsyncSession, order: OrderRow, old: FulfilmentState, now: dt.datetime) -> None:
    """Emit `order.fulfilment_changed` in the transaction that changes the state or the tracking of a locked order."""
    assert order.fulfilment_state is not None
    data = {
        **_order_reference(order),
        "delivery_kind": order.delivery_kind.value,
        "old_state": old.value,
        "state": order.fulfilment_state.value,
        "changed_on": datetime_data(now),
        "carrier": order.fulfilment_carrier,
        "tracking_number": order.fulfilment_tracking_number,
        "tracking_url": order.fulfilment_tracking_url,
    }
    await emit(db, NewEvent(EventType.ORDER_FULFILMENT_CHANGED, str(order.id), data, partner_id=order.partner_id))


async def emit_details_corrected(db: AsyncSession, order: OrderRow, now: dt.datetime) -> None:
    """Emit `order.details_corrected` in the transaction that corrects a locked order."""
    data = {
        **_order_reference(order),
        "buyer": _buyer_data(order),
        "recipient_name": order.recipient_name or None,
        "address": _address_data(order),
        "changed_on": datetime_data(now),
    }
    await emit(db, NewEvent(EventType.ORDER_DETAILS_CORRECTED, str(order.id), data, partner_id=order.partner_id))


async def emit_cart_expired(db: AsyncSession, partner_id: int, cart: ExpiredCart) -> None:
    """Emit `cart.expired`. Repeated calls for the same version of a cart emit one event."""
    data = _cart_expired_data(cart)
    once = f"{cart.id}:{cart.last_modified}"
    await emit(db, NewEvent(EventType.CART_EXPIRED, str(cart.id), data, partner_id=partner_id, unique_key=once))


def _order_created_data(order: OrderRow, attempt: AttemptRow) -> Mapping[str, Any]:
    return {
        **_order_reference(order),
        "kind": order.kind.value,
        "created_on": datetime_data(order.created_on),
        "language": order.language,
        "return_url": attempt.return_url or None,
        "message": order.message,
        "buyer": _buyer_data(order),
        "delivery": {
            "kind": order.delivery_kind.value,
            "name": order.delivery_name.model_dump(exclude_none=True),
            "recipient_name": order.recipient_name,
            "address": _address_data(order),
        },
        "products": [_product_data(line, order.currency) for line in attempt.lines],
        "products_total": money_data(order.products_amount, order.currency),
        "discount_total": money_data(order.discount_amount, order.currency),
        "delivery_total": money_data(order.delivery_amount, order.currency),
        "total": money_data(order.total_amount, order.currency),
    }


def _order_paid_data(order: OrderRow) -> Mapping[str, Any]:
    return {
        **_order_reference(order),
        "total": money_data(order.total_amount, order.currency),
        "gift_card_total": money_data(order.gift_card_amount, order.currency),
        "card_total": money_data(order.card_amount, order.currency),
    }


def _cart_completed_data(order: OrderRow, attempt: AttemptRow) -> Mapping[str, Any]:
    return {
        "id": str(order.cart_id),
        "last_modified": attempt.cart_last_modified,
        "return_url": attempt.return_url or None,
        "order_id": order.id,
        "order_uuid": str(order.uuid),
        "order_number": order.number,
    }


def _cart_expired_data(cart: ExpiredCart) -> Mapping[str, Any]:
    items, return_url = cart.content or (None, None)
    return {
        "id": str(cart.id),
        "last_modified": cart.last_modified,
        "expired_on": datetime_data(EPOCH + dt.timedelta(milliseconds=cart.last_modified) + CART_LIFETIME),
        "return_url": return_url or None,
        "items": None
        if items is None
        else [{"product_id": i.product_id, "variant_id": i.variant_id, "quantity": i.quantity} for i in items],
    }


def _buyer_data(order: OrderRow) -> Mapping[str, Any]:
    return {
        "first_name": order.buyer_first_name,
        "last_name": order.buyer_last_name,
        "email": order.buyer_email,
        "phone": order.buyer_phone,
    }


def _order_reference(order: OrderRow) -> Mapping[str, Any]:
    return {"id": order.id, "uuid": str(order.uuid), "number": order.number, "cart_id": str(order.cart_id)}


def _address_data(order: OrderRow) -> Mapping[str, Any] | None:
    if order.address_line_1 is None:
        return None
    return {
        "line_1": order.address_line_1,
        "line_2": order.address_line_2,
        "postal_code": order.postal_code,
        "city": order.city,
        "country": order.country,
    }


def _product_data(line: AttemptLine, currency: str) -> Mapping[str, Any]:
    return {
        "product_id": line.product_id,
        "variant_id": line.variant_id,
        "name": line.name.model_dump(exclude_none=True),
        "variant": line.variant.model_dump(exclude_none=True) if line.variant else None,
        "choices": line.choices.model_dump(exclude_none=True) if line.choices else None,
        "quantity": line.quantity,
        "vat_rate": str(line.vat_rate),
        "voucher_id": line.voucher_id,
        "gift_card_id": line.gift_card_id,
        "network_gift_card_id": line.network_gift_card_id,
        "network_voucher_id": line.network_voucher_id,
        "unit_price": money_data(line.unit_price, currency),
        "total": money_data(line.total, currency),
    }
