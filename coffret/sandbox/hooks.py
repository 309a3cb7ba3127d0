"""Hooks: the URLs that receive notifications, one per event type."""

import sqlite3
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.events import EVENT_TYPES
from coffret.sandbox.wire.bodies import Body, Email, Tag, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError
from coffret.sandbox.wire.paging import ListBuilder

HookUrl = Annotated[Url, StringConstraints(max_length=255)]


class NewHook(Body):
    """The body of POST /hooks."""

    event_type: Annotated[str, Field(min_length=1)]
    url: HookUrl
    tag: Tag | None = None
    email: Email | None = None


class ChangedHook(Body):
    """The body of PUT /hooks/{id}. Omitted fields are unchanged."""

    url: HookUrl | None = None
    status: Literal["ENABLED", "DISABLED"] | None = None
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /hooks"""
    body = call.json(NewHook)
    if body.event_type not in EVENT_TYPES:
        raise ParamError({"EventType": f"The field EventType is invalid: {body.event_type} is not a known event type."})
    if session.row("SELECT 1 FROM hook WHERE event_type = ?", body.event_type):
        raise ParamError({"EventType": f"A hook has already been registered for the event type {body.event_type}."})
    id = session.mint("hook_m_")
    session.change(
        "INSERT INTO hook (id, event_type, url, tag, email, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        body.event_type,
        body.url,
        body.tag,
        body.email,
        int(session.now),
    )
    return present(find(session, id))


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /hooks/{id}"""
    row, body = find(session, call.path["id"]), call.json(ChangedHook)
    status = body.status or row["status"]
    enabled_again = row["status"] == "DISABLED" and status == "ENABLED"
    session.change(
        "UPDATE hook SET url = ?, status = ?, validity = ?, tag = ? WHERE id = ?",
        body.url or row["url"],
        status,
        "UNKNOWN" if enabled_again else row["validity"],
        row["tag"] if body.tag is None else body.tag,
        row["id"],
    )
    return present(find(session, row["id"]))


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The hook's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM hook WHERE id = ?", id)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /hooks/{id}"""
    return present(find(session, call.path["id"]))


def list_hooks(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /hooks"""
    return ListBuilder(call, "hook", "created_at").page(session, present)


def present(row: sqlite3.Row) -> Json:
    """A hook in the provider's format."""
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "Url": row["url"],
        "Status": row["status"],
        "Validity": row["validity"],
        "EventType": row["event_type"],
        "Email": row["email"],
    }


ENDPOINTS = (
    WireEndpoint("POST", "/hooks", create),
    WireEndpoint("GET", "/hooks", list_hooks),
    WireEndpoint("GET", "/hooks/{id}", read),
    WireEndpoint("PUT", "/hooks/{id}", update),
)
