"""Exports: what is in their files, and what becomes of them."""

import asyncio
import datetime as dt
import io
import zipfile
from typing import Any

import pytest
from sqlmodel import col, update

from resolvers.core.list_reader import ListPage
from resolvers.core.services import Services
from resolvers.export import expiry, exports, running
from resolvers.export.running import GIVEN_UP, MOST_AT_ONCE, give_up, sweep, write_export
from schema.core.errors import Unavailable
from schema.core.permission import Permission
from schema.export import CancelExport
from schema.graph.lists import SchemaLists
from store.core.retries import RunAgain
from store.export.exports import FILE_LIFE, HOLD, MOST_TRIES, ROW_LIFE, ExportRow
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.resolvers.export.exported import CANCEL, Exports, copy_rows, state_of


async def move(tenants: Tenants, monkeypatch: pytest.MonkeyPatch, by: dt.timedelta) -> None:
    """Let time pass."""
    now = tenants.services.clock.now
    monkeypatch.setattr(tenants.services.clock, "now", lambda: now() + by)


async def test_a_list_of_thousands_is_written_once_and_in_order(tenants: Tenants, exporting: Exports) -> None:
    await copy_rows(tenants, "coupon", 2345, code="'C' || n", normal_code="'C' || n")
    rows = await exporting.rows("a1", "coupons", columns=[{"field": "id"}, {"field": "code", "header": "The code"}])
    assert rows[0] == ["id", "The code"]
    ids = [int(id) for id, _ in rows[1:]]
    theirs = await tenants.rows("SELECT id FROM coupon WHERE partner_id = :id", id=tenants.partners["a1"].id)
    assert len(ids) == len(set(ids)) == len(theirs) > 2345
    assert set(ids) == {row[0] for row in theirs}
    row = await tenants.newest("export")
    assert (row["rows_done"], row["rows_expected"]) == (len(ids), len(ids))


@pytest.mark.parametrize("who", EVERYBODY)
async def test_a_file_has_what_its_user_sees(tenants: Tenants, exporting: Exports, who: str) -> None:
    rows = await exporting.rows(who, "orders", columns=[{"field": "id"}])
    listed = await tenants.graphql(who, "{ orders(first: 100) { nodes { id } } }")
    assert [row[0] for row in rows[1:]] == [str(node["id"]) for node in listed["data"]["orders"]["nodes"]]


async def test_every_list_can_be_exported_with_all_its_columns(tenants: Tenants, exporting: Exports) -> None:
    reader = tenants.services.lists
    assert isinstance(reader, SchemaLists)
    lists = [*reader._lists]
    assert {"orders", "giftCards", "auditEntries", "exports"} <= set(lists)
    for name in lists:
        columns = [each.path for each in reader.columns(name) if not each.is_code_address and not each.is_of_part]
        rows = await exporting.rows("master", name)
        assert rows[0] == columns, name
        assert columns[0] in ("id", "uuid", "code"), name


async def test_parts_of_a_row_are_columns_and_what_it_leads_to_is_not(tenants: Tenants, exporting: Exports) -> None:
    await tenants.execute("UPDATE shop_order SET buyer_email = 'zoe@example.com'")
    reader = tenants.services.lists
    assert isinstance(reader, SchemaLists)
    own = [each.path for each in reader.columns("orders") if not each.is_code_address]
    rows = await exporting.rows("a1", "orders", columns=[{"field": path} for path in own])
    found = dict(zip(rows[0], rows[1], strict=True))
    assert found["buyer.email"] == "zoe@example.com"
    assert {
        "buyer.firstName",
        "delivery.kind",
        "delivery.name",
        "delivery.address.city",
        "fulfilment.state",
    } <= found.keys()
    assert not any(name.startswith(("partner.", "terms.", "products.")) for name in found)
    letter = next(column for column in reader.columns("vouchers") if column.path.endswith("coverLetterUrl"))
    assert letter.is_code_address
    assert letter.path not in (await exporting.rows("a1", "vouchers"))[0]
    assert not any(column.path.startswith("wallet.") for column in reader.columns("partners"))


@pytest.mark.parametrize("name", ["orders", "partners", "payoutRequests"])
async def test_parts_of_a_row_are_in_no_file_that_does_not_name_them(
    tenants: Tenants, exporting: Exports, name: str
) -> None:
    titles = (await exporting.rows("master", name))[0]
    assert {part for title in titles for part in title.split(".")[1:]} <= {"amount", "currency"}


