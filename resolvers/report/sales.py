"""Sales reports."""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Annotated

import strawberry

from resolvers.core.operation import Call, operation
from resolvers.report.scope import MarketplaceId, PartnerId, report_owner
from schema.core.errors import InvalidInput
from schema.core.message_names import TemplatedMessage
from schema.core.money import Money
from schema.core.permission import Permission
from schema.report.sales import CurrencySales, ProductSales, SalesDay, SalesFigures, SalesReport
from store.report.sales import DailySales, ReportPeriod, SoldThing, daily_sales, sold_things

MOST_DAYS = 366
MOST_PRODUCTS = 100
FIRST_DAY = dt.date(1970, 1, 1)
"""No payment is older, and midnight of the first days of year 1 is none in UTC."""
NOTHING = Decimal("0.00")


@operation(Permission.VIEW_PAYMENT)
async def sales_report(
    call: Call,
    first_day: Annotated[dt.date, strawberry.argument(name="from", description="The first day.")],
    last_day: Annotated[dt.date, strawberry.argument(name="to", description="The last day; at most 366 days in all.")],
    partner_id: PartnerId = None,
    marketplace_id: MarketplaceId = None,
    product_count: Annotated[
        int, strawberry.argument(description="How many products of each currency to tell, at most 100.")
    ] = 20,
) -> SalesReport:
    """What was sold in a period, by day and by product, and what was refunded."""
    if first_day < FIRST_DAY:
        raise InvalidInput.at("from", TemplatedMessage("Send a day from {year} on.", year=str(FIRST_DAY.year)))
    if last_day < first_day:
        raise InvalidInput.at("to", "Send a day that is not before `from`.")
    if (last_day - first_day).days >= MOST_DAYS or last_day == dt.date.max:
        raise InvalidInput.at("to", TemplatedMessage("Ask for at most {most} days.", most=MOST_DAYS))
    if not 0 <= product_count <= MOST_PRODUCTS:
        raise InvalidInput.at("product_count", TemplatedMessage("Send a number from 0 to {most}.", most=MOST_PRODUCTS))
    owner = await report_owner(call, partner_id, marketplace_id)
    period = ReportPeriod(first_day, last_day, owner.zone)
    days = await daily_sales(call.db, owner.scope, period)
    products = await sold_things(call.db, owner.scope, period, product_count) if product_count else ()
    sold_in = {each.currency for each in days}
    if owner.currency is not None:
        sold_in.add(owner.currency)
    return SalesReport(
        first_day=first_day,
        last_day=last_day,
        time_zone=owner.zone.key,
        currencies=[
            _currency(currency, period, days, products)
            for currency in sorted(sold_in, key=lambda each: (each != owner.currency, each))
        ],
    )


def _currency(
    currency: str, period: ReportPeriod, days: Sequence[DailySales], products: Sequence[SoldThing]
) -> CurrencySales:
    own = {each.day: each for each in days if each.currency == currency}
    dates = [period.first + dt.timedelta(days=n) for n in range((period.last - period.first).days + 1)]
    return CurrencySales(
        currency=currency,
        total=_figures(currency, own.values()),
        days=[SalesDay(day=day, figures=_figures(currency, [own[day]] if day in own else ())) for day in dates],
        products=[
            ProductSales(
                kind=each.kind,
                id=each.id,
                name=each.name,
                quantity=each.quantity,
                gross=Money(amount=each.gross, currency=currency),
            )
            for each in products
            if each.currency == currency
        ],
    )


def _figures(currency: str, days: Iterable[DailySales]) -> SalesFigures:
    """The sum of days."""
    days = list(days)
    gross, refunds = sum((day.gross for day in days), NOTHING), sum((day.refunds for day in days), NOTHING)
    return SalesFigures(
        count=sum(day.count for day in days),
        gross=Money(amount=gross, currency=currency),
        by_gift_card=Money(amount=sum((day.by_gift_card for day in days), NOTHING), currency=currency),
        refunds=Money(amount=refunds, currency=currency),
        net=Money(amount=gross - refunds, currency=currency),
    )
