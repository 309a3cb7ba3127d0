"""Reports of Mangopay's Reporting Service: requested, made by Mangopay, and downloaded as CSV."""

import csv
import datetime as dt
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from pydantic import Field

from store.providers.errors import TransientError
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created, Json
from store.providers.mangopay.part import AdapterMixin, tag
from store.providers.money import MinorAmount
from store.providers.reports import ProviderReport, ReportedMovement, ReportKind, ReportRequest, ReportStatus
from store.providers.transactions import TransactionKind

_KINDS = {ReportKind.WALLET_MOVEMENTS: "USER_WALLET_TRANSACTIONS", ReportKind.COLLECTED_FEES: "COLLECTED_FEES"}
_STATUSES = {
    "READY_FOR_DOWNLOAD": ReportStatus.READY,
    "GENERATED": ReportStatus.READY,  # the provider's documents write both
    "FAILED": ReportStatus.FAILED,
    "EXPIRED": ReportStatus.FAILED,
}
_COLUMNS = (
    "TransactionId",
    "TransactionType",
    "TransactionNature",
    "CreationDate",
    "ExecutionDate",
    "DebitedWalletId",
    "CreditedWalletId",
    "DebitedFundsCurrency",
    "DebitedFundsAmount",
    "CreditedFundsCurrency",
    "CreditedFundsAmount",
    "FeesCurrency",
    "FeesAmount",
    "Tag",
)


class MangopayReport(Created):
    """A report. Its file is at the URL once it was made."""

    status: str
    download_url: str | None = Field(None, alias="DownloadURL")
    result_code: str | None = None
    result_message: str | None = None

    def report(self) -> ProviderReport:
        """The port's report. One that was made without a URL counts as PENDING."""
        status = _STATUSES.get(self.status, ReportStatus.PENDING)
        if status is ReportStatus.READY and not self.download_url:
            status = ReportStatus.PENDING
        failure = f"{self.result_code or ''} {self.result_message or self.status}".strip()
        return ProviderReport(
            self.id, status, self.download_url or "", failure if status is ReportStatus.FAILED else ""
        )


class ReportsMixin(AdapterMixin):
    async def make_report(self, request: ReportRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> ProviderReport:
        """See `PaymentProvider`."""
        body: Json = {
            "ReportType": _KINDS[request.kind],
            "DownloadFormat": "CSV",
            "AfterDate": int(request.since.timestamp()),
            "BeforeDate": int(request.until.timestamp()),
            "Columns": list(_COLUMNS),
            "Tag": tag(request.reference),
        }
        result = await self._client.create("/reporting/reports", body, MangopayReport, key, sent_at)
        return (await self._read_again("/reporting/reports", result)).report()

    async def get_report(self, id: str) -> ProviderReport:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/reporting/reports/{segment(id)}", MangopayReport)).report()

    async def read_report(self, report: ProviderReport) -> AsyncIterator[ReportedMovement]:
        """See `PaymentProvider`."""
        async with self._client.download(report.url) as file:
            lines = csv.DictReader(file)
            if missing := set(_COLUMNS) - set(lines.fieldnames or ()):
                raise TransientError(f"A report of the provider lacks the column {min(missing)}.")
            try:
                for line in lines:
                    yield _movement(line)
            except (csv.Error, ValueError, TypeError, OverflowError) as error:
                raise TransientError(f"Line {lines.line_num} of a report cannot be read.") from error


def _movement(line: Mapping[str, str]) -> ReportedMovement:
    """Raises ValueError and TypeError."""
    return ReportedMovement(
        id=_id(line["TransactionId"]),
        kind=_kind(line["TransactionType"], line["TransactionNature"]),
        debited=_amount(line, "DebitedFunds"),
        credited=_amount(line, "CreditedFunds"),
        fees=_amount(line, "Fees"),
        debited_wallet_id=line["DebitedWalletId"] or None,
        credited_wallet_id=line["CreditedWalletId"] or None,
        created_at=_moment(line["CreationDate"]),
        executed_at=_moment(line["ExecutionDate"]),
        reference=line["Tag"],
    )


def _id(text: str) -> str:
    if not 0 < len(text) <= 128:
        raise ValueError("A movement has no id.")
    return text


def _kind(type: str, nature: str) -> TransactionKind | None:
    with suppress(ValueError):
        return TransactionKind((type if nature == "REGULAR" else nature).lower())
    return None


def _amount(line: Mapping[str, str], name: str) -> MinorAmount:
    return MinorAmount(line[f"{name}Currency"], int(line[f"{name}Amount"]))


def _moment(text: str) -> dt.datetime:
    return dt.datetime.fromtimestamp(int(text), dt.UTC)
