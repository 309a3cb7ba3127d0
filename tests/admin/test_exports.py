"""Exports and saved filters in the back office."""

import csv
import datetime as dt
import io
import json
from typing import Any

import pytest

from admin.pages.exports import COLUMN
from admin.pages.saved_filters import query_of
from admin.resources.catalogue import COUPONS
from admin.resources.registry import resources
from admin.resources.sales import GIFT_CARDS, ORDERS
from resolvers.export.running import write_next
from schema.core.permission import Permission
from tests.admin.office import ROOT, Office, notices
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

LIST = f"{ROOT}coupons/"
FORM = f"{LIST}new/export/"


async def fill_in(staff: Customer, **changes: str | None) -> Customer:
    """Send the form of an export. `__` stands for the dots in the names of its boxes; None clears one."""
    form = staff.page.one("form", class_="change")
    fields: dict[str, Any] = fields_of(form, staff.page) | {
        name.replace("__", "."): value for name, value in changes.items()
    }
    url = str(staff.response.url.join(form.attributes["action"]))
    return await staff.post(url, {name: value for name, value in fields.items() if value is not None})


async def write_newest(office: Office) -> None:
    """What the worker does with the newest export."""
    id = await office.tenants.one("SELECT max(id) FROM export")
    await write_next(office.tenants.services, {"id": id})


async def test_a_list_is_exported_with_its_filter_its_order_and_its_columns(office: Office) -> None:
    await office.tenants.execute(
        "UPDATE coupon SET is_active = false WHERE partner_id = :id", id=office.tenants.partners["a1"].id
    )
    staff = await office.open("a1", f"{LIST}?isActive=0&order=CODE&after=")
    (link,) = [a for a in staff.page.all("a") if a.text == "Export"]
    await staff.open(link.attributes["href"])
    boxes = {box.attributes["name"]: "checked" in box.attributes for box in staff.page.all("input", type="checkbox")}
    assert {f"{COLUMN}{path}" for path in COUPONS.columns if "." not in path} <= boxes.keys() | {
        name.rpartition(".")[0] for name in boxes
    }
    assert boxes[f"{COLUMN}code"]
    assert not boxes[f"{COLUMN}id"]
    await fill_in(staff, column__id="1")
    id = (await office.tenants.newest("export"))["id"]
    assert staff.path == f"{ROOT}exports/{id}/"
    assert staff.response.headers["refresh"] == "3"
    assert "Queued" in staff.page.one("h1").text
    row = await office.tenants.newest("export")
    assert (row["list"], row["filter"], row["order_by"]) == ("coupons", {"isActive": False}, "CODE")
    assert {"path": "id", "title": "ID"} in row["columns"]
    await write_newest(office)
    await staff.open(staff.path)
    assert "refresh" not in staff.response.headers
    (download,) = [a for a in staff.page.all("a") if a.text == "Download"]
    response = await staff.http.get(download.attributes["href"])
    assert response.status_code == 303
    file = await office.tenants.client.get(response.headers["location"])
    lines = [*csv.reader(io.StringIO(file.text.removeprefix("\ufeff"), newline=""))]
    assert lines[0][:1] == ["Code"]
    assert len(lines) == 2


async def test_titles_are_in_the_language_of_the_user(office: Office) -> None:
    staff = await office.open("a1", FORM)
    staff.http.headers["accept-language"] = "fr"
    await fill_in(await staff.open(FORM), format="XLSX")
    row = await office.tenants.newest("export")
    assert (row["format"], row["language"]) == ("xlsx", "fr")
    assert {"path": "isActive", "title": "Active"} not in row["columns"]
    staff.http.headers["accept-language"] = "en"


async def test_every_list_has_the_form(office: Office) -> None:
    for resource in resources().values():
        staff = await office.open("master", f"{ROOT}{resource.slug}/new/export/")
        assert staff.response.status_code == 200, resource.slug
        assert len(staff.page.all("input", type="checkbox")) >= len(resource.columns)
    await office.tenants.user("few", "partner", [Permission.VIEW_ORDER], partner_id=office.tenants.partners["a1"].id)
    for resource in resources().values():
        staff = await office.open("few", f"{ROOT}{resource.slug}/new/export/")
        assert staff.response.status_code == (200 if resource in (ORDERS, *_own()) else 403), resource.slug


def _own() -> list[Any]:
    """Lists that everybody has."""
    return [each for each in resources().values() if each.slug in ("customers", "exports", "refund-requests")]


async def test_whole_codes_are_offered_to_those_who_may_have_them(office: Office) -> None:
    path = f"{ROOT}{GIFT_CARDS.slug}/new/export/"
    staff = await office.open("a1", path)
    assert staff.page.all("input", name="includeCodes")
    await fill_in(staff, includeCodes="1")
    assert (await office.tenants.newest("export"))["include_codes"] is True
    await office.tenants.user(
        "few", "partner", [Permission.VIEW_GIFT_CARD], partner_id=office.tenants.partners["a1"].id
    )
    few = await office.open("few", path)
    assert not few.page.all("input", name="includeCodes")
    await fill_in(few, includeCodes="1")
    assert few.response.status_code == 403
    assert await office.tenants.one("SELECT count(*) FROM export") == 1


