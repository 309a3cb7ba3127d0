"""Exports: who gets their files."""

import pytest

from resolvers.document import signed_document_url
from resolvers.export.running import NO_LONGER_ALLOWED
from schema.core.permission import Permission
from store.export.exports import FOLDER
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.resolvers.export.exported import CANCEL, Exports, state_of


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE app_user SET is_active = false",
        "UPDATE app_user SET permissions = '{view_catalogue}'",
        "UPDATE app_user SET partner_id = (SELECT id FROM partner WHERE source_id = 'a2')",
        "UPDATE app_user SET role = 'master', partner_id = NULL",
    ],
    ids=["deactivated", "without the permission", "of another partner", "of the platform"],
)
async def test_a_user_who_has_changed_meanwhile_gets_nothing(tenants: Tenants, exporting: Exports, change: str) -> None:
    id = await exporting.create("a1", "orders")
    await tenants.execute(f"{change} WHERE id = :id", id=tenants.users["a1"].id)
    await exporting.write(id)
    row = await tenants.row("export", id)
    assert (row["state"], row["size"], row["expires_on"]) == ("failed", None, None)
    assert row["error"] in (NO_LONGER_ALLOWED, "This needs the permission permissions.view_order.")
    assert [file async for file in tenants.services.files.list_files("exports")] == []


async def test_a_user_who_changes_after_the_export_cannot_download_it(tenants: Tenants, exporting: Exports) -> None:
    id = await exporting.create("a1", "orders")
    await exporting.write(id)
    url = (await exporting.read("a1", id))["url"]
    assert (await exporting.download(url)).status_code == 200
    await tenants.execute(
        "UPDATE app_user SET permissions = '{view_catalogue}' WHERE id = :id", id=tenants.users["a1"].id
    )
    assert (await exporting.download(url)).status_code == 404
    await tenants.execute(
        "UPDATE app_user SET permissions = NULL, is_active = false WHERE id = :id", id=tenants.users["a1"].id
    )
    assert (await exporting.download(url)).status_code == 404


async def test_others_see_an_export_only_if_they_audit_its_tenant(tenants: Tenants, exporting: Exports) -> None:
    partner_id = tenants.partners["a1"].id
    await tenants.user("colleague", "partner", [Permission.VIEW_ORDER], partner_id=partner_id)
    await tenants.user("auditor", "partner", [Permission.VIEW_AUDIT], partner_id=partner_id)
    id = await exporting.create("a1", "orders")
    await exporting.write(id)
    seen = {who: await exporting.read(who, id) for who in (*EVERYBODY, "colleague", "auditor")}
    assert {who for who, export in seen.items() if export} == {"a1", "market a", "master", "auditor"}
    assert (await exporting.download(seen["master"]["url"])).status_code == 200
    assert (await exporting.download(seen["auditor"]["url"])).status_code == 404, "may not read orders"
    listed = await tenants.graphql("colleague", "{ exports { nodes { id } } }")
    assert listed["data"]["exports"]["nodes"] == []
    for who in ("colleague", "a2", "master"):
        refused = await tenants.graphql(who, CANCEL, id=id)
        assert [each["code"] for each in refused["data"]["cancelExport"]["userErrors"]] == ["NOT_FOUND"], who


async def test_a_file_with_whole_codes_is_for_its_user_and_each_download_is_recorded(
    tenants: Tenants, exporting: Exports
) -> None:
    id = await exporting.create("a1", "giftCards", columns=[{"field": "code"}], includeCodes=True)
    await exporting.write(id)
    row = await tenants.row("export", id)
    for who in ("market a", "master"):
        assert (await exporting.read(who, id))["url"] is None
        forged = signed_document_url(tenants.services, FOLDER, [id, tenants.users[who].id], "csv")
        assert (await exporting.download(forged)).status_code == 404
    downloads = "SELECT count(*) FROM audit_entry WHERE operation = 'download_export'"
    assert await tenants.one(downloads) == 0
    url = (await exporting.read("a1", id))["url"]
    assert await tenants.one(downloads) == 0
    for number in (1, 2):
        assert (await exporting.download(url)).status_code == 200
        assert await tenants.one(downloads) == number
    entry = await tenants.newest("audit_entry")
    assert (entry["user_id"], entry["partner_id"], entry["refused"]) == (row["user_id"], row["partner_id"], None)
    assert (entry["subject_type"], entry["subject_id"]) == ("Export", str(id))
    assert entry["input"] == {"id": id, "list": "giftCards"}
    assert entry["address"]
    await exporting.file("a1", "giftCards", columns=[{"field": "code"}])
    assert await tenants.one(downloads) == 2, "without codes none is recorded"


async def test_others_see_the_ends_of_codes_in_a_filter_only(tenants: Tenants, exporting: Exports) -> None:
    code, name = "7K4P-9QWX-AB3V", {"createdFrom": "2026-01-01T00:00:00Z"}
    id = await exporting.create("a1", "orders", filter={"code": code, **name})
    assert (await exporting.read("a1", id))["filter"] == {"code": code, **name}
    for who in ("market a", "master"):
        filter = (await exporting.read(who, id))["filter"]
        assert filter == {"code": "***" + code.replace("-", "")[-3:], **name}, who
    (listed,) = (await tenants.graphql("master", "{ exports { nodes { filter } } }"))["data"]["exports"]["nodes"]
    assert code not in str(listed)
    await exporting.write(id)
    assert await state_of(tenants, id) == "completed"


async def test_an_address_is_of_one_export_and_one_format(tenants: Tenants, exporting: Exports) -> None:
    id = await exporting.create("a1", "orders")
    assert (await exporting.read("a1", id))["url"] is None
    await exporting.write(id)
    url = (await exporting.read("a1", id))["url"]
    response = await exporting.download(url)
    assert response.headers["content-disposition"] == f'attachment; filename="orders-{id}.csv"'
    assert response.headers["cache-control"] == "no-store"
    assert (await exporting.download(url.replace(".csv", ".xlsx"))).status_code == 404
    assert (await exporting.download(url.replace("/exports/", "/exports/x"))).status_code == 404
