"""Which published rows a session makes, changes and deletes, and what was in them before."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import event, inspect
from sqlalchemy.orm import Session, UOWTransaction
from sqlmodel import SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession
from strawberry.types import get_object_definition

from store.audit.masking import masked


class Kind(StrEnum):
    """What happened to a row."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


@dataclass
class Change:
    """What happened to one row: the values it had before, by column, where it was not new."""

    row: Any
    kind: Kind
    before: dict[str, Any] = field(default_factory=dict)


class ChangedRows:
    """All rows of published resources that a session writes from now on.

    What one statement does to many rows, without loading them, is not seen.
    """

    def __init__(self) -> None:
        self._changes: dict[int, Change] = {}

    @classmethod
    def of(cls, db: AsyncSession) -> "ChangedRows":
        """Those of a session, from now on."""
        made = cls()
        event.listen(db.sync_session, "before_flush", made.see)
        return made

    def see(self, session: Session, _context: UOWTransaction, _instances: object) -> None:
        """Take note of what is about to be written."""
        for row in session.new:
            self._note(row, Kind.CREATED)
        for row in session.dirty:
            if session.is_modified(row):
                self._note(row, Kind.UPDATED, _changed(row))
        for row in session.deleted:
            self._note(row, Kind.DELETED, {a.key: a.value for a in inspect(row).attrs if a.key in inspect(row).dict})

    def rows(self) -> Iterator[Any]:
        """The rows themselves, in the order in which they were first written."""
        return (change.row for change in self._changes.values())

    def told(self) -> list[dict[str, Any]]:
        """The changes as JSON data, secrets masked."""
        return [_told(change) for change in self._changes.values()]

    def _note(self, row: Any, kind: Kind, before: dict[str, Any] | None = None) -> None:
        if resource_of(row) is None:
            return
        change = self._changes.setdefault(id(row), Change(row, kind, before or {}))
        if change.kind is not Kind.CREATED:
            change.kind, change.before = kind, {**(before or {}), **change.before}


def resource_of(row: object) -> str | None:
    """The published name of what a row is, `Product`; None for what is no row, or not published."""
    if not isinstance(row, SQLModel) or not hasattr(type(row), "__table__"):
        return None
    bases = type(row).__mro__[1:]
    return next(
        (kind.__name__ for kind in bases if "__strawberry_definition__" in vars(kind) and get_object_definition(kind)),
        None,
    )


def _changed(row: Any) -> dict[str, Any]:
    """What the changed columns of a row held before."""
    histories = ((attribute.key, attribute.history) for attribute in inspect(row).attrs)
    return {name: history.deleted[0] if history.deleted else None for name, history in histories if history.added}


def _told(change: Change) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, before in change.before.items():
        fields[name] = {"before": masked(before, name)}
        if change.kind is Kind.UPDATED:
            fields[name]["after"] = masked(getattr(change.row, name), name)
    told = {"resource": resource_of(change.row), "id": str(change.row.id), "change": change.kind}
    return {**told, "fields": fields} if fields else told
