"""`coffret reconcile`: compares the movements at the payment provider with the ledger, and shows what differs."""

import asyncio
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlmodel import col, select

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import open_database
from coffret.sandbox import close
from coffret.services import make_sandbox, open_container
from resolvers.core.services import Services
from resolvers.payment.reconciliation.runs import advance_run, begin_reconciliation
from schema.reconciliation import ReconciliationFindingState, ReconciliationRunState
from store.core.settings import Settings
from store.core.telemetry.logs import set_up_logging
from store.database.db import Database
from store.providers.errors import ProviderError
from store.providers.money import MinorAmount
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow, last_reconciliation

PAUSE = 5.0
"""Seconds until the provider is asked again."""


async def reconcile(*, last: bool) -> bool:
    """Compare, or with `last` only read what the last comparison has found; print all open findings. True if there is none.

    Raises CommandError if the provider makes no report, or does not answer.
    """
    settings, console = read_settings(), Console(highlight=False, soft_wrap=True)
    async with open_database(settings) as db:
        run = await _last(db) if last else await _reconcile(settings, console)
        async with db.sessions() as session:
            table = ReconciliationFindingRow
            is_open = col(table.state) == ReconciliationFindingState.OPEN
            findings = (await session.exec(select(table).where(is_open).order_by(col(table.id)))).all()
    console.print(
        f"Compared {run.movements} movements from {run.since:%Y-%m-%d %H:%M} to {run.until:%Y-%m-%d %H:%M} UTC."
    )
    if findings:
        console.print(_findings_table(findings))
    told = (
        f"[red]{len(findings)} differences are open.[/]" if findings else "The payment provider and the ledger agree."
    )
    console.print(told)
    return not findings


async def _last(db: Database) -> ReconciliationRunRow:
    async with db.sessions() as session:
        run = await last_reconciliation(session)
    if run is None:
        raise CommandError("Nothing was compared yet. Run: coffret reconcile")
    return run


async def _reconcile(settings: Settings, console: Console) -> ReconciliationRunRow:
    """Carry out a run, or the one that is under way: the worker may take its steps at the same time."""
    set_up_logging(Settings(log_level="CRITICAL"))
    sandbox = make_sandbox(settings)
    try:
        async with open_container(settings, sandbox) as container:
            id = await begin_reconciliation(container.services)
            with console.status("The payment provider makes its report …"):
                return await _finished(container.services, id, console)
    except ProviderError as error:
        raise CommandError(f"The payment provider could not be asked: {error}. The worker goes on.") from None
    finally:
        if sandbox is not None:
            await close(sandbox)


async def _finished(services: Services, id: int, console: Console) -> ReconciliationRunRow:
    said = ""
    while True:
        run = await advance_run(services, id)
        if run.detail not in ("", said) and run.state is ReconciliationRunState.REQUESTED:
            said = run.detail
            console.print(said)
        if run.state is ReconciliationRunState.DONE:
            return run
        if run.state is ReconciliationRunState.FAILED:
            raise CommandError(f"The payment provider makes no report: {run.detail}")
        await asyncio.sleep(PAUSE)


def _findings_table(findings: Sequence[ReconciliationFindingRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("id", "kind", "about", "since"):
        table.add_column(heading, overflow="fold")
    for heading in ("provider", "ledger"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what", overflow="fold")
    for each in findings:
        amounts = (
            "–" if amount is None else f"{MinorAmount.of(amount, each.currency).decimal} {each.currency}"
            for amount in (each.provider_amount, each.own_amount)
        )
        table.add_row(
            str(each.id),
            each.kind,
            escape(each.subject),
            f"{each.first_seen_on:%Y-%m-%d}",
            *amounts,
            escape(each.detail),
        )
    return table
