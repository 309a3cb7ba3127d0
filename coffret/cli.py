"""The command line. What a command needs is imported when it runs, so that `coffret --help` is quick."""

import asyncio
import json
import os
import pathlib
import sys
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from coffret.commands.command_error import CommandError
from coffret.commands.gc_tuning import collect_seldom
from schema.validation.languages import LANGUAGES

RoleName = Literal["partner", "marketplace", "master"]

app = typer.Typer(
    name="coffret",
    help="Carts, checkout, gift cards and partner payments, on your own server. Settings come from the environment.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
users = typer.Typer(help="Who may log in.", no_args_is_help=True)
tokens = typer.Typer(help="Credentials for programs.", no_args_is_help=True)
times = typer.Typer(help="The time, which development can move.", no_args_is_help=True)
app.add_typer(times, name="clock")
mail = typer.Typer(help="Whether mail leaves this installation.", no_args_is_help=True)
app.add_typer(mail, name="mail")
app.add_typer(users, name="user")
app.add_typer(tokens, name="token")


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; more than one need REDIS_URL.")] = None,
) -> None:
    """Serve the API, the checkout and the jobs, with embedded PostgreSQL unless DATABASE_URL is set."""
    for variable, value in (("COFFRET_HOST", host), ("PORT", port), ("COFFRET_WORKERS", workers)):
        if value is not None:
            os.environ[variable] = str(value)
    from coffret.commands import serve as command
    from coffret.commands.environment import read_settings

    command.serve(read_settings())


@app.command()
def doctor(
    *, as_json: Annotated[bool, typer.Option("--json", help="Answer a JSON array instead of text.")] = False
) -> None:
    """Say what is wrong with this installation, and how to put it right. Exits with 1 if something is."""
    from coffret.commands.doctor import examine
    from coffret.commands.findings import Finding, State

    console = Console(highlight=False)
    marks = {State.OK: "[green]ok  [/]", State.WARNING: "[yellow]warn[/]", State.FAILED: "[red]fail[/]"}

    async def run() -> list[Finding]:
        findings = []
        async for finding in examine():
            findings.append(finding)
            if not as_json:
                console.print(
                    f"{marks[finding.state]}  [bold]{finding.name}[/] {escape(finding.found)}", soft_wrap=True
                )
                if finding.remedy:
                    console.print(f"      → {escape(finding.remedy)}", soft_wrap=True)
        return findings

    findings = asyncio.run(run())
    if as_json:
        keys = ("name", "state", "found", "remedy")
        typer.echo(json.dumps([{key: getattr(finding, key) for key in keys} for finding in findings], indent=2))
    if any(finding.state is State.FAILED for finding in findings):
        raise typer.Exit(1)


@app.command()
def migrate() -> None:
    """Bring the database's tables up to date. Safe to run while others do, and again."""
    from coffret.commands import migrate as command

    asyncio.run(command.migrate())


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=0, help="Have a third, large partner with so many vouchers as well.")] = 0,
) -> None:
    """Fill an empty database with two shops to try everything with. Development only."""
    from coffret.commands import demo as command

    asyncio.run(command.demo(rows))


@app.command()
def worker() -> None:
    """Run the jobs alone: settling payments, sending mail, reading what the provider tells."""
    from coffret.commands import worker as command

    asyncio.run(command.work())


@app.command()
def listen(
    forward_to: Annotated[str, typer.Option(help="Where to POST them, as webhooks: a receiver you develop.")] = "",
    events: Annotated[list[str] | None, typer.Option(help="Only these, such as order.*; all by default.")] = None,
    since: Annotated[str, typer.Option(help="Also what happened so long ago, such as 10m or 2h.")] = "",
    url: Annotated[str, typer.Option(envvar="COFFRET_URL", help="Of the Coffret; by default the one here.")] = "",
    token: Annotated[
        str, typer.Option(envvar="COFFRET_TOKEN", help="Whose events; by default the demo data's.", show_default=False)
    ] = "",
    print_json: Annotated[bool, typer.Option("--print-json", help="Print each as a line of JSON.")] = False,
    print_secret: Annotated[bool, typer.Option("--print-secret", help="Print the signing secret, and end.")] = False,
) -> None:
    """Show events as they happen, and forward them to a receiver on your machine."""
    if print_secret:
        from coffret.listen.secret import listening_secret

        typer.echo(listening_secret())
        return
    from coffret.commands import listen as command

    command.listen(command.Wanted(url, token, forward_to, events or [], since, print_json))


