"""The published rows that a session creates, changes and deletes, with their previous values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import event, inspect
from sqlalchemy.orm import Session, UOWTransaction
from sqlmodel import SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import published_type
from store.audit.masking import mask


class ChangeKind(StrEnum):
    """What happened to a row."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


@dataclass
class RowChange:
    """One changed row: its previous values by column, unless it is new."""

    row: Any
    kind: ChangeKind
    before: dict[str, Any] = field(default_factory=dict)


class ChangedRows:
    """All rows of published resources that a session writes from now on.

    Bulk statements, which do not load the rows they change, are not tracked.
    """

    def __init__(self) -> None:
        self._changes: dict[int, RowChange] = {}

    @classmethod
    def track(cls, db: AsyncSession) -> "ChangedRows":
        """Start tracking a session."""
        tracker = cls()
        event.listen(db.sync_session, "before_flush", tracker.record_flush)
        return tracker

    def record_flush(self, session: Session, _context: UOWTransaction, _instances: object) -> None:
        """Record what is about to be written."""
        for row in session.new:
            self._record(row, ChangeKind.CREATED)
        for row in session.dirty:
            if session.is_modified(row):
                self._record(row, ChangeKind.UPDATED, _previous_values(row))
        for row in session.deleted:
            self._record(
                row, ChangeKind.DELETED, {a.key: a.value for a in inspect(row).attrs if a.key in inspect(row).dict}
            )

    def rows(self) -> Iterator[Any]:
        """The rows in the order in which they were first written."""
        return (change.row for change in self._changes.values())

    def as_json(self) -> list[dict[str, Any]]:
        """The changes as JSON data, with secrets masked."""
        return [_change_as_json(change) for change in self._changes.values()]

    def _record(self, row: Any, kind: ChangeKind, before: dict[str, Any] | None = None) -> None:
        if resource_of(row) is None:
            return
        change = self._changes.setdefault(id(row), RowChange(row, kind, before or {}))
        if change.kind is not ChangeKind.CREATED:
            change.kind, change.before = kind, {**(before or {}), **change.before}


def resource_of(row: object) -> str | None:
    """The published type of a row, such as `Product`; None if it is no row or not published."""
    if not isinstance(row, SQLModel) or not hasattr(type(row), "__table__"):
        return None
    kind = published_type(type(row))
    return None if kind is None else kind.__name__


def _previous_values(row: Any) -> dict[str, Any]:
    """The previous values of the changed columns."""
    histories = ((attribute.key, attribute.history) for attribute in inspect(row).attrs)
    return {name: history.deleted[0] if history.deleted else None for name, history in histories if history.added}


def _change_as_json(change: RowChange) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, before in change.before.items():
        fields[name] = {"before": mask(before, name)}
        if change.kind is ChangeKind.UPDATED:
            fields[name]["after"] = mask(getattr(change.row, name), name)
    change_json = {"resource": resource_of(change.row), "id": str(change.row.id), "change": change.kind}
    return {**change_json, "fields": fields} if fields else change_json
