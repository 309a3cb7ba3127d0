"""`coffret user` and `coffret token`, on a real database."""

import asyncio
import re
from collections.abc import Callable

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from coffret.cli import app
from coffret.command_error import CommandError
from coffret.commands.accounts import create_user
from resolvers.account.administration import NewUser
from resolvers.core.authentication import Authenticator
from resolvers.core.caller import Role
from schema.core.errors import Unauthenticated
from store.core.clock import clock
from store.database.db import Database
from store.partner.partners import MarketplaceRow, PartnerRow

Run = Callable[..., Result]


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the database; a refusal is in `exception`."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    return lambda *arguments, given="": CliRunner().invoke(app, list(arguments), input=given)


async def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    db = Database(url)
    try:
        return [tuple(row) for row in await db.rows(text(statement))]
    finally:
        await db.aclose()


async def lay_partner(url: str) -> None:
    """A marketplace with one partner."""
    db = Database(url)
    async with db.sessions() as session, session.begin():
        marketplace = MarketplaceRow(name="Alpine Network")
        session.add(marketplace)
        await session.flush()
        partner = PartnerRow(
            marketplace_id=marketplace.id, source_id="77", commercial_name="Chalet", short_name="chalet",
            site_domain="chalet.localhost",
        )  # fmt: skip
        session.add(partner)
    await db.aclose()


async def role_of(url: str, secret: str) -> Role:
    """Whom a token logs in as; raises Unauthenticated when it does not."""
    db = Database(url)
    try:
        return (await Authenticator(db, clock).authenticate(secret)).role
    finally:
        await db.aclose()


def refusal_reason(result: Result) -> str:
    """Why a command did not do it."""
    assert result.exit_code == 1
    assert isinstance(result.exception, CommandError)
    return str(result.exception)


def test_a_master_is_made_and_gets_a_token_that_works_until_revoked(run: Run, database_url: str) -> None:
    made = run("user", "create", "ops@example.com", "--role", "master", "--generate-password")
    assert made.exit_code == 0, made.output
    assert re.search(
        r"Created user ops@example\.com \(master, id \d+\)\.\nPassword, shown only once: \S{24}\n", made.output
    )
    created = run("token", "create", "OPS@example.com", "--label", "shop", "--days", "30")
    secret = created.stdout.strip()
    assert re.fullmatch(r"coffret_\S{43}", secret)
    assert re.search(r"Created token \d+, valid until 20\d\d-\d\d-\d\d \d\d:\d\d UTC\.", created.stderr)
    assert asyncio.run(role_of(database_url, secret)) is Role.MASTER
    query = "SELECT recipient, content ->> 'actor', content ->> 'name' FROM mail"
    assert asyncio.run(ask(database_url, query)) == [("ops@example.com", "operator", "shop")], "not of the new user"
    listed = run("token", "list", "ops@example.com").output
    assert secret[:12] in listed
    assert secret not in listed
    assert "shop" in listed
    number = re.search(r"^(\d+) ", listed, re.MULTILINE)
    assert number
    assert run("token", "revoke", number[1]).exit_code == 0
    assert "revoked" in run("token", "list").output
    with pytest.raises(Unauthenticated):
        asyncio.run(role_of(database_url, secret))


def test_a_password_comes_from_a_pipe_and_is_kept_as_a_hash(run: Run, database_url: str) -> None:
    made = run("user", "create", "ops", "--role", "master", "--password-stdin", given="correct horse battery\n")
    assert made.exit_code == 0, made.output
    assert "correct horse" not in made.output
    ((kept, email),) = asyncio.run(ask(database_url, "SELECT password_hash, email FROM app_user"))
    assert str(kept).startswith("$argon2id$")
    assert email == ""


@pytest.mark.parametrize("named", ["chalet.localhost", "77"])
def test_a_partners_user_sees_that_partner(run: Run, database_url: str, named: str) -> None:
    asyncio.run(lay_partner(database_url))
    made = run("user", "create", "chef@example.com", "--role", "partner", "--partner", named, "--generate-password")
    assert made.exit_code == 0, made.output
    query = (
        "SELECT u.role, p.short_name, u.marketplace_id, u.email FROM app_user u JOIN partner p ON p.id = u.partner_id"
    )
    assert asyncio.run(ask(database_url, query)) == [("partner", "chalet", None, "chef@example.com")]


