"""What was measured, for people and for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from tests.bench.measure import Measured


def as_table(title: str, found: Sequence[Measured]) -> Table:
    """One line for each floor of each case."""
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("case")
    table.add_column("µs", justify="right")
    table.add_column("floor")
    table.add_column("µs", justify="right")
    table.add_column("of the floor", justify="right")
    table.add_column("aim", justify="right")
    for measured in found:
        first = [measured.case.name, f"{measured.microseconds:.0f}"]
        for row in _rows(measured):
            aim = row["aim_percent"]
            reached = "" if aim is None else "green" if row["percent"] >= aim else "red"
            table.add_row(
                *first,
                row["floor"],
                f"{row['microseconds']:.0f}",
                Text(f"{row['percent']:.0f} %", reached),
                "" if aim is None else f"≥ {aim} %",
            )
            first = ["", ""]
        table.add_section()
    return table


def as_json(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The same, as data."""
    return [
        {
            "case": measured.case.name,
            "request": f"{measured.case.call.method} {measured.case.call.path}",
            "microseconds": round(measured.microseconds, 1),
            "floors": list(_rows(measured)),
        }
        for measured in found
    ]


def _rows(measured: Measured) -> Iterable[dict[str, Any]]:
    for floor, beside in measured.floors.items():
        aim = measured.case.aim
        yield {
            "floor": floor.name,
            "microseconds": round(beside.microseconds, 1),
            "percent": round(beside.share * 100, 1),
            "aim_percent": aim.percent if aim and isinstance(floor, aim.floor) else None,
        }
