"""All lines of a payout as a CSV file, which is attached to a statement that does not print all of them.

RFC 4180, with decimal points; a byte order mark makes spreadsheets read UTF-8.
"""

import csv
import io

from store.core.csv_cells import safe_cell
from store.payout.lines import PayoutStatementLine

COLUMNS = (
    "date", "recorded_on", "section", "kind", "reference", "customer", "details", "code_ending", "gross", "fees", "net",
    "currency",
)  # fmt: skip


class LineList:
    """The file while it is written."""

    def __init__(self, currency: str) -> None:
        self._currency = currency
        self._file = io.StringIO()
        self._file.write("\N{ZERO WIDTH NO-BREAK SPACE}")
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)

    def add(self, line: PayoutStatementLine) -> None:
        """Write a line."""
        texts = map(safe_cell, (line.reference, line.customer, line.details, line.code_end))
        days = (line.day, line.recorded_on.isoformat())
        self._writer.writerow(
            (*days, line.section.value, line.kind.value, *texts, line.gross, line.fees, line.net, self._currency)
        )

    @property
    def text(self) -> str:
        """What is written by now."""
        return self._file.getvalue()
