"""`python -m tests.bench.payment_scale 10000 1000000`: what lists of payments cost as they grow, in one database."""

import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import orjson
import typer
import uvloop

from store.core.settings import Settings
from store.core.telemetry.logs import set_up_logging
from store.database.embedded_postgres import EmbeddedPostgres
from tests.bench import payments
from tests.bench.cases import GRAPHQL
from tests.bench.drive import Call
from tests.bench.installation import Installation, open_installation
from tests.bench.scale import DEEP, PAGE, milliseconds, print_growth

FILTERS: Mapping[str, Mapping[str, Any]] = {
    "no filter": {},
    "status: error": {"status": "ERROR"},
    "statuses: error, cancelled": {"statuses": ["ERROR", "CANCELLED"]},
    "refunded in part": {"refundStatus": "PARTIAL"},
    "refunded at all": {"refundStatuses": ["PARTIAL", "FULL"]},
    "first name, of many": {"customerFirstName": "elod"},
    "e-mail, of all": {"customerEmail": "mail.example"},
    "e-mail, of few": {"customerEmail": "buyer123@"},
    "e-mail, of none": {"customerEmail": "nobody at all"},
    "product": {"product": "stay"},
    "made in a day": {"createdFrom": "2020-01-02T00:00:00Z", "createdUntil": "2020-01-03T00:00:00Z"},
}


async def measure_payments(installation: Installation, rows: int) -> dict[str, float]:
    """Milliseconds of pages with so many payments."""
    partner_id, token = await payments.lay(installation, rows)
    headers = {"authorization": f"Token {token}", "content-type": "application/json"}
    found: dict[str, float] = {}

    def page(filter: Mapping[str, Any], after: str | None = None, order: str = "NEWEST") -> Call:
        variables = {"first": PAGE, "after": after, "filter": filter, "orderBy": order}
        body = orjson.dumps({"query": payments.QUERY, "variables": variables})
        return Call(installation.app, "POST", GRAPHQL, headers, body)

    for name, filter in FILTERS.items():
        answer = orjson.loads((await page(filter).once()).body)
        if "errors" in answer:
            raise RuntimeError(f"{name}: {answer['errors']}")
        (found[name],) = await milliseconds(page(filter).once)
    (found["by amount"],) = await milliseconds(page({}, order="AMOUNT_DESCENDING").once)
    if rows > DEEP * PAGE:
        place = await installation.means.pool.fetchrow(
            "SELECT created_on, id FROM payment WHERE partner_id = $1 ORDER BY created_on DESC, id DESC OFFSET $2 LIMIT 1",
            partner_id,
            (DEEP - 1) * PAGE - 1,
        )
        deep = page({}, payments.cursor(place["created_on"], place["id"]))
        first, last = await milliseconds(page({}).once, deep.once)
        found[f"page {DEEP:,} by cursor"], found[f"× page {DEEP:,} of page 1"] = last, last / first
    counted = Call(installation.app, "GET", "/api/payments/", headers, query=f"page_size={PAGE}")
    (found["REST page, with its count"],) = await milliseconds(counted.once)
    return found


async def _run(database_url: str, folder: pathlib.Path, rows: list[int]) -> list[dict[str, float]]:
    async with open_installation(database_url, "", folder) as installation:
        return [await measure_payments(installation, each) for each in rows]


def main(rows: list[int]) -> None:
    """Measure with so many payments, then with more."""
    set_up_logging(Settings(log_level="WARNING"))
    with tempfile.TemporaryDirectory(prefix="coffret-scale-") as scratch:
        folder = pathlib.Path(scratch)
        with EmbeddedPostgres(folder) as database_url:
            print_growth("payments", rows, uvloop.run(_run(database_url, folder, rows)))


if __name__ == "__main__":
    typer.run(main)
