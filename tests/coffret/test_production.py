"""What production refuses, and what it tells browsers."""

import asyncio
import json
from collections.abc import Sequence

import httpx
import pytest
from typer.testing import CliRunner

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands.findings import CheckState
from coffret.commands.prepare import prepare
from coffret.demo.public import public_users
from coffret.demo.users import MASTER_USER, PARTNER_USERS, PASSWORD, USERNAMES
from resolvers.account.administration import deactivate_users
from schema.account.user import UserRole
from store.account.credentials import hash_password
from store.account.users import UserRow
from store.core.settings import Settings
from store.database.db import Database
from tests.coffret.conftest import running

SECONDS = 31_536_000


async def lay(database_url: str, names: Sequence[str]) -> None:
    """Users of the demo data, as a development installation leaves them."""
    db = Database(database_url)
    async with db.sessions() as session, session.begin():
        kept = await hash_password(PASSWORD)
        session.add_all(UserRow(username=name, role=UserRole.MASTER, password_hash=kept) for name in names)
    await db.aclose()


async def test_a_database_with_users_whose_password_is_public_is_not_served(production: Settings) -> None:
    await lay(production.database_url, USERNAMES)
    with pytest.raises(CommandError) as refusal:
        await prepare(production)
    told = str(refusal.value)
    assert f"Run: coffret user deactivate {' '.join(USERNAMES)} (or" in told
    assert "coffret user password NAME" in told


async def test_development_says_so_where_the_demo_data_has_nobody_to_show(app_settings: Settings) -> None:
    assert await prepare(app_settings) is not None
    db = Database(app_settings.database_url)
    async with db.sessions() as session, session.begin():
        await deactivate_users(session, USERNAMES)
    await db.aclose()
    with pytest.raises(CommandError, match=f"{PARTNER_USERS[0]} can no longer log in.*COFFRET_DEMO=false"):
        await prepare(app_settings)


@pytest.mark.parametrize("development", [False, True])
async def test_nothing_is_changed_by_the_refusal_and_development_goes_on(
    production: Settings, app_settings: Settings, *, development: bool
) -> None:
    await lay(production.database_url, USERNAMES)
    if development:
        app_settings.demo = False
        assert await prepare(app_settings) is None
    else:
        with pytest.raises(CommandError):
            await prepare(production)
    db = Database(production.database_url)
    assert list(await public_users(db)) == list(USERNAMES)
    await db.aclose()


def test_the_command_it_names_mends_it(production: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", production.database_url)
    asyncio.run(lay(production.database_url, USERNAMES))
    with pytest.raises(CommandError) as refusal:
        asyncio.run(prepare(production))
    command = str(refusal.value).partition("Run: coffret ")[2].partition(" (or")[0]
    assert CliRunner().invoke(app, command.split()).exit_code == 0
    assert asyncio.run(prepare(production)) is None


def test_a_password_of_its_own_mends_it_too(production: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", production.database_url)
    asyncio.run(lay(production.database_url, [MASTER_USER]))
    asyncio.run(lay(production.database_url, ["somebody@else.example"]))
    made = CliRunner().invoke(app, ["user", "password", MASTER_USER, "--generate-password"])
    assert made.exit_code == 0, made.output
    assert "Password, shown only once: " in made.output
    assert asyncio.run(prepare(production)) is None


def test_the_doctor_tells(production: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", production.database_url)

    def users() -> dict[str, str]:
        found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)
        (told,) = [finding for finding in found if finding["name"] == "users"]
        assert isinstance(told, dict)
        return told

    assert users()["state"] == CheckState.OK
    asyncio.run(lay(production.database_url, [MASTER_USER]))
    assert (users()["state"], users()["remedy"]) == (CheckState.FAILED, f"Run: coffret user deactivate {MASTER_USER}")


@pytest.mark.parametrize(
    ("seconds", "address", "policy"),
    [
        (SECONDS, "https://api.localhost", f"max-age={SECONDS}"),
        (SECONDS, "http://api.localhost", None),
        (0, "https://api.localhost", None),
    ],
)
async def test_browsers_are_told_to_keep_to_https(
    production: Settings, seconds: int, address: str, policy: str | None
) -> None:
    production.hsts_seconds = seconds
    async with running(production) as (application, _):
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=address) as client:
            for path in ("/healthz", "/nothing/here/", "/api/permissions/", "/ecommerce/shop/customization/"):
                assert (await client.get(path)).headers.get("strict-transport-security") == policy, path


async def test_a_proxy_says_what_browsers_came_by(production: Settings) -> None:
    production.hsts_seconds, production.trusted_proxies = SECONDS, ["127.0.0.0/8"]
    async with running(production) as (_, client):
        for scheme, told in (("https", f"max-age={SECONDS}"), ("http", None)):
            answer = await client.get("/healthz", headers={"X-Forwarded-Proto": scheme})
            assert answer.headers.get("strict-transport-security") == told
