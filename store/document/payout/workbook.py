"""The spreadsheet of a payout: one sheet for each kind of line, whose sums the summary adds up."""

import io
from collections.abc import Sequence
from decimal import Decimal
from zoneinfo import ZoneInfo

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from store.document.payout import words
from store.document.payout.lines import DocumentLine, PayoutSection
from store.document.payout.source import PayoutContent
from store.providers.money import exponent

FIRST_ROW = 1
"""Of the lines, below the titles."""
GROSS, FEES, NET = 4, 5, 6
"""Columns of amounts: E, F and G."""
WIDTHS = (12, 38, 40, 12, 14, 12, 14)


def payout_workbook(content: PayoutContent) -> bytes:
    """The spreadsheet as an .xlsx file."""
    written = io.BytesIO()
    with xlsxwriter.Workbook(written, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        book.set_properties({"title": content.statement().title, "author": content.partner.commercial_name})
        PayoutBook(content, book).write()
    return written.getvalue()


class PayoutBook:
    """Writes the sheets of one payout."""

    def __init__(self, content: PayoutContent, book: xlsxwriter.Workbook) -> None:
        self.content, self.book = content, book
        self.say = content.words.say
        digits = exponent(content.payout.currency)
        amount = "#,##0" + ("." + "0" * digits if digits else "")
        self.money: Format = book.add_format({"num_format": f"{amount};[Red]-{amount}"})
        self.total: Format = book.add_format({"num_format": f"{amount};[Red]-{amount}", "bold": True, "top": 1})
        self.title: Format = book.add_format({"bold": True, "bg_color": "#EFEBE4", "bottom": 1})
        self.strong: Format = book.add_format({"bold": True})
        self.date: Format = book.add_format({"num_format": "yyyy-mm-dd"})

    def write(self) -> None:
        """All sheets, the summary first."""
        summary = self.book.add_worksheet(self.say(words.SUMMARY)[:31])
        names = {section: self._write_section(section) for section in PayoutSection}
        self._write_transfers()
        self._write_summary(summary, names)

    def _write_section(self, section: PayoutSection) -> str:
        """The sheet of a section; its name."""
        lines = self.content.lines.get(section, [])
        name = self.content.words.section(section)[:31]
        sheet = self.book.add_worksheet(name)
        titles = (words.DATE, words.REFERENCE, words.DETAILS, words.CURRENCY, words.GROSS, words.FEES, words.NET)
        self._start(sheet, [self.say(title) for title in titles], len(lines))
        for row, line in enumerate(lines, start=FIRST_ROW):
            sheet.write_datetime(row, 0, line.day, self.date)
            sheet.write_string(row, 1, line.reference)
            sheet.write_string(row, 2, self.content.describe(line))
            sheet.write_string(row, 3, self.content.payout.currency)
            for column, amount in zip((GROSS, FEES, NET), (line.gross, line.fees, line.net), strict=True):
                sheet.write_number(row, column, amount, self.money)
        self._write_sums(sheet, lines)
        return name

    def _start(self, sheet: Worksheet, titles: Sequence[str], count: int) -> None:
        """Titles that stay in view, with filters."""
        for column, title in enumerate(titles):
            sheet.write_string(0, column, title, self.title)
            sheet.set_column(column, column, WIDTHS[column])
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, max(count, 1), len(titles) - 1)

    def _write_sums(self, sheet: Worksheet, lines: Sequence[DocumentLine]) -> None:
        row, nothing = FIRST_ROW + max(len(lines), 1), Decimal(0)
        sheet.write_string(row, 0, self.say(words.TOTAL), self.strong)
        sums = (
            sum((line.gross for line in lines), nothing),
            sum((line.fees for line in lines), nothing),
            sum((line.net for line in lines), nothing),
        )
        for column, value in zip((GROSS, FEES, NET), sums, strict=True):
            letter = "ABCDEFG"[column]
            sheet.write_formula(row, column, f"=SUM({letter}{FIRST_ROW + 1}:{letter}{row})", self.total, value)

    def _write_transfers(self) -> None:
        transfers, zone = self.content.transfers, ZoneInfo(self.content.marketplace.time_zone)
        sheet = self.book.add_worksheet(self.say(words.TRANSFERS)[:31])
        titles = (words.DATE, words.NUMBER_OF_TRANSFER, words.STATUS, words.CURRENCY, words.AMOUNT)
        self._start(sheet, [self.say(title) for title in titles], len(transfers))
        for row, transfer in enumerate(transfers, start=FIRST_ROW):
            sheet.write_datetime(row, 0, transfer.created_on.astimezone(zone).replace(tzinfo=None), self.date)
            sheet.write_number(row, 1, transfer.id)
            sheet.write_string(row, 2, transfer.status.value)
            sheet.write_string(row, 3, transfer.currency)
            sheet.write_number(row, 4, transfer.transfer_amount, self.money)

    def _write_summary(self, sheet: Worksheet, names: dict[PayoutSection, str]) -> None:
        payout, say = self.content.payout, self.say
        facts = (
            (words.PAYEE, self.content.partner.commercial_name),
            (words.PAYER, self.content.marketplace.name),
            (words.NUMBER, str(payout.id)),
            (words.PERIOD, self.content.period),
            (words.ACCOUNT, f"{payout.bank_account_iban} {payout.bank_account_bic}".strip()),
            (words.STATUS, self.content.state()),
        )
        sheet.set_column(0, 0, 34)
        sheet.set_column(1, 1, 40)
        for row, (name, value) in enumerate(facts):
            sheet.write_string(row, 0, say(name), self.strong)
            sheet.write_string(row, 1, value)
        first = len(facts) + 1
        sheet.write_string(first - 1, 0, "", self.title)
        sheet.write_string(first - 1, 1, f"{say(words.NET)} ({payout.currency})", self.title)
        for at_row, (section, name) in enumerate(names.items(), start=first):
            lines = self.content.lines.get(section, [])
            at = FIRST_ROW + max(len(lines), 1) + 1
            net = sum((line.net for line in lines), Decimal(0))
            sheet.write_string(at_row, 0, name)
            quoted = name.replace("'", "''")
            sheet.write_formula(at_row, 1, f"='{quoted}'!G{at}", self.money, net)
        last = first + len(names)
        sheet.write_string(last, 0, say(words.TOTAL), self.strong)
        sheet.write_formula(last, 1, f"=SUM(B{first + 1}:B{last})", self.total, payout.payout_amount)
