"""`coffret reconcile`: a run on a real database against the sandbox, and what it prints."""

import asyncio
import pathlib
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands import reconcile as command
from coffret.sandbox import close
from coffret.services import make_sandbox, open_container
from schema.reconciliation import ReconciliationFindingKind
from store.core.clock import clock
from store.core.settings import Settings
from store.providers.errors import TransientError
from store.reconciliation.rows import ReconciliationFindingRow
from tests.coffret.commands.test_ledger import words


@pytest.fixture
def run(database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `coffret reconcile` on the database; a refusal is in `exception`."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("COFFRET_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(command, "PAUSE", 0.5)
    monkeypatch.setattr(command, "set_up_logging", lambda _: None)  # it is global, and other tests read the log
    return lambda *arguments: CliRunner().invoke(app, ["reconcile", *arguments])


async def add_finding(url: str) -> None:
    """Something was found before."""
    now = clock.now()
    row = ReconciliationFindingRow(
        kind=ReconciliationFindingKind.DIFFERS,
        subject="xfer_1",
        currency="EUR",
        first_seen_on=now,
        last_seen_on=now,
        detail="It is 4.00 there and 5.00 here.",
        provider_amount=Decimal(4),
        own_amount=Decimal(5),
    )
    await _with_database(url, row)


async def _with_database(url: str, row: Any) -> None:
    settings = Settings(database_url=url)
    sandbox = make_sandbox(settings)
    async with open_container(settings, sandbox) as container, container.services.db.sessions() as db, db.begin():
        db.add(row)
    if sandbox is not None:
        await close(sandbox)


def test_both_sides_agree(run: Callable[..., Result]) -> None:
    nothing = run("--last")
    assert isinstance(nothing.exception, CommandError)
    assert "Nothing was compared yet" in str(nothing.exception)
    done = run()
    assert done.exit_code == 0, done.output
    assert "Compared 0 movements" in done.output
    assert "The payment provider and the ledger agree." in done.output
    assert done.output.endswith(run("--last").output)


def test_what_is_open_is_printed(run: Callable[..., Result], database_url: str) -> None:
    assert run().exit_code == 0
    asyncio.run(add_finding(database_url))
    told = run("--last")
    assert told.exit_code == 1
    assert "differs xfer_1" in words(told.output)
    assert "4.00 EUR 5.00 EUR It is 4.00 there and 5.00 here." in words(told.output)
    assert "1 differences are open." in told.output


def test_a_provider_that_does_not_answer_is_told(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any) -> Awaitable[None]:
        raise TransientError("It is down.")

    monkeypatch.setattr(command, "advance_run", fails)
    refused = run()
    assert isinstance(refused.exception, CommandError)
    assert "It is down." in str(refused.exception)
