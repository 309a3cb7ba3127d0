"""The sales on the first page: of today and lately, by day and by product, for each currency."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.values import in_language
from admin.graph.schema_types import access_of, queries
from admin.home.charts import BarChart, bar_chart, shares
from admin.resources.registry import resources
from funnel.core.messages import N_
from schema.validation.languages import LANGUAGES

PERIODS = 7, 30, 90
"""The days that charts may have."""
USUAL = 30
PRODUCTS = 8
"""The most products that are shown; the others are one line."""
KINDS = {
    "GIFT_CARD": N_("Gift cards"),
    "NETWORK_GIFT_CARD": N_("Gift cards of the network"),
    "DELIVERY": N_("Delivery"),
    "PAYMENT": N_("Payments without an order"),
}
"""What is sold without a name of its own."""
LISTS = {"PRODUCT": "products", "VOUCHER": "voucher-prototypes", "BOX": "boxes"}
"""Where what has a name of its own is found."""
FIGURES = "count gross { amount } refunds { amount } net { amount }"
DAYS = f"currency days {{ day figures {{ {FIGURES} }} }}"
SOLD = f"products {{ kind id name {{ {' '.join(LANGUAGES)} }} quantity gross {{ amount }} }}"
WHOLE = f"""query($from: Date!, $to: Date!) {{
  lately: salesReport(from: $from, to: $to, productCount: {PRODUCTS}) {{ currencies {{ {DAYS} {SOLD} }} }}
}}"""
SHORT = f"""query($from: Date!, $to: Date!, $short: Date!) {{
  lately: salesReport(from: $from, to: $to, productCount: 0) {{ currencies {{ {DAYS} }} }}
  short: salesReport(from: $short, to: $to, productCount: {PRODUCTS}) {{ currencies {{ currency {SOLD} }} }}
}}"""
"""The same for charts of less days than the figures need."""


@dataclass(frozen=True, slots=True)
class SalesFigure:
    """What some sales come to."""

    label: str
    count: int
    gross: Decimal
    refunds: Decimal
    net: Decimal
    day: dt.date | None = None
    url: str = ""
    """The orders of the day; empty if there is no list of them."""


@dataclass(frozen=True, slots=True)
class ProductLine:
    """What was sold of something."""

    name: str
    quantity: int | None
    """None of what is added up."""
    gross: Decimal
    length: str
    """The length of its bar in percent."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class SalesBoard:
    """The sales in one currency."""

    currency: str
    figures: Sequence[SalesFigure]
    total: SalesFigure
    days: Sequence[SalesFigure]
    chart: BarChart
    products: Sequence[ProductLine]


def chosen_period(request: AdminRequest) -> int:
    """The days of the charts, by the address."""
    asked = request.http_request.query_params.get("days", "")
    return next((days for days in PERIODS if str(days) == asked), USUAL)


async def sales_boards(request: AdminRequest, period: int) -> Sequence[SalesBoard]:
    """The sales of a period that ends today, by currency; none for users who may not see them."""
    if not request.may(access_of(queries()["salesReport"])):
        return ()
    today = request.services.clock.now().astimezone(ZoneInfo(request.reader.time_zone)).date()
    days = {
        name: (today - dt.timedelta(days=n - 1)).isoformat() for name, n in (("from", max(period, USUAL)), ("to", 1))
    }
    if period >= USUAL:
        sold = (await request.run(WHOLE, days)).only("lately")
        return [_board(request, each, each["products"], period) for each in sold["currencies"]]
    answer = await request.run(SHORT, days | {"short": (today - dt.timedelta(days=period - 1)).isoformat()})
    sold = {each["currency"]: each["products"] for each in answer.only("short")["currencies"]}
    return [
        _board(request, each, sold.get(each["currency"], ()), period) for each in answer.only("lately")["currencies"]
    ]


def _board(
    request: AdminRequest,
    sales: Mapping[str, Any],
    products: Sequence[Mapping[str, Any]],
    period: int,
) -> SalesBoard:
    """The board of a currency; the days of `sales` are those of the figures and of the chart, up to today."""
    lately = [_of_day(request, each) for each in sales["days"]]
    days, currency, formats = lately[-period:], sales["currency"], request.reader.formats
    total = _sum_of(days)
    texts = [
        (each.gross, f"{formats.days(each.day)}{formats.colon} {formats.money(each.gross, currency)}")
        for each in days
        if each.day is not None
    ]
    return SalesBoard(
        currency=currency,
        figures=(
            replace(lately[-1], label=N_("Today")),
            replace(lately[-8], label=N_("The same day last week")),
            replace(_sum_of(lately[-USUAL:]), label=N_("The last 30 days")),
        ),
        total=total,
        days=days[::-1],
        chart=bar_chart(texts),
        products=_products(request, products, total.gross),
    )


def _sum_of(days: Sequence[SalesFigure]) -> SalesFigure:
    nothing = Decimal(0)
    gross = sum((day.gross for day in days), nothing)
    refunds = sum((day.refunds for day in days), nothing)
    return SalesFigure("", sum(day.count for day in days), gross, refunds, gross - refunds)


def _of_day(request: AdminRequest, sales: Mapping[str, Any]) -> SalesFigure:
    day, figures, url = sales["day"], sales["figures"], ""
    gross, refunds, net = (Decimal(figures[name]["amount"]) for name in ("gross", "refunds", "net"))
    if request.may(resources()["orders"].access):
        url = f"{ROOT}orders/?{urlencode({'createdFrom': day, 'createdUntil': day})}"
    return SalesFigure("", figures["count"], gross, refunds, net, dt.date.fromisoformat(day), url)


def _products(request: AdminRequest, products: Sequence[Mapping[str, Any]], total: Decimal) -> list[ProductLine]:
    """What was sold most, and the rest in one line, so that all lines add up to the total."""
    lines = [
        (_name(request, each), each["quantity"], Decimal(each["gross"]["amount"]), _url(request, each))
        for each in products
    ]
    rest = total - sum((gross for _, _, gross, _ in lines), Decimal(0))
    if rest:
        lines.append((request.translate(N_("All others")), None, rest, ""))
    lengths = shares([max(gross, Decimal(0)) for _, _, gross, _ in lines])
    return [
        ProductLine(name, quantity, gross, length, url)
        for (name, quantity, gross, url), length in zip(lines, lengths, strict=True)
    ]


def _name(request: AdminRequest, product: Mapping[str, Any]) -> str:
    if product["kind"] in KINDS:
        return request.translate(KINDS[product["kind"]])
    return in_language(product["name"] or {}, request.language)


def _url(request: AdminRequest, product: Mapping[str, Any]) -> str:
    """The page of what was sold; empty if it has none, or if the user may not see it."""
    resource = resources().get(LISTS.get(product["kind"], ""))
    if resource is None or resource.key != "id" or not request.may(resource.access):
        return ""
    return f"{ROOT}{resource.slug}/{product['id']}/"
