"""Objects of the provider that are stored as they are told, such as mandates and reports: none has columns of its own."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder

_SELECT = "SELECT * FROM resource WHERE kind = ? AND "


@dataclass(frozen=True, slots=True)
class Collection:
    """All objects of a kind. `prefix` begins their ids, `id_field` is the name of an id in the objects."""

    kind: str
    prefix: str
    id_field: str = "Id"

    def add(self, session: SandboxSession, body: Json, *, due_at: float | None = None) -> Json:
        """Store a new object and return it. `due` returns it from `due_at` on."""
        id = session.mint(self.prefix)
        session.change(
            "INSERT INTO resource (id, kind, created_at, due_at, body) VALUES (?, ?, ?, ?, ?)",
            id,
            self.kind,
            int(session.now),
            due_at,
            json.dumps(body),
        )
        return self.find(session, id)

    def find(self, session: SandboxSession, id: str) -> Json:
        """The object with an id. Raises ResourceNotFound."""
        return self.present(session.require_row(f"{_SELECT} id = ?", self.kind, id))

    def read(self, session: SandboxSession, call: HttpCall) -> Json:
        """Handles a GET of the object with the id in the path."""
        return self.find(session, call.path["id"])

    def find_within(self, session: SandboxSession, id: str, **fields: str) -> Json:
        """The object with an id and with these fields, which the path tells too. Raises ResourceNotFound."""
        found = self.find(session, id)
        if any(found[name] != value for name, value in fields.items()):
            raise ResourceNotFound
        return found

    def require(self, session: SandboxSession, field: str, id: str) -> Json:
        """The object that a body refers to. Raises ParamError."""
        row = session.row(f"{_SELECT} id = ?", self.kind, id)
        if row is None:
            raise ParamError({field: f"The value {id} is invalid: there is no such object."})
        return self.present(row)

    def change(self, session: SandboxSession, id: str, changes: Mapping[str, object]) -> Json:
        """Change fields of an object and return it."""
        body = json.dumps({**self.find(session, id), **changes})
        session.change("UPDATE resource SET body = ? WHERE id = ?", body, id)
        return self.find(session, id)

    def await_end(self, session: SandboxSession, id: str, due_at: float | None) -> None:
        """Let `due` return an object from another moment on, or never."""
        session.change("UPDATE resource SET due_at = ? WHERE id = ? AND kind = ?", due_at, id, self.kind)

    def due(self, session: SandboxSession) -> list[Json]:
        """Objects whose time has come, oldest first. Each is returned once."""
        rows = session.rows(f"{_SELECT} due_at <= ? ORDER BY due_at", self.kind, session.now)
        for row in rows:
            self.await_end(session, row["id"], None)
        return [self.present(row) for row in rows]

    def all(self, session: SandboxSession, **fields: str) -> list[Json]:
        """All objects with these fields, oldest first."""
        conditions = "".join(f" AND json_extract(body, '$.{name}') = ?" for name in fields)
        rows = session.rows(f"{_SELECT} 1{conditions} ORDER BY seq", self.kind, *fields.values())
        return [self.present(row) for row in rows]

    def page(self, session: SandboxSession, call: HttpCall, **fields: str) -> WirePage:
        """One page of the objects with these fields."""
        listing = ListBuilder(call, "resource", "created_at")
        listing.where("kind = ?", self.kind)
        for name, value in fields.items():
            listing.where(f"json_extract(body, '$.{name}') = ?", value)
        return listing.page(session, self.present)

    def list_all(self, session: SandboxSession, call: HttpCall) -> WirePage:
        """Handles a GET of all objects."""
        return self.page(session, call)

    def present(self, row: sqlite3.Row) -> Json:
        """An object in the provider's format."""
        return {**json.loads(row["body"]), self.id_field: row["id"], "CreationDate": row["created_at"]}
