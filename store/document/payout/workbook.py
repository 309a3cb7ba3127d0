"""The spreadsheet of a payout: one sheet for each kind of line, whose sums the summary adds up.

It needs nothing of the program: it is also run as one of its own, so that a large spreadsheet takes no time and memory of
the process that serves. It then reads the head, a line of JSON for each line of the payout, and `null` as the end.
"""

import datetime as dt
import os
import pathlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:  # a process that writes no spreadsheets does without the library
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

FIRST_ROW = 1
"""Of the lines, below the titles."""
COLUMNS_OF_AMOUNTS = {4: "E", 5: "F", 6: "G"}
"""Gross, fees and net."""
NET = 6
WIDTHS = (12, 38, 40, 12, 14, 12, 14)
MOST_ROWS = 1_048_576
"""Of a sheet. The library leaves out what is beyond."""
LONGEST_NAME = 31
"""Characters of the name of a sheet."""
NICENESS = 10
"""A spreadsheet is in less of a hurry than the requests that are served beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbookHead:
    """All of a spreadsheet but its lines. Amounts are decimal texts, days are ISO 8601."""

    title: str
    author: str
    currency: str
    digits: int
    """Decimals of the currency."""
    summary: str
    """The name of the first sheet."""
    facts: Sequence[tuple[str, str]]
    net: str
    total: str
    amount: str
    sections: dict[str, str]
    """The names of the sheets of lines, by what lines name them."""
    columns: Sequence[str]
    transfers: str
    """The name of the last sheet."""
    transfer_columns: Sequence[str]
    transfer_rows: Sequence[tuple[str, int, str, str, str]]
    """Day, id, status, currency and amount."""


@dataclass(frozen=True, slots=True)
class WorkbookLine:
    """A line, as a row of the sheet of its section."""

    section: str
    day: str
    reference: str
    details: str
    amounts: tuple[str, str, str]
    """Gross, fees and net."""


class SectionSheet:
    """A sheet of lines, written from top to bottom."""

    def __init__(self, sheet: "Worksheet") -> None:
        self.sheet = sheet
        self.count = 0
        self.sums = dict.fromkeys(COLUMNS_OF_AMOUNTS, Decimal(0))

    @property
    def last(self) -> int:
        """The row of the sums."""
        return FIRST_ROW + max(self.count, 1)


class PayoutBook:
    """Writes a spreadsheet to a file. Rows go to the disk as they come, so that their number takes no memory."""

    def __init__(self, head: WorkbookHead, file: pathlib.Path) -> None:
        import xlsxwriter

        self.head = head
        options = {"constant_memory": True, "tmpdir": str(file.parent), "default_date_format": "yyyy-mm-dd"}
        self.book = xlsxwriter.Workbook(str(file), options)
        self.book.set_properties({"title": head.title, "author": head.author})
        amount = "#,##0" + ("." + "0" * head.digits if head.digits else "")
        self.money: Format = self.book.add_format({"num_format": f"{amount};[Red]-{amount}"})
        self.sum: Format = self.book.add_format({"num_format": f"{amount};[Red]-{amount}", "bold": True, "top": 1})
        self.title: Format = self.book.add_format({"bold": True, "bg_color": "#EFEBE4", "bottom": 1})
        self.strong: Format = self.book.add_format({"bold": True})
        self.date: Format = self.book.add_format({"num_format": "yyyy-mm-dd"})
        self.summary = self.book.add_worksheet(head.summary[:LONGEST_NAME])
        self.sections = {key: SectionSheet(self._sheet(name, head.columns)) for key, name in head.sections.items()}
        self.transfers = self._sheet(head.transfers, head.transfer_columns)

    def add(self, line: WorkbookLine) -> None:
        """Write a line to the sheet of its section."""
        section = self.sections[line.section]
        sheet, row = section.sheet, FIRST_ROW + section.count
        if row + 1 >= MOST_ROWS:
            raise ValueError(f"The sheet {sheet.get_name()} has no room for more lines.")
        sheet.write_datetime(row, 0, dt.date.fromisoformat(line.day), self.date)
        sheet.write_string(row, 1, line.reference)
        sheet.write_string(row, 2, line.details)
        sheet.write_string(row, 3, self.head.currency)
        for column, text in zip(COLUMNS_OF_AMOUNTS, line.amounts, strict=True):
            amount = Decimal(text)
            sheet.write_number(row, column, amount, self.money)
            section.sums[column] += amount
        section.count += 1

    def close(self) -> None:
        """Write what follows the lines, and finish the file."""
        for section in self.sections.values():
            self._write_sums(section)
        self._write_transfers()
        self._write_summary()
        self.book.close()

    def _sheet(self, name: str, titles: Sequence[str]) -> "Worksheet":
        """A sheet with titles that stay in view."""
        sheet = self.book.add_worksheet(name[:LONGEST_NAME])
        for column, title in enumerate(titles):
            sheet.write_string(0, column, title, self.title)
            sheet.set_column(column, column, WIDTHS[column])
        sheet.freeze_panes(1, 0)
        return sheet

    def _write_sums(self, section: SectionSheet) -> None:
        sheet, row = section.sheet, section.last
        sheet.autofilter(0, 0, row - 1, len(self.head.columns) - 1)
        sheet.write_string(row, 0, self.head.total, self.strong)
        for column, letter in COLUMNS_OF_AMOUNTS.items():
            formula = f"=SUM({letter}{FIRST_ROW + 1}:{letter}{row})"
            sheet.write_formula(row, column, formula, self.sum, section.sums[column])

    def _write_transfers(self) -> None:
        sheet, rows = self.transfers, self.head.transfer_rows
        for row, (day, id, status, currency, amount) in enumerate(rows, start=FIRST_ROW):
            sheet.write_datetime(row, 0, dt.date.fromisoformat(day), self.date)
            sheet.write_number(row, 1, id)
            sheet.write_string(row, 2, status)
            sheet.write_string(row, 3, currency)
            sheet.write_number(row, 4, Decimal(amount), self.money)
        sheet.autofilter(0, 0, max(len(rows), 1), len(self.head.transfer_columns) - 1)

    def _write_summary(self) -> None:
        head, sheet = self.head, self.summary
        sheet.set_column(0, 0, 34)
        sheet.set_column(1, 1, 40)
        for row, (name, value) in enumerate(head.facts):
            sheet.write_string(row, 0, name, self.strong)
            sheet.write_string(row, 1, value)
        first = len(head.facts) + 1
        sheet.write_string(first - 1, 0, "", self.title)
        sheet.write_string(first - 1, 1, f"{head.net} ({head.currency})", self.title)
        for row, section in enumerate(self.sections.values(), start=first):
            name = section.sheet.get_name()
            quoted = name.replace("'", "''")
            sheet.write_string(row, 0, name)
            sheet.write_formula(row, 1, f"='{quoted}'!G{section.last + 1}", self.money, section.sums[NET])
        last = first + len(self.sections)
        sheet.write_string(last, 0, head.total, self.strong)
        sheet.write_formula(last, 1, f"=SUM(B{first + 1}:B{last})", self.sum, Decimal(head.amount))


def main(file: str) -> None:
    """Write the spreadsheet of what stands on the standard input."""
    os.nice(NICENESS)
    book = PayoutBook(WorkbookHead(**orjson.loads(sys.stdin.buffer.readline())), pathlib.Path(file))
    for text in sys.stdin.buffer:
        line = orjson.loads(text)
        if line is None:
            return book.close()
        book.add(WorkbookLine(**line))
    sys.exit("The lines ended before their end.")


if __name__ == "__main__":
    main(sys.argv[1])
