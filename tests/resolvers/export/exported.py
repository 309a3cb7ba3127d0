"""Exports of a test: asked for over GraphQL, written as the worker does, downloaded as a browser does."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import httpx
import openpyxl

from resolvers.export.running import write_next
from tests.fixtures.tenants import Tenants

CREATE = """
    mutation($input: CreateExportInput!) {
        createExport(input: $input) { export { id state list format rowsDone url } userErrors { field code message } }
    }
"""
READ = """
    query($id: Int!) {
        export(id: $id) { id state rowsDone rowsExpected size error url orderBy filter includeCodes expiresOn endedOn userId
            partner { id } marketplace { id } }
    }
"""
CANCEL = "mutation($id: Int!) { cancelExport(input: {id: $id}) { export { state } userErrors { field code } } }"


class Exports:
    """The exports of some tenants."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants

    async def create(self, who: str, list: str, **input: Any) -> int:
        """Ask for an export; answers its id."""
        body = await self.tenants.graphql(who, CREATE, input={"list": list, **input})
        assert "errors" not in body, body
        payload = body["data"]["createExport"]
        assert payload["userErrors"] == [], payload
        assert payload["export"]["state"] == "QUEUED"
        return int(payload["export"]["id"])

    async def problems(self, who: str, list: str, **input: Any) -> Any:
        """Ask for an export that is refused: the fields and codes, or the code of the whole request."""
        before = await self.tenants.snapshot()
        body = await self.tenants.graphql(who, CREATE, input={"list": list, **input})
        assert await self.tenants.snapshot() == before
        assert await self.tenants.one("SELECT count(*) FROM pgqueuer") == 0
        if "errors" in body:
            return [error["extensions"]["code"] for error in body["errors"]]
        return [(".".join(each["field"]), each["code"]) for each in body["data"]["createExport"]["userErrors"]]

    async def write(self, id: int) -> None:
        """What the worker does."""
        await write_next(self.tenants.services, {"id": id})

    async def read(self, who: str, id: int) -> Any:
        """An export as somebody sees it; None if it is not visible."""
        return (await self.tenants.graphql(who, READ, id=id))["data"]["export"]

    async def download(self, url: str) -> httpx.Response:
        """Open the address of a file."""
        return await self.tenants.client.get(httpx.URL(url).raw_path.decode())

    async def rows(self, who: str, list: str, **input: Any) -> Sequence[Sequence[str]]:
        """The lines of a CSV file, with its titles."""
        response = await self.file(who, list, **input)
        text = response.content.decode()
        assert text.startswith("\ufeff")
        return [*csv.reader(io.StringIO(text[1:], newline=""))]

    async def sheet(self, who: str, list: str, **input: Any) -> Sequence[Sequence[Any]]:
        """The rows of a spreadsheet, with its titles."""
        response = await self.file(who, list, format="XLSX", **input)
        book = openpyxl.load_workbook(io.BytesIO(response.content))
        return [[cell.value for cell in row] for row in book.active.iter_rows()]  # type: ignore[union-attr]

    async def file(self, who: str, list: str, **input: Any) -> httpx.Response:
        """The file of a list, exported."""
        id = await self.create(who, list, **input)
        await self.write(id)
        export = await self.read(who, id)
        assert export["state"] == "COMPLETED", export
        response = await self.download(export["url"])
        assert response.status_code == 200
        assert len(response.content) == export["size"]
        return response


async def copy_rows(tenants: Tenants, table: str, number: int, **changes: str) -> None:
    """Copy the first row of a table as often, with other ids; `changes` are SQL with `n` for the number of the copy."""
    first = await tenants.one(f"SELECT min(id) FROM {table}")  # noqa: S608 - a test's words
    changed = {"id": "100000 + n"} | changes
    parts = ", ".join(f"'{name}', {value}" for name, value in changed.items())
    await tenants.execute(
        f"INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object({parts}))).* "  # noqa: S608 - the same
        f"FROM {table} t, generate_series(1, {number}) n WHERE t.id = {first}"
    )


async def state_of(tenants: Tenants, id: int) -> str:
    """The state of an export."""
    return str(await tenants.one("SELECT state FROM export WHERE id = :id", id=id))
