"""`python -m tests.bench`: measure, and show each figure beside its floor."""

import contextlib
import pathlib
import tempfile
from dataclasses import asdict
from typing import Annotated, Any

import orjson
import typer
import uvloop
from rich.console import Console

from coffret.commands.gc_tuning import collect_rarely
from store.core.settings import Settings
from store.core.telemetry.logs import set_up_logging
from store.database.embedded_postgres import EmbeddedPostgres
from tests.bench import sockets
from tests.bench.cases import CASES
from tests.bench.gathering import gathering_table, measured_gathering
from tests.bench.installation import open_installation, redis_server
from tests.bench.measure import Measured, measured
from tests.bench.postings import Pace, measured_postings, postings_table
from tests.bench.proof import measured_proof, proof_table, shop_in_new_database
from tests.bench.table import as_json, as_table, as_tails, tails_as_json

POSTINGS, GATHERING, VERIFY = "postings", "gathering", "verify"
"""Ask for the postings of the ledger, the gathering of payouts and the proof of the ledger, which are no requests."""


def main(
    only: Annotated[
        list[str] | None, typer.Argument(help="Cases to measure, such as cart_read; all by default.")
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    rounds: Annotated[int, typer.Option(help="Turns that each request and each floor gets.")] = 30,
    seconds: Annotated[float, typer.Option(help="How long a turn takes.")] = 0.1,
) -> None:
    """Measure the application beside its floors, in this process."""
    collect_rarely()  # as in a process that serves
    set_up_logging(Settings(log_level="WARNING"))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coffret-bench-")))
        database_url = stack.enter_context(EmbeddedPostgres(folder))
        redis_url = stack.enter_context(redis_server(folder / "redis"))
        here, over_sockets, tails, paces, gathered = uvloop.run(
            _measure(database_url, redis_url, folder, only, rounds, seconds)
        )
        proved = uvloop.run(_prove(database_url, rounds)) if not only or VERIFY in only else {}
    if json:
        found: dict[str, Any] = {
            "in_process": as_json(here),
            "over_sockets": as_json(over_sockets),
            "tails": tails_as_json(tails),
        }
        found["postings"] = {name: asdict(pace) for name, pace in paces.items()}
        found |= {"gathering": gathered, "verify": proved}
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    console = Console()
    console.print(as_table("In one process, without sockets", here))
    console.print(as_table("Over sockets", over_sockets))
    console.print(as_tails("Tails over sockets, milliseconds", tails))
    if paces:
        console.print(postings_table(paces))
    if gathered:
        console.print(gathering_table(gathered))
    if proved:
        console.print(proof_table(proved))
    if not redis_url:
        console.print("redis-server is not installed: carts were kept in this process, and floors with Redis left out.")


async def _measure(
    database_url: str, redis_url: str, folder: pathlib.Path, only: list[str] | None, rounds: int, seconds: float
) -> tuple[list[Measured], list[Measured], list[sockets.Tail], dict[str, Pace], dict[str, float]]:
    async with open_installation(database_url, redis_url, folder) as installation:
        cases = [await case(installation) for case in CASES if not only or case.__name__ in only]
        here = [await measured(case, installation, rounds=rounds, seconds=seconds) for case in cases]
        over_sockets, tails = sockets.measured(cases, installation, folder) if cases else ([], [])
        paces: dict[str, Pace] = {}
        if not only or POSTINGS in only:
            url, turns = installation.settings.database_url, max(rounds // 5, 1)
            paces = await measured_postings(url, installation.partner_with_many, rounds=turns, seconds=seconds * 10)
        gathered: dict[str, float] = {}
        if not only or GATHERING in only:
            services = installation.app.state.container.services
            gathered = await measured_gathering(services, installation.partner_with_many, rounds=max(rounds // 10, 1))
        return here, over_sockets, tails, paces, gathered


async def _prove(database_url: str, rounds: int) -> dict[str, float]:
    async with shop_in_new_database(database_url) as shop:
        return await measured_proof(shop, rounds=max(rounds // 10, 1))


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(main)
app()
