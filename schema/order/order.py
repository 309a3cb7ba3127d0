"""Orders: what was sold, with the names and prices at the time of the order."""

import datetime as dt
from decimal import Decimal
from uuid import UUID, uuid4

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.checkout.checkout import ShopKind
from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.field_permission import NOBODY, FieldPermission
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.permission import Permission
from schema.core.resource import EmbeddedColumns, SchemaModel, computed, embedded, embedded_type, relation, relations
from schema.core.text import Text, translated_text_column
from schema.delivery.delivery import DeliveryKind
from schema.gift_card.gift_card import GiftCard
from schema.legal.legal_document import LegalDocument
from schema.order.fulfilment import OrderFulfilment
from schema.order.timeline import OrderTimelineEntry
from schema.voucher.voucher import Voucher


@graphql_enum
class OrderStatus(DescribedEnum):
    """The status of an order."""

    PAID = "paid", "It is paid."
    REFUNDED = "refunded", "It is refunded in full."
    DISPUTED = "disputed", "Its buyer's bank has taken the money back, or is about to."
    CHARGED_BACK = "charged_back", "A dispute was lost: its buyer's bank has taken the money back for good."


@strawberry.pydantic.type(description="The variant and the chosen attribute values of a sold product.")
class OrderVariant(SchemaModel):
    id: int = id_column("The row's id.")
    variant_id: int | None = Field(default=None, description="The variant's id; null for a product without variants.")
    name: Text | None = translated_text_column(
        "The variant's name at the time of the order; null for a product without variants.", default=None, nullable=True
    )
    choices: Text | None = translated_text_column(
        "The chosen attribute values, as `Colour: sage · Ribbon: gold`; null if none.", default=None, nullable=True
    )
    partner = partner_relation()


@strawberry.pydantic.type(
    description="A line of an order: a product, a voucher, a gift card, or a gift card or voucher of the network."
)
class OrderProduct(SchemaModel):
    id: int = id_column("The line's id.")
    product_id: int | None = Field(default=None, description="The product's id; null for all other lines.")
    voucher = relation(
        Voucher,
        by="voucher_id",
        description="The issued voucher; null for other lines. Requires `permissions.view_voucher`.",
        nullable=True,
        field_permission=FieldPermission(Permission.VIEW_VOUCHER, owner_columns=()),
    )
    gift_card = relation(
        GiftCard,
        by="gift_card_id",
        description="The issued gift card; null for other lines. Requires `permissions.view_giftcard`.",
        nullable=True,
        field_permission=FieldPermission(Permission.VIEW_GIFT_CARD, owner_columns=()),
    )
    network_gift_card = relation(
        "schema.network.gift_card:NetworkGiftCard",
        by="network_gift_card_id",
        description="The issued gift card of the network; null for other lines, and for users of a partner. Requires "
        "`permissions.use_network_giftcard_api`.",
        nullable=True,
        field_permission=FieldPermission(Permission.USE_NETWORK_GIFT_CARD, owner_columns=(NOBODY, "network_id")),
    )
    network_voucher = relation(
        "schema.network.voucher:NetworkVoucher",
        by="network_voucher_id",
        description="The issued voucher of the network; null for other lines, and for users of a partner. Requires "
        "`permissions.view_network_voucher`.",
        nullable=True,
        field_permission=FieldPermission(Permission.VIEW_NETWORK_VOUCHER, owner_columns=(NOBODY, "network_id")),
    )
    name: Text = translated_text_column("The name at the time of the order.")
    quantity: int = Field(description="The quantity.")
    unit_price_amount: Decimal = money_column()
    unit_price = money("unit_price_amount", description="The unit price at the time of the order, VAT included.")
    total_amount: Decimal = money_column()
    total = money("total_amount", description="quantity × unit price, before discounts.")
    discount_amount: Decimal = money_column(default=Decimal("0.00"))
    discount = money(
        "discount_amount", description="Its part of the order's discounts. `total` less this was paid for it."
    )
    refunded_quantity: int = Field(default=0, description="How many of it were refunded, or are promised to be.")
    refunded_amount: Decimal = money_column(default=Decimal("0.00"))
    refunded = money("refunded_amount", description="What was refunded of it, or is promised to be.")
    refunds = relations(
        "schema.order.order:RefundLine", by="order_product_id", description="Its refunds, oldest first."
    )
    vat_rate: Decimal = Field(sa_type=Numeric(5, 2), description="VAT rate in percent, included in the price.")
    picture_address = derived(
        str,
        ("picture_url",),
        "The URL of the picture at the time of the order, on this service; empty if none.",
        name="pictureUrl",
    )
    variant = relation(
        OrderVariant, by="order_variant_id", description="The variant and the chosen attribute values.", nullable=True
    )
    partner = partner_relation()


