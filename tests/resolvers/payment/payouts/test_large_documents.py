"""The documents of payout requests with many lines: the worker makes them, one worker each, and says how far it is."""

import asyncio
import csv
import datetime as dt
import io
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from openpyxl import load_workbook
from pypdf import PdfReader

from resolvers.document import UnfinishedFile
from resolvers.job.registry import HANDLERS
from resolvers.payment.payouts import document_jobs, documents
from resolvers.payment.payouts.document_jobs import HOLD, REST, DocumentMaker, make_document, make_next, sweep
from resolvers.payment.payouts.documents import (
    MEDIA_TYPES,
    PDF,
    RETRY_AFTER,
    XLSX,
    generate_payout_pdf,
    generate_payout_xls,
    read_payout_file,
)
from schema.core.errors import Unavailable
from store.core.clock import clock
from store.core.retries import RunAgain
from store.document.cache import keep_made
from store.document.payout import workbook
from store.document.payout.line_list import COLUMNS
from store.document.payout.source import MOST_PRINTED
from store.document.payout.spreadsheet import SpreadsheetFailed, spreadsheet_process
from store.job.jobs import JobKind
from store.payout.documents import PayoutDocumentKind
from store.payout.lines import MOST_LINES_AT_ONCE
from store.payout.requests import PayoutRequestRow
from tests.changes import Direct, Transport
from tests.fixtures.payment.payout import put_into_payout, send
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.payment.payouts.test_documents import rich_payout, served_file, text_of
from tests.resolvers.payment.payouts.test_kills import Killed
from tests.resolvers.payment.payouts.test_payouts import earn, opened

STATE = "query ($id: Int!) { payoutRequest(id: $id) { pdfUrl xlsxUrl pdf { ...d } xlsx { ...d } } } "
STATE += "fragment d on PayoutDocument { state lines linesDone url }"
JOBS = "SELECT count(*) FROM pgqueuer WHERE entrypoint = 'make_payout_document'"
ROW = "SELECT state, lines, lines_done, tries, maker IS NULL AS free FROM payout_document"


@pytest.fixture(autouse=True)
def _few_lines_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_LINES_AT_ONCE", 0)
    monkeypatch.setattr(document_jobs, "MOST_PRINTED", 1)
    monkeypatch.setattr(document_jobs, "SIGN_INTERVAL", dt.timedelta())


async def asked(tenants: Tenants, ask: Transport, lines: int = 3, operation: Any = generate_payout_xls) -> int:
    """The id of a payout request of which somebody has asked for a document."""
    for _ in range(lines):
        await earn(tenants, "a1", "10.00")
    id = await put_into_payout(tenants.services, tenants.partners["a1"].id, is_validated=False)
    assert (await ask.change("a1", operation, id=id)).done
    return id


async def state(tenants: Tenants, id: int) -> Any:
    return (await tenants.graphql("market a", STATE, id=id))["data"]["payoutRequest"]


async def get(tenants: Tenants, who: str, path: str, method: str = "GET") -> httpx.Response:
    headers = {"Authorization": f"Token {tenants.tokens[who]}"}
    return await tenants.client.request(method, f"/api/payout_requests/{path}", headers=headers)


async def work(tenants: Tenants) -> None:
    """What the worker does with the documents that are asked for."""
    for row in await tenants.rows("SELECT id FROM payout_document WHERE state = 'pending'"):
        await HANDLERS[JobKind.MAKE_PAYOUT_DOCUMENT].run(tenants.services, {"id": row.id})


async def document_row(tenants: Tenants) -> tuple[Any, ...]:
    """What is stored of the only document."""
    (row,) = await tenants.rows(ROW)
    return tuple(row)


@pytest.mark.parametrize(("operation", "kind"), [(generate_payout_pdf, "pdf"), (generate_payout_xls, "xlsx")])
async def test_the_worker_makes_it_and_says_so(tenants: Tenants, ask: Transport, operation: Any, kind: str) -> None:
    id = await asked(tenants, ask, operation=operation)
    assert (await ask.change("market a", operation, id=id)).done
    assert await tenants.one(JOBS) == 1
    pending = {"state": "PENDING", "lines": 3, "linesDone": 0, "url": None}
    others = {"pdf": None, "xlsx": None, "pdfUrl": None, "xlsxUrl": None}
    assert await state(tenants, id) == others | {kind: pending}
    await work(tenants)
    found = (await state(tenants, id))[kind]
    assert (found["state"], found["linesDone"]) == ("READY", 3)
    assert (await state(tenants, id))[f"{kind}Url"] == found["url"]
    answer = await tenants.client.get("/" + found["url"].split("/", 3)[3])
    assert (answer.status_code, answer.headers["content-type"]) == (
        200,
        MEDIA_TYPES[PayoutDocumentKind(kind)],
    )
    assert (await ask.change("a1", operation, id=id)).done
    assert (await state(tenants, id))[kind]["state"] == "READY"


