"""`coffret simulate`: lives through days of trade against the sandbox, and compares the books with a plain model."""

import contextlib
import pathlib
import tempfile
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from sqlmodel import func, select

from coffret.command_error import CommandError
from coffret.commands.environment import database_url, read_settings
from coffret.commands.installation import connect_database
from coffret.sandbox import close
from coffret.services import make_sandbox, open_container
from coffret.simulation.chart import as_svg
from coffret.simulation.figures import DayFigures, as_csv
from coffret.simulation.nights import LedgerBroken
from coffret.simulation.run import Simulation, SimulationOptions, open_simulation
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.core.telemetry.logs import set_up_logging
from store.migrations.migrate import migrate
from store.partner.partners import MarketplaceRow

MOST_DIFFERENCES = 20


async def simulate(options: SimulationOptions, output: pathlib.Path, data: pathlib.Path | None) -> bool:
    """Simulate, write the figures of the days to `output`, and print the result. True if all is right to the cent.

    The installation is a temporary one, or that of the empty folder `data`. Raises CommandError in production.
    """
    if not read_settings().development:
        raise CommandError("A simulation is for development only, and this is a production installation (ENVIRONMENT).")
    if options.partners < options.marketplaces or min(options.days, options.marketplaces) < 1:
        raise CommandError("Simulate at least one day, one marketplace, and one partner for each marketplace.")
    console = Console(highlight=False, soft_wrap=True)
    with _own_installation(data) as settings:
        set_up_logging(Settings(log_level="CRITICAL"))
        return await _run(settings, options, output, console)


@contextlib.contextmanager
def _own_installation(data: pathlib.Path | None) -> Iterator[Settings]:
    """The settings of an installation of its own, whatever the environment says of database and data."""
    with contextlib.ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="coffret-simulation-")
        folder = data or pathlib.Path(stack.enter_context(temporary))
        settings = Settings(
            data_dir=folder, database_url="", redis_url="", provider=ProviderName.SANDBOX, funnel_scheme="http"
        )
        settings.database_url = stack.enter_context(database_url(settings))
        yield settings


async def _run(settings: Settings, options: SimulationOptions, output: pathlib.Path, console: Console) -> bool:
    async with connect_database(settings.database_url) as db:
        await migrate(db)
        async with db.sessions() as session:
            if (await session.exec(select(func.count()).select_from(MarketplaceRow))).one():
                raise CommandError("The data folder contains marketplaces, and a simulation requires an empty one.")
    sandbox, days = make_sandbox(settings), list[DayFigures]()
    assert sandbox is not None, "the settings select it"
    try:
        async with (
            open_container(settings, sandbox, synchronous_commit=False) as container,
            open_simulation(container.services, sandbox, options) as simulation,
        ):
            try:
                await _live(simulation, days, console)
            except LedgerBroken as broken:
                console.print(f"[red]In the night of day {len(days)} the books are wrong:[/]\n{broken}")
                return False
            finally:
                _write(days, output)
            return _print_result(await simulation.differences(), simulation, output, console)
    finally:
        await close(sandbox)


async def _live(simulation: Simulation, days: list[DayFigures], console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("Days", total=len(simulation.days))
        async for day in simulation.run():
            days.append(day)
            progress.update(task, advance=1, description=f"{day.date}")


def _write(days: list[DayFigures], output: pathlib.Path) -> None:
    if days:
        output.mkdir(parents=True, exist_ok=True)
        (output / "simulation.csv").write_text(as_csv(days), encoding="utf-8")
        (output / "simulation.svg").write_text(as_svg(days), encoding="utf-8")


def _print_result(wrong: list[str], simulation: Simulation, output: pathlib.Path, console: Console) -> bool:
    table = Table(title="What was done", title_justify="left", header_style="bold")
    table.add_column("deed")
    table.add_column("times", justify="right")
    for name, count in sorted((simulation.count | simulation.nights.count).items()):
        table.add_row(name.replace("_", " "), f"{count:,}")
    console.print(table)
    console.print(f"Figures and picture of the days: {output / 'simulation.csv'}, {output / 'simulation.svg'}")
    for difference in wrong[:MOST_DIFFERENCES]:
        console.print(f"[red]{difference}[/]")
    told = f"[red]{len(wrong)} balances differ from the model.[/]" if wrong else "All balances are right to the cent."
    console.print(told)
    return not wrong
