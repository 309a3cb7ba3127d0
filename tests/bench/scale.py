"""`python -m tests.bench.scale 10000 1000000`: what lists of vouchers cost as they grow, in one database, beside their floors."""

import pathlib
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

import orjson
import typer
import uvloop
from rich.console import Console
from rich.table import Table
from starlette.requests import Request

from store.core.settings import Settings
from store.core.telemetry.logs import set_up_logging
from store.database.embedded_postgres import EmbeddedPostgres
from tests.bench import vouchers
from tests.bench.cases import GRAPHQL
from tests.bench.drive import Call
from tests.bench.installation import Installation, open_installation

ROUNDS = 25
PAGE = 20
DEEP = 10_000
"""Which page is read by its cursor, where there are so many."""
FILTERS: Mapping[str, Mapping[str, Any]] = {
    "no filter": {},
    "state: used": {"state": "USED"},
    "states: paid, using": {"states": ["PAID", "USING"]},
    "kind: imported": {"kind": "IMPORTED"},
    "prototype": {"voucherPrototypeId": 0},
    "prototype's name, of many": {"prototypeName": "lavender"},
    "gifter, of all": {"gifter": "mail.example"},
    "gifter, of few": {"gifter": "fr123@"},
    "gifter, of none": {"gifter": "nobody at all"},
    "giftee, of few": {"giftee": "g123@"},
    "origin, of many": {"origin": "newsletter"},
    "customer": {"gifterId": 0},
    "made in a month": {"createdFrom": "2025-03-01T00:00:00Z", "createdUntil": "2025-03-31T00:00:00Z"},
    "ends after a day": {"expiresFrom": "2026-01-01T00:00:00Z"},
}
BACK_OFFICE = {"first page": "", "state: used": "state=USED", "giftee, of few": "giftee=g123%40"}
"""Pages of the list in the back office, by their filters."""
COUNTED = {
    "count of all": ("", "true"),
    "count of a year": ("&creation_date__gte=2025-01-01&creation_date__lte=2025-12-31", "created_on >= '2025-01-01' AND created_on < '2026-01-01'"),
    "count of a gifter, of few": ("&gifter=fr123@", "gifter_text LIKE '%fr123@%'"),
    "count of a gifter, of all": ("&gifter=mail.example", "gifter_text LIKE '%mail.example%'"),
}  # fmt: skip


async def milliseconds(*ask: Callable[[], Awaitable[Any]]) -> list[float]:
    """The median of each, in turns."""
    taken: list[list[float]] = [[] for _ in ask]
    for at in range(ROUNDS + 3):
        for one, all_ in zip(ask, taken, strict=True):
            begun = time.perf_counter()
            await one()
            if at > 2:
                all_.append((time.perf_counter() - begun) * 1e3)
    return [statistics.median(each) for each in taken]


async def measured(installation: Installation, rows: int) -> dict[str, float]:
    """Milliseconds of everything with so many vouchers; ratios have keys of their own."""
    partner_id, zone, token = await vouchers.lay(installation, rows)
    headers = {"authorization": f"Token {token}", "content-type": "application/json"}
    pool, found = installation.means.pool, {}
    one = await pool.fetchrow("SELECT * FROM voucher WHERE partner_id = $1 ORDER BY id DESC LIMIT 1", partner_id)

    def page(filter: Mapping[str, Any], after: str | None = None) -> Call:
        own = {"voucherPrototypeId": one["voucher_prototype_id"], "gifterId": one["gifter_id"]}
        asked = {name: own.get(name) if value == 0 else value for name, value in filter.items()}
        variables = {"first": PAGE, "after": after, "filter": asked}
        body = orjson.dumps({"query": vouchers.QUERY, "variables": variables})
        return Call(installation.app, "POST", GRAPHQL, headers, body)

    def rest(path: str, query: str = "") -> Call:
        return Call(installation.app, "GET", path, headers, query=query)

    def back_office(query: str = "") -> Call:
        return Call(installation.app, "GET", "/admin/vouchers/", {"cookie": f"coffret-admin={token}"}, query=query)

    for name, query in BACK_OFFICE.items():
        (found[f"back office, {name}"],) = await milliseconds(back_office(query).once)

    (found["by code"],) = await milliseconds(rest(f"/api/vouchers/{one['code']}/").once)
    for name, filter in FILTERS.items():
        answer = orjson.loads((await page(filter).once()).body)
        if "errors" in answer:
            raise RuntimeError(f"{name}: {answer['errors']}")
        (found[name],) = await milliseconds(page(filter).once)
    if rows > DEEP * PAGE:
        place = await pool.fetchrow("SELECT created_on, id FROM voucher WHERE partner_id = $1 ORDER BY created_on DESC, id DESC OFFSET $2 LIMIT 1", partner_id, (DEEP - 1) * PAGE - 1)  # fmt: skip
        deep = page({}, vouchers.cursor(place["created_on"], place["id"]))
        (found[f"back office, page {DEEP:,} by cursor"],) = await milliseconds(
            back_office(urlencode({"after": vouchers.cursor(place["created_on"], place["id"])})).once
        )
        first, last = await milliseconds(page({}).once, deep.once)
        found[f"page {DEEP:,} by cursor"], found[f"× page {DEEP:,} of page 1"] = last, last / first
    furthest = rest("/api/vouchers/", f"page_size={PAGE}&page={rows // PAGE}")
    (found["REST page, the last"],) = await milliseconds(furthest.once)
    for name, (query, condition) in COUNTED.items():
        call = rest("/api/vouchers/", f"page_size={PAGE}{query}")
        floor = vouchers.rest_floor(installation, partner_id, zone, (await call.once()).body, PAGE, condition)
        own, lowest = await milliseconds(call.once, partial(floor.bring, installation.means, Request({"type": "http"})))
        found[f"REST page, {name}"], found[f"× {name}, of count(*) and rows"] = own, own / lowest
    return found


def print_growth(things: str, rows: Sequence[int], milliseconds_of: Sequence[Mapping[str, float]]) -> None:
    """Print what was measured with so many rows, and how many times as much the last is of the first."""
    table = Table(title=f"Milliseconds with so many {things}", title_justify="left")
    table.add_column("")
    for count in rows:
        table.add_column(f"{count:,}", justify="right")
    if len(rows) > 1:
        table.add_column("times", justify="right")
    for name, last in milliseconds_of[-1].items():
        each = [times_of.get(name) for times_of in milliseconds_of]
        times = [f"{last / each[0]:.2f}" if each[0] and not name.startswith("×") else ""] if len(rows) > 1 else []
        table.add_row(name, *("" if value is None else f"{value:.2f}" for value in each), *times)
    Console().print(table)


async def _run(database_url: str, folder: pathlib.Path, rows: list[int]) -> list[dict[str, float]]:
    async with open_installation(database_url, "", folder) as installation:
        return [await measured(installation, each) for each in rows]


def main(
    rows: list[int], folder: Annotated[pathlib.Path | None, typer.Option(help="A data folder to keep.")] = None
) -> None:
    """Measure with so many vouchers, then with more."""
    set_up_logging(Settings(log_level="WARNING"))
    with tempfile.TemporaryDirectory(prefix="coffret-scale-") as scratch:
        where = folder or pathlib.Path(scratch)
        with EmbeddedPostgres(where) as database_url:
            found = uvloop.run(_run(database_url, where, rows))
    print_growth("vouchers", rows, found)


if __name__ == "__main__":
    typer.run(main)
