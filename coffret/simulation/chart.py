"""A picture of the days: balances and liabilities of each currency over time, as SVG."""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal
from html import escape

from coffret.simulation.figures import DayFigures

WIDTH, PANEL, LEFT, RIGHT, TOP, BOTTOM = 1000, 420, 90, 210, 50, 40
SERIES = {
    "wallets": ("in wallets", "#1f4e79", ""),
    "paid_out": ("paid out to partners", "#2e7d32", ""),
    "gift_cards": ("owed for gift cards", "#c62828", ""),
    "vouchers": ("owed for vouchers", "#f9a825", ""),
    "partners_earned": ("earned, not paid out", "#ef6c00", ""),
    "owed_by_marketplace": ("to be paid in by marketplaces", "#6a1b9a", "5 3"),
    "marketplace_funds": ("funds of marketplaces", "#00838f", "5 3"),
    "income": ("commission, fees, breakage", "#546e7a", "2 3"),
    "owed_by_partners": ("owed by partners", "#ad1457", "2 3"),
}
"""The lines, each with its label, colour and dashes."""
STEPS = (1, 2, 5)
LABEL_HEIGHT, DATES = 16, 7


def as_svg(days: Sequence[DayFigures]) -> str:
    """One panel for each currency."""
    currencies = sorted({currency for day in days for currency in day.by_currency})
    height = PANEL * len(currencies)
    panels = (_panel(days, currency, number * PANEL) for number, currency in enumerate(currencies))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="12"><rect width="{WIDTH}" height="{height}" fill="white"/>'
        f"{''.join(part for panel in panels for part in panel)}</svg>\n"
    )


def _panel(days: Sequence[DayFigures], currency: str, top: int) -> Iterator[str]:
    lines = {name: [day.by_currency[currency][name] for day in days] for name in SERIES}
    scale = _Scale(top, max(day.day for day in days) or 1, max(map(max, lines.values())))
    first, last = days[0].date, days[-1].date
    yield f'<text x="{LEFT}" y="{top + 28}" font-size="16">{escape(currency)}, {first} to {last}</text>'
    for amount in scale.marks():
        y = scale.y(amount)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{amount:,.0f}</text>'
    for number in range(0, scale.last_day + 1, max(scale.last_day // DATES, 1)):
        day = f"{first + dt.timedelta(days=number):%d %b %y}"
        at = f'x="{scale.x(number):.1f}" y="{top + PANEL - BOTTOM + 20}"'
        yield f'<text {at} text-anchor="middle" fill="#555">{day}</text>'
    for name, amounts in lines.items():
        _, colour, dashes = SERIES[name]
        points = " ".join(
            f"{scale.x(day.day):.1f},{scale.y(amount):.1f}" for day, amount in zip(days, amounts, strict=True)
        )
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"/>'
    ends = sorted((scale.y(amounts[-1]), name) for name, amounts in lines.items())
    yield from _labels(ends, top + PANEL - BOTTOM)


def _labels(ends: Sequence[tuple[Decimal, str]], bottom: int) -> Iterator[str]:
    """The labels beside the ends of the lines, none over another: from the bottom upwards."""
    free = Decimal(bottom + LABEL_HEIGHT)
    for end, name in reversed(ends):
        label, colour, _ = SERIES[name]
        free = min(end, free - LABEL_HEIGHT)
        yield f'<text x="{WIDTH - RIGHT + 8}" y="{free + 4:.1f}" fill="{colour}">{escape(label)}</text>'


class _Scale:
    """Where days and amounts are in a panel."""

    def __init__(self, top: int, last_day: int, most: Decimal) -> None:
        self.last_day = last_day
        self.bottom, self.height = top + PANEL - BOTTOM, PANEL - TOP - BOTTOM
        self.step = self._step(most)
        self.most = self.step * (int(most / self.step) + 1)

    @staticmethod
    def _step(most: Decimal) -> Decimal:
        """A round amount of which at most eight are shown."""
        unit = Decimal(1)
        while True:
            for factor in STEPS:
                if most / (unit * factor) <= 8:
                    return unit * factor
            unit *= 10

    def marks(self) -> Iterator[Decimal]:
        return (self.step * number for number in range(int(self.most / self.step) + 1))

    def x(self, day: int) -> Decimal:
        return LEFT + Decimal(WIDTH - LEFT - RIGHT) * day / self.last_day

    def y(self, amount: Decimal) -> Decimal:
        return self.bottom - self.height * amount / self.most
