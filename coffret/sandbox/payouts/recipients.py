"""Recipients: bank accounts for payouts, usable after their owner has authenticated."""

import json
import sqlite3
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from schwifty import IBAN

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payouts import payout_methods
from coffret.sandbox.payouts.payout_methods import INTERNATIONAL, LOCAL, NewRoute, Scope
from coffret.sandbox.users import enrolment, sca, users
from coffret.sandbox.users.sca import ScaOutcome, ScaSession
from coffret.sandbox.wire.bodies import AddressBody, Body, Tag, Text
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError
from coffret.sandbox.wire.paging import ListBuilder, several

STRANGER = "DE25000000000000000004"
"""An account whose holder has another name according to the bank."""


class RecipientStatus(StrEnum):
    PENDING = "PENDING"
    ACTIVE = "ACTIVE"
    CANCELED = "CANCELED"
    DEACTIVATED = "DEACTIVATED"


class Business(Body):
    """An account holder that is a company."""

    business_name: Text
    address: AddressBody


class Individual(Body):
    """An account holder that is a person."""

    first_name: Text
    last_name: Text
    address: AddressBody


class EuroAccount(Body):
    """An account for local transfers in euros."""

    iban: Annotated[Text, Field(alias="IBAN")]
    bic: Annotated[Text | None, Field(alias="BIC")] = None


class SterlingAccount(Body):
    """An account for local transfers in pounds sterling."""

    sort_code: Annotated[str, Field(pattern=r"^\d{6}$")]
    account_number: Annotated[str, Field(pattern=r"^\d{8}$")]


class LocalAccount(Body):
    """An account for local transfers, by currency."""

    eur: Annotated[EuroAccount | None, Field(alias="EUR")] = None
    gbp: Annotated[SterlingAccount | None, Field(alias="GBP")] = None


class InternationalAccount(Body):
    """An account for international transfers."""

    account_number: Text
    bic: Annotated[Text | None, Field(alias="BIC")] = None


class NewRecipient(NewRoute):
    """The body of POST /users/{id}/recipients."""

    recipient_scope: Scope | None = None
    """By default PAYOUT, which a payer cannot ask for: the provider takes a payer's account without a scope."""
    business_recipient: Business | None = None
    individual_recipient: Individual | None = None
    local_bank_transfer: LocalAccount | None = None
    international_bank_transfer: InternationalAccount | None = None
    sca_context: Literal["USER_PRESENT", "USER_NOT_PRESENT"] = "USER_PRESENT"
    tag: Tag | None = None


class Deactivation(Body):
    """The body of PUT /recipients/{id}."""

    status: Literal["DEACTIVATED"]


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/recipients: created as PENDING; usable when its event arrives"""
    user, body, account = parse_recipient(session, call)
    scope = body.recipient_scope or "PAYOUT"
    asked = scope == "PAYOUT" and asks_owner(session, user, body)
    if asked and body.sca_context == "USER_NOT_PRESENT":
        if not enrolment.of_user(session, user["Id"]).consented:
            raise ForbiddenResource("The user has not consented to be acted for: USER_NOT_PRESENT is not possible.")
        asked = False
    id = session.mint("rec_")
    action = {"RedirectUrl": sca.open_session(session, user["Id"], "recipient", id)} if asked else None
    session.change(
        "INSERT INTO recipient (id, user_id, status, scope, created_at, due_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        id,
        user["Id"],
        RecipientStatus.PENDING,
        scope,
        int(session.now),
        None if asked else session.now,
        json.dumps({**stored_body(session, body, account), "PendingUserAction": action}),
    )
    return present(find(session, id))


def asks_owner(session: SandboxSession, user: Json, body: NewRecipient) -> bool:
    """True if the owner must authenticate: an exempt one too if the call tells that it is present."""
    told_present = "sca_context" in body.model_fields_set and body.sca_context == "USER_PRESENT"
    exempt_but_present = told_present and user["UserCategory"] == "OWNER" and not users.bypasses(user)
    return users.authenticates(session, user) or exempt_but_present


def validate(session: SandboxSession, call: HttpCall) -> Empty:
    """POST /users/{id}/recipients/validate: validates like creation and stores nothing"""
    parse_recipient(session, call)
    return Empty(200)


def parse_recipient(session: SandboxSession, call: HttpCall) -> tuple[Json, NewRecipient, IBAN | None]:
    """The user, body and account of a valid recipient; the account is None if it has no IBAN. Raises ParamError."""
    user = users.living(session, call.path["id"])
    body = call.json(NewRecipient)
    if body.recipient_scope == "PAYOUT" and user["UserCategory"] != "OWNER":
        raise ParamError({"RecipientScope": "The user must be an OWNER to be paid out."})
    payout_methods.check_route(body)
    business = body.recipient_type == "Business"
    if (body.business_recipient if business else body.individual_recipient) is None:
        raise missing(f"{body.recipient_type}Recipient")
    return user, body, account_of(body)


def account_of(body: NewRecipient) -> IBAN | None:
    """The account in the field of the payout method; None for a valid one without an IBAN. Raises ParamError."""
    if body.payout_method_type == LOCAL and body.currency == "GBP":
        if body.local_bank_transfer is None or body.local_bank_transfer.gbp is None:
            raise missing(f"{LOCAL}.GBP")
        return None
    if body.payout_method_type == LOCAL:
        field, local = f"{LOCAL}.{body.currency}.IBAN", body.local_bank_transfer
        number = local.eur.iban if local and local.eur else None
    else:
        field, international = f"{INTERNATIONAL}.AccountNumber", body.international_bank_transfer
        number = international.account_number if international else None
    if number is None:
        raise missing(field)
    return payout_methods.account(field, number, body.country)


def missing(field: str) -> ParamError:
    """The error for a missing field."""
    return ParamError({field: f"The {field} field is required."})


def stored_body(session: SandboxSession, body: NewRecipient, account: IBAN | None) -> Json:
    """The stored body: the fields of its type and payout method, and the BIC derived from the IBAN."""
    kept = body.to_wire()
    local = body.payout_method_type == LOCAL
    names = ("DisplayName", "PayoutMethodType", "RecipientType", "Currency", "Country", "Tag")
    return {name: kept[name] for name in names} | {
        "BusinessRecipient": kept["BusinessRecipient"] if body.recipient_type == "Business" else None,
        "IndividualRecipient": kept["IndividualRecipient"] if body.recipient_type == "Individual" else None,
        LOCAL: {body.currency: numbers(kept, account)} if local else None,
        INTERNATIONAL: None if local else numbers(kept, account),
        **({"RecipientVerificationOfPayee": payee_check(session, account)} if account and local else {}),
    }


def numbers(body: Json, account: IBAN | None) -> Json:
    """The numbers of the account, by the names of its payout method."""
    if account is None:
        given: Json = body[LOCAL][body["Currency"]]
        return given
    name = "IBAN" if body["PayoutMethodType"] == LOCAL else "AccountNumber"
    return {name: account.compact, "BIC": str(account.bic) if account.bic else None}


def payee_check(session: SandboxSession, account: str) -> Json:
    """The verification of payee: whether the bank knows the holder by this name. For local transfers in euros only."""
    stranger = account == STRANGER
    return {
        "RecipientVerificationId": session.mint("vop_"),
        "RecipientVerificationCheck": "NO_MATCH" if stranger else "MATCH",
        "RecipientVerificationMessage": (
            "The bank knows the holder of the account by another name."
            if stranger
            else "The bank knows the holder of the account by this name."
        ),
    }


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The recipient's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM recipient WHERE id = ?", id)


def present(row: sqlite3.Row) -> Json:
    """A recipient in the provider's format."""
    return {**brief(row), **json.loads(row["body"])}


