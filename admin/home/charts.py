"""Charts: bars as SVG, with the numbers beside them as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

STEPS = tuple(map(Decimal, (1, 2, 3, 4, 5, 6, 8, 10)))
"""What a scale may end with, times a power of ten: a half of it is a round number too."""
WIDTH, GAP = 10, 2
"""Of a bar with the space beside it, in units of the drawing."""
HEIGHT = 100
LEAST = Decimal(1)
"""The height of a bar for next to nothing."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart, in units of the drawing."""

    x: int
    y: str
    width: int
    height: str
    text: str
    """What it stands for."""
    is_last: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart of upright bars."""

    bars: Sequence[Bar]
    top: Decimal
    """The value at its upper edge."""

    @property
    def width(self) -> int:
        """The width of the drawing."""
        return WIDTH * len(self.bars)

    @property
    def height(self) -> int:
        """The height of the drawing."""
        return HEIGHT

    @property
    def middle(self) -> Decimal:
        """The value at half its height."""
        return self.top / 2


def bar_chart(values: Sequence[tuple[Decimal, str]]) -> BarChart:
    """A chart of values of zero or more, each with its text."""
    top = rounded_up(max((value for value, _ in values), default=Decimal(0)))
    bars = []
    for n, (value, text) in enumerate(values):
        height = max(value * HEIGHT / top, LEAST) if value else Decimal(0)
        bars.append(
            Bar(
                x=n * WIDTH + GAP // 2,
                y=_number(HEIGHT - height),
                width=WIDTH - GAP,
                height=_number(height),
                text=text,
                is_last=n == len(values) - 1,
            )
        )
    return BarChart(bars, top)


def rounded_up(value: Decimal) -> Decimal:
    """The end of a scale for values up to this one; 1 for none."""
    if value <= 0:
        return Decimal(1)
    unit = Decimal(10) ** value.adjusted()
    return next(step * unit for step in STEPS if step * unit >= value)


def shares(values: Sequence[Decimal]) -> list[str]:
    """The length of a bar for each value of zero or more, in percent of the longest."""
    longest = max(values, default=Decimal(0))
    return [_number(value * 100 / longest) if longest else "0" for value in values]


def _number(value: Decimal) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
