"""What each kind of message tells, as it was when it was written."""

import datetime as dt
import enum
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from schema.checkout.checkout import ShopKind
from schema.core.resource import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery import DeliveryKind
from schema.mail import MailKind
from store.order.orders import OrderRow
from store.payment import AttemptRow

TO_GIFTEES = (ReceptionMode.GIFTEE_EMAIL, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)


class Content(BaseModel):
    """Data that a template shows. Everything it needs is required: what is missing is found when it is posted."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Line(Content):
    """A line of an order. `details` are the version and the choices."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    unit_price: Decimal
    total: Decimal


class Taken(Content):
    """What a coupon takes off, or a gift card pays; of a gift card only the end of its code is told."""

    code: str
    amount: Decimal


class Vat(Content):
    """The VAT of one rate."""

    rate: Decimal
    net: Decimal
    vat: Decimal


class Delivery(Content):
    """How it reaches the buyer. `address` is empty for what is not sent home."""

    kind: DeliveryKind
    name: Text
    description: Text
    address: tuple[str, ...]
    """The lines above the country."""
    country: str
    """ISO 3166 code; empty without an address."""
    to_giftees: bool = False
    """Whether it goes to those it is for, whose addresses are not told here."""


class OrderContent(Content):
    """An order, for the buyer and for the partner."""

    number: int
    ordered_on: dt.datetime
    time_zone: str
    currency: str
    first_name: str
    last_name: str
    email: str
    phone: str
    message: str
    lines: tuple[Line, ...]
    delivery: Delivery
    kind: ShopKind = ShopKind.PRODUCTS
    """What was bought. Messages that were written before this was told are of products."""
    products_amount: Decimal
    coupons: tuple[Taken, ...]
    delivery_amount: Decimal
    total_amount: Decimal
    gift_cards: tuple[Taken, ...]
    card_amount: Decimal
    vat: tuple[Vat, ...]


class RefundContent(Content):
    """A payment that goes back: what the card was charged, and what it was for."""

    first_name: str
    amount: Decimal
    currency: str
    lines: tuple[Line, ...]


class EndpointContent(Content):
    """An address that events are no longer delivered to."""

    url: str
    endpoint_id: int
    days: int
    """How long it had failed; 0: it answered that it is gone."""


class OnboardingContent(Content):
    """The way of a legal representative to the onboarding page."""

    first_name: str
    """Empty where it is not known."""
    url: str
    is_paid: bool
    """Whether payments are active, so that something is confirmed anew."""
    platform: str = ""
    """The marketplace's name; empty in messages of before it was told."""
    platform_address: str = ""


class GiftRole(enum.StrEnum):
    """What a message tells of vouchers or gift cards, and whom."""

    BOUGHT = "bought"
    """The buyer: here they are, to print."""
    GIVEN = "given"
    """The giftee: here they are, from somebody."""
    SENT_TO_GIFTEE = "sent_to_giftee"
    """The buyer: they were e-mailed to the giftee."""
    POSTED = "posted"
    """The buyer: they come by post."""
    POSTED_TO_GIFTEE = "posted_to_giftee"
    """The buyer: they go to the giftee by post."""
    WAITING = "waiting"
    """The buyer: they are to be collected."""

    @property
    def brings(self) -> bool:
        """Whether the documents come with the message."""
        return self in {GiftRole.BOUGHT, GiftRole.GIVEN}


class GiftItem(Content):
    """A voucher or a gift card. A code is told by its document only."""

    id: int
    name: Text
    """What it is good for; empty of a gift card."""
    value: Decimal | None = None
    """Of a gift card: what it is worth."""
    currency: str = ""
    to: str
    """Whom it is for; empty where nobody is named."""
    sender: str
    """Who gives it; empty where nobody is named."""
    message: str
    expires_on: dt.datetime | None = None


class GiftContent(Content):
    """Vouchers or gift cards of one order, for one addressee. The documents are not here: they are made when it is sent."""

    role: GiftRole
    first_name: str
    """Of whoever reads it; empty where it is not known."""
    giftee_email: str
    """Where they were e-mailed to, for the buyer; empty otherwise."""
    time_zone: str
    items: tuple[GiftItem, ...]


CONTENTS: Mapping[MailKind, type[Content]] = {
    MailKind.ORDER_CONFIRMATION: OrderContent,
    MailKind.NEW_ORDER: OrderContent,
    MailKind.PAYMENT_REFUNDED: RefundContent,
    MailKind.ONBOARDING_LINK: OnboardingContent,
    MailKind.VOUCHER: GiftContent,
    MailKind.GIFT_CARD: GiftContent,
    MailKind.ENDPOINT_DISABLED: EndpointContent,
}


def content_of(kind: MailKind, data: Mapping[str, Any]) -> Content:
    """What a message tells, from its data. Raises pydantic's ValidationError for data of another kind."""
    return CONTENTS[kind].model_validate(data)


def order_content(order: OrderRow, attempt: AttemptRow, time_zone: str) -> OrderContent:
    """An order that an attempt became."""
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
        lines=lines_of(attempt),
        delivery=_delivery(order, attempt),
        kind=attempt.kind,
        products_amount=order.products_amount,
        coupons=tuple(Taken(code=c["code"], amount=Decimal(c["amount"])) for c in attempt.coupons),
        delivery_amount=order.delivery_amount,
        total_amount=order.total_amount,
        gift_cards=tuple(Taken(code=c["code"][-4:], amount=Decimal(c["amount"])) for c in attempt.cards),
        card_amount=order.card_amount,
        vat=tuple(Vat(**{name: Decimal(entry[name]) for name in ("rate", "net", "vat")}) for entry in attempt.vat),
    )


def lines_of(attempt: AttemptRow) -> tuple[Line, ...]:
    """What an attempt is to buy."""
    return tuple(
        Line(
            name=Text(**line["name"]),
            details=tuple(Text(**line[part]) for part in ("variant", "choices") if line[part]),
            quantity=line["quantity"],
            unit_price=Decimal(line["unit_price"]),
            total=Decimal(line["total"]),
        )
        for line in attempt.lines
    )


def _delivery(order: OrderRow, attempt: AttemptRow) -> Delivery:
    to = order.recipient_name or f"{order.buyer_first_name} {order.buyer_last_name}".strip()
    place = f"{order.postal_code or ''} {order.city or ''}".strip()
    lines = (to, order.address_line_1, order.address_line_2, place) if order.country else ()
    return Delivery(
        kind=order.delivery_kind,
        name=order.delivery_name,
        description=Text(**attempt.delivery["description"]),
        address=tuple(line for line in lines if line),
        country=order.country or "",
        to_giftees=attempt.delivery.get("reception") in TO_GIFTEES,
    )