async def test_rest_answers_202_until_it_is_made(tenants: Tenants) -> None:
    id = await opened(tenants)
    for path, kind in (("pdf", PDF), ("xls", XLSX)):
        for _ in range(2):
            answer = await get(tenants, "a1", f"{id}/{path}/")
            assert (answer.status_code, answer.headers["retry-after"]) == (202, str(RETRY_AFTER))
            assert answer.json() == {"detail": "The document is being made: 0 of 1 lines. Try again in 10 seconds."}
        assert (await get(tenants, "a1", f"{id}/")).json()[f"{path}_file"] is None
        assert (await get(tenants, "b1", f"{id}/{path}/")).status_code == 404
        await work(tenants)
        answer = await get(tenants, "a1", f"{id}/{path}/")
        assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPES[kind])
        assert answer.headers["content-disposition"].startswith("inline; filename=")
        assert (await get(tenants, "a1", f"{id}/")).json()[f"{path}_file"].endswith(f".{kind}")


async def test_many_who_ask_first_have_one_document_made(tenants: Tenants) -> None:
    id, ask = await opened(tenants), Direct(tenants)
    by_graphql = [ask.change("a1", generate_payout_xls, id=id) for _ in range(10)]
    by_rest = [get(tenants, who, f"{id}/xls/") for who in ("a1", "market a") for _ in range(5)]
    outcomes, answers = await asyncio.gather(asyncio.gather(*by_graphql), asyncio.gather(*by_rest))
    assert all(outcome.done for outcome in outcomes)
    assert {answer.status_code for answer in answers} == {202}
    assert await document_row(tenants) == ("pending", 1, 0, 0, True)
    assert await tenants.one(JOBS) == 1
    await work(tenants)
    assert (await get(tenants, "a1", f"{id}/xls/")).status_code == 200