def brief(row: sqlite3.Row) -> Json:
    """A recipient in the provider's list format: without holder, account and action."""
    body = json.loads(row["body"])
    names = ("DisplayName", "PayoutMethodType", "RecipientType", "Currency", "Country")
    return {
        "Id": row["id"],
        "CreationDate": row["created_at"],
        **{name: body[name] for name in names},
        "UserId": row["user_id"],
        "Status": row["status"],
        "RecipientScope": row["scope"],
    }


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /recipients/{id}"""
    return present(find(session, call.path["id"]))


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/recipients: newest first; recipients for payouts unless the query selects others"""
    listing = ListBuilder(call, "recipient", "created_at", direction="DESC")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    scopes = several(call, "RecipientScope", ("PAYOUT", "PAYIN", "ALL")) or ["PAYOUT"]
    if "ALL" not in scopes:
        listing.among("scope", scopes)
    return listing.page(session, brief)


def deactivate(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /recipients/{id}: permanent"""
    row = find(session, call.path["id"])
    call.json(Deactivation)
    if row["status"] != RecipientStatus.ACTIVE:
        raise ParamError({"Status": f"The recipient is {row['status']}: only an ACTIVE one can be deactivated."})
    return move(session, row, RecipientStatus.DEACTIVATED, session.now)


@sca.concludes("recipient")
def conclude_authentication(session: SandboxSession, done: ScaSession, at: float) -> None:
    """The result of the owner's authentication: ACTIVE or CANCELED."""
    status = RecipientStatus.ACTIVE if done.outcome is ScaOutcome.SUCCEEDED else RecipientStatus.CANCELED
    move(session, find(session, done.subject_id), status, at)


def settle_due(session: SandboxSession) -> None:
    """Activate recipients that require no authentication."""
    for row in session.rows("SELECT * FROM recipient WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        move(session, row, RecipientStatus.ACTIVE, row["due_at"])


def move(session: SandboxSession, row: sqlite3.Row, status: RecipientStatus, at: float) -> Json:
    """Change a recipient's status and emit the event."""
    session.change(
        "UPDATE recipient SET status = ?, due_at = NULL, body = json_set(body, '$.PendingUserAction', NULL) WHERE id = ?",
        status,
        row["id"],
    )
    events.emit(session, f"RECIPIENT_{status}", row["id"], at)
    return present(find(session, row["id"]))


ENDPOINTS = (
    *payout_methods.ENDPOINTS,
    WireEndpoint("POST", "/users/{id}/recipients", create),
    WireEndpoint("POST", "/users/{id}/recipients/validate", validate),
    WireEndpoint("GET", "/users/{id}/recipients", list_of_user),
    WireEndpoint("GET", "/recipients/{id}", read),
    WireEndpoint("PUT", "/recipients/{id}", deactivate),
)
