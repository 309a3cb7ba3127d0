"""`coffret mail test`, and what `coffret doctor` says of mail."""

import asyncio
import pathlib
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError
from typer.testing import CliRunner

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands import doctor, mail
from coffret.commands.findings import CheckState
from coffret.services import make_mailer
from store.core.settings import DeploymentEnvironment, Settings
from store.mail.mailer import FolderMailer
from store.mail.smtp import SmtpMailer
from tests.servers.mail_servers import RealMailServer


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """An environment of the test's own."""
    for name in ("ENVIRONMENT", "PORT", "COFFRET_SMTP_URL", "COFFRET_MAIL_FROM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COFFRET_DATA_DIR", str(tmp_path))


def settings(url: str = "", **more: Any) -> Settings:
    given: dict[str, Any] = {"smtp_url": SecretStr(url), "mail_from": "The Shops <orders@shops.example>", **more}
    return Settings(**given)


# ---- the command


async def test_a_message_is_sent_to_whoever_asks(
    mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COFFRET_SMTP_URL", mail_server.url)
    monkeypatch.setenv("COFFRET_MAIL_FROM", "The Shops <orders@shops.example>")
    await mail.test("you@example.org", "fr")
    assert f"The mail server at 127.0.0.1:{mail_server.port} accepted the message." in capsys.readouterr().out
    (received,) = mail_server.messages
    assert received.recipients == ("you@example.org",)
    assert received.message["From"] == "The Shops <orders@shops.example>"
    assert received.message["Subject"] == "L’envoi de courrier fonctionne"


async def test_a_refusal_is_told(mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFFRET_SMTP_URL", mail_server.url)
    monkeypatch.setenv("COFFRET_MAIL_FROM", "orders@shops.example")
    mail_server.refusals["you@example.org"] = "550 5.7.1 Relaying denied"
    with pytest.raises(CommandError, match=r"The message was not accepted: 550 5\.7\.1 Relaying denied"):
        await mail.test("you@example.org", "en")
    with pytest.raises(CommandError, match="is no address"):
        await mail.test("you", "en")


def test_development_keeps_it_in_the_folder(tmp_path: pathlib.Path) -> None:
    result = CliRunner().invoke(app, ["mail", "test", "you@example.org"])
    assert result.exit_code == 0
    assert "/_mail/" in result.output
    assert len(list((tmp_path / "mail").glob("*.eml"))) == 1


async def test_a_language_that_we_do_not_write_is_refused() -> None:
    with pytest.raises(CommandError, match="not in ja"):
        await mail.test("you@example.org", "ja")


# ---- what takes mail


async def test_mail_goes_where_the_settings_say(mail_server: RealMailServer) -> None:
    made = make_mailer(settings(mail_server.url))
    assert isinstance(made, SmtpMailer)
    assert isinstance(make_mailer(Settings()), FolderMailer)
    assert make_mailer(Settings().model_copy(update={"environment": DeploymentEnvironment.PRODUCTION})) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"smtp_url": SecretStr("http://mail.example")}, "smtp://"),
        ({"smtp_url": SecretStr("smtp://mail.example")}, "COFFRET_MAIL_FROM"),
        ({"mail_from": "nobody"}, "no address"),
        ({"mail_days": 0}, "greater than or equal to 1"),
        ({"smtp_ca_file": pathlib.Path("/nowhere/ca.pem")}, "is no file"),
    ],
)
def test_settings_that_cannot_work_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        Settings(**values)
    assert "hushhush" not in str(refused.value)


# ---- the doctor


async def test_a_server_that_answers_is_well(mail_server: RealMailServer) -> None:
    found = await doctor.check_mail(settings(mail_server.url))
    assert found.state is CheckState.OK
    assert f"127.0.0.1:{mail_server.port}" in found.message
    assert mail_server.messages == []


async def test_a_server_that_does_not_is_wrong(mail_server: RealMailServer) -> None:
    await mail_server.stop()
    found = await doctor.check_mail(settings(mail_server.url.replace("//", "//me:hushhush@")))
    assert (found.state, "COFFRET_SMTP_URL" in found.remedy) == (CheckState.FAILED, True)
    assert "hushhush" not in found.message + found.remedy


async def test_without_a_server_development_is_well_and_production_is_told() -> None:
    assert (await doctor.check_mail(Settings())).state is CheckState.OK
    production = Settings().model_copy(update={"environment": DeploymentEnvironment.PRODUCTION})
    found = await doctor.check_mail(production)
    assert found.state is CheckState.WARNING
    assert "messages wait" in found.message


def test_the_doctor_looks_at_mail() -> None:
    async def names() -> list[str]:
        return [finding.name async for finding in doctor.run_checks()]

    assert "mail" in asyncio.run(names())