@strawberry.pydantic.type(description="What a refund gives back for a line of an order.")
class RefundLine(SchemaModel):
    id: int = id_column("The row's id.")
    quantity: int = Field(description="How many of the line are refunded; 0 for what was still owed for others.")
    line_amount: Decimal = money_column()
    amount = money("line_amount", description="What is refunded for them.")
    line = relation(OrderProduct, by="order_product_id", description="The line of the order.")
    refund = relation("schema.payment.payment:Refund", by="refund_id", description="The refund.")
    partner = partner_relation()


@strawberry.pydantic.type(description="The VAT of an order at one rate.")
class OrderVat(SchemaModel):
    id: int = id_column("The row's id.")
    rate: Decimal = Field(sa_type=Numeric(5, 2), description="VAT rate in percent.")
    net_amount: Decimal = money_column()
    net = money("net_amount", description="The amount without VAT.")
    vat_amount: Decimal = money_column()
    vat = money("vat_amount", description="The VAT.")
    gross_amount: Decimal = money_column()
    gross = money("gross_amount", description="The amount with VAT.")
    partner = partner_relation()


@strawberry.pydantic.type(description="A coupon used by an order.")
class OrderDiscount(SchemaModel):
    id: int = id_column("The row's id.")
    coupon_id: int = Field(description="The coupon's id.")
    code: str = Field(max_length=40, description="The code as the customer typed it.")
    discount_amount: Decimal = money_column()
    amount = money("discount_amount", description="The amount it deducted.")
    partner = partner_relation()


@embedded_type("The buyer of an order.", prefix="buyer_")
class OrderBuyer(EmbeddedColumns):
    buyer_first_name: str = Field(default="", max_length=80, description="First name.")
    buyer_last_name: str = Field(default="", max_length=80, description="Last name.")
    buyer_email: str = Field(default="", max_length=254, description="E-mail address.")
    buyer_phone: str = Field(default="", max_length=40, description="Telephone number; empty if not given.")


@embedded_type("A postal address.", prefix="address_", unless_null="address_line_1")
class PostalAddress(EmbeddedColumns):
    address_line_1: str | None = Field(default=None, max_length=120, description="Street and number.")
    address_line_2: str | None = Field(
        default=None, max_length=120, description="Building, floor or company; empty if none."
    )
    postal_code: str | None = Field(default=None, max_length=20, description="Postal code.")
    city: str | None = Field(default=None, max_length=80, description="Town.")
    country: str | None = Field(default=None, max_length=2, description="ISO 3166 alpha-2 code.")


@embedded_type(
    "The company that an order was bought by: what its invoice says about it.",
    prefix="billing_",
    unless_null="billing_company_name",
)
class OrderBilling(EmbeddedColumns):
    billing_company_name: str | None = Field(default=None, max_length=160, description="Name of the company.")
    billing_vat_id: str | None = Field(default=None, max_length=40, description="Its VAT number; empty if not given.")
    billing_line_1: str | None = Field(default=None, max_length=120, description="Street and number.")
    billing_line_2: str | None = Field(
        default=None, max_length=120, description="Building, floor or department; empty if none."
    )
    billing_postal_code: str | None = Field(default=None, max_length=20, description="Postal code.")
    billing_city: str | None = Field(default=None, max_length=80, description="Town.")
    billing_country: str | None = Field(default=None, max_length=2, description="ISO 3166 alpha-2 code.")


@embedded_type("The delivery of an order.", prefix="delivery_")
class OrderDelivery(EmbeddedColumns):
    delivery_kind: DeliveryKind = enum_column(DeliveryKind, "The kind of delivery.")
    delivery_name: Text = translated_text_column("The delivery mode's name at the time of the order.")
    recipient_name: str = Field(
        default="", max_length=160, description="The recipient of the parcel; empty if it is the buyer."
    )
    address = embedded(
        PostalAddress,
        "The address for home delivery; null for other kinds, and if it is sent to the giftees.",
        nullable=True,
    )


