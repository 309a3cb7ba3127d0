"""A settlement statement as a CSV file, and the signed address that serves it for a short time.

RFC 4180 as in the export of the ledger: commas, decimal points, CRLF. A byte order mark makes spreadsheets read UTF-8.
"""

import csv
import datetime as dt
import io
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from store.core.csv_cells import safe_cell
from store.core.settings import Settings
from store.core.signed_links import BadLink, read_link, sign_link
from store.network.settlement.statements import ProductFigures, SettlementPeriod, UsageFigures, UsageSettlement

PURPOSE: Final = "settlement"
VALIDITY: Final = dt.timedelta(minutes=10)
PREFIX: Final = "/documents/settlements/"
FIGURES = (
    "count", "value", "commission", "commission_vat", "management_fees", "management_fees_vat", "paid_by_network", "net",
)  # fmt: skip
COLUMNS = (
    "from", "to", "currency", "partner_id", "partner_source_id", "partner", "product", "opening",
    *(f"usages_{name}" for name in FIGURES), *(f"cancelled_{name}" for name in FIGURES),
    *(f"returned_{name}" for name in FIGURES), "owed_back", "settled", "closing",
)  # fmt: skip
"""The header. `product` is `network_gift_card`, `network_voucher`, `partner_share`, or `all` in the line with the balances."""


def csv_url(settings: Settings, period: SettlementPeriod, now: dt.datetime) -> str:
    """The full URL of the file, which works until `VALIDITY` has passed."""
    ends = int((now + VALIDITY).timestamp())
    days = period.first.isoformat(), period.last.isoformat()
    token = sign_link(settings, PURPOSE, [period.marketplace_id, period.partner_id, *days, ends])
    return f"{settings.public_url}{PREFIX}{token}.csv"


def period_of_token(settings: Settings, token: str, now: dt.datetime) -> SettlementPeriod | None:
    """What a URL is for; None if it is forged, or has ended."""
    try:
        marketplace_id, partner_id, first, last, ends = read_link(settings, PURPOSE, token)
    except (BadLink, ValueError, TypeError):
        return None
    if now.timestamp() >= ends:
        return None
    days = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    return SettlementPeriod(marketplace_id=marketplace_id, partner_id=partner_id, first=days[0], last=days[1])


def csv_of(
    period: SettlementPeriod, settlements: Sequence[UsageSettlement], partners: Mapping[int, tuple[str, str]]
) -> bytes:
    """The file. `partners` has the source id and the name of each partner."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    days = period.first.isoformat(), period.last.isoformat()
    for each in settlements:
        assert each.partner_id is not None, "totals are not exported: a spreadsheet sums lines"
        whose = (str(each.partner_id), *map(safe_cell, partners.get(each.partner_id, ("", ""))))
        writer.writerows((*days, each.currency, *whose, *line) for line in _lines(each))
    return file.getvalue().encode("utf-8-sig")


def _lines(settlement: UsageSettlement) -> Iterator[tuple[str, ...]]:
    """A line for each product, and one with the balances and the sums."""
    everything = ProductFigures()
    for product, figures in settlement.products.items():
        everything += figures
        yield (product.value, "", *_numbers(figures), "", "")
    yield (
        "all",
        _number(settlement.opening),
        *_numbers(everything),
        _number(settlement.settled),
        _number(settlement.closing),
    )


def _numbers(figures: ProductFigures) -> tuple[str, ...]:
    return (
        *_usages(figures.usages),
        *_usages(figures.cancelled),
        *_usages(figures.returned),
        _number(figures.owed_back),
    )


def _usages(usages: UsageFigures) -> Iterator[str]:
    return (_number(getattr(usages, name)) for name in FIGURES)


def _number(value: Decimal | int) -> str:
    return str(value)
