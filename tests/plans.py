"""How lists are read: the statements of a request, and whether each goes along an index."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from store.database.db import Database
from tests.statements import Fetched, fetched


@dataclass
class PlanReader:
    """A client of a partner with many rows of a table, who keeps the statements of the last request."""

    http: httpx.AsyncClient
    db: Database
    table: str
    ran: Fetched = field(default_factory=list)

    async def count_statements(self, query: str, **variables: Any) -> int:
        """How many statements a document takes."""
        with fetched(self.db) as self.ran:
            answer = await self.http.post("/graphql/", json={"query": query, "variables": variables})
        assert "errors" not in orjson.loads(answer.content), answer.text
        return len(self.ran)

    async def read(self, path: str) -> int:
        """How many statements a REST request takes."""
        with fetched(self.db) as self.ran:
            assert (await self.http.get(path)).status_code == 200, path
        return len(self.ran)

    async def went_along_an_index(self, what: str, part: str = "") -> None:
        """Whether the statements of the last request, or those with this part, walk through no table."""
        statements = [(sql, arguments) for sql, arguments in self.ran if part in sql]
        assert statements, what
        for sql, arguments in statements:
            plan = await self._plan(sql, arguments)
            if (
                f"Seq Scan on {self.table} " in plan
            ):  # a snapshot held elsewhere may have kept pages from being vacuumed
                await self.db.fetch(f"VACUUM (ANALYZE) {self.table}")
                plan = await self._plan(sql, arguments)
            assert f"Seq Scan on {self.table} " not in plan, f"{what}: {plan}"
            assert f"{self.table}_" in plan, f"{what}: {plan}"

    async def _plan(self, sql: str, arguments: Sequence[Any]) -> str:
        return "\n".join(row[0] for row in await self.db.fetch(f"EXPLAIN {sql}", *arguments))
