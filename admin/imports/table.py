"""Tables in CSV files as spreadsheets of Europe save them: any usual encoding and delimiter."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from funnel.core.messages import N_

MOST_BYTES = 700 * 1024
"""Largest file, in bytes: as Base64 it fits into a field of a form."""
DELIMITERS = ";", ",", "\t"
MOST_CELLS = 100
NOT_TEXT = N_("This is no CSV file: save the table as CSV, in UTF-8 or as Windows does.")
NO_LINES = N_("The file has no lines below its header.")
TOO_LARGE = N_("A file may have at most 700 KiB. Split it.")
NO_END = N_("A quotation mark has no end.")


class UnreadableTable(ValueError):
    """A file is no table; the message says why."""


@dataclass(frozen=True, slots=True)
class CsvLine:
    """A line of a table: its number in the file, and its cells."""

    number: int
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table: its header, and its lines that are not empty."""

    header: Sequence[str]
    lines: Sequence[CsvLine]


def read_table(content: bytes) -> CsvTable:
    """The table of a file. Raises UnreadableTable."""
    if len(content) > MOST_BYTES:
        raise UnreadableTable(TOO_LARGE)
    text = _decode(content)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    lines, number = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append(CsvLine(number, [cell.strip() for cell in cells]))
            number = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableTable(NO_END) from error
    if len(lines) < 2:
        raise UnreadableTable(NO_LINES)
    header, *others = lines
    if len(header.cells) > MOST_CELLS:
        raise UnreadableTable(NOT_TEXT)
    return CsvTable(header.cells, others)


def _decode(content: bytes) -> str:
    """The text: UTF-16 and UTF-8 with their marks, UTF-8, else Windows-1252."""
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = content.decode("utf-16")
        else:
            try:
                text = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = content.decode("cp1252")
    except UnicodeDecodeError as error:
        raise UnreadableTable(NOT_TEXT) from error
    if any(ord(character) < 32 and character not in "\t\r\n" for character in text):
        raise UnreadableTable(NOT_TEXT)
    return text


def _delimiter(text: str) -> str:
    """The delimiter that the header has most often outside of quotation marks."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    outside = "".join(first.split('"')[::2])
    return max(DELIMITERS, key=outside.count)
