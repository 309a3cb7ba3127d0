"""Orders: what was sold, with the names and prices of the day."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.checkout.checkout import ShopKind
from schema.core.derived import derived
from schema.core.field_permission import Guard
from schema.core.ownership import of_partner
from schema.core.permission import Permission
from schema.core.resource import (
    ClosedSet,
    Fields,
    Text,
    choice,
    closed_set,
    embedded,
    inline,
    moment,
    money,
    relation,
    relations,
    text,
)
from schema.delivery import DeliveryKind
from schema.gift_card.gift_card import GiftCard
from schema.voucher.voucher import Voucher


@closed_set
class OrderStatus(ClosedSet):
    """Where an order stands."""

    PAID = "paid", "It is paid."
    REFUNDED = "refunded", "All of its money went back."


@closed_set
class PaymentStatus(ClosedSet):
    """Where the money of a payment stands."""

    IN_PROGRESS = "ip", "It is not known yet whether it arrives."
    OK = "ok", "It has arrived."
    ERROR = "err", "It did not arrive."
    CANCELLED = "cncl", "The buyer gave up."


@closed_set
class PaymentMethod(ClosedSet):
    """Where the money of a payment came from."""

    CREDIT_CARD = "credit_card", "A bank card."
    GIFT_CARD = "gift_card", "A gift card of the partner."


@strawberry.pydantic.type(description="The version and the choices of a product that was sold.")
class OrderVariant(Fields):
    """The version and the choices of a product that was sold."""

    id: int = Field(description="Its id.")
    variant_id: int | None = Field(default=None, description="The variant; null for a product without variants.")
    name: Text | None = text("Its name that day; null for a product without variants.", default=None, nullable=True)
    choices: Text | None = text(
        "What was chosen, as `Colour: sage; Ribbon: gold`; null for nothing.", default=None, nullable=True
    )
    partner = of_partner()


@strawberry.pydantic.type(description="A line of an order: a product, a voucher or a gift card that was sold.")
class OrderProduct(Fields):
    """A line of an order."""

    id: int = Field(description="Its id.")
    product_id: int | None = Field(default=None, description="The product; null for vouchers and gift cards.")
    voucher = relation(
        Voucher,
        by="voucher_id",
        description="The voucher that was issued; null for what is none. Takes `permissions.view_voucher`.",
        nullable=True,
        guard=Guard(Permission.VIEW_VOUCHER, owner=()),
    )
    gift_card = relation(
        GiftCard,
        by="gift_card_id",
        description="The gift card that was issued; null for what is none. Takes `permissions.view_giftcard`.",
        nullable=True,
        guard=Guard(Permission.VIEW_GIFT_CARD, owner=()),
    )
    name: Text = text("Its name that day.")
    quantity: int = Field(description="How many.")
    unit_price = money("unit_price_amount", description="What one cost that day, VAT included.")
    total = money("total_amount", description="quantity × unit price, before discounts.")
    vat_rate: Decimal = Field(sa_type=Numeric(5, 2), description="Per cent of VAT contained in the price.")
    picture_address = derived(
        str, ("picture_url",), "The address of its picture that day, on this service; empty: none.", name="pictureUrl"
    )
    variant = relation(
        OrderVariant, by="order_variant_id", description="Which version, and what was chosen.", nullable=True
    )
    partner = of_partner()


@strawberry.pydantic.type(description="The VAT of one rate contained in an order.")
class OrderVat(Fields):
    """The VAT of one rate contained in an order."""

    id: int = Field(description="Its id.")
    rate: Decimal = Field(sa_type=Numeric(5, 2), description="Per cent.")
    net = money("net_amount", description="Without VAT.")
    vat = money("vat_amount", description="The VAT.")
    gross = money("gross_amount", description="With VAT.")
    partner = of_partner()


@strawberry.pydantic.type(description="A coupon that an order used.")
class OrderDiscount(Fields):
    """A coupon that an order used."""

    id: int = Field(description="Its id.")
    coupon_id: int = Field(description="The coupon.")
    code: str = Field(max_length=40, description="What was typed.")
    amount = money("discount_amount", description="What it took off.")
    partner = of_partner()


@strawberry.pydantic.type(description="Money that paid for an order, from one source.")
class OrderPayment(Fields):
    """Money that paid for an order, from one source."""

    id: UUID = Field(description="Its id.")
    method: PaymentMethod = choice(PaymentMethod, "Where the money came from.")
    status: PaymentStatus = choice(PaymentStatus, "Where the money stands.")
    amount = money("paid_amount", description="How much.")
    gift_card_id: int | None = Field(default=None, description="The gift card; null where it was none.")
    created_on: dt.datetime = moment("When it was begun.")
    partner = of_partner()


@strawberry.pydantic.type(description="Who bought something.")
class OrderBuyer(BaseModel):
    """Who bought something."""

    first_name: str = Part(description="First name.")
    last_name: str = Part(description="Last name.")
    email: str = Part(description="E-mail address.")
    phone: str = Part(description="Telephone number; empty: not told.")


@strawberry.pydantic.type(description="Where the post goes.")
class PostalAddress(BaseModel):
    """Where the post goes."""

    line_1: str = Part(description="Street and number.")
    line_2: str = Part(description="Building, floor, company; empty: nothing.")
    postal_code: str = Part(description="Postal code.")
    city: str = Part(description="Town.")
    country: str = Part(description="ISO 3166 alpha-2 code.")


@strawberry.pydantic.type(description="How an order reaches the customer.")
class OrderDelivery(BaseModel):
    """How an order reaches the customer."""

    kind: DeliveryKind = Part(description="How goods reach the customer.")
    name: Text = Part(description="The delivery mode's name that day.")
    recipient_name: str = Part(description="Who gets the parcel; empty: the buyer.")
    address: PostalAddress | None = Part(
        description="Where home delivery goes; null for other kinds, and where it goes to those it is for."
    )


@strawberry.pydantic.type(description="What a customer bought in a partner's shop.")
class Order(Fields):
    """What a customer bought in a partner's shop."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid, which tells nothing of how many there are.")
    number: int = Field(description="Its number: 1, 2, 3 … without gaps for each partner.")
    status: OrderStatus = choice(OrderStatus, "Where it stands.", default=OrderStatus.PAID)
    kind: ShopKind = choice(ShopKind, "What it is an order of.", default=ShopKind.PRODUCTS)
    created_on: dt.datetime = moment("When it was made.")
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    cart_id: UUID = Field(description="The cart or the bag it came from.")
    message: str = Field(default="", max_length=1000, description="What the buyer wrote; empty: nothing.")
    buyer = embedded(inline(OrderBuyer, prefix="buyer_"), "Who bought it.")
    delivery = embedded(
        inline(
            OrderDelivery,
            {
                "recipient_name": "recipient_name",
                "address": inline(
                    PostalAddress,
                    {"line_1": "address_line_1", "line_2": "address_line_2"},
                    unless_null="address_line_1",
                ),
            },
            prefix="delivery_",
        ),
        "How it reaches the customer.",
    )
    products = relations(OrderProduct, by="order_id", description="What was sold.")
    vat = relations(OrderVat, by="order_id", description="The VAT it contains, a rate each.", order="rate")
    discounts = relations(OrderDiscount, by="order_id", description="The coupons it used.")
    payments = relations(OrderPayment, by="order_id", description="The money that paid for it.", order="created_on")
    products_total = money("products_amount", description="The products, before discounts.")
    discount_total = money("discount_amount", description="What coupons took off.")
    delivery_total = money("delivery_amount", description="What delivery cost.")
    total = money("total_amount", description="products − discount + delivery.")
    gift_card_total = money("gift_card_amount", description="What gift cards paid.")
    card_total = money("card_amount", description="What a card paid.")
    partner = of_partner()
