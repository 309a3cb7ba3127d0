"""What was measured, for people and for programs."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from tests.bench.load import Load
from tests.bench.measure import Measured
from tests.bench.sockets import Tail, ratio


def as_table(title: str, results: Sequence[Measured]) -> Table:
    """One line for each floor of each case."""
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("case")
    table.add_column("µs", justify="right")
    table.add_column("floor")
    table.add_column("µs", justify="right")
    table.add_column("of the floor", justify="right")
    table.add_column("aim", justify="right")
    for measured in results:
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


def as_tails(title: str, results: Sequence[Tail]) -> Table:
    """One line for each number of connections, in milliseconds; the rounds' middle ones."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in ("case", "at once", "p50, p99", "ratio", "aim", "bare p50, p99", "ratio", "client busy"):
        table.add_column(name, justify="left" if name == "case" else "right")
    for row in tails_as_json(results):
        good = row["ratio"] <= row["aim"]
        table.add_row(
            row["case"],
            str(row["connections"]),
            f"{row['p50']:.0f}, {row['p99']:.0f}",
            Text(f"{row['ratio']:.1f}", "green" if good else "red"),
            f"≤ {row['aim']}",
            f"{row['bare_p50']:.0f}, {row['bare_p99']:.0f}",
            f"{row['bare_ratio']:.1f}",
            f"{max(row['busy'], row['bare_busy']):.0%}",
        )
    return table


def tails_as_json(results: Sequence[Tail]) -> list[dict[str, Any]]:
    """The same, as data."""
    return [
        {
            "case": tail.case.name,
            "connections": tail.connections,
            "ratio": round(ratio(tail.own), 2),
            "bare_ratio": round(ratio(tail.bare), 2),
            "aim": tail.aim,
            "p50": _middle(tail.own, 50),
            "p99": _middle(tail.own, 99),
            "bare_p50": _middle(tail.bare, 50),
            "bare_p99": _middle(tail.bare, 99),
            "busy": round(max(load.busy for load in tail.own), 2),
            "bare_busy": round(max(load.busy for load in tail.bare), 2),
        }
        for tail in results
    ]


def _middle(loads: Sequence[Load], percent: float) -> float:
    return round(statistics.median(load.percentile(percent) for load in loads), 2)


def as_json(results: Sequence[Measured]) -> list[dict[str, Any]]:
    """The same, as data."""
    return [
        {
            "case": measured.case.name,
            "request": f"{measured.case.call.method} {measured.case.call.path}",
            "microseconds": round(measured.microseconds, 1),
            "floors": list(_rows(measured)),
        }
        for measured in results
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
