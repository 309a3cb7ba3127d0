"""Mandates for direct debits: created by the platform, confirmed by the account's holder on a page, charged by pay-ins."""

from enum import StrEnum
from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, results
from coffret.sandbox.payments.payins import Culture
from coffret.sandbox.payouts import bank_accounts
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Id, Tag, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import MandateNotCancellable, ParamError, ResourceNotFound

MANDATES = Collection("mandates", "mdt_m_")


class MandateStatus(StrEnum):
    CREATED = "CREATED"
    """The holder has not confirmed it yet."""
    SUBMITTED = "SUBMITTED"
    ACTIVE = "ACTIVE"
    """A direct debit was made with it."""
    FAILED = "FAILED"
    """It was cancelled."""


USABLE = (MandateStatus.SUBMITTED, MandateStatus.ACTIVE)
SCHEMES = {"IBAN": "SEPA", "GB": "BACS"}
"""The scheme of each type of account that mandates are possible for."""


class NewMandate(Body):
    """The body of POST /mandates/directdebit/web."""

    bank_account_id: Id
    return_url: Annotated[Url, Field(alias="ReturnURL")]
    culture: Culture
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /mandates/directdebit/web"""
    body, token = call.json(NewMandate), session.secret()
    account = bank_accounts.require(session, body.bank_account_id)
    if account["type"] not in SCHEMES:
        raise ParamError({"BankAccountId": "The account must be one with an IBAN or in the United Kingdom."})
    told = {
        **body.to_wire(),
        "UserId": account["user_id"],
        "RedirectURL": f"{session.settings.root}/mandates/{token}",
        "DocumentURL": None,
        "Scheme": None,
        "Status": MandateStatus.CREATED,
        "ExecutionType": "WEB",
        "MandateType": "DIRECT_DEBIT",
        "BankReference": None,
        "ResultCode": None,
        "ResultMessage": None,
    }
    id = MANDATES.add(session, told)["Id"]
    query = urlencode({"MandateId": id})
    address = f"{body.return_url}{'&' if '?' in body.return_url else '?'}{query}"
    events.emit(session, "MANDATE_CREATED", id)
    return MANDATES.change(session, id, {"ReturnURL": address})


def confirm(session: SandboxSession, token: str) -> str:
    """Confirm a mandate as its holder does by visiting `RedirectURL`. Returns the return URL. Raises ResourceNotFound."""
    page = f"{session.settings.root}/mandates/{token}"
    mandate = next(iter(MANDATES.all(session, RedirectURL=page)), None)
    if mandate is None:
        raise ResourceNotFound("There is no such mandate.")
    if mandate["Status"] == MandateStatus.CREATED:
        scheme = SCHEMES[bank_accounts.require(session, mandate["BankAccountId"])["type"]]
        told = {"Scheme": scheme, "ResultCode": results.SUCCESS, "ResultMessage": results.message(results.SUCCESS)}
        MANDATES.change(session, mandate["Id"], told)
        move(session, mandate["Id"], MandateStatus.SUBMITTED, "MANDATE_SUBMITTED")
    return str(mandate["ReturnURL"])


def activate(session: SandboxSession, id: str) -> None:
    """Note that a direct debit was made with a mandate."""
    if MANDATES.find(session, id)["Status"] == MandateStatus.SUBMITTED:
        move(session, id, MandateStatus.ACTIVE, "MANDATE_ACTIVATED")


def cancel(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /mandates/{id}/cancel: possible once it is confirmed"""
    mandate = MANDATES.find(session, call.path["id"])
    if mandate["Status"] not in USABLE:
        raise MandateNotCancellable(f"The mandate is {mandate['Status']} and can't be cancelled.")
    return move(session, mandate["Id"], MandateStatus.FAILED, "MANDATE_FAILED")


def move(session: SandboxSession, id: str, status: MandateStatus, event: str) -> Json:
    """Change a mandate's status and emit the event."""
    events.emit(session, event, id)
    return MANDATES.change(session, id, {"Status": status})


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/mandates"""
    return MANDATES.page(session, call, UserId=users.find(session, call.path["id"])["id"])


def list_of_account(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/bankaccounts/{account}/mandates"""
    return MANDATES.page(session, call, BankAccountId=bank_accounts.of_user(session, call)["id"])


def transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /mandates/{id}/transactions"""
    id = MANDATES.find(session, call.path["id"])["Id"]
    return movements.listing(session, call, "json_extract(body, '$.MandateId') = ?", id)


ENDPOINTS = (
    WireEndpoint("POST", "/mandates/directdebit/web", create),
    WireEndpoint("GET", "/mandates", MANDATES.list_all),
    WireEndpoint("GET", "/mandates/{id}", MANDATES.read),
    WireEndpoint("PUT", "/mandates/{id}/cancel", cancel),
    WireEndpoint("GET", "/mandates/{id}/transactions", transactions),
    WireEndpoint("GET", "/users/{id}/mandates", list_of_user),
    WireEndpoint("GET", "/users/{id}/bankaccounts/{account}/mandates", list_of_account),
)
