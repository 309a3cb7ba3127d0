"""`coffret clock` and `/_clock/`: development moves time, production has no such thing."""

import asyncio
import datetime as dt
import pathlib
from collections.abc import Callable

import httpx
import pytest
from typer.testing import CliRunner, Result

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands.doctor import check_moved_clock
from coffret.commands.findings import CheckState
from coffret.commands.welcome import print_welcome
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database
from store.database.shared_clock import advance_clock, stored_offset
from tests.coffret.conftest import running

Run = Callable[..., Result]
PRODUCTION = {
    "ENVIRONMENT": "production",
    "COFFRET_SECRET": "0123456789abcdef" * 4,
    "COFFRET_PROVIDER": "mangopay",
    "COFFRET_MANGOPAY_CLIENT_ID": "id",
    "COFFRET_MANGOPAY_API_KEY": "key",
    "COFFRET_BASE_URL": "https://api.example.com",
}


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the database; a refusal is in `exception`."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    return lambda *arguments: CliRunner().invoke(app, ["clock", *arguments])


async def test_the_command_moves_time_and_shows_it(run: Run, database: Database) -> None:
    shown = await asyncio.to_thread(run, "show")
    assert "the real time" in shown.output
    assert "ahead" not in shown.output
    assert (await asyncio.to_thread(run, "advance", "1d12h")).exit_code == 0
    shown = await asyncio.to_thread(run, "advance", "90s")
    assert "1 day, 12:01:30 ahead of the real time" in shown.output
    assert f"{clock.now():%Y-%m-%d}" in shown.output
    assert await stored_offset(database) == dt.timedelta(days=1, hours=12, seconds=90)


async def test_the_banner_of_a_server_tells_a_moved_time(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings()
    print_welcome(settings, None)
    assert "Time" not in capsys.readouterr().out
    clock.advance(dt.timedelta(days=3))
    print_welcome(settings, None)
    assert "UTC: 3 days, 0:00:00 ahead of the real time" in capsys.readouterr().out


@pytest.mark.parametrize("by", ["tomorrow", "0s", "9999d"])
async def test_the_command_refuses_what_is_no_length_of_time(run: Run, database: Database, by: str) -> None:
    refused = await asyncio.to_thread(run, "advance", by)
    assert isinstance(refused.exception, CommandError)
    assert "1d12h" in str(refused.exception)
    assert await stored_offset(database) == dt.timedelta()


async def test_production_does_not_move(run: Run, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    for arguments in (("show",), ("advance", "2h")):
        refused = await asyncio.to_thread(run, *arguments)
        assert isinstance(refused.exception, CommandError)
        assert "development only" in str(refused.exception)
    assert await stored_offset(database) == dt.timedelta()


async def test_production_neither_reads_nor_has_the_address(
    database_url: str, database: Database, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    ahead = clock.ahead
    await advance_clock(database, dt.timedelta(days=3))
    settings = Settings(database_url=database_url, data_dir=tmp_path)
    async with running(settings) as (_, client):
        own = {"host": "api.example.com"}
        unknown = await client.get("/_no_such_page/", headers=own)
        for answer in (
            await client.get("/_clock/", headers=own),
            await client.post("/_clock/advance", json={"by": "2h"}, headers=own),
        ):
            assert (answer.status_code, answer.content) == (404, unknown.content)
    assert clock.ahead == ahead
    assert await stored_offset(database) == dt.timedelta(days=3)
    (finding,) = [finding async for finding in check_moved_clock(database, settings)]
    assert finding.state is CheckState.WARNING
    assert "3 days" in finding.message


async def test_the_doctor_tells_of_moved_time_in_development(database: Database, app_settings: Settings) -> None:
    assert [f async for f in check_moved_clock(database, app_settings)] == []
    await advance_clock(database, dt.timedelta(hours=2))
    (finding,) = [f async for f in check_moved_clock(database, app_settings)]
    assert (finding.state, finding.message) == (CheckState.OK, "this installation is 2:00:00 ahead of the real time.")


async def test_the_address_moves_time(client: httpx.AsyncClient, database: Database) -> None:
    ahead = clock.ahead
    before = (await client.get("/_clock/")).json()
    assert before["ahead"] == ahead.total_seconds()
    answer = await client.post("/_clock/advance", json={"by": "2h"})
    assert answer.status_code == 200
    assert answer.json()["ahead"] == await asyncio.to_thread(clock.ahead.total_seconds)
    assert clock.ahead >= dt.timedelta(hours=2)
    assert await stored_offset(database) == clock.ahead
    assert answer.json()["now"] > before["now"]


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"content-type": "text/plain"}, b'{"by": "2h"}', 415),
        ({"content-type": "application/x-www-form-urlencoded"}, b"by=2h", 415),
        ({}, b'{"by": "2h"}', 415),
        ({**JSON, "origin": "http://evil.example"}, b'{"by": "2h"}', 403),
        ({**JSON, "origin": "http://shop.localhost:8000"}, b'{"by": "2h"}', 403),
        ({**JSON, "origin": "null"}, b'{"by": "2h"}', 403),
        ({**JSON, "host": "shop.localhost:8000"}, b'{"by": "2h"}', 405),
        ({**JSON, "host": "evil.example"}, b'{"by": "2h"}', 405),
        (JSON, b"", 400),
        (JSON, b"{", 400),
        (JSON, b'["2h"]', 400),
        (JSON, b'{"by": 7200}', 400),
        (JSON, b'{"by": "-2h"}', 400),
        (JSON, b'{"by": "2h", "more": "%b"}' % (b"x" * 2000), 413),
    ],
)
async def test_nothing_else_moves_time(
    client: httpx.AsyncClient, database: Database, headers: dict[str, str], body: bytes, status: int
) -> None:
    before = clock.ahead
    answer = await client.post("/_clock/advance", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert (await client.options("/_clock/advance", headers={"origin": "http://evil.example"})).status_code == 405
    assert (clock.ahead, await stored_offset(database)) == (before, before)


async def test_a_shops_domain_does_not_tell_the_time(client: httpx.AsyncClient) -> None:
    assert (await client.get("/_clock/", headers={"host": "shop.localhost:8000"})).status_code == 404