@app.command()
def schema(
    output: Annotated[pathlib.Path | None, typer.Option(help="File to write; by default standard output.")] = None,
) -> None:
    """Print the GraphQL schema."""
    from coffret.commands import schema as command

    command.write(output)


@app.command(hidden=True)
def revise(message: Annotated[str, typer.Argument(help="What changes, in a few words.")]) -> None:
    """Write a migration of what the tables have become. For who changes the code."""
    from coffret.commands import revise as command

    asyncio.run(command.revise(message))


@users.command("create")
def create_user(
    username: Annotated[str, typer.Argument(help="What is typed to log in; often the e-mail address.")],
    role: Annotated[RoleName, typer.Option(help="How much of the data the user sees.")],
    partner: Annotated[str, typer.Option(help="For a partner's user: its site domain or id.")] = "",
    marketplace: Annotated[str, typer.Option(help="For a marketplace's user: its name or id.")] = "",
    email: Annotated[str, typer.Option(help="By default the user name, if that is an address.")] = "",
    first_name: Annotated[str, typer.Option()] = "",
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from a pipe.")] = False,
    generate_password: Annotated[bool, typer.Option("--generate-password", help="Make one and show it.")] = False,
) -> None:
    """Make a user. Asks for the password, unless told where to take it from."""
    from coffret.commands import accounts as command
    from resolvers.account.administration import NewUser
    from resolvers.core.context import Role

    password = command.ask_password(from_input=password_stdin, generate=generate_password)
    new = NewUser(username, password, Role(role), partner, marketplace, email, first_name)
    asyncio.run(command.create_user(new, tell_password=generate_password))


@users.command("password")
def reset_password(
    username: Annotated[str, typer.Argument(help="Whose password is replaced.")],
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from a pipe.")] = False,
    generate_password: Annotated[bool, typer.Option("--generate-password", help="Make one and show it.")] = False,
) -> None:
    """Give a user another password, and revoke all of the user's tokens."""
    from coffret.commands import accounts as command

    password = command.ask_password(from_input=password_stdin, generate=generate_password)
    asyncio.run(command.reset_password(username, password, tell_password=generate_password))


@users.command("deactivate")
def deactivate_users(
    usernames: Annotated[list[str], typer.Argument(help="Who may not log in any more; their tokens end as well.")],
) -> None:
    """Let users log in no more. What they have made stays."""
    from coffret.commands import accounts as command

    asyncio.run(command.deactivate_users(usernames))


@tokens.command("create")
def create_token(
    username: Annotated[str, typer.Argument(help="Whose token it is.")],
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[int | None, typer.Option(min=1, help="How long it works; by default until revoked.")] = None,
) -> None:
    """Make a token. Its secret goes to standard output, this once."""
    from coffret.commands import accounts as command

    asyncio.run(command.create_token(username, label, days))


@tokens.command("list")
def list_tokens(username: Annotated[str | None, typer.Argument(help="Only those of one user.")] = None) -> None:
    """Show the tokens there are, without their secrets."""
    from coffret.commands import accounts as command

    asyncio.run(command.list_tokens(username))


@tokens.command("revoke")
def revoke_token(token_id: Annotated[int, typer.Argument(help="The id that `coffret token list` shows.")]) -> None:
    """Stop a token from working, for good."""
    from coffret.commands import accounts as command

    asyncio.run(command.revoke_token(token_id))


@times.command("show")
def show_clock() -> None:
    """Say what time it is for this installation."""
    from coffret.commands import clock as command

    asyncio.run(command.show())


@times.command("advance")
def advance_clock(by: Annotated[str, typer.Argument(help="How far, forward only: 90s, 15m, 2h, 3d, 1d12h.")]) -> None:
    """Move time for carts, links, holds, sessions, jobs, schedules and the sandbox alike. Development only."""
    from coffret.commands import clock as command

    asyncio.run(command.advance(by))


@mail.command("test")
def send_test_mail(
    to: Annotated[str, typer.Argument(help="An address that you can read.")],
    language: Annotated[str, typer.Option(help=f"The language it is written in: {', '.join(LANGUAGES)}.")] = "en",
) -> None:
    """Send a message to yourself, and say what the mail server said."""
    from coffret.commands import mail as command

    asyncio.run(command.test(to, language))


def main() -> None:
    """Run the command line; what a user can put right is told in a sentence, without a traceback."""
    collect_seldom()
    try:
        app()
    except CommandError as error:
        Console(stderr=True, highlight=False).print(f"[red]coffret:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