def test_a_marketplaces_user_sees_that_marketplace(run: Run, database_url: str) -> None:
    asyncio.run(lay_partner(database_url))
    options = ("--role", "marketplace", "--marketplace", "alpine network", "--generate-password")
    assert run("user", "create", "net", *options).exit_code == 0
    query = "SELECT m.name, u.partner_id FROM app_user u JOIN marketplace m ON m.id = u.marketplace_id"
    assert asyncio.run(ask(database_url, query)) == [("Alpine Network", None)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--role", "partner"], "Name a partner for the role partner, and only for that role."),
        (["--role", "master", "--partner", "77"], "Name a partner for the role partner, and only for that role."),
        (["--role", "marketplace"], "Name a marketplace for the role marketplace, and only for that role."),
        (["--role", "partner", "--partner", "nowhere"], "No such partner nowhere."),
        (["--role", "marketplace", "--marketplace", "nowhere"], "No such marketplace nowhere."),
        (["--role", "master", "--email", "not-an-address"], "name@example.com"),
    ],
)
def test_a_user_that_cannot_be_is_not_made(run: Run, database_url: str, options: list[str], said: str) -> None:
    asyncio.run(lay_partner(database_url))
    assert said in refusal_reason(run("user", "create", "somebody", *options, "--generate-password"))
    assert asyncio.run(ask(database_url, "SELECT count(*) FROM app_user")) == [(0,)]


def test_short_passwords_and_taken_names_are_refused(run: Run, database_url: str) -> None:
    short = run("user", "create", "ops", "--role", "master", "--password-stdin", given="too short\n")
    assert refusal_reason(short) == "A password has at least 12 characters."
    assert run("user", "create", "ops", "--role", "master", "--generate-password").exit_code == 0
    assert (
        refusal_reason(run("user", "create", "OPS", "--role", "master", "--generate-password"))
        == "This user name is taken."
    )
    assert asyncio.run(ask(database_url, "SELECT username FROM app_user")) == [("ops",)]


def test_names_that_read_like_others_are_refused(run: Run, database_url: str) -> None:
    assert run("user", "create", "paypal", "--role", "master", "--generate-password").exit_code == 0
    for alike in ("paypa1", "p\u0430ypal", "P\u0410YPAL "):
        said = refusal_reason(run("user", "create", alike, "--role", "master", "--generate-password"))
        assert said == "This user name, or one that reads like it, is taken."
    assert asyncio.run(ask(database_url, "SELECT username FROM app_user")) == [("paypal",)]
    assert asyncio.run(ask(database_url, "SELECT count(*) FROM audit_entry")) == [(1,)]
    assert run("user", "create", "paypals", "--role", "master", "--generate-password").exit_code == 0


@pytest.mark.usefixtures("run")
async def test_of_commands_at_once_one_makes_its_user(database_url: str) -> None:
    """Names that read alike, none seen by the others when it is written."""

    async def make(username: str) -> str:
        try:
            await create_user(NewUser(username, "a long password", Role.MASTER), tell_password=False)
        except CommandError as error:
            return str(error)
        return "made"

    told = await asyncio.gather(*(make(name) for name in ("ops", "0ps", "\u043eps")))
    assert sorted(told) == [*["This user name, or one that reads like it, is taken."] * 2, "made"]
    assert await ask(database_url, "SELECT count(*) FROM app_user") == [(1,)]


def test_a_password_is_not_asked_where_nobody_can_type(run: Run) -> None:
    assert "--password-stdin or --generate-password" in refusal_reason(run("user", "create", "ops", "--role", "master"))


def test_tokens_are_for_users_there_are(run: Run, database_url: str) -> None:
    assert refusal_reason(run("token", "create", "nobody")) == "No such user nobody."
    assert refusal_reason(run("token", "list", "nobody")) == "No such user nobody."
    assert refusal_reason(run("token", "revoke", "99")) == "No such token."
    assert run("token", "list").output == "There are no tokens.\n"
    assert asyncio.run(ask(database_url, "SELECT count(*) FROM token")) == [(0,)]