async def test_a_refused_export_keeps_what_was_chosen(office: Office) -> None:
    staff = await office.open("a1", FORM)
    cleared: dict[str, str | None] = {
        name.replace(".", "__"): None
        for name in fields_of(staff.page.one("form", class_="change"), staff.page)
        if name.startswith(COLUMN)
    }
    await fill_in(staff, **cleared, format="XLSX")
    assert staff.response.status_code == 400
    assert len(notices(staff)) == 1
    chosen = [it.attributes["value"] for it in staff.page.all("input", name="format") if "checked" in it.attributes]
    assert chosen == ["XLSX"]
    await staff.open(f"{ROOT}orders/new/export/?createdFrom=tomorrow")
    await fill_in(staff)
    assert staff.response.status_code == 400
    assert await office.tenants.one("SELECT count(*) FROM export") == 0


async def test_a_form_that_is_sent_twice_makes_one_export(office: Office) -> None:
    staff = await office.open("a1", FORM)
    form = staff.page.one("form", class_="change")
    fields, url = fields_of(form, staff.page), str(staff.response.url.join(form.attributes["action"]))
    for _ in range(2):
        await staff.post(url, fields)
        assert staff.response.status_code == 200
    assert await office.tenants.one("SELECT count(*) FROM export") == 1


async def test_an_export_can_be_cancelled_and_is_seen_by_its_user_only(office: Office) -> None:
    staff = await office.open("a1", FORM)
    await fill_in(staff)
    page = staff.path
    assert (await office.open("a2", page)).response.status_code == 404
    assert (await office.open("a2", f"{page}file/")).response.status_code == 404
    assert (await office.open("a1", f"{page}file/")).response.status_code == 404
    for key in ("x", "9" * 30):
        assert (await office.open("a1", f"{ROOT}exports/{key}/file/")).response.status_code == 404
    await office.open("a1", f"{page}cancel-export/")
    await fill_in(staff)
    assert (await office.tenants.newest("export"))["state"] == "cancelled"
    assert "refresh" not in staff.response.headers


async def test_the_page_of_an_export_tells_how_far_it_is(office: Office) -> None:
    staff = await office.open("a1", FORM)
    await fill_in(staff)
    assert "It waits for its turn." in staff.page.one("main").text
    await office.tenants.execute("UPDATE export SET state = 'running', rows_done = 40, rows_expected = 100")
    await staff.open(staff.path)
    bar = staff.page.one("progress").attributes
    assert (bar["value"], bar["max"]) == ("40", "100")
    assert "Progress: 40 / 100" in staff.page.one("main").text


async def test_a_filter_is_saved_opened_and_deleted(office: Office) -> None:
    staff = await office.open("a1", f"{LIST}?isActive=1&order=CODE")
    await staff.send(f"{LIST}new/filter/?", {"name": "On sale"})
    assert staff.response.status_code == 200
    (link,) = [a for a in staff.page.all("a") if a.text == "On sale"]
    assert link.attributes["aria-current"] == "true"
    await staff.open(LIST)
    (link,) = [a for a in staff.page.all("a") if a.text == "On sale"]
    assert "aria-current" not in link.attributes
    assert link.attributes["href"] == f"{LIST}?isActive=1&order=CODE"
    assert "On sale" not in (await office.open("a2", LIST)).page.one("main").text
    await office.open("a1", LIST)
    await staff.send(f"{LIST}new/filter/delete/")
    assert "On sale" not in staff.page.one("main").text
    assert await office.tenants.one("SELECT count(*) FROM saved_filter") == 0


async def test_a_filter_that_cannot_be_saved_is_told(office: Office) -> None:
    staff = await office.open("a1", f"{LIST}?isActive=1")
    csrf = await office.csrf("a1")
    await staff.post(f"{LIST}new/filter/?isActive=1", {"csrf": csrf, "name": " "})
    assert staff.response.status_code == 400
    assert len(notices(staff)) == 1
    await staff.post(f"{ROOT}orders/new/filter/?createdFrom=tomorrow", {"csrf": csrf, "name": "x"})
    assert staff.response.status_code == 400
    await staff.post(f"{LIST}new/filter/delete/", {"csrf": csrf, "id": "x"})
    assert staff.response.status_code == 404
    assert await office.tenants.one("SELECT count(*) FROM saved_filter") == 0


@pytest.mark.parametrize(
    ("filter", "order"), [({"colour": "red"}, ""), ({"isActive": "perhaps"}, ""), ({}, "COLOUR")], ids=str
)
async def test_a_saved_filter_that_no_longer_fits_is_told(office: Office, filter: Any, order: str) -> None:
    statement = (
        "INSERT INTO saved_filter (user_id, list, name, filter, order_by, created_on) "
        "SELECT :id, 'coupons', 'Old one', CAST(:filter AS jsonb), :order, created_on FROM app_user WHERE id = :id"
    )
    values = {"id": office.tenants.users["a1"].id, "filter": json.dumps(filter), "order": order}
    await office.tenants.execute(statement, **values)
    staff = await office.open("a1", LIST)
    assert staff.response.status_code == 200
    assert "Old one: no longer fits this list" in staff.page.one("main").text
    assert not [a for a in staff.page.all("a") if a.text == "Old one"]


def test_values_of_a_saved_filter_are_typed_as_the_list_has_them() -> None:
    late = dt.datetime(2026, 10, 25, 22, 59, 59, tzinfo=dt.UTC).isoformat()
    assert query_of(ORDERS, {"createdUntil": late}, "", "Europe/Paris") == [("createdUntil", "2026-10-25")]
    assert query_of(ORDERS, {"createdUntil": "soon"}, "", "Europe/Paris") is None