async def test_filter_and_order_are_those_of_the_list(tenants: Tenants, exporting: Exports) -> None:
    await copy_rows(tenants, "coupon", 3, code="'X' || n", normal_code="'X' || n", is_active="n > 1")
    columns = [{"field": "code"}]
    rows = await exporting.rows("a1", "coupons", filter={"isActive": False}, orderBy="CODE", columns=columns)
    assert rows[1:] == [["X1"]]
    export = await tenants.newest("export")
    assert export["filter"] == {"isActive": False}


async def test_what_cannot_be_exported_is_told_and_nothing_is_stored(tenants: Tenants, exporting: Exports) -> None:
    assert await exporting.problems("a1", "nothing") == [("list", "INVALID")]
    assert await exporting.problems("a1", "me") == [("list", "INVALID")]
    assert await exporting.problems("a1", "jobs") == ["FORBIDDEN"]
    assert await exporting.problems("a1", "orders", orderBy="PRICE") == [("orderBy", "INVALID")]
    assert await exporting.problems("a1", "orders", filter={"nothing": 1}) == [("filter", "INVALID")]
    assert await exporting.problems("a1", "orders", filter={"createdFrom": "soon"}) == [("filter", "INVALID")]
    wrong = [{"field": "id"}, {"field": "nothing"}, {"field": "partner"}, {"field": "partner.name"}]
    expected = [("columns.1.field", "INVALID"), ("columns.2.field", "INVALID")]
    assert (await exporting.problems("a1", "orders", columns=wrong))[:2] == expected
    assert await exporting.problems("a1", "orders", columns=[]) == [("columns", "INVALID")]
    assert await exporting.problems("a1", "orders", language="xx") == [("language", "INVALID")]
    both = await exporting.problems("a1", "orders", orderBy="PRICE", filter={"nothing": 1})
    assert both == [("orderBy", "INVALID"), ("filter", "INVALID")]


async def test_a_text_is_no_formula(tenants: Tenants, exporting: Exports) -> None:
    evil = '=HYPERLINK("http://evil.example")'
    await tenants.execute("UPDATE shop_order SET buyer_first_name = :evil", evil=evil)
    columns = [{"field": "number"}, {"field": "buyer.firstName", "header": "=1+1"}]
    rows = await exporting.rows("a1", "orders", columns=columns)
    assert (rows[0][1], rows[1][1]) == ("'=1+1", f"'{evil}")
    sheet = await exporting.sheet("a1", "orders", columns=columns)
    assert (sheet[0][1], sheet[1][1]) == ("=1+1", evil)
    response = await exporting.file("a1", "orders", columns=columns, format="XLSX")
    with zipfile.ZipFile(io.BytesIO(response.content)) as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


async def test_values_are_numbers_days_and_times_of_the_marketplace(tenants: Tenants, exporting: Exports) -> None:
    fields = ("id", "createdOn", "value.amount", "value.currency", "value")
    row = (
        await tenants.rows(
            "SELECT id, created_on FROM gift_card WHERE partner_id = :id LIMIT 1", id=tenants.partners["a1"].id
        )
    )[0]
    columns = [{"field": name} for name in fields]
    rows = await exporting.rows("a1", "giftCards", columns=columns)
    found = dict(zip(rows[0], rows[1], strict=True))
    assert found["id"] == str(row[0])
    assert dt.datetime.fromisoformat(found["createdOn"]) == row[1].replace(microsecond=0)
    assert dt.datetime.fromisoformat(found["createdOn"]).utcoffset() in (dt.timedelta(hours=1), dt.timedelta(hours=2))
    assert found["value"] == f"{found['value.amount']} {found['value.currency']}"
    sheet = await exporting.sheet("a1", "giftCards", columns=columns)
    cells = dict(zip(sheet[0], sheet[1], strict=True))
    assert isinstance(cells["id"], int)
    assert isinstance(cells["createdOn"], dt.datetime)
    assert isinstance(cells["value.amount"], int | float)


async def test_codes_are_shown_in_part_unless_they_are_asked_for(tenants: Tenants, exporting: Exports) -> None:
    columns = [{"field": "code"}, {"field": "documentUrl"}]
    (code,) = (await tenants.rows("SELECT code FROM gift_card WHERE partner_id = :id", id=tenants.partners["a1"].id))[0]
    masked, url = (await exporting.rows("a1", "giftCards", columns=columns))[1]
    assert code not in masked
    assert masked.endswith(code[-2:])
    assert url == ""
    whole, _ = (await exporting.rows("a1", "giftCards", columns=columns, includeCodes=True))[1]
    assert whole == code
    await tenants.user("viewer", "partner", [Permission.VIEW_GIFT_CARD], partner_id=tenants.partners["a1"].id)
    assert await exporting.rows("viewer", "giftCards", columns=columns) == [["code", "documentUrl"], [masked, ""]]


