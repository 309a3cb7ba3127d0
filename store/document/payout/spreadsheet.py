"""Makes the spreadsheet of a payout: a small one in a thread, a large one in a process of its own."""

import asyncio
import contextlib
import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator
from zoneinfo import ZoneInfo

import orjson

from schema.payment.payout import PayoutSection
from store.document.payout import words, workbook
from store.document.payout.source import PayoutContent
from store.document.payout.workbook import PayoutBook, WorkbookHead, WorkbookLine
from store.payout.lines import PayoutStatementLine
from store.providers.money import exponent

LONGEST_ERROR = 300


class SpreadsheetFailed(Exception):
    """The process that writes a spreadsheet has failed; the message says why, for the operator."""


def payout_spreadsheet(content: PayoutContent) -> bytes:
    """The spreadsheet as an .xlsx file."""
    with tempfile.TemporaryDirectory(prefix="coffret-spreadsheet-") as folder:
        file = pathlib.Path(folder, "payout.xlsx")
        book = PayoutBook(workbook_head(content), file)
        for section in content.sections.values():
            for line in section.lines:
                book.add(workbook_line(content, line))
        book.close()
        return file.read_bytes()


def workbook_head(content: PayoutContent) -> WorkbookHead:
    """All of a spreadsheet but its lines."""
    payout, say = content.payout, content.words.say
    zone = ZoneInfo(content.marketplace.time_zone)
    columns = (words.DATE, words.REFERENCE, words.DETAILS, words.CURRENCY, words.GROSS, words.FEES, words.NET)
    of_transfers = (words.DATE, words.NUMBER_OF_TRANSFER, words.STATUS, words.CURRENCY, words.AMOUNT)
    return WorkbookHead(
        title=content.title,
        author=content.partner.commercial_name,
        currency=payout.currency,
        digits=exponent(payout.currency),
        summary=say(words.SUMMARY),
        facts=[
            (say(words.PAYEE), content.partner.commercial_name),
            (say(words.PAYER), content.marketplace.name),
            (say(words.NUMBER), str(payout.id)),
            (say(words.PERIOD), content.period),
            (say(words.ACCOUNT), f"{payout.bank_account_iban} {payout.bank_account_bic}".strip()),
            (say(words.STATUS), content.state()),
        ],
        net=say(words.NET),
        total=say(words.TOTAL),
        amount=str(payout.payout_amount),
        sections={section.value: content.words.section(section) for section in PayoutSection},
        columns=[say(each) for each in columns],
        transfers=say(words.TRANSFERS),
        transfer_columns=[say(each) for each in of_transfers],
        transfer_rows=[
            (
                each.created_on.astimezone(zone).date().isoformat(),
                each.id,
                each.status.value,
                each.currency,
                str(each.transfer_amount),
            )
            for each in content.transfers
        ],
    )


def workbook_line(content: PayoutContent, line: PayoutStatementLine) -> WorkbookLine:
    """A line as it is written."""
    amounts = (str(line.gross), str(line.fees), str(line.net))
    return WorkbookLine(line.section.value, line.day.isoformat(), line.reference, content.describe(line), amounts)


class SpreadsheetProcess:
    """A process that writes a spreadsheet."""

    def __init__(self, process: asyncio.subprocess.Process, folder: pathlib.Path) -> None:
        assert process.stdin is not None
        self._process, self._input, self._folder = process, process.stdin, folder

    async def send(self, data: WorkbookHead | WorkbookLine | None) -> None:
        """Send the head, a line, or the end; waits while the process has enough to do. Raises SpreadsheetFailed."""
        try:
            self._input.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
            await self._input.drain()
        except ConnectionError as error:
            raise await self._failure() from error

    async def finish(self) -> bytes:
        """The spreadsheet, once all lines were sent. Raises SpreadsheetFailed."""
        await self.send(None)
        if await self._process.wait():
            raise await self._failure()
        return await asyncio.to_thread((self._folder / "payout.xlsx").read_bytes)

    async def _failure(self) -> SpreadsheetFailed:
        status = await self._process.wait()
        said = (self._folder / "errors").read_text(errors="replace").strip()
        return SpreadsheetFailed(f"It ended with {status}: {said[-LONGEST_ERROR:]}")


@contextlib.asynccontextmanager
async def spreadsheet_process() -> AsyncIterator[SpreadsheetProcess]:
    """A process that writes a spreadsheet. It is ended with the block, in any case."""
    with tempfile.TemporaryDirectory(prefix="coffret-spreadsheet-") as name:
        folder = pathlib.Path(name)
        with (folder / "errors").open("wb") as errors:
            command = (sys.executable, "-P", workbook.__file__, str(folder / "payout.xlsx"))
            process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE, stderr=errors)
        try:
            yield SpreadsheetProcess(process, folder)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
