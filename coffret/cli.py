"""The command line. Each command imports its dependencies when it runs, so that `coffret --help` is quick."""

import asyncio
import datetime as dt
import json
import os
import pathlib
import sys
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from coffret.command_error import CommandError
from coffret.commands.gc_tuning import collect_rarely
from schema.validation.languages import LANGUAGES

RoleName = Literal["partner", "marketplace", "master"]
LedgerThing = Literal["payment", "card", "payout", "wallet"]
DAY = "%Y-%m-%d"

app = typer.Typer(
    name="coffret",
    help="Carts, checkout, gift cards and partner payments, on your own server. Settings come from the environment.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
users_app = typer.Typer(help="Manage users.", no_args_is_help=True)
tokens_app = typer.Typer(help="Manage API tokens.", no_args_is_help=True)
clock_app = typer.Typer(help="Show or advance the clock of a development installation.", no_args_is_help=True)
app.add_typer(clock_app, name="clock")
mail_app = typer.Typer(help="Test the mail settings.", no_args_is_help=True)
app.add_typer(mail_app, name="mail")
ledger_app = typer.Typer(help="Prove, explain and export the ledger.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")
app.add_typer(users_app, name="user")
app.add_typer(tokens_app, name="token")


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 selects a free port.")] = None,
    workers: Annotated[int | None, typer.Option(help="Number of processes; more than one requires REDIS_URL.")] = None,
) -> None:
    """Serve the API and the checkout and run the jobs. Starts embedded PostgreSQL unless DATABASE_URL is set."""
    for variable, value in (("COFFRET_HOST", host), ("PORT", port), ("COFFRET_WORKERS", workers)):
        if value is not None:
            os.environ[variable] = str(value)
    from coffret.commands import serve as command
    from coffret.commands.environment import read_settings

    command.serve(read_settings())


@app.command()
def doctor(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array instead of text.")] = False
) -> None:
    """Check this installation and suggest fixes. Exits with 1 if a check fails."""
    from coffret.commands.doctor import run_checks
    from coffret.commands.findings import CheckState, Finding

    console = Console(highlight=False)
    marks = {CheckState.OK: "[green]ok  [/]", CheckState.WARNING: "[yellow]warn[/]", CheckState.FAILED: "[red]fail[/]"}

    async def run() -> list[Finding]:
        findings = []
        async for finding in run_checks():
            findings.append(finding)
            if not as_json:
                console.print(
                    f"{marks[finding.state]}  [bold]{finding.name}[/] {escape(finding.message)}", soft_wrap=True
                )
                if finding.remedy:
                    console.print(f"      → {escape(finding.remedy)}", soft_wrap=True)
        return findings

    findings = asyncio.run(run())
    if as_json:
        told = [{"name": f.name, "state": f.state, "found": f.message, "remedy": f.remedy} for f in findings]
        typer.echo(json.dumps(told, indent=2))
    if any(finding.state is CheckState.FAILED for finding in findings):
        raise typer.Exit(1)


@app.command()
def migrate() -> None:
    """Bring the database schema up to date. Safe to run repeatedly and concurrently."""
    from coffret.commands import migrate as command

    asyncio.run(command.migrate())


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=0, help="Also create a large partner with this many vouchers.")] = 0,
) -> None:
    """Fill an empty database with demo data: two shops. Development only."""
    from coffret.commands import demo as command

    asyncio.run(command.demo(rows))


@app.command()
def simulate(
    days: Annotated[int, typer.Option(min=1, help="Days of trade; calm ones follow.")] = 365,
    marketplaces: Annotated[int, typer.Option(min=1, help="How many marketplaces trade, in EUR and GBP.")] = 3,
    partners: Annotated[int, typer.Option(min=1, help="How many partners they have together.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed draws the same deeds.")] = 1,
    output: Annotated[
        pathlib.Path, typer.Option(help="The folder for figures and picture of the days.")
    ] = pathlib.Path(),
    data: Annotated[
        pathlib.Path | None, typer.Option(help="An empty data folder to keep; a temporary one by default.")
    ] = None,
) -> None:
    """Simulate sales, payouts, refunds, disputes and gift cards over time, and compare all balances with a plain model.
    Development only. Exits with 1 if anything differs.
    """
    from coffret.commands import simulate as command
    from coffret.simulation.run import SimulationOptions

    options = SimulationOptions(days, marketplaces, partners, seed)
    if not asyncio.run(command.simulate(options, output, data)):
        raise typer.Exit(1)


