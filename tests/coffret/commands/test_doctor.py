"""`coffret doctor`: each thing that can be wrong is found, and its remedy told."""

import json
import pathlib
import resource
import socket

import asyncpg
import pytest
from typer.testing import CliRunner

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands import doctor
from coffret.commands.certificates import check_apple_pay
from coffret.commands.findings import CheckState, Finding
from coffret.commands.prepare import check_apple_pay_key
from store.core.settings import Settings
from store.database.db import Database
from tests.coffret.conftest import PRODUCTION
from tests.servers.redis_servers import RedisServer
from tests.store.providers.mangopay.test_tls import certificate

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """An environment of the test's own, without what this machine has set."""
    for name in (
        "ENVIRONMENT",
        "PORT",
        "DATABASE_URL",
        "REDIS_URL",
        "FILES_URL",
        "FUNNEL_SCHEME",
        "FUNNEL_DOMAIN",
        "SERVICE_NAME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COFFRET_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PORT", "0")


def production(monkeypatch: pytest.MonkeyPatch, **others: str) -> Settings:
    for name, value in {**PRODUCTION, **others}.items():
        monkeypatch.setenv(name, value)
    return Settings()


def examined() -> tuple[int, dict[str, list[Finding]]]:
    """The exit code and the findings by name, through the command itself."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    found: dict[str, list[Finding]] = {}
    for entry in json.loads(result.output):
        finding = Finding(entry["name"], CheckState(entry["state"]), entry["found"], entry["remedy"])
        found.setdefault(finding.name, []).append(finding)
    return result.exit_code, found


def test_a_sound_installation_has_nothing_wrong(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    code, found = examined()
    assert code == 0
    assert not [finding for findings in found.values() for finding in findings if finding.state is CheckState.FAILED]
    assert found["database"][0].state is found["tables"][0].state is found["clock"][0].state is CheckState.OK


def test_the_text_says_the_same(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("COFFRET_DATADIR", "elsewhere")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "warn  settings COFFRET_DATADIR is no setting.\n      → Set COFFRET_DATA_DIR instead.\n" in result.output
    assert "ok    tables are at revision" in result.output


def test_settings_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eight thousand")
    monkeypatch.setenv("COFFRET_WORKERS", "0")
    code, found = examined()
    assert code == 1
    assert [finding.message for finding in found["settings"]] == [
        "PORT: must be a valid integer, not 'eight thousand'.",
        "COFFRET_WORKERS: must be greater than or equal to 1, not '0'.",
    ]
    assert "database" not in found


async def test_a_database_without_tables_fails(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = await asyncpg.connect(postgres)
    await connection.execute("DROP DATABASE IF EXISTS without_tables")
    await connection.execute("CREATE DATABASE without_tables")
    await connection.close()
    head, _, tail = postgres.partition("?")
    db = Database(head.rsplit("/", 1)[0] + "/without_tables?" + tail)
    try:
        found = await doctor.check_tables(db, embedded=False)
    finally:
        await db.aclose()
    assert (found.state, found.remedy) == (CheckState.FAILED, "Run: coffret migrate")


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("postgresql://coffret:hushhush@127.0.0.1:1/coffret", "start PostgreSQL"),
        ("postgresql://coffret:hushhush@nowhere.invalid/coffret", "correct the host in DATABASE_URL"),
        ("mysql://coffret:hushhush@127.0.0.1/coffret", "must start with postgresql://"),
    ],
)
def test_a_database_out_of_reach_fails_without_telling_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, remedy: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    code, found = examined()
    assert code == 1
    (finding,) = found["database"]
    assert finding.state is CheckState.FAILED
    assert remedy in finding.message
    assert "hush" not in finding.message


def test_a_database_of_another_name_fails(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head, _, tail = postgres.partition("?")
    monkeypatch.setenv("DATABASE_URL", head.rsplit("/", 1)[0] + "/no_such?" + tail)
    assert "Create it with createdb" in examined()[1]["database"][0].message


async def test_clocks_that_differ_fail(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await doctor.check_time(database)).state is CheckState.OK
    monkeypatch.setattr(doctor, "MAX_CLOCK_SKEW", -doctor.MAX_CLOCK_SKEW)
    found = await doctor.check_time(database)
    assert (found.state, found.remedy) == (CheckState.FAILED, "Set both machines by NTP.")


async def test_redis_is_asked(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_server.url)
    assert (await doctor.check_redis(Settings())).state is CheckState.OK
    redis_server.tell("CONFIG", "SET", "maxmemory", "100mb")
    redis_server.tell("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        found = await doctor.check_redis(Settings())
    finally:
        redis_server.tell("CONFIG", "SET", "maxmemory", "0")
        redis_server.tell("CONFIG", "SET", "maxmemory-policy", "noeviction")
    assert (found.state, "allkeys-lru" in found.message) == (CheckState.WARNING, True)
    monkeypatch.setattr(doctor, "OLDEST_REDIS", (99, 0))
    assert (await doctor.check_redis(Settings())).state is CheckState.FAILED


@pytest.mark.parametrize(
    ("url", "said"), [("redis://127.0.0.1:1", "does not answer"), ("http://127.0.0.1", "cannot be read")]
)
async def test_redis_out_of_reach_fails(monkeypatch: pytest.MonkeyPatch, url: str, said: str) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    found = await doctor.check_redis(Settings())
    assert found.state is CheckState.FAILED
    assert said in found.message
    assert "REDIS_URL" in found.remedy


def test_a_port_in_use_is_doubtful() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = doctor.check_port(Settings.model_construct(host="127.0.0.1", port=other.getsockname()[1]))
    assert found.state is CheckState.WARNING
    assert "already in use" in found.message
    assert "set PORT" in found.remedy


def test_the_data_directory_must_be_one(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    assert doctor.check_data_directory(Settings.model_construct(data_dir=tmp_path / "new")).state is CheckState.OK
    found = doctor.check_data_directory(Settings.model_construct(data_dir=tmp_path / "file" / "below"))
    assert (found.state, found.remedy) == (CheckState.FAILED, "Set COFFRET_DATA_DIR to a directory.")


def test_the_data_directory_must_have_room(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1024**6)
    assert doctor.check_data_directory(Settings.model_construct(data_dir=tmp_path)).state is CheckState.WARNING


@pytest.mark.parametrize(
    ("value", "state"),
    [(SECRET, CheckState.OK), ("0123456789abcdef", CheckState.WARNING), ("ab" * 20, CheckState.FAILED)],
)
def test_a_secret_must_be_hard_to_guess(monkeypatch: pytest.MonkeyPatch, value: str, state: CheckState) -> None:
    monkeypatch.setenv("COFFRET_SECRET", value)
    found = doctor.check_secret(Settings())
    assert found.state is state
    assert value not in found.message + found.remedy


def test_production_is_asked_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def look_up(host: str, _port: None) -> None:
        asked.append(host)
        if not host.endswith(".shops.example"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    good = production(monkeypatch, FUNNEL_DOMAIN="shops.example")
    assert doctor.check_provider(good).state is CheckState.OK
    assert doctor.check_workers(good).state is CheckState.WARNING
    assert doctor.check_addresses(good).state is CheckState.OK
    assert asked == ["any-partner.shops.example"]
    plain = production(monkeypatch, ENVIRONMENT="development", COFFRET_MANGOPAY_BASE_URL="http://x")
    assert doctor.check_provider(plain).state is CheckState.FAILED
    monkeypatch.delenv("COFFRET_MANGOPAY_BASE_URL")
    assert doctor.check_addresses(production(monkeypatch, FUNNEL_SCHEME="http")).remedy == "Unset FUNNEL_SCHEME."
    monkeypatch.delenv("FUNNEL_SCHEME")
    assert doctor.check_addresses(production(monkeypatch, FUNNEL_DOMAIN="shops.invalid")).remedy.startswith(
        "Add a DNS record for *.shops.invalid"
    )
    assert (
        doctor.check_addresses(production(monkeypatch, COFFRET_BASE_URL="http://api.localhost")).state
        is CheckState.FAILED
    )


def test_an_address_that_is_too_long_for_the_provider_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda _host, _port: None)
    fits = production(monkeypatch, COFFRET_BASE_URL=f"https://{'a' * 23}.example")
    assert (len(fits.public_url), doctor.check_addresses(fits).state) == (39, CheckState.OK)
    long = production(monkeypatch, COFFRET_BASE_URL=f"https://{'a' * 25}.example")
    told = doctor.check_addresses(long)
    assert (told.state, told.remedy) == (CheckState.WARNING, "Set COFFRET_BASE_URL to a shorter address.")
    assert told.message == f"{long.public_url} is 2 characters too long: no partner can prove an identity."


def test_a_certificate_for_the_provider_that_cannot_be_used_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    given = tmp_path / "certificate.pem"
    given.write_text("no certificate")
    names = ("COFFRET_MANGOPAY_CERT_FILE", "COFFRET_MANGOPAY_KEY_FILE")
    found = doctor.check_provider(production(monkeypatch, **dict.fromkeys(names, str(given))))
    assert (found.state, found.remedy) == (CheckState.FAILED, f"Correct {names[0]} and {names[1]}.")


def test_the_certificate_of_apple_pay_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    assert check_apple_pay(Settings()).message == "is simulated by the sandbox."
    assert check_apple_pay(production(monkeypatch)).message == "is not offered."
    cert, key = certificate(tmp_path, "merchant")
    names = ("CERT", "KEY", "DOMAIN")
    files = {f"COFFRET_APPLE_PAY_{name}_FILE": str(file) for name, file in zip(names, (cert, key, cert), strict=True)}
    found = check_apple_pay(production(monkeypatch, COFFRET_APPLE_PAY_MERCHANT_ID="merchant.example", **files))
    assert (found.state, "ends on" in found.message) == (CheckState.WARNING, True), "it is good for two days"
    check_apple_pay_key(production(monkeypatch))
    key.write_text("no key")
    assert check_apple_pay(production(monkeypatch)).state is CheckState.FAILED
    with pytest.raises(CommandError, match="COFFRET_APPLE_PAY_CERT_FILE and COFFRET_APPLE_PAY_KEY_FILE: "):
        check_apple_pay_key(production(monkeypatch))


def test_real_money_in_development_is_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctor.check_provider(production(monkeypatch, ENVIRONMENT="development"))
    assert (found.state, found.remedy) == (
        CheckState.WARNING,
        "Set ENVIRONMENT=production, or COFFRET_PROVIDER=sandbox.",
    )


def test_limits_of_the_machine() -> None:
    assert doctor.check_open_files(256).remedy == "Raise the limit: ulimit -n 16384"
    assert doctor.check_open_files(resource.RLIM_INFINITY).state is CheckState.OK
    assert doctor.check_python_version((3, 10, 1)).state is CheckState.FAILED
    assert doctor.check_python_version((3, 11, 0)).state is CheckState.OK
    assert (
        doctor.check_workers(Settings.model_construct(workers=10_000, redis_url="redis://x")).state
        is CheckState.WARNING
    )


async def test_the_file_store_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    found = await doctor.check_files(Settings())
    assert (found.state, str(tmp_path / "files") in found.message) == (CheckState.OK, True)
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []
    monkeypatch.setenv("FILES_URL", "s3://bucket/prefix")
    monkeypatch.setenv("COFFRET_FILES_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("COFFRET_FILES_ACCESS_KEY_ID", "us")
    monkeypatch.setenv("COFFRET_FILES_SECRET_ACCESS_KEY", "hush-hush")
    found = await doctor.check_files(Settings())
    assert (found.state, "127.0.0.1:1" in found.message, "hush-hush" in found.message) == (
        CheckState.FAILED,
        True,
        False,
    )
    monkeypatch.setenv("FILES_URL", "az://container")
    monkeypatch.delenv("COFFRET_FILES_ENDPOINT")
    found = await doctor.check_files(Settings())
    assert (found.state, "FILES_URL" in found.remedy) == (CheckState.FAILED, True)