def test_who_may_not_log_in_gets_no_token(run: Run, database_url: str) -> None:
    assert run("user", "create", "ops", "--role", "master", "--generate-password").exit_code == 0

    async def lock() -> None:
        db = Database(database_url)
        async with db.sessions() as session, session.begin():
            await (await session.connection()).execute(text("UPDATE app_user SET is_active = false"))
        await db.aclose()

    asyncio.run(lock())
    assert refusal_reason(run("token", "create", "ops")) == "The user ops is inactive."
    assert asyncio.run(ask(database_url, "SELECT count(*) FROM token")) == [(0,)]


def test_a_database_behind_this_release_is_told_so(run: Run, database_url: str) -> None:
    async def forget() -> None:
        db = Database(database_url)
        async with db.engine.begin() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
        await db.aclose()

    asyncio.run(forget())
    assert re.fullmatch(
        r"The database is at revision 0000, not \w+\. Run: coffret migrate", refusal_reason(run("token", "list"))
    )


def test_migrate_says_what_it_did(run: Run) -> None:
    assert re.fullmatch(r"The tables are at revision \w+ already\.\n", run("migrate").output)


async def test_what_the_command_line_does_is_in_the_audit_log(run: Run, database_url: str) -> None:
    await lay_partner(database_url)
    made = ("user", "create", "ada@shop.example", "--role", "partner", "--partner", "1", "--password-stdin")
    await asyncio.to_thread(run, *made, given="a long password\n")
    await asyncio.to_thread(run, "token", "create", "ada@shop.example", "--label", "till")
    await asyncio.to_thread(run, "token", "revoke", "1")
    await asyncio.to_thread(run, "token", "revoke", "2")
    told = "SELECT operation, actor, partner_id, marketplace_id, subject_type, subject_id, input FROM audit_entry ORDER BY id"
    user, token, revoked = await ask(database_url, told)
    assert user[:6] == ("create_user", "command_line", 1, 1, "User", "1")
    assert user[6]["password"] == "***"  # type: ignore[index]
    assert token[:6] == ("create_token", "command_line", 1, 1, "Token", "1")
    assert token[6] == {"username": "ada@shop.example", "label": "till", "expires_on": None}
    assert revoked[:6] == ("revoke_token", "command_line", 1, 1, "Token", "1")


async def test_a_second_factor_that_was_lost_is_turned_off(run: Run, database_url: str) -> None:
    made = ("user", "create", "ops", "--role", "master", "--password-stdin")
    await asyncio.to_thread(run, *made, given="a long password\n")
    db = Database(database_url)
    async with db.sessions() as session, session.begin():
        await (await session.connection()).execute(text("UPDATE app_user SET has_second_factor = true"))
        await (await session.connection()).execute(
            text("INSERT INTO recovery_code (user_id, digest) SELECT id, 'x' FROM app_user")
        )
        await (await session.connection()).execute(
            text(
                "INSERT INTO passkey (user_id, name, credential_id, public_key, sign_count, created_on) "
                "SELECT id, 'Phone', 'x', 'x', 0, created_on FROM app_user"
            )
        )
    await db.aclose()
    assert (
        refusal_reason(await asyncio.to_thread(run, "user", "reset-second-factor", "nobody")) == "No such user nobody."
    )
    answer = await asyncio.to_thread(run, "user", "reset-second-factor", "OPS")
    assert answer.output == "ops logs in with the password alone. All passkeys are deleted.\n"
    assert await ask(database_url, "SELECT count(*) FROM passkey") == [(0,)]
    assert await ask(database_url, "SELECT has_second_factor FROM app_user") == [(False,)]
    assert await ask(database_url, "SELECT count(*) FROM recovery_code") == [(0,)]
    told = await ask(database_url, "SELECT operation, actor, subject_id FROM audit_entry ORDER BY id DESC LIMIT 1")
    assert told == [("reset_second_factor", "command_line", "1")]