async def test_whole_codes_need_the_permission_to_manage_them(tenants: Tenants, exporting: Exports) -> None:
    await tenants.user("viewer", "partner", [Permission.VIEW_GIFT_CARD], partner_id=tenants.partners["a1"].id)
    asked = {"columns": [{"field": "code"}], "includeCodes": True}
    assert await exporting.problems("viewer", "giftCards", **asked) == ["FORBIDDEN"]
    assert await exporting.problems("viewer", "giftCards", includeCodes=True) == ["FORBIDDEN"]
    id = await exporting.create("a1", "giftCards", **asked)
    entry = await tenants.one("SELECT input FROM audit_entry WHERE operation = 'create_export'")
    assert entry["include_codes"] is True
    await tenants.execute(
        "UPDATE app_user SET permissions = '{view_giftcard}' WHERE id = :id", id=tenants.users["a1"].id
    )
    await exporting.write(id)
    export = await exporting.read("a1", id)
    assert (export["state"], export["url"]) == ("FAILED", None)
    assert "manage_giftcard" in export["error"]


async def test_an_export_can_be_cancelled_while_it_waits_and_while_it_is_written(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await exporting.create("a1", "orders")
    cancelled = await tenants.graphql("a1", CANCEL, id=id)
    assert cancelled["data"]["cancelExport"] == {"export": {"state": "CANCELLED"}, "userErrors": []}
    await exporting.write(id)
    assert await state_of(tenants, id) == "cancelled"
    again = await tenants.graphql("a1", CANCEL, id=id)
    assert again["data"]["cancelExport"]["userErrors"] == [{"field": [], "code": "INVALID_TRANSITION"}]
    second = await exporting.create("a1", "orders")
    put_file = tenants.services.files.put_file

    async def put_and_cancel(*file: Any) -> None:
        await put_file(*file)
        context = await tenants.context("a1")
        await exports.cancel_export(context, CancelExport(id=second))

    monkeypatch.setattr(tenants.services.files, "put_file", put_and_cancel)
    await exporting.write(second)
    assert await state_of(tenants, second) == "cancelled"
    assert [file async for file in tenants.services.files.list_files("exports")] == []


async def test_a_user_has_few_unfinished_exports(tenants: Tenants, exporting: Exports) -> None:
    ids = [await exporting.create("a1", "orders") for _ in range(exports.MOST_UNFINISHED)]
    body = await tenants.graphql("a1", 'mutation { createExport(input: {list: "orders"}) { userErrors { code } } }')
    assert body["data"]["createExport"]["userErrors"] == [{"code": "TOO_MANY_EXPORTS"}]
    await exporting.create("a2", "orders")
    await exporting.write(ids[0])
    await exporting.create("a1", "orders")


async def test_an_export_of_a_killed_worker_is_begun_anew_without_doubling_rows(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    await copy_rows(tenants, "coupon", 450, code="'C' || n", normal_code="'C' || n")
    id = await exporting.create("a1", "coupons", columns=[{"field": "id"}])
    services, read, pages = tenants.services, SchemaLists.read, []

    async def die_at_the_third_page(self: SchemaLists, *asked: Any) -> ListPage:
        pages.append(asked)
        if len(pages) == 3:
            raise asyncio.CancelledError  # the process is gone: nothing is written after it
        return await read(self, *asked)

    monkeypatch.setattr(running, "SIGN_INTERVAL", dt.timedelta())
    with monkeypatch.context() as patch:
        patch.setattr(SchemaLists, "read", die_at_the_third_page)
        with pytest.raises(asyncio.CancelledError):
            await write_export(services, id)
    row = await tenants.row("export", id)
    assert (row["state"], row["rows_done"], row["tries"]) == ("running", 200, 1)
    assert row["rows_expected"] > 450
    await exporting.write(id)
    assert await state_of(tenants, id) == "running", "another worker has it"
    assert await sweep(services) == 0
    await move(tenants, monkeypatch, HOLD + dt.timedelta(seconds=1))
    assert await sweep(services) == 1
    await exporting.write(id)
    export = await exporting.read("a1", id)
    lines = (await exporting.download(export["url"])).text.splitlines()[1:]
    assert len(lines) == len(set(lines)) == export["rowsDone"] > 450


async def test_a_slow_worker_that_was_replaced_writes_nothing(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await exporting.create("a1", "orders")
    put_file, times = tenants.services.files.put_file, []

    async def put_slowly(*file: Any) -> None:
        times.append(file)
        if len(times) == 1:
            await tenants.execute("UPDATE export SET check_on = created_on WHERE id = :id", id=id)
            await write_export(tenants.services, id)
        await put_file(*file)

    monkeypatch.setattr(tenants.services.files, "put_file", put_slowly)
    await write_export(tenants.services, id)
    row = await tenants.row("export", id)
    assert (row["state"], row["tries"], len(times)) == ("completed", 2, 2)
    assert len([file async for file in tenants.services.files.list_files("exports")]) == 1


async def test_an_export_that_ends_its_workers_is_given_up(tenants: Tenants, exporting: Exports) -> None:
    id = await exporting.create("a1", "orders")
    async with tenants.services.db.sessions() as db, db.begin():
        await db.exec(update(ExportRow).where(col(ExportRow.id) == id).values(tries=MOST_TRIES))
    await exporting.write(id)
    assert (await exporting.read("a1", id))["error"] == GIVEN_UP


async def test_an_outage_repeats_the_job_and_its_last_try_gives_up(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await exporting.create("a1", "orders")

    async def be_away(*_: Any) -> None:
        raise Unavailable(what="The file store")

    with monkeypatch.context() as patch:
        patch.setattr(tenants.services.files, "put_file", be_away)
        with pytest.raises(Unavailable):
            await exporting.write(id)
    row = await tenants.row("export", id)
    assert (row["state"], row["tries"], row["runner"]) == ("running", 0, None)
    await exporting.write(id)
    assert await state_of(tenants, id) == "completed"
    other = await exporting.create("a1", "orders")
    await give_up(tenants.services, {"id": other})
    await give_up(tenants.services, {"id": id})
    assert (await exporting.read("a1", other))["error"] == GIVEN_UP
    assert await state_of(tenants, id) == "completed"


async def test_a_process_writes_few_exports_at_once(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_running", set(range(MOST_AT_ONCE)))
    with pytest.raises(RunAgain):
        await exporting.write(await exporting.create("a1", "orders"))


@pytest.mark.parametrize("limit", ["rows", "bytes"])
async def test_a_file_that_would_be_too_large_is_told(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    await copy_rows(tenants, "coupon", 150, code="'C' || n", normal_code="'C' || n")
    monkeypatch.setattr("store.export.files.MOST_SHEET_ROWS", 100 if limit == "rows" else 10_000)
    monkeypatch.setattr(running, "LARGEST_FILE", 0 if limit == "bytes" else 10**9)
    id = await exporting.create("a1", "coupons", format="XLSX")
    await exporting.write(id)
    export = await exporting.read("a1", id)
    assert (export["state"], export["url"]) == ("FAILED", None)
    assert export["error"] == (running.SHEET_FULL if limit == "rows" else running.TOO_LARGE)


async def test_a_file_is_deleted_after_its_time(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await exporting.create("a1", "orders")
    await exporting.write(id)
    url = (await exporting.read("a1", id))["url"]
    assert await expiry.prune(tenants.services) == 0
    await move(tenants, monkeypatch, FILE_LIFE + dt.timedelta(seconds=1))
    assert (await exporting.read("a1", id))["url"] is None
    assert (await exporting.download(url)).status_code == 404
    assert await expiry.prune(tenants.services) == 1
    export = await exporting.read("a1", id)
    assert (export["state"], export["size"], export["url"]) == ("EXPIRED", None, None)
    assert [file async for file in tenants.services.files.list_files("exports")] == []
    await move(tenants, monkeypatch, ROW_LIFE)
    await expiry.prune(tenants.services)
    assert await tenants.one("SELECT count(*) FROM export") == 0


async def test_files_without_an_export_are_deleted(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    services: Services = tenants.services
    id = await exporting.create("a1", "orders")
    await exporting.write(id)
    lost, foreign = "exports/11111111-1111-4111-8111-111111111111.csv", "exports/readme.txt"
    for key in (lost, foreign):
        await services.files.put(key, b"x", "text/plain")
    monkeypatch.setattr(expiry, "UNCLAIMED", -dt.timedelta(days=1))
    assert await expiry.prune(services) == 1
    uuid = (await tenants.row("export", id))["uuid"]
    names = {file.key async for file in services.files.list_files("exports")}
    assert names == {foreign, f"exports/{uuid}.csv"}
