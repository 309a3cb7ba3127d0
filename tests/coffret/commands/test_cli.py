"""The command line as a whole: what there is, and how it refuses."""

import pathlib
import re
import subprocess
import sys

import pytest
from typer import Typer
from typer.testing import CliRunner

from coffret.cli import app
from coffret.commands.environment import unknown_variables
from schema.root import sdl
from tests.coffret.conftest import PRODUCTION


def commands(within: Typer, *words: str) -> list[str]:
    """Every command there is, in words."""
    own = [
        " ".join((*words, info.name or info.callback.__name__)) for info in within.registered_commands if info.callback
    ]
    groups = [(group.typer_instance, group.name) for group in within.registered_groups]
    return own + [name for group, word in groups if group for name in commands(group, *words, str(word))]


def test_there_are_the_documented_commands() -> None:
    assert sorted(commands(app)) == [
        "clock advance", "clock show", "demo", "doctor", "ledger explain", "ledger export", "ledger verify", "listen",
        "mail test", "migrate", "reconcile", "revise", "schema", "serve", "simulate", "token create", "token list", "token revoke", "user create", "user deactivate", "user password",
        "user reset-second-factor", "worker",
    ]  # fmt: skip


@pytest.mark.parametrize("command", commands(app))
def test_each_tells_what_it_does(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert len(result.output.split("\n\n")) >= 2


def test_help_is_quick_because_nothing_else_is_imported() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from coffret.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print([name for name in ('sqlalchemy', 'strawberry', 'uvicorn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_schema_is_written_where_wanted(tmp_path: pathlib.Path) -> None:
    result = CliRunner().invoke(app, ["schema"])
    assert result.output == sdl()
    assert CliRunner().invoke(app, ["schema", "--output", str(tmp_path / "s.graphql")]).output == ""
    assert (tmp_path / "s.graphql").read_text() == sdl()


def test_what_is_for_maintainers_is_not_in_the_way() -> None:
    assert "revise" not in CliRunner().invoke(app, ["--help"]).output


def test_misspelt_settings_are_noticed() -> None:
    given = {"COFFRET_DATADIR": "x", "COFFRET_PORT": "1", "PORT": "1", "COFFRET_ZZZZZZ": "1", "COFFRET_SECRET": "x"}
    assert unknown_variables(given) == {"COFFRET_DATADIR": "COFFRET_DATA_DIR", "COFFRET_ZZZZZZ": ""}
    told = CliRunner().invoke(app, ["listen", "--help"], env={"COLUMNS": "200"}).output
    read = set(re.findall(r"env var: (\w+)", told))
    assert len(read) == 2
    assert unknown_variables(dict.fromkeys(read, "x")) == {}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ENVIRONMENT": "production", "COFFRET_SECRET": "x" * 32}, "can't take money through the sandbox"),
        (
            {**PRODUCTION, "COFFRET_MANGOPAY_BASE_URL": "http://api.mangopay.com"},
            "https only: correct COFFRET_MANGOPAY_BASE_URL",
        ),
        (
            {**PRODUCTION, "COFFRET_MANGOPAY_BASE_URL": "http://127.0.0.1:9"},
            "https only: correct COFFRET_MANGOPAY_BASE_URL",
        ),
        ({"COFFRET_HSTS_SECONDS": "-1"}, "COFFRET_HSTS_SECONDS: must be greater than or equal to 0"),
        ({"COFFRET_TRUSTED_PROXIES": "10.0.0.0/8,proxy"}, "COFFRET_TRUSTED_PROXIES: 'proxy' does not appear to be"),
        ({"COFFRET_GRAPHIQL": "maybe"}, "COFFRET_GRAPHIQL: must be a valid boolean, not 'maybe'."),
        ({"COFFRET_PROVIDER": "stripe"}, "COFFRET_PROVIDER: must be 'sandbox' or 'mangopay', not 'stripe'."),
        ({"FUNNEL_SCHEME": "ftp"}, "FUNNEL_SCHEME: must match pattern '^https?$', not 'ftp'."),
        ({"COFFRET_PROVIDER": "mangopay"}, "needs COFFRET_MANGOPAY_CLIENT_ID and COFFRET_MANGOPAY_API_KEY"),
        ({"COFFRET_MANGOPAY_CERT_FILE": "/none"}, "COFFRET_MANGOPAY_CERT_FILE: /none is no file."),
        ({"COFFRET_MANGOPAY_KEY_FILE": __file__}, "Set both COFFRET_MANGOPAY_CERT_FILE and COFFRET_MANGOPAY_KEY_FILE"),
        ({"COFFRET_MANGOPAY_ALERT_EMAIL": "nobody"}, "COFFRET_MANGOPAY_ALERT_EMAIL: "),
    ],
)
def test_settings_that_cannot_work_are_named(
    environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    for name, value in {**environment, "COFFRET_DATA_DIR": str(tmp_path / "data")}.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, ["token", "list"])
    assert result.exit_code == 1
    assert said in str(result.exception)
    assert not (tmp_path / "data").exists()


def test_demo_data_is_for_development(monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    settings = {
        "ENVIRONMENT": "production", "COFFRET_SECRET": "0123456789abcdef" * 2, "COFFRET_PROVIDER": "mangopay",
        "COFFRET_MANGOPAY_CLIENT_ID": "shop", "COFFRET_MANGOPAY_API_KEY": "key", "DATABASE_URL": database_url,
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 1
    assert str(result.exception).endswith("unset ENVIRONMENT and COFFRET_PROVIDER.")
    assert CliRunner().invoke(app, ["token", "list"]).output == "There are no tokens.\n"


def test_demo_tells_what_it_laid_and_again(
    monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("COFFRET_DATA_DIR", str(tmp_path))
    first, second = (CliRunner().invoke(app, ["demo"]) for _ in range(2))
    for result in (first, second):
        assert result.exit_code == 0, result.output
        assert "Shop       http://demo2.localhost:8000/" in result.output
        assert "curl -sS http://127.0.0.1:8000/api/v2/ecommerce/cart/ \\\n" in result.output
    assert first.output != second.output, "the token is a fresh one"