@app.command()
def reconcile(
    *,
    last: Annotated[bool, typer.Option("--last", help="Only show what is open since the last reconciliation.")] = False,
) -> None:
    """Compare all movements at the payment provider with the ledger, as every night. Exits with 1 if any finding is open."""
    from coffret.commands import reconcile as command

    if not asyncio.run(command.reconcile(last=last)):
        raise typer.Exit(1)


@app.command()
def worker() -> None:
    """Run only the jobs: complete payments, send mail and webhooks, process notifications of the provider."""
    from coffret.commands import worker as command

    asyncio.run(command.work())


@app.command()
def listen(
    forward_to: Annotated[str, typer.Option(help="URL of your receiver; events are POSTed there as webhooks.")] = "",
    events: Annotated[list[str] | None, typer.Option(help="Types to show, such as order.*; all by default.")] = None,
    since: Annotated[str, typer.Option(help="Include past events of this period, such as 10m or 2h.")] = "",
    url: Annotated[str, typer.Option(envvar="COFFRET_URL", help="URL of the server; this machine's by default.")] = "",
    token: Annotated[
        str,
        typer.Option(
            envvar="COFFRET_TOKEN",
            help="API token whose events are shown; by default the demo data's.",
            show_default=False,
        ),
    ] = "",
    print_json: Annotated[bool, typer.Option("--print-json", help="Print each event as a line of JSON.")] = False,
    print_secret: Annotated[bool, typer.Option("--print-secret", help="Print the signing secret and exit.")] = False,
) -> None:
    """Show events as they happen and forward them to a receiver on your machine."""
    if print_secret:
        from coffret.listen.secret import listening_secret

        typer.echo(listening_secret())
        return
    from coffret.commands import listen as command

    command.listen(command.ListenOptions(url, token, forward_to, events or [], since, print_json))


@app.command()
def schema(
    output: Annotated[pathlib.Path | None, typer.Option(help="Output file; standard output by default.")] = None,
) -> None:
    """Print the GraphQL schema."""
    from coffret.commands import schema as command

    command.write(output)


@app.command(hidden=True)
def revise(message: Annotated[str, typer.Argument(help="Summary of the change.")]) -> None:
    """Write a migration for the changed table definitions. For maintainers."""
    from coffret.commands import revise as command

    asyncio.run(command.revise(message))


@users_app.command("create")
def create_user(
    username: Annotated[str, typer.Argument(help="Log-in name, often the e-mail address.")],
    role: Annotated[RoleName, typer.Option(help="Role; it determines which data the user sees.")],
    partner: Annotated[str, typer.Option(help="Site domain or id of the partner; for role partner.")] = "",
    marketplace: Annotated[str, typer.Option(help="Name or id of the marketplace; for role marketplace.")] = "",
    email: Annotated[str, typer.Option(help="E-mail address; by default the user name, if that is one.")] = "",
    first_name: Annotated[str, typer.Option()] = "",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    generate_password: Annotated[
        bool, typer.Option("--generate-password", help="Generate a password and print it.")
    ] = False,
) -> None:
    """Create a user. Prompts for the password unless an option provides it."""
    from coffret.commands import accounts as command
    from resolvers.account.administration import NewUser
    from resolvers.core.caller import Role

    password = command.ask_password(from_input=password_stdin, generate=generate_password)
    new = NewUser(username, password, Role(role), partner, marketplace, email, first_name)
    asyncio.run(command.create_user(new, tell_password=generate_password))


