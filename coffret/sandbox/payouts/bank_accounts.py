"""Bank accounts as older integrations register them, before recipients: without authentication of their owner.

An account is of one of five types: with an IBAN, in the United Kingdom, the United States or Canada, or another one.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, platform
from coffret.sandbox.payouts import payout_methods
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import AddressBody, Body, Country, Tag, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder


class NewBankAccount(Body):
    """The fields of every bank account."""

    owner_name: Text
    owner_address: AddressBody
    tag: Tag | None = None


class NewIbanAccount(NewBankAccount):
    """The body of POST /users/{id}/bankaccounts/iban."""

    iban: Annotated[Text, Field(alias="IBAN")]
    bic: Annotated[Text | None, Field(alias="BIC")] = None


class NewGbAccount(NewBankAccount):
    """The body of POST /users/{id}/bankaccounts/gb."""

    sort_code: Annotated[str, Field(pattern=r"^\d{6}$")]
    account_number: Annotated[str, Field(pattern=r"^\d{8}$")]


class NewUsAccount(NewBankAccount):
    """The body of POST /users/{id}/bankaccounts/us."""

    account_number: Annotated[str, Field(pattern=r"^\d{1,17}$")]
    aba: Annotated[str, Field(alias="ABA", pattern=r"^\d{9}$")]
    deposit_account_type: Literal["CHECKING", "SAVINGS"] = "CHECKING"


class NewCaAccount(NewBankAccount):
    """The body of POST /users/{id}/bankaccounts/ca."""

    bank_name: Text
    institution_number: Annotated[str, Field(pattern=r"^\d{3,4}$")]
    branch_code: Annotated[str, Field(pattern=r"^\d{5}$")]
    account_number: Annotated[str, Field(pattern=r"^\d{1,20}$")]


class NewOtherAccount(NewBankAccount):
    """The body of POST /users/{id}/bankaccounts/other."""

    country: Country
    bic: Annotated[Text, Field(alias="BIC")]
    account_number: Text


SHAPES: Mapping[str, type[NewBankAccount]] = {
    "GB": NewGbAccount,
    "US": NewUsAccount,
    "CA": NewCaAccount,
    "OTHER": NewOtherAccount,
}
"""The bodies of accounts without an IBAN, by type."""


class ChangedBankAccount(Body):
    """The body of PUT /users/{id}/bankaccounts/{account}: an account can only be deactivated."""

    active: Literal[False]


def create_iban(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/bankaccounts/iban"""
    return add_iban(session, users.living(session, call.path["id"])["Id"], call.json(NewIbanAccount))


def create_of_platform(session: SandboxSession, call: HttpCall) -> Json:
    """POST /clients/bankaccounts/iban: an account of the platform itself"""
    return add_iban(session, platform.user_id(session), call.json(NewIbanAccount))


def add_iban(session: SandboxSession, user_id: str, body: NewIbanAccount) -> Json:
    """Add an account with an IBAN. Raises ParamError."""
    iban = payout_methods.account("IBAN", body.iban, body.iban[:2].upper())
    own = {"IBAN": iban.compact, "BIC": body.bic or (str(iban.bic) if iban.bic else None)}
    return add(session, user_id, "IBAN", {**body.to_wire(), **own})


def create_other(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/bankaccounts/{type}"""
    user, type = users.living(session, call.path["id"]), call.path["type"].upper()
    if type not in SHAPES:
        raise ResourceNotFound
    return add(session, user["Id"], type, call.json(SHAPES[type]).to_wire())


def add(session: SandboxSession, user_id: str, type: str, body: Json) -> Json:
    id = session.mint("bankacc_m_")
    session.change(
        "INSERT INTO bank_account (id, user_id, type, created_at, body) VALUES (?, ?, ?, ?, ?)",
        id,
        user_id,
        type,
        int(session.now),
        json.dumps(body),
    )
    return present(session.require_row("SELECT * FROM bank_account WHERE id = ?", id))


def require(session: SandboxSession, id: str) -> sqlite3.Row:
    """The account that a body refers to. Raises ParamError."""
    row = session.row("SELECT * FROM bank_account WHERE id = ?", id)
    if row is None:
        raise ParamError({"BankAccountId": f"The value {id} is invalid: there is no such account."})
    return row


def of_user(session: SandboxSession, call: HttpCall) -> sqlite3.Row:
    """The account in the path, if it belongs to the user in the path. Raises ResourceNotFound."""
    row = session.require_row("SELECT * FROM bank_account WHERE id = ?", call.path["account"])
    if row["user_id"] != users.find(session, call.path["id"])["id"]:
        raise ResourceNotFound
    return row


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/bankaccounts/{account}"""
    return present(of_user(session, call))


def deactivate(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/{id}/bankaccounts/{account}: permanent"""
    row = of_user(session, call)
    call.json(ChangedBankAccount)
    session.change("UPDATE bank_account SET active = 0 WHERE id = ?", row["id"])
    return present(of_user(session, call))


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/bankaccounts: all, or only active or inactive ones"""
    listing = ListBuilder(call, "bank_account", "created_at")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    active = (call.one("Active") or "").lower()
    if active in {"true", "false"}:
        listing.where("active = ?", int(active == "true"))
    return listing.page(session, present)


def transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /bankaccounts/{id}/transactions"""
    id = session.require_row("SELECT id FROM bank_account WHERE id = ?", call.path["id"])["id"]
    return movements.listing(session, call, "json_extract(body, '$.BankAccountId') = ?", id)


def present(row: sqlite3.Row) -> Json:
    """An account in the provider's format."""
    return {
        "Id": row["id"],
        "CreationDate": row["created_at"],
        "UserId": row["user_id"],
        "Type": row["type"],
        "Active": bool(row["active"]),
        **json.loads(row["body"]),
    }


ENDPOINTS = (
    WireEndpoint("POST", "/users/{id}/bankaccounts/iban", create_iban),
    WireEndpoint("POST", "/users/{id}/bankaccounts/{type}", create_other),
    WireEndpoint("POST", "/clients/bankaccounts/iban", create_of_platform),
    WireEndpoint("GET", "/users/{id}/bankaccounts", list_of_user),
    WireEndpoint("GET", "/users/{id}/bankaccounts/{account}", read),
    WireEndpoint("PUT", "/users/{id}/bankaccounts/{account}", deactivate),
    WireEndpoint("GET", "/bankaccounts/{id}/transactions", transactions),
)
