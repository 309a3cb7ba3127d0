"""Orders: what was sold, with the names and prices of the day."""

import datetime as dt
import enum
from decimal import Decimal
from uuid import UUID

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.delivery import DeliveryKind
from schema.values import Fields, Text, choice, moment, money, relation, relations, text


@strawberry.enum(description="Where an order stands.")
class OrderStatus(enum.StrEnum):
    """Where an order stands."""

    PAID = "paid"
    REFUNDED = "refunded"


@strawberry.enum(description="Where the money of a payment stands.")
class PaymentStatus(enum.StrEnum):
    """Where the money of a payment stands."""

    IN_PROGRESS = "ip"
    OK = "ok"
    ERROR = "err"
    CANCELLED = "cncl"


@strawberry.enum(description="Where the money of a payment came from.")
class PaymentMethod(enum.StrEnum):
    """Where the money of a payment came from."""

    CREDIT_CARD = "credit_card"
    GIFT_CARD = "gift_card"


@strawberry.pydantic.type(description="The version and the choices of a product that was sold.")
class OrderVariant(Fields):
    """The version and the choices of a product that was sold."""

    id: int
    variant_id: int | None = Field(default=None, description="The variant, if it was one.")
    name: Text | None = text("Its name that day; null for a product without variants.", default=None, nullable=True)
    choices: Text | None = text(
        "What was chosen, as `Colour: sage; Ribbon: gold`; null for nothing.", default=None, nullable=True
    )


@strawberry.pydantic.type(description="A product that was sold.")
class OrderProduct(Fields):
    """A product that was sold."""

    id: int
    product_id: int = Field(description="The product.")
    name: Text = text("Its name that day.")
    quantity: int = Field(description="How many.")
    unit_price = money("unit_price_amount", description="What one cost that day, VAT included.")
    total = money("total_amount", description="quantity × unit price, before discounts.")
    vat_rate: Decimal = Field(sa_type=Numeric(5, 2), description="Per cent of VAT contained in the price.")
    picture_url: str = Field(default="", max_length=300)
    variant = relation(
        OrderVariant, by="order_variant_id", description="Which version, and what was chosen.", nullable=True
    )


@strawberry.pydantic.type(description="The VAT of one rate contained in an order.")
class OrderVat(Fields):
    """The VAT of one rate contained in an order."""

    id: int
    rate: Decimal = Field(sa_type=Numeric(5, 2), description="Per cent.")
    net = money("net_amount", description="Without VAT.")
    vat = money("vat_amount", description="The VAT.")
    gross = money("gross_amount", description="With VAT.")


@strawberry.pydantic.type(description="A coupon that an order used.")
class OrderDiscount(Fields):
    """A coupon that an order used."""

    id: int
    coupon_id: int = Field(description="The coupon.")
    code: str = Field(max_length=40, description="What was typed.")
    amount_off = money("amount", description="What it took off.")


@strawberry.pydantic.type(description="Money that paid for an order, from one source.")
class OrderPayment(Fields):
    """Money that paid for an order, from one source."""

    id: UUID
    method: PaymentMethod = choice(PaymentMethod, "Where the money came from.")
    status: PaymentStatus = choice(PaymentStatus, "Where the money stands.")
    money_paid = money("amount", description="How much.")
    gift_card_id: int | None = Field(default=None, description="The gift card, where it was one.")
    created_on: dt.datetime = moment("When it was begun.")


@strawberry.pydantic.type(description="What a customer bought in a partner's shop.")
class Order(Fields):
    """What a customer bought in a partner's shop."""

    id: int
    uuid: UUID
    number: int = Field(description="Its number: 1, 2, 3 … without gaps for each partner.")
    status: OrderStatus = choice(OrderStatus, "Where it stands.", default=OrderStatus.PAID)
    created_on: dt.datetime = moment("When it was made.")
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    cart_id: UUID = Field(description="The cart it came from.")
    buyer_first_name: str = Field(default="", max_length=80)
    buyer_last_name: str = Field(default="", max_length=80)
    buyer_email: str = Field(default="", max_length=254)
    buyer_phone: str = Field(default="", max_length=40)
    message: str = Field(default="", max_length=1000, description="What the buyer wrote.")
    delivery_kind: DeliveryKind = choice(DeliveryKind, "How it reaches the customer.")
    delivery_name: Text = text("The delivery mode's name that day.")
    recipient_name: str = Field(
        default="", max_length=160, description="Who gets the parcel, when it is not the buyer."
    )
    address_line_1: str = Field(default="", max_length=120, description="Where home delivery goes.")
    address_line_2: str = Field(default="", max_length=120)
    postal_code: str = Field(default="", max_length=20)
    city: str = Field(default="", max_length=80)
    country: str = Field(default="", max_length=2, description="ISO 3166 alpha-2.")
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
