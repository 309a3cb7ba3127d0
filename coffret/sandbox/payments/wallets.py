"""Wallets: owners, balances and transactions."""

import json
import sqlite3
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements
from coffret.sandbox.users import account_access, users
from coffret.sandbox.wire.bodies import Body, Currency, Id, Tag, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError, WireError
from coffret.sandbox.wire.paging import ListBuilder


class NewWallet(Body):
    """The body of POST /wallets."""

    any_case = frozenset({"Description"})

    owners: Annotated[list[Id], Field(min_length=1, max_length=1)]
    description: Text
    currency: Currency
    tag: Tag | None = None


class ChangedWallet(Body):
    """The body of PUT /wallets/{id}. Omitted fields are unchanged."""

    any_case = frozenset({"Description"})

    description: Text | None = None
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /wallets"""
    body = call.json(NewWallet)
    users.require_user_name(session, "Owners", body.owners[0])
    id = session.mint("wlt_m_")
    add(session, id, body.owners[0], body.currency, description=body.description, tag=body.tag)
    return present(session, find(session, id))


def add(
    session: SandboxSession, id: str, owner_id: str, currency: str, *, description: str, tag: str | None = None
) -> None:
    session.change(
        "INSERT INTO wallet (id, owner_id, currency, created_at, body) VALUES (?, ?, ?, ?, ?)",
        id,
        owner_id,
        currency,
        int(session.now),
        json.dumps({"Description": description, "Tag": tag}),
    )


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The wallet's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM wallet WHERE id = ?", id)


def require_wallet(session: SandboxSession, field: str, id: str, currency: str) -> sqlite3.Row:
    """The wallet that a body refers to, in the given currency. Raises ParamError and UserClosed."""
    row = session.row("SELECT * FROM wallet WHERE id = ?", id)
    if row is None:
        raise ParamError({field: f"The value {id} is invalid: there is no such wallet."})
    users.living(session, row["owner_id"])
    if row["currency"] != currency:
        raise ParamError({field: f"The wallet is in {row['currency']}, the funds are in {currency}."})
    return row


def read(session: SandboxSession, call: HttpCall) -> Json | WireError:
    """GET /wallets/{id}"""
    row = find(session, call.path["id"])
    return account_access.refusal(session, call, row["owner_id"]) or present(session, row)


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /wallets/{id}"""
    row, body = find(session, call.path["id"]), call.json(ChangedWallet)
    users.living(session, row["owner_id"])
    kept = json.loads(row["body"]) | {name: value for name, value in body.to_wire().items() if value is not None}
    session.change("UPDATE wallet SET body = ? WHERE id = ?", json.dumps(kept), row["id"])
    return present(session, find(session, row["id"]))


def present(session: SandboxSession, row: sqlite3.Row) -> Json:
    """A wallet in the provider's format."""
    return {
        "Id": row["id"],
        "Owners": [row["owner_id"]],
        "Currency": row["currency"],
        "Balance": {
            "Currency": row["currency"],
            "Amount": movements.available(session, row["id"], row["currency"]),
        },
        "FundsType": "DEFAULT",
        "CreationDate": row["created_at"],
        **json.loads(row["body"]),
    }


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage | WireError:
    """GET /users/{id}/wallets"""
    refused = account_access.refusal(session, call, call.path["id"])
    if refused is not None:
        return refused
    listing = ListBuilder(call, "wallet", "created_at")
    listing.where("owner_id = ?", call.path["id"])
    return listing.page(session, lambda row: present(session, row))


def transactions(session: SandboxSession, call: HttpCall) -> WirePage | WireError:
    """GET /wallets/{id}/transactions"""
    row = find(session, call.path["id"])
    id = row["id"]
    return account_access.refusal(session, call, row["owner_id"]) or movements.listing(
        session, call, "debited_wallet_id = ? OR credited_wallet_id = ?", id, id
    )


def transactions_of_user(session: SandboxSession, call: HttpCall) -> WirePage | WireError:
    """GET /users/{id}/transactions"""
    id = call.path["id"]
    return account_access.refusal(session, call, id) or movements.listing(
        session, call, "author_id = ? OR credited_user_id = ?", id, id
    )


ENDPOINTS = (
    WireEndpoint("POST", "/wallets", create),
    WireEndpoint("GET", "/wallets/{id}", read),
    WireEndpoint("PUT", "/wallets/{id}", update),
    WireEndpoint("GET", "/wallets/{id}/transactions", transactions),
    WireEndpoint("GET", "/users/{id}/wallets", list_of_user),
    WireEndpoint("GET", "/users/{id}/transactions", transactions_of_user),
)
