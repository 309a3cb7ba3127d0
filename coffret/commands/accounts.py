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

from coffret.commands.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import opened
from resolvers.account import administration
from resolvers.account.administration import NewUser
from resolvers.core.operation import told
from schema.core.errors import AppError
from store.core.clock import clock
from store.partner.partners import TokenRow, UserRow


@asynccontextmanager
async def transaction() -> AsyncIterator[AsyncSession]:
    """A transaction on this installation's database; what the business or a constraint refuses becomes a CommandError."""
    try:
        async with opened(read_settings()) as db, db.sessions() as session, session.begin():
            yield session
    except (AppError, IntegrityError) as error:
        known = told(error) if isinstance(error, IntegrityError) else error
        if not isinstance(known, AppError):
            raise
        raise CommandError("\n".join(problem.message for problem in known.problems)) from None


def ask_password(*, from_input: bool, generate: bool) -> str:
    """A password: made, read from a pipe, or typed twice."""
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
    """Make a user and say so."""
    async with transaction() as db:
        user = await administration.create_user(db, new)
    console = Console(highlight=False)
    console.print(f"Made user {escape(user.username)} ({new.role}, id {user.id}).", soft_wrap=True)
    if tell_password:
        console.print(f"Password, shown this once: {escape(new.password)}", soft_wrap=True)


async def reset_password(username: str, password: str, *, tell_password: bool) -> None:
    """Give a user another password and say so."""
    async with transaction() as db:
        user = await administration.reset_password(db, username, password, clock)
    console = Console(highlight=False)
    told = "has a new password; all tokens made before are revoked, which a running server believes five seconds later."
    console.print(f"{escape(user.username)} {told}", soft_wrap=True)
    if tell_password:
        console.print(f"Password, shown this once: {escape(password)}", soft_wrap=True)


async def deactivate_users(usernames: Sequence[str]) -> None:
    """Let users log in no more and say so."""
    async with transaction() as db:
        for user in await administration.deactivate_users(db, usernames):
            Console(highlight=False).print(f"{escape(user.username)} may not log in any more.", soft_wrap=True)


async def create_token(username: str, label: str, days: int | None) -> None:
    """Make a token. Its secret alone goes to standard output, so that a script can take it."""
    async with transaction() as db:
        life = None if days is None else dt.timedelta(days=days)
        row, secret = await administration.create_token(db, username, label, clock, life)
    end = f"until {row.expires_on:%Y-%m-%d %H:%M} UTC" if row.expires_on else "until it is revoked"
    Console(stderr=True, highlight=False).print(
        f"Made token {row.id}; it works {end}. Its secret is shown this once:", soft_wrap=True
    )
    Console(highlight=False).print(secret, markup=False, soft_wrap=True)


async def list_tokens(username: str | None) -> None:
    """Show tokens, without their secrets."""
    async with transaction() as db:
        found = await administration.tokens_of(db, username)
    Console(highlight=False).print(token_table(found) if found else "There are no tokens.")


def token_table(found: Sequence[tuple[TokenRow, UserRow]]) -> Table:
    """Tokens as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("id", "user", "secret", "label", "made", "last used", "state"):
        table.add_column(heading, overflow="fold")
    for token, user in found:
        made, used = (
            f"{moment:%Y-%m-%d %H:%M}" if moment else "never" for moment in (token.created_on, token.last_used_on)
        )
        table.add_row(
            str(token.id), escape(user.username), f"{token.hint}…", escape(token.label), made, used, state(token)
        )
    return table


def state(token: TokenRow) -> str:
    """Whether a token works, and until when."""
    if token.revoked_on:
        return f"revoked {token.revoked_on:%Y-%m-%d}"
    if token.expires_on and token.expires_on <= clock.now():
        return f"expired {token.expires_on:%Y-%m-%d}"
    return f"until {token.expires_on:%Y-%m-%d}" if token.expires_on else "works"


async def revoke_token(token_id: int) -> None:
    """Revoke a token."""
    async with transaction() as db:
        await administration.revoke(db, token_id, clock)
    Console(highlight=False).print(f"Token {token_id} is revoked; a running server believes it five seconds longer.")
