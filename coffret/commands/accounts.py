"""`coffret user …` and `coffret token …`."""

import datetime as dt
import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from rich.console import Console
from rich.markup import escape
from rich.prompt import Prompt
from rich.table import Table
from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import open_database
from resolvers.account import administration
from resolvers.account.administration import NewUser
from resolvers.core.transaction import constraint_error
from schema.core.errors import AppError
from store.account.users import TokenRow, UserRow
from store.core.clock import clock


@asynccontextmanager
async def transaction() -> AsyncIterator[AsyncSession]:
    """A transaction on this installation's database. AppError and known constraint violations become CommandError."""
    try:
        async with open_database(read_settings()) as db, db.sessions() as session, session.begin():
            yield session
    except (AppError, IntegrityError) as error:
        known = constraint_error(error) if isinstance(error, IntegrityError) else error
        if not isinstance(known, AppError):
            raise
        raise CommandError("\n".join(problem.message for problem in known.problems)) from None


def ask_password(*, from_input: bool, generate: bool) -> str:
    """A password: generated, read from standard input, or typed twice. Raises CommandError."""
    if generate:
        return secrets.token_urlsafe(18)
    if from_input:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to type a password on: use --password-stdin or --generate-password.")
    password = Prompt.ask("Password", password=True)
    if Prompt.ask("Once more", password=True) != password:
        raise CommandError("The two passwords differ.")
    return password


async def create_user(new: NewUser, *, tell_password: bool) -> None:
    async with transaction() as db:
        user = await administration.create_user(db, new)
    console = Console(highlight=False)
    console.print(f"Created user {escape(user.username)} ({new.role}, id {user.id}).", soft_wrap=True)
    if tell_password:
        console.print(f"Password, shown only once: {escape(new.password)}", soft_wrap=True)


async def reset_password(username: str, password: str, *, tell_password: bool) -> None:
    async with transaction() as db:
        user = await administration.reset_password(db, username, password, clock)
    console = Console(highlight=False)
    told = "has a new password. All earlier tokens are revoked; a running server may accept them for five more seconds."
    console.print(f"{escape(user.username)} {told}", soft_wrap=True)
    if tell_password:
        console.print(f"Password, shown only once: {escape(password)}", soft_wrap=True)


async def reset_second_factor(username: str) -> None:
    async with transaction() as db:
        user = await administration.reset_second_factor(db, username)
    told = "logs in with the password alone. All passkeys are deleted."
    Console(highlight=False).print(f"{escape(user.username)} {told}", soft_wrap=True)


async def deactivate_users(usernames: Sequence[str]) -> None:
    async with transaction() as db:
        for user in await administration.deactivate_users(db, usernames):
            Console(highlight=False).print(f"{escape(user.username)} can no longer log in.", soft_wrap=True)


async def create_token(username: str, label: str, days: int | None) -> None:
    """Create a token. Standard output receives only the secret, so that a script can capture it."""
    async with transaction() as db:
        life = None if days is None else dt.timedelta(days=days)
        row, secret = await administration.create_token(db, username, label, clock, life)
    end = f"until {row.expires_on:%Y-%m-%d %H:%M} UTC" if row.expires_on else "until it is revoked"
    Console(stderr=True, highlight=False).print(
        f"Created token {row.id}, valid {end}. Its secret is shown only once:", soft_wrap=True
    )
    Console(highlight=False).print(secret, markup=False, soft_wrap=True)


async def list_tokens(username: str | None) -> None:
    async with transaction() as db:
        found = await administration.tokens_of(db, username)
    Console(highlight=False).print(token_table(found) if found else "There are no tokens.")


def token_table(tokens: Sequence[tuple[TokenRow, UserRow]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("id", "user", "secret", "label", "created", "last used", "state"):
        table.add_column(heading, overflow="fold")
    for token, user in tokens:
        made, used = (
            f"{moment:%Y-%m-%d %H:%M}" if moment else "never" for moment in (token.created_on, token.last_used_on)
        )
        table.add_row(
            str(token.id), escape(user.username), f"{token.hint}…", escape(token.label), made, used, token_state(token)
        )
    return table


def token_state(token: TokenRow) -> str:
    """`works`, `until`, `expired` or `revoked`, with a date."""
    if token.revoked_on:
        return f"revoked {token.revoked_on:%Y-%m-%d}"
    if token.expires_on and token.expires_on <= clock.now():
        return f"expired {token.expires_on:%Y-%m-%d}"
    return f"until {token.expires_on:%Y-%m-%d}" if token.expires_on else "works"


async def revoke_token(token_id: int) -> None:
    async with transaction() as db:
        await administration.revoke_user_token(db, token_id, clock)
    Console(highlight=False).print(
        f"Token {token_id} is revoked; a running server may accept it for five more seconds."
    )
