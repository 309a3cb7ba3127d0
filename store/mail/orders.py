"""The content of messages about orders, from their rows."""

from collections.abc import Sequence

from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from store.core.localization.sale_texts import RECEPTION_NAMES
from store.mail.content import (
    BillingContent,
    DeductionContent,
    DeliveryContent,
    FulfilmentContent,
    OrderContent,
    OrderLineContent,
    VatContent,
)
from store.order.orders import OrderRow, address_lines, billing_lines
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine

ALIKE = ("name", "details", "unit_price", "picture")
TO_GIFTEES = frozenset({ReceptionMode.GIFTEE_EMAIL, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY})
TO_BUYER = frozenset({ReceptionMode.EXPEDITION, ReceptionMode.ON_SITE})


def order_content(order: OrderRow, attempt: AttemptRow, time_zone: str) -> OrderContent:
    """The content of an order and its payment attempt."""
    return OrderContent(
        number=order.number,
        ordered_on=order.created_on,
        time_zone=time_zone,
        currency=order.currency,
        first_name=order.buyer_first_name,
        last_name=order.buyer_last_name,
        email=order.buyer_email,
        phone=order.buyer_phone,
        message=order.message,
        billing=_billing(order),
        lines=order_lines_of(attempt),
        delivery=_delivery(order, attempt),
        kind=attempt.kind,
        products_amount=order.products_amount,
        coupons=tuple(DeductionContent(code=coupon.code, amount=coupon.amount) for coupon in attempt.coupons),
        delivery_amount=order.delivery_amount,
        total_amount=order.total_amount,
        gift_cards=tuple(DeductionContent(code=card.code[-4:], amount=card.amount) for card in attempt.cards),
        card_amount=order.card_amount,
        order_page=order.uuid,
        vat=tuple(VatContent(rate=entry.rate, net=entry.net, vat=entry.vat) for entry in attempt.vat),
    )


def fulfilment_content(
    order: OrderRow, attempt: AttemptRow, lines: Sequence[AttemptLine], time_zone: str, *, is_refunded: bool
) -> FulfilmentContent:
    """The content of a message about the state that the fulfilment of these lines of an order has reached."""
    return FulfilmentContent(
        number=order.number,
        ordered_on=order.created_on,
        time_zone=time_zone,
        first_name=order.buyer_first_name,
        lines=_lines_content(lines, attempt),
        delivery=_delivery(order, attempt),
        kind=order.kind,
        carrier=order.fulfilment_carrier,
        tracking_number=order.fulfilment_tracking_number,
        tracking_url=order.fulfilment_tracking_url,
        is_refunded=is_refunded,
        order_page=order.uuid,
    )


def order_lines_of(attempt: AttemptRow) -> tuple[OrderLineContent, ...]:
    """The lines of a payment attempt. Gift cards and boxes of a network that are alike are one."""
    return _lines_content(attempt.lines, attempt)


def _lines_content(lines: Sequence[AttemptLine], attempt: AttemptRow) -> tuple[OrderLineContent, ...]:
    found: list[OrderLineContent] = []
    for line in lines:
        shown = OrderLineContent(
            name=line.name,
            details=(*line.details, *_way(line, attempt)),
            quantity=line.quantity,
            unit_price=line.unit_price,
            total=line.total,
            picture=line.picture_url,
        )
        last = found[-1] if found else None
        if line.is_of_network and last and all(getattr(last, name) == getattr(shown, name) for name in ALIKE):
            more = {"quantity": last.quantity + shown.quantity, "total": last.total + shown.total}
            found[-1] = last.model_copy(update=more)
        else:
            found.append(shown)
    return tuple(found)


def _way(line: AttemptLine, attempt: AttemptRow) -> tuple[Text, ...]:
    """How a line is received, if others of the order are received in another way."""
    is_told = len(attempt.receptions) > 1 or any(each.is_goods for each in attempt.lines)
    return (RECEPTION_NAMES[attempt.reception_of(line.purchase)],) if line.purchase and is_told else ()


def _billing(order: OrderRow) -> BillingContent | None:
    if not order.billing_company_name:
        return None
    return BillingContent(
        company_name=order.billing_company_name,
        vat_id=order.billing_vat_id or "",
        address=billing_lines(order),
        country=order.billing_country or "",
    )


def _delivery(order: OrderRow, attempt: AttemptRow) -> DeliveryContent:
    return DeliveryContent(
        kind=order.delivery_kind,
        name=order.delivery_name,
        description=attempt.delivery.description,
        address=address_lines(order),
        country=order.country or "",
        to_giftees=bool(attempt.receptions & TO_GIFTEES)
        and not attempt.receptions & TO_BUYER
        and not any(line.is_goods for line in attempt.lines),
    )
