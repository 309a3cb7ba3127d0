"""Writes the rows of an export to a file on the disk, so that their number takes no memory."""

import csv
import datetime as dt
import pathlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import TypeAlias

from schema.export import ExportFormat
from store.core.csv_cells import safe_cell

ExportCell: TypeAlias = str | bool | int | Decimal | dt.date | dt.datetime | None
"""A value of a row. Times have the time zone in which people read them."""
CONTENT_TYPES = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
MOST_SHEET_ROWS = 1_048_576
"""Of a sheet, with its titles. The library leaves out what is beyond."""
LONGEST_SHEET_TEXT = 32_767
"""Characters of a cell. The library leaves out longer texts."""
LARGEST_SHEET_NUMBER = 10**15
"""Spreadsheets keep 15 digits: longer numbers are written as texts."""
MIN_WIDTH, MAX_WIDTH = 10, 40
FIRST_DAY = dt.date(1900, 1, 1)
"""Spreadsheets know no earlier days."""


class SheetFull(Exception):
    """A spreadsheet has no room for more rows."""


class ExportFile(ABC):
    """A file that is written from top to bottom. It is closed in any case, also if nobody wants it any more."""

    @abstractmethod
    def add(self, rows: Sequence[Sequence[ExportCell]]) -> None:
        """Write rows. Raises SheetFull."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


class CsvFile(ExportFile):
    """RFC 4180 with decimal points and times in ISO 8601; a byte order mark makes spreadsheets read UTF-8."""

    def __init__(self, path: pathlib.Path, titles: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._file.write(BYTE_ORDER_MARK)
        self._writer = csv.writer(self._file)
        self._writer.writerow([safe_cell(title) for title in titles])

    def add(self, rows: Sequence[Sequence[ExportCell]]) -> None:
        self._writer.writerows([_csv_cell(value) for value in row] for row in rows)

    def close(self) -> None:
        self._file.close()


class SheetFile(ExportFile):
    """A spreadsheet of one sheet. Texts are written as texts, so that none becomes a formula."""

    def __init__(self, path: pathlib.Path, titles: Sequence[str], name: str) -> None:
        import xlsxwriter  # a process that writes no spreadsheets does without it

        options = {"constant_memory": True, "tmpdir": str(path.parent)}
        self._book = xlsxwriter.Workbook(str(path), options)
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._moment = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        title_format = self._book.add_format({"bold": True, "bg_color": "#EFEBE4", "bottom": 1})
        self._sheet = self._book.add_worksheet(name[:31])
        for column, title in enumerate(titles):
            self._sheet.set_column(column, column, min(max(len(title) + 2, MIN_WIDTH), MAX_WIDTH))
            self._sheet.write_string(0, column, title, title_format)
        self._sheet.freeze_panes(1, 0)
        self._count, self._width = 1, len(titles)

    def add(self, rows: Sequence[Sequence[ExportCell]]) -> None:
        if self._count + len(rows) > MOST_SHEET_ROWS:
            raise SheetFull
        for row in rows:
            for column, value in enumerate(row):
                self._write(self._count, column, value)
            self._count += 1

    def _write(self, row: int, column: int, value: ExportCell) -> None:
        match value:
            case None | "":
                return
            case bool():
                self._sheet.write_boolean(row, column, value)
            case int() | Decimal() as number if -LARGEST_SHEET_NUMBER < number < LARGEST_SHEET_NUMBER:
                self._sheet.write_number(row, column, number)
            case dt.datetime() if value.date() >= FIRST_DAY:
                self._sheet.write_datetime(row, column, value.replace(tzinfo=None), self._moment)
            case dt.date() if not isinstance(value, dt.datetime) and value >= FIRST_DAY:
                self._sheet.write_datetime(row, column, value, self._day)
            case _:
                self._sheet.write_string(row, column, _text(value)[:LONGEST_SHEET_TEXT])

    def close(self) -> None:
        self._sheet.autofilter(0, 0, self._count - 1, self._width - 1)
        self._book.close()


def open_export_file(format: ExportFormat, path: pathlib.Path, titles: Sequence[str], name: str) -> ExportFile:
    """A new file with these titles; `name` is that of the sheet."""
    return CsvFile(path, titles) if format is ExportFormat.CSV else SheetFile(path, titles, name)


def _csv_cell(value: ExportCell) -> str:
    return safe_cell(value) if isinstance(value, str) else _text(value)


def _text(value: ExportCell) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return value.isoformat(timespec="seconds")
        case dt.date():
            return value.isoformat()
    return str(value)
