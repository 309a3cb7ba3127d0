"""Recipients: bank accounts that money can be paid out to once their owner has authenticated for them."""

import json
import sqlite3
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from schwifty import IBAN

from coffret.sandbox import enrolment, events, payout_methods, sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.payout_methods import INTERNATIONAL, LOCAL, NewRoute, Scope
from coffret.sandbox.sca import Authentication, Outcome
from coffret.sandbox.wire.bodies import Address, Body, Tag, Text
from coffret.sandbox.wire.endpoints import Call, Empty, Endpoint, Json, Page
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError
from coffret.sandbox.wire.paging import Listing, several

STRANGER = "DE25000000000000000004"
"""The bank knows the holder of this account by another name."""


class Status(StrEnum):
    """Whether money can be sent to a recipient."""

    PENDING = "PENDING"
    ACTIVE = "ACTIVE"
    CANCELED = "CANCELED"
    DEACTIVATED = "DEACTIVATED"


class Business(Body):
    """A holder that is a company."""

    business_name: Text
    address: Address


class Individual(Body):
    """A holder that is a person."""

    first_name: Text
    last_name: Text
    address: Address


class EuroAccount(Body):
    """An account that local transfers in euros reach."""

    iban: Annotated[Text, Field(alias="IBAN")]
    bic: Annotated[Text | None, Field(alias="BIC")] = None


class LocalAccount(Body):
    """An account for local transfers, by currency."""

    eur: Annotated[EuroAccount | None, Field(alias="EUR")] = None


class InternationalAccount(Body):
    """An account for international transfers."""

    account_number: Text
    bic: Annotated[Text | None, Field(alias="BIC")] = None


class NewRecipient(NewRoute):
    """The body of POST /users/{id}/recipients."""

    recipient_scope: Scope = "PAYOUT"
    business_recipient: Business | None = None
    individual_recipient: Individual | None = None
    local_bank_transfer: LocalAccount | None = None
    international_bank_transfer: InternationalAccount | None = None
    sca_context: Literal["USER_PRESENT", "USER_NOT_PRESENT"] = "USER_PRESENT"
    tag: Tag | None = None


class Deactivation(Body):
    """The body of PUT /recipients/{id}."""

    status: Literal["DEACTIVATED"]


def create(session: Session, call: Call) -> Json:
    """POST /users/{id}/recipients: PENDING in any case, usable when its event says so"""
    user, body, account = checked(session, call)
    asked = body.recipient_scope == "PAYOUT" and users.authenticates(user)
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
        Status.PENDING,
        body.recipient_scope,
        int(session.now),
        None if asked else session.now,
        json.dumps({**written(session, body, account), "PendingUserAction": action}),
    )
    return present(find(session, id))


def validate(session: Session, call: Call) -> Empty:
    """POST /users/{id}/recipients/validate: the same refusals, and nothing is made"""
    checked(session, call)
    return Empty(200)


def checked(session: Session, call: Call) -> tuple[Json, NewRecipient, IBAN]:
    """The user, the body and the account of a recipient that could be made."""
    user = users.acting(session, call.path["id"])
    body = call.json(NewRecipient)
    if body.recipient_scope == "PAYOUT" and user["UserCategory"] != "OWNER":
        raise ParamError({"RecipientScope": "The user must be an OWNER to be paid out."})
    payout_methods.check_route(body)
    business = body.recipient_type == "Business"
    if (body.business_recipient if business else body.individual_recipient) is None:
        raise missing(f"{body.recipient_type}Recipient")
    return user, body, account_of(body)


def account_of(body: NewRecipient) -> IBAN:
    """The account, which stands where the way of payment says."""
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
    """What is said when a field is not there."""
    return ParamError({field: f"The {field} field is required."})


def written(session: Session, body: NewRecipient, account: IBAN) -> Json:
    """What is kept of a recipient: only what belongs to its type and its way of payment, and the bank's code as found out."""
    kept = body.written()
    local = body.payout_method_type == LOCAL
    bic = str(account.bic) if account.bic else None
    names = ("DisplayName", "PayoutMethodType", "RecipientType", "Currency", "Country", "Tag")
    return {name: kept[name] for name in names} | {
        "BusinessRecipient": kept["BusinessRecipient"] if body.recipient_type == "Business" else None,
        "IndividualRecipient": kept["IndividualRecipient"] if body.recipient_type == "Individual" else None,
        LOCAL: {body.currency: {"IBAN": account.compact, "BIC": bic}} if local else None,
        INTERNATIONAL: None if local else {"AccountNumber": account.compact, "BIC": bic},
        "RecipientVerificationOfPayee": payee_check(session, account) if local else None,
    }


def payee_check(session: Session, account: IBAN) -> Json:
    """What the bank says of the holder's name; it is asked for local transfers in euros."""
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


def find(session: Session, id: str) -> sqlite3.Row:
    """The recipient's row."""
    return session.found("SELECT * FROM recipient WHERE id = ?", id)


def present(row: sqlite3.Row) -> Json:
    """A recipient as the provider shows it by its id."""
    return {**brief(row), **json.loads(row["body"])}


def brief(row: sqlite3.Row) -> Json:
    """A recipient as it stands in a list: without holder, account and action."""
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


def read(session: Session, call: Call) -> Json:
    """GET /recipients/{id}"""
    return present(find(session, call.path["id"]))


def list_of_user(session: Session, call: Call) -> Page:
    """GET /users/{id}/recipients: newest first, and those for payouts unless others are asked for"""
    listing = Listing(call, "recipient", "created_at", direction="DESC")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    scopes = several(call, "RecipientScope", ("PAYOUT", "PAYIN", "ALL")) or ["PAYOUT"]
    if "ALL" not in scopes:
        listing.among("scope", scopes)
    return listing.page(session, brief)


def deactivate(session: Session, call: Call) -> Json:
    """PUT /recipients/{id}: for good"""
    row = find(session, call.path["id"])
    call.json(Deactivation)
    if row["status"] != Status.ACTIVE:
        raise ParamError({"Status": f"The recipient is {row['status']}: only an ACTIVE one can be deactivated."})
    return move(session, row, Status.DEACTIVATED, session.now)


@sca.concludes("recipient")
def authenticated(session: Session, done: Authentication, at: float) -> None:
    """The owner has authenticated for the account, or has not."""
    status = Status.ACTIVE if done.outcome is Outcome.SUCCEEDED else Status.CANCELED
    move(session, find(session, done.subject_id), status, at)


def settle_due(session: Session) -> None:
    """Let accounts be used that nobody has to authenticate for."""
    for row in session.rows("SELECT * FROM recipient WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        move(session, row, Status.ACTIVE, row["due_at"])


def move(session: Session, row: sqlite3.Row, status: Status, at: float) -> Json:
    """Write where a recipient stands now, and tell of it."""
    session.change(
        "UPDATE recipient SET status = ?, due_at = NULL, body = json_set(body, '$.PendingUserAction', NULL) WHERE id = ?",
        status,
        row["id"],
    )
    events.emit(session, f"RECIPIENT_{status}", row["id"], at)
    return present(find(session, row["id"]))


ENDPOINTS = (
    *payout_methods.ENDPOINTS,
    Endpoint("POST", "/users/{id}/recipients", create),
    Endpoint("POST", "/users/{id}/recipients/validate", validate),
    Endpoint("GET", "/users/{id}/recipients", list_of_user),
    Endpoint("GET", "/recipients/{id}", read),
    Endpoint("PUT", "/recipients/{id}", deactivate),
)