@users_app.command("password")
def reset_password(
    username: Annotated[str, typer.Argument(help="Log-in name of the user.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    generate_password: Annotated[
        bool, typer.Option("--generate-password", help="Generate a password and print it.")
    ] = False,
) -> None:
    """Set a new password for a user and revoke all of the user's tokens."""
    from coffret.commands import accounts as command

    password = command.ask_password(from_input=password_stdin, generate=generate_password)
    asyncio.run(command.reset_password(username, password, tell_password=generate_password))


@users_app.command("reset-second-factor")
def reset_second_factor(
    username: Annotated[str, typer.Argument(help="Log-in name of the user.")],
) -> None:
    """Turn off the second factor of a user who has lost the app and the recovery codes, and delete the passkeys."""
    from coffret.commands import accounts as command

    asyncio.run(command.reset_second_factor(username))


@users_app.command("deactivate")
def deactivate_users(
    usernames: Annotated[list[str], typer.Argument(help="Log-in names; their tokens stop working too.")],
) -> None:
    """Deactivate users. Their data is unchanged."""
    from coffret.commands import accounts as command

    asyncio.run(command.deactivate_users(usernames))


@tokens_app.command("create")
def create_token(
    username: Annotated[str, typer.Argument(help="Log-in name of the user.")],
    label: Annotated[str, typer.Option(help="Purpose of the token.")] = "",
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; by default it never does.")] = None,
) -> None:
    """Create a token. Its secret is printed to standard output, only this once."""
    from coffret.commands import accounts as command

    asyncio.run(command.create_token(username, label, days))


@tokens_app.command("list")
def list_tokens(
    username: Annotated[str | None, typer.Argument(help="Log-in name; only this user's tokens.")] = None,
) -> None:
    """List tokens, without their secrets."""
    from coffret.commands import accounts as command

    asyncio.run(command.list_tokens(username))


@tokens_app.command("revoke")
def revoke_token(token_id: Annotated[int, typer.Argument(help="Token id from `coffret token list`.")]) -> None:
    """Revoke a token permanently."""
    from coffret.commands import accounts as command

    asyncio.run(command.revoke_token(token_id))


@clock_app.command("show")
def show_clock() -> None:
    """Show the time of this installation."""
    from coffret.commands import clock as command

    asyncio.run(command.show())


@clock_app.command("advance")
def advance_clock(by: Annotated[str, typer.Argument(help="Duration, forward only: 90s, 15m, 2h, 3d, 1d12h.")]) -> None:
    """Advance the clock for carts, links, holds, sessions, jobs, schedules and the sandbox. Development only."""
    from coffret.commands import clock as command

    asyncio.run(command.advance(by))


@ledger_app.command("verify")
def verify_ledger(
    book: Annotated[list[int] | None, typer.Option(help="Only the books with these ids; all by default.")] = None,
    since: Annotated[
        dt.datetime | None,
        typer.Option(formats=[DAY], help="Only journals since this day, and the accounts they have moved."),
    ] = None,
) -> None:
    """Prove the ledger on one snapshot of the database. Exits with 1 if a rule is broken."""
    from coffret.commands import ledger as command

    if not asyncio.run(command.verify(book or [], since.date() if since else None)):
        raise typer.Exit(1)


@ledger_app.command("explain")
def explain_ledger(
    thing: Annotated[LedgerThing, typer.Argument(help="What it is.")],
    id: Annotated[
        str,
        typer.Argument(
            help="A payment's uuid; a card's code, else its id; a payout request's id; a wallet's uuid or id."
        ),
    ],
) -> None:
    """Print the journals about a payment, a gift card, a payout request or a wallet, as a statement."""
    from coffret.commands import ledger as command

    asyncio.run(command.explain(command.LedgerThing(thing), id))


@ledger_app.command("export")
def export_ledger(
    first: Annotated[dt.datetime, typer.Option("--from", formats=[DAY], help="The first accounting day.")],
    last: Annotated[dt.datetime, typer.Option("--to", formats=[DAY], help="The last accounting day.")],
    output: Annotated[pathlib.Path, typer.Option(help="The file to write.")],
    marketplace: Annotated[str, typer.Option(help="Name or id of a marketplace; all by default.")] = "",
) -> None:
    """Write the journals of a period to a CSV file: a line for each entry."""
    from coffret.commands import ledger as command

    asyncio.run(command.export(first.date(), last.date(), marketplace, output))


@mail_app.command("test")
def send_test_mail(
    to: Annotated[str, typer.Argument(help="Recipient: an address whose mail you can read.")],
    language: Annotated[str, typer.Option(help=f"Language of the message: {', '.join(LANGUAGES)}.")] = "en",
) -> None:
    """Send a test message and print the mail server's answer."""
    from coffret.commands import mail as command

    asyncio.run(command.test(to, language))


def main() -> None:
    """Run the command line. A CommandError is printed as one line, without a traceback."""
    collect_rarely()
    try:
        app()
    except CommandError as error:
        Console(stderr=True, highlight=False).print(f"[red]coffret:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