@strawberry.pydantic.type(description="A customer's order in a partner's shop.")
class Order(SchemaModel):
    id: int = id_column("The order's id.")
    uuid: UUID = Field(
        default_factory=uuid4, unique=True, description="The order's uuid, which does not reveal the number of orders."
    )
    number: int = Field(description="The order's number: 1, 2, 3 … per partner, without gaps.")
    status: OrderStatus = enum_column(OrderStatus, "The order's status.", default=OrderStatus.PAID)
    kind: ShopKind = enum_column(ShopKind, "What was ordered.", default=ShopKind.PRODUCTS)
    created_on: dt.datetime = datetime_column("When it was created.")
    language: str = Field(default="en", max_length=2, description="The buyer's language.")
    cart_id: UUID = Field(description="The id of the cart or basket it was created from.")
    message: str = Field(default="", max_length=1000, description="The buyer's message; empty if none.")
    buyer = embedded(OrderBuyer, "The buyer.")
    billing = embedded(
        OrderBilling,
        "The company that has bought; null if the buyer is a person. It stays when the data of the buyer are "
        "erased, as invoices have to be kept.",
        nullable=True,
    )
    personal_data_erased_on: dt.datetime | None = datetime_column(
        "When the buyer's data were erased; null if they were not.", default=None, nullable=True
    )
    delivery = embedded(OrderDelivery, "How it is delivered.")
    fulfilment = embedded(
        OrderFulfilment,
        "How far staff are with what is handed over or sent; null for orders that are delivered by e-mail, and for those from "
        "before this was recorded.",
        nullable=True,
    )
    packing_slip_url = derived(
        str | None,
        ("id", "fulfilment_state"),
        "The URL of the packing slip (PDF), without prices, in the buyer's language. Anyone who has it can read it. It works "
        "for an hour at least. Null if there is no `fulfilment`.",
    )
    products = relations(OrderProduct, by="order_id", description="The lines of the order.")
    vat = relations(OrderVat, by="order_id", description="The included VAT, one entry per rate.", order="rate")
    discounts = relations(OrderDiscount, by="order_id", description="The coupons it used.")
    payments = relations(
        "schema.payment.payment:Payment",
        by="order_id",
        description="The payments of the order, with their sources and refunds.",
        order="created_on",
    )
    refund_requests = relations(
        "schema.order.refund_request:RefundRequest",
        by="order_id",
        description="What its buyer has asked for: to withdraw from the contract, or for a refund. Oldest first.",
    )
    products_amount: Decimal = money_column()
    products_total = money("products_amount", description="The total of the lines, before discounts.")
    discount_amount: Decimal = money_column()
    discount_total = money("discount_amount", description="The total that coupons deducted.")
    delivery_amount: Decimal = money_column()
    delivery_total = money("delivery_amount", description="The price of delivery.")
    delivery_refunded_amount: Decimal = money_column(default=Decimal("0.00"))
    delivery_refunded = money(
        "delivery_refunded_amount", description="What was refunded of the price of delivery, or is promised to be."
    )
    total_amount: Decimal = money_column()
    total = money("total_amount", description="products − discount + delivery.")
    gift_card_amount: Decimal = money_column()
    gift_card_total = money("gift_card_amount", description="The part that was paid with gift cards.")
    card_amount: Decimal = money_column()
    card_total = money("card_amount", description="The part that was paid by bank card.")
    terms = relation(
        LegalDocument,
        by="terms_id",
        description="The terms of sale that its buyer accepted; null if none.",
        nullable=True,
    )
    privacy_policy = relation(
        LegalDocument,
        by="privacy_policy_id",
        description="The privacy policy that its buyer was shown; null if none.",
        nullable=True,
    )
    withdrawal_policy = relation(
        LegalDocument,
        by="withdrawal_policy_id",
        description="The information about the right of withdrawal that its buyer was shown; null if none.",
        nullable=True,
    )
    timeline = computed(
        list[OrderTimelineEntry],
        "What has happened to it, oldest first. Messages are among it for callers with `permissions.view_mail`.",
    )
    page_url = derived(
        str | None,
        ("uuid", "kind", "has_network_lines"),
        "The URL of the page where its buyer finds everything about it, with the codes of what was bought: whoever has it "
        "sees them. Null for who may not see these.",
    )
    partner = partner_relation()
