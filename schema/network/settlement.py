"""Settlement statements: what a network owes its partners for usages, by period."""

import datetime as dt

import strawberry

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.money import Money
from schema.core.resource import relation
from schema.partner.partner import Partner


@graphql_enum
class SettledProduct(DescribedEnum):
    """What was used at a partner, or sold by it."""

    NETWORK_GIFT_CARD = "network_gift_card", "Network gift cards."
    NETWORK_VOUCHER = "network_voucher", "Network vouchers."
    PARTNER_SHARE = (
        "partner_share",
        "The partner's part of orders with what the network sells: payments, refunds (`returned`) and disputes (`cancelled`).",
    )


@strawberry.type(
    description="What some usages come to: `net` is `value - commission - managementFees + paidByNetwork`."
)
class SettledUsages:
    count: int = strawberry.field(description="How many they are.")
    value: Money = strawberry.field(description="What was used.")
    commission: Money = strawberry.field(description="The commission of the network, VAT included.")
    commission_vat: Money = strawberry.field(description="The VAT in the commission.")
    management_fees: Money = strawberry.field(description="The fixed fees of the network, VAT included.")
    management_fees_vat: Money = strawberry.field(description="The VAT in the management fees.")
    paid_by_network: Money = strawberry.field(
        description="The part of commission and management fees that the network pays itself, so that the partner does not."
    )
    net: Money = strawberry.field(description="What the partner earns.")


@strawberry.type(description="The usages of one product in the period, by accounting date.")
class ProductSettlement:
    product: SettledProduct = strawberry.field(description="What was used.")
    usages: SettledUsages = strawberry.field(description="The usages that were recorded, the cancelled ones included.")
    cancelled: SettledUsages = strawberry.field(
        description="The usages that were cancelled, whenever they were recorded. Their `net` is taken back."
    )
    returned: SettledUsages = strawberry.field(
        description="The parts of usages that refunds of payments gave back to gift cards, whenever they were recorded; `count` "
        "is that of the parts. Their `net` is taken back."
    )
    owed_back: Money = strawberry.field(
        description="The part of the `net` of `cancelled` and `returned` that the partner had received already, and owes the network."
    )


@strawberry.type(
    description="What the network owes one partner: `closing` is `opening`, plus the `net` of usages, less that of cancelled "
    "and returned ones without `owedBack`, less `settled`."
)
class PartnerSettlement:
    partner_id: int = strawberry.field(description="The partner's id.")
    partner: Partner = relation(Partner, "partner_id", "The partner.", field=strawberry.field)
    opening: Money = strawberry.field(description="What was owed before the first day.")
    products: list[ProductSettlement] = strawberry.field(
        description="What came and went, of the products with movements."
    )
    settled: Money = strawberry.field(description="What was paid out to the partner.")
    closing: Money = strawberry.field(description="What is owed after the last day.")


@strawberry.type(description="What the network owes in one currency.")
class CurrencySettlement:
    currency: str = strawberry.field(description="The currency, ISO 4217.")
    opening: Money = strawberry.field(description="The sum of the partners' opening balances.")
    products: list[ProductSettlement] = strawberry.field(description="The sums of the partners' movements by product.")
    settled: Money = strawberry.field(description="The sum of what was paid out.")
    closing: Money = strawberry.field(description="The sum of the partners' closing balances.")
    partners: list[PartnerSettlement] = strawberry.field(
        description="The partners with a balance or a movement, by id; at most 2,000 in all."
    )


@strawberry.type(
    description="What a network owes its partners for usages of its gift cards and vouchers: balances of the ledger around a "
    "period, and what moved them. Test usages are not in it."
)
class SettlementStatement:
    marketplace_id: int = strawberry.field(description="The id of the network.")
    first_day: dt.date = strawberry.field(name="from", description="The first accounting date.")
    last_day: dt.date = strawberry.field(name="to", description="The last accounting date.")
    time_zone: str = strawberry.field(description="The time zone of accounting dates: that of the network.")
    currencies: list[CurrencySettlement] = strawberry.field(
        description="The statement by currency; with zeros if there is nothing to tell."
    )
    csv_url: str = strawberry.field(
        description="The URL of the same as a CSV file: UTF-8 with a byte order mark, commas, decimal points. It works for "
        "ten minutes and needs no authentication."
    )