async def test_a_change_makes_it_again(tenants: Tenants, ask: Transport) -> None:
    id = await asked(tenants, ask)
    await work(tenants)
    url = "/" + (await state(tenants, id))["xlsxUrl"].split("/", 3)[3]
    assert (await tenants.client.get(url)).status_code == 200
    await tenants.execute("UPDATE partner SET commercial_name = 'Changed' WHERE id = :id", id=tenants.partners["a1"].id)
    unfinished = await tenants.client.get(url)
    assert (unfinished.status_code, unfinished.headers["refresh"], unfinished.headers["retry-after"]) == (
        202,
        "10",
        "10",
    )
    assert (await state(tenants, id))["xlsx"]["state"] == "PENDING"
    await work(tenants)
    book = load_workbook(io.BytesIO((await tenants.client.get(url)).content))
    assert book["Summary"]["B1"].value == "Changed"
    await tenants.execute("UPDATE partner SET commercial_name = 'Twice' WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await ask.change("a1", generate_payout_xls, id=id)).done
    assert (await state(tenants, id))["xlsx"]["state"] == "PENDING"


async def test_the_spreadsheet_has_all_lines(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    payout = await rich_payout(shop)
    large = load_workbook(io.BytesIO(await read_made_by_worker(shop, payout, XLSX)))
    nets = [row[6] for name in large.sheetnames[1:5] for row in rows_of(large[name])]
    assert (Decimal(str(round(sum(nets), 2))), len(nets)) == (payout.payout_amount, 4)
    monkeypatch.setattr(documents, "MOST_LINES_AT_ONCE", MOST_LINES_AT_ONCE)
    small = load_workbook(io.BytesIO((await served_file(shop.services, payout, XLSX)).content))
    assert [cells(sheet) for sheet in large] == [cells(sheet) for sheet in small]


def rows_of(sheet: Any) -> list[Any]:
    """The lines of a sheet."""
    return [row for row in sheet.iter_rows(min_row=2, values_only=True) if isinstance(row[0], dt.datetime)]


def cells(sheet: Any) -> tuple[str, list[Any]]:
    return sheet.title, list(sheet.iter_rows(values_only=True))


async def read_made_by_worker(shop: Shop, payout: PayoutRequestRow, kind: PayoutDocumentKind) -> bytes:
    """A document that the worker has made."""
    assert isinstance(await read_payout_file(shop.services, payout, kind), UnfinishedFile)
    await make_document(shop.services, await shop.one("SELECT id FROM payout_document WHERE kind = :kind", kind=kind))
    return (await served_file(shop.services, payout, kind)).content


async def test_the_statement_prints_some_lines_and_has_all_attached(shop: Shop) -> None:
    payout = await rich_payout(shop)
    content = await read_made_by_worker(shop, payout, PDF)
    seen, reader = text_of(content), PdfReader(io.BytesIO(content))
    assert "1 of 2 lines are printed. The attached file lines.csv has all of them." in seen
    assert seen.count("lines are printed") == 1
    header, *lines = csv.reader(io.StringIO(reader.attachments["lines.csv"][0].decode("utf-8-sig")))
    assert tuple(header) == COLUMNS
    found = [dict(zip(header, line, strict=True)) for line in lines]
    assert [line["section"] for line in found].count("payments") == 2
    assert sum(Decimal(line["net"]) for line in found) == payout.payout_amount
    assert {line["currency"] for line in found} == {"EUR"}
    assert "Ada Martin" in {line["customer"] for line in found}
    assert b"<pdfaid:part>3</pdfaid:part>" in content
    later = await read_made_by_worker(shop, await send(shop, payout), PDF)
    assert "Paid out on" in text_of(later)


# ---- workers that die, or meet


async def kill_in_the_middle(maker: DocumentMaker) -> None:
    if maker.lines_done == 2:
        raise Killed
    await tell(maker)


async def kill_at_the_end(maker: DocumentMaker) -> None:
    await tell(maker)
    if maker.lines_done == 3:
        raise Killed


tell = DocumentMaker.tell


@pytest.mark.parametrize("operation", [generate_payout_pdf, generate_payout_xls])
@pytest.mark.parametrize(("kill", "done"), [(kill_in_the_middle, 1), (kill_at_the_end, 3)])
async def test_another_worker_begins_anew_when_one_dies(
    tenants: Tenants,
    ask: Transport,
    monkeypatch: pytest.MonkeyPatch,
    operation: Any,
    kill: Callable[..., Any],
    done: int,
) -> None:
    await asked(tenants, ask, operation=operation)
    monkeypatch.setattr(DocumentMaker, "tell", kill)
    with pytest.raises(Killed):
        await work(tenants)
    monkeypatch.setattr(DocumentMaker, "tell", tell)
    assert await document_row(tenants) == ("pending", 3, done, 1, False)
    await work(tenants)
    assert await sweep(tenants.services) == 0, "It may still be alive."
    assert await document_row(tenants) == ("pending", 3, done, 1, False)
    clock.advance(HOLD)
    await tenants.execute("DELETE FROM pgqueuer")
    for _ in range(2):
        assert await sweep(tenants.services) == 1
    assert await tenants.one(JOBS) == 1
    await work(tenants)
    assert await document_row(tenants) == ("ready", 3, 3, 2, True)
    assert await sweep(tenants.services) == 0


async def test_workers_that_die_again_and_again_are_not_followed_by_others(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(tenants, ask)
    monkeypatch.setattr(DocumentMaker, "tell", kill_in_the_middle)
    for _ in range(document_jobs.MOST_TRIES):
        with pytest.raises(Killed):
            await work(tenants)
        clock.advance(HOLD)
    await work(tenants)
    assert await document_row(tenants) == ("failed", 3, 1, document_jobs.MOST_TRIES, True)
    assert await sweep(tenants.services) == 0


async def test_an_outage_of_the_file_store_is_not_the_death_of_a_worker(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(tenants, ask)

    async def out_of_order(*_: Any) -> None:
        raise Unavailable(what="The file store")

    with monkeypatch.context() as patch:
        patch.setattr(document_jobs, "keep_made", out_of_order)
        for _ in range(2 * document_jobs.MOST_TRIES):
            with pytest.raises(Unavailable):
                await work(tenants)
    assert await document_row(tenants) == ("pending", 3, 3, 0, True)
    await work(tenants)
    assert await document_row(tenants) == ("ready", 3, 3, 1, True)


async def test_of_several_workers_one_makes_it(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(tenants, ask)
    kept: list[str] = []

    async def keep(*args: Any) -> None:
        kept.append(args[1])
        await keep_made(*args)

    monkeypatch.setattr(document_jobs, "keep_made", keep)
    id = await tenants.one("SELECT id FROM payout_document")
    await asyncio.gather(*(make_document(tenants.services, id) for _ in range(4)))
    assert (len(kept), await document_row(tenants)) == (1, ("ready", 3, 3, 1, True))


async def test_a_worker_that_was_thought_dead_changes_nothing(
    tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, stopped, goes_on = await asked(tenants, ask), asyncio.Event(), asyncio.Event()
    document = await tenants.one("SELECT id FROM payout_document")

    async def stop_once(maker: DocumentMaker) -> None:
        if not stopped.is_set():
            stopped.set()
            await goes_on.wait()
        await tell(maker)

    monkeypatch.setattr(DocumentMaker, "tell", stop_once)
    slow = asyncio.create_task(make_document(tenants.services, document))
    await stopped.wait()
    clock.advance(HOLD)
    await make_document(tenants.services, document)
    before = await document_row(tenants)
    goes_on.set()
    await slow
    assert await document_row(tenants) == before == ("ready", 3, 3, 2, True)
    assert (await get(tenants, "a1", f"{id}/xls/")).status_code == 200


async def test_a_process_makes_one_at_a_time(tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    await asked(tenants, ask)
    document = await tenants.one("SELECT id FROM payout_document")
    first = asyncio.create_task(make_next(tenants.services, document))
    await asyncio.sleep(0)
    with pytest.raises(RunAgain):
        await make_next(tenants.services, document)
    await first
    await make_next(tenants.services, document)


# ---- what cannot be made


async def test_what_cannot_be_made_rests(tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    id = await asked(tenants, ask)
    monkeypatch.setattr(workbook, "__file__", "/nowhere/workbook.py")
    await work(tenants)
    found = (await state(tenants, id))["xlsx"]
    assert (found["state"], found["lines"], found["url"]) == ("FAILED", 3, None)
    answer = await get(tenants, "a1", f"{id}/xls/")
    assert (answer.status_code, answer.json()["code"]) == (503, "document_not_made")
    assert answer.headers["retry-after"] == str(int(REST.total_seconds()))
    assert (await ask.change("a1", generate_payout_xls, id=id)).done
    assert (await state(tenants, id))["xlsx"]["state"] == "FAILED"
    monkeypatch.undo()
    monkeypatch.setattr(documents, "MOST_LINES_AT_ONCE", 0)
    clock.advance(REST)
    assert (await ask.change("a1", generate_payout_xls, id=id)).done
    await work(tenants)
    assert (await state(tenants, id))["xlsx"]["state"] == "READY"


async def test_the_process_of_a_spreadsheet_says_why_it_fails_and_ends_with_its_reader() -> None:
    async with spreadsheet_process() as book:
        await book.send(None)
        with pytest.raises(SpreadsheetFailed, match=r"(?s)It ended with 1: .*TypeError"):
            await book.finish()
    with pytest.raises(Killed):
        async with spreadsheet_process() as book:
            raise Killed
    assert book._process.returncode is not None


def test_lines_that_end_before_their_end_make_no_spreadsheet(tmp_path: Any) -> None:
    command = [sys.executable, "-P", workbook.__file__, str(tmp_path / "book.xlsx")]
    head = (
        b'{"title":"","author":"","currency":"EUR","digits":2,"summary":"S","facts":[],"net":"","total":"","amount":"0",'
        b'"sections":{"payments":"P"},"columns":["d"],"transfers":"T","transfer_columns":["d"],"transfer_rows":[]}\n'
    )
    ended = subprocess.run(command, input=head, capture_output=True, check=False)
    assert (ended.returncode, b"before their end" in ended.stderr) == (1, True)
    assert not list(tmp_path.glob("*.xlsx"))


def test_the_descriptions_tell_the_limits() -> None:
    for operation in (generate_payout_pdf, generate_payout_xls):
        assert f"more than {MOST_LINES_AT_ONCE:,} lines" in operation.description
    assert f"prints {MOST_PRINTED} lines" in generate_payout_pdf.description


async def test_a_small_one_is_made_at_once(tenants: Tenants, ask: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_LINES_AT_ONCE", 3)
    id = await asked(tenants, ask)
    found = await state(tenants, id)
    assert (found["xlsx"]["state"], found["xlsx"]["linesDone"], found["xlsx"]["url"]) == ("READY", 3, found["xlsxUrl"])
    assert (await get(tenants, "a1", f"{id}/xls/")).status_code == 200
    assert await tenants.one(JOBS) == 0
