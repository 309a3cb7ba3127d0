"""Files of exports: cells of every kind, in both formats."""

import csv
import datetime as dt
import pathlib
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest

from schema.export import ExportFormat
from store.export import files
from store.export.files import LARGEST_SHEET_NUMBER, LONGEST_SHEET_TEXT, SheetFull, open_export_file

MOMENT = dt.datetime(2026, 10, 25, 2, 30, 59, 7, tzinfo=ZoneInfo("Europe/Paris"), fold=1)
CELLS = [
    ("", "", None),
    (None, "", None),
    ('plain, "quoted"\nover two lines', 'plain, "quoted"\nover two lines', 'plain, "quoted"\nover two lines'),
    ("=1+1", "'=1+1", "=1+1"),
    ("@SUM(A1)", "'@SUM(A1)", "@SUM(A1)"),
    ("-5 degrees", "'-5 degrees", "-5 degrees"),
    (True, "true", True),
    (False, "false", False),
    (0, "0", 0),
    (-7, "-7", -7),
    (Decimal("-12.50"), "-12.50", -12.5),
    (LARGEST_SHEET_NUMBER, "1" + "0" * 15, "1" + "0" * 15),
    (dt.date(2026, 2, 28), "2026-02-28", dt.datetime(2026, 2, 28)),  # noqa: DTZ001 - as the library reads a day
    (dt.date(1850, 2, 28), "1850-02-28", "1850-02-28"),
    (MOMENT, "2026-10-25T02:30:59+01:00", dt.datetime(2026, 10, 25, 2, 30, 59)),  # noqa: DTZ001 - without a zone
]


def write(format: ExportFormat, path: pathlib.Path, *rows: Any) -> None:
    """Write a file of two columns."""
    file = open_export_file(format, path, ["First", "=Second"], "a list with a name that is far too long")
    for row in rows:
        file.add([row])
    file.close()


@pytest.mark.parametrize(("value", "text", "cell"), CELLS, ids=str)
def test_a_cell_is_what_it_was(tmp_path: pathlib.Path, value: Any, text: str, cell: Any) -> None:
    write(ExportFormat.CSV, tmp_path / "a.csv", [value, "end"])
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [*csv.reader(file)] == [["First", "'=Second"], [text, "end"]]
    write(ExportFormat.XLSX, tmp_path / "a.xlsx", [value, "end"])
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0]
    assert [[each.value for each in row] for row in sheet.iter_rows()] == [["First", "=Second"], [cell, "end"]]
    assert {each.data_type for row in sheet.iter_rows() for each in row}.isdisjoint({"f", "e"})


def test_a_text_that_no_cell_can_hold_is_cut(tmp_path: pathlib.Path) -> None:
    write(ExportFormat.XLSX, tmp_path / "a.xlsx", ["x" * (LONGEST_SHEET_TEXT + 1), None])
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0]
    assert sheet["A2"].value == "x" * LONGEST_SHEET_TEXT


def test_a_spreadsheet_without_rows_can_be_opened(tmp_path: pathlib.Path) -> None:
    write(ExportFormat.XLSX, tmp_path / "a.xlsx")
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0].max_row == 1


def test_a_full_spreadsheet_takes_no_more(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_SHEET_ROWS", 3)
    file = open_export_file(ExportFormat.XLSX, tmp_path / "a.xlsx", ["A"], "list")
    file.add([[1], [2]])
    with pytest.raises(SheetFull):
        file.add([[3]])
    file.close()
