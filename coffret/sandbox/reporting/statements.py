"""The content of reports: successful movements of money as CSV, from the movements that the sandbox has posted."""

import csv
import datetime as dt
import io
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements
from coffret.sandbox.wire.endpoints import Json

COLLECTED_FEES = "COLLECTED_FEES"
USER_WALLET_TRANSACTIONS = "USER_WALLET_TRANSACTIONS"
DEFAULT_COLUMNS = (
    "ClientId",
    "TransactionId",
    "CreationDate",
    "ExecutionDate",
    "AuthorId",
    "DebitedWalletId",
    "CreditedWalletId",
    "DebitedFundsCurrency",
    "DebitedFundsAmount",
    "CreditedFundsCurrency",
    "CreditedFundsAmount",
    "FeesCurrency",
    "FeesAmount",
    "TransactionType",
    "TransactionNature",
)
"""Amounts are in the currency's smallest unit, dates Unix timestamps."""
_CONDITIONS: Mapping[str, str] = {
    COLLECTED_FEES: "fees <> 0",
    USER_WALLET_TRANSACTIONS: """EXISTS (SELECT 1 FROM posting WHERE movement_id = movement.id
        AND account LIKE 'wallet:%')""",
}
"""SQL: which movements a report lists, by its type."""


def write(session: SandboxSession, report: Json) -> str:
    """The CSV of a report, with a header, the newest movements first. A report of another type has only a header."""
    columns = report["Columns"] or DEFAULT_COLUMNS
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(_line(session, row, columns) for row in _movements(session, report))
    return out.getvalue()


def _movements(session: SandboxSession, report: Json) -> Sequence[sqlite3.Row]:
    condition = _CONDITIONS.get(report["ReportType"])
    if condition is None:
        return []
    return session.rows(
        f"""SELECT * FROM movement WHERE status = 'SUCCEEDED' AND created_at >= ? AND created_at <= ? AND {condition}
            ORDER BY created_at DESC, seq DESC""",  # noqa: S608 - of the conditions above
        report["AfterDate"],
        report["BeforeDate"],
    )


def _line(session: SandboxSession, row: sqlite3.Row, columns: Sequence[str]) -> list[str]:
    shown = movements.present(row)
    given: Mapping[str, Callable[[], object]] = {
        "ClientId": lambda: session.settings.client_id,
        "TransactionId": lambda: shown["Id"],
        "TransactionType": lambda: shown["Type"],
        "TransactionNature": lambda: shown["Nature"],
        "CreationDate:ISO": lambda: _iso(shown["CreationDate"]),
        "ExecutionDate:ISO": lambda: _iso(shown["ExecutionDate"]),
    }
    return [_cell(given[column]() if column in given else _field(shown, column)) for column in columns]


def _field(shown: Json, column: str) -> object:
    """A field of a movement; of an amount of money, its part that the column names. None for a column that it lacks."""
    for part in ("Currency", "Amount"):
        if column.endswith(part):
            money = shown.get(column.removesuffix(part))
            return money.get(part) if isinstance(money, dict) else None
    return shown.get(column)


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _iso(timestamp: int) -> str:
    return dt.datetime.fromtimestamp(timestamp, dt.UTC).isoformat()
