"""Sales reports: what was sold in a period, by day and by product."""

import datetime as dt

import strawberry

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.money import Money
from schema.core.text import Text


@graphql_enum
class SoldKind(DescribedEnum):
    """What was sold."""

    PRODUCT = "product", "Goods."
    VOUCHER = "voucher", "Vouchers of experiences."
    GIFT_CARD = "gift_card", "Gift cards of the partner."
    NETWORK_GIFT_CARD = "network_gift_card", "Gift cards of the network."
    BOX = "box", "Boxes of the network."
    DELIVERY = "delivery", "Delivery."
    PAYMENT = "payment", "Payments without an order: those of payment requests and of the API."


@strawberry.type(
    description="What some sales come to. A sale is an order, or a payment without one. Amounts include VAT; discounts are taken "
    "off."
)
class SalesFigures:
    count: int = strawberry.field(description="How many sales they are.")
    gross: Money = strawberry.field(description="What they came to, before refunds.")
    by_gift_card: Money = strawberry.field(
        description="The part of `gross` that was paid with gift cards, whose own sale may have been counted before."
    )
    refunds: Money = strawberry.field(
        description="What was refunded, or was promised to be, whenever it was sold. What a failed refund did not give back is "
        "not in it."
    )
    net: Money = strawberry.field(description="`gross` less `refunds`; below zero if more was refunded than sold.")


@strawberry.type(description="The sales and the refunds of a day.")
class SalesDay:
    day: dt.date = strawberry.field(description="The day, in the report's time zone.")
    figures: SalesFigures = strawberry.field(description="What they come to.")


@strawberry.type(description="What was sold of one product, before refunds.")
class ProductSales:
    kind: SoldKind = strawberry.field(description="What it is.")
    id: int | None = strawberry.field(
        description="The id of the product, of the prototype of vouchers or of the box; null for the other kinds."
    )
    name: Text | None = strawberry.field(description="Its name in the last order of the period; null if it has no id.")
    quantity: int = strawberry.field(description="How many were sold; of delivery, in how many orders.")
    gross: Money = strawberry.field(description="What was paid for them: discounts are taken off.")


@strawberry.type(description="The sales in one currency.")
class CurrencySales:
    currency: str = strawberry.field(description="The currency, ISO 4217.")
    total: SalesFigures = strawberry.field(description="What the sales of the period come to.")
    days: list[SalesDay] = strawberry.field(description="The days of the period, in order; also those without sales.")
    products: list[ProductSales] = strawberry.field(
        description="What was sold, by amount, the most first. The `gross` of all of them together is that of `total`, unless "
        "there are more than `productCount`."
    )


@strawberry.type(
    description="What was sold in a period. Orders count on the day on which they were placed, other payments when their money "
    "came in, refunds when they were promised. Disputes and refills of a marketplace's wallet are not in it, nor what partners "
    "have sold in another mode, live or test, than their present one."
)
class SalesReport:
    first_day: dt.date = strawberry.field(name="from", description="The first day.")
    last_day: dt.date = strawberry.field(name="to", description="The last day.")
    time_zone: str = strawberry.field(
        description="The time zone of the days: that of the marketplace; UTC for several marketplaces."
    )
    currencies: list[CurrencySales] = strawberry.field(
        description="The sales by currency, the currency of the marketplace first; with zeros if nothing was sold."
    )
