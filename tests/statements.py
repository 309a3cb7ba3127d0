"""What is sent to the database while something runs, by each of its two ways."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from sqlalchemy import event

from store.database.db import Database

Fetched: TypeAlias = list[tuple[str, tuple[Any, ...]]]
AUTHENTICATION = "FROM token JOIN app_user"


@contextlib.contextmanager
def fetched(db: Database) -> Iterator[Fetched]:
    """The statements of lists and relations, which are kept prepared, with their arguments.

    Without the one that authenticates, which a request may find cached.
    """
    seen: Fetched = []

    def note(sql: str, arguments: tuple[Any, ...]) -> None:
        if AUTHENTICATION not in sql:
            seen.append((sql, arguments))

    with _fetching(db, note):
        yield seen


@contextlib.contextmanager
def executed(db: Database) -> Iterator[list[str]]:
    """The statements of sessions and transactions."""
    seen: list[str] = []
    with _executing(db, lambda sql, _: seen.append(sql)):
        yield seen


@contextlib.contextmanager
def record_statements(db: Database) -> Iterator[list[str]]:
    """All of them."""
    seen: list[str] = []
    with _fetching(db, lambda sql, _: seen.append(sql)), _executing(db, lambda sql, _: seen.append(sql)):
        yield seen


@contextlib.contextmanager
def ran(db: Database) -> Iterator[Fetched]:
    """All of them, with their arguments."""
    seen: Fetched = []

    def note(sql: str, arguments: Any) -> None:
        seen.append((sql, tuple(arguments)))

    with _fetching(db, note), _executing(db, note):
        yield seen


@contextlib.contextmanager
def _fetching(db: Database, note: Callable[[str, tuple[Any, ...]], None]) -> Iterator[None]:
    fetch = db.statements.fetch

    async def fetch_and_note(sql: str, *arguments: Any) -> Any:
        note(sql, arguments)
        return await fetch(sql, *arguments)

    db.statements.fetch = fetch_and_note
    try:
        yield
    finally:
        db.statements.fetch = fetch


@contextlib.contextmanager
def _executing(db: Database, note: Callable[[str, Any], None]) -> Iterator[None]:
    def note_statement(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        note(statement, parameters)

    event.listen(db.engine.sync_engine, "before_cursor_execute", note_statement)
    try:
        yield
    finally:
        event.remove(db.engine.sync_engine, "before_cursor_execute", note_statement)
