"""Registration of cards: the shop's server opens one, the buyer's browser sends the card to the tokeniser, and the server
exchanges what the tokeniser answered for a card.
"""

import hmac
import re
import sqlite3
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import results
from coffret.sandbox.payments.cards import (
    BY_NUMBER,
    Card,
    CardBrand,
    CardRefused,
    check_cvc,
    check_expiry,
    tokenise_number,
)
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Currency, Id, Tag, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

REFUSED = {"number": "02625", "expiry": "02626", "cvc": "02627"}
"""The tokeniser's error code for each field of the card."""
REASONS = {
    "02625": results.CARD_NUMBER_INVALID,
    "02626": results.CARD_EXPIRY_INVALID,
    "02627": results.CARD_CVC_INVALID,
}
"""The result code of a registration for each error code of the tokeniser."""
BAD_SESSION = "09101"
"""The tokeniser's error code for an unknown registration, a wrong access key or one that was used."""
CREATED, VALIDATED, FAILED = "CREATED", "VALIDATED", "ERROR"


class NewCardRegistration(Body):
    """The body of POST /cardregistrations."""

    user_id: Id
    currency: Currency
    card_type: Annotated[CardBrand, Field(strict=False)] = CardBrand.CB_VISA_MASTERCARD
    tag: Tag | None = None


class ChangedCardRegistration(Body):
    """The body of PUT /cardregistrations/{id}: the tokeniser's answer."""

    registration_data: Annotated[str, Field(min_length=1)]
    card_holder_name: Text | None = None
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /cardregistrations. Raises ResourceNotFound for an unknown user, as the provider does only here."""
    body = call.json(NewCardRegistration)
    users.living(session, body.user_id)
    id = session.mint("cardreg_m_")
    session.change(
        """INSERT INTO card_registration (id, user_id, currency, card_type, tag, created_at, access_key, preregistration_data)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        id,
        body.user_id,
        body.currency,
        body.card_type,
        body.tag,
        int(session.now),
        session.secret(),
        session.secret(),
    )
    return present(session, find(session, id))


def tokenise(session: SandboxSession, form: Mapping[str, str]) -> str:
    """The tokeniser's answer to a card: `data=…`, or `errorCode=…`. Stores the number of a test card only."""
    row = session.row(
        "SELECT * FROM card_registration WHERE preregistration_data = ? AND status = ?", form.get("data", ""), CREATED
    )
    given = form.get("accessKeyRef", "").encode()
    if row is None or not hmac.compare_digest(row["access_key"].encode(), given):
        return f"errorCode={BAD_SESSION}"
    expiry = re.sub(r"\D", "", form.get("cardExpirationDate", ""))
    try:
        card = tokenise_number(form.get("cardNumber", ""), CardBrand(row["card_type"]))
        check_expiry(expiry, session.today)
        check_cvc(form.get("cardCvx", ""), len(card.cvc))
    except CardRefused as refused:
        return f"errorCode={REFUSED[refused.field]}"
    data = session.secret()
    session.change(
        "UPDATE card_registration SET registration_data = ?, number = ?, expiry = ? WHERE id = ?",
        data,
        card.number,
        expiry[:2] + expiry[-2:],
        row["id"],
    )
    return f"data={data}"


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /cardregistrations/{id}: makes the card, or ends the registration with the tokeniser's error"""
    row, body = find(session, call.path["id"]), call.json(ChangedCardRegistration)
    if row["status"] != CREATED:
        raise ParamError({"RegistrationData": f"The registration is {row['status']}: start another one."})
    kind, _, value = body.registration_data.partition("=")
    if kind == "errorCode":
        end(session, row, FAILED, REASONS.get(value, results.CARD_REGISTRATION_REFUSED))
    elif kind == "data" and row["registration_data"] is not None and value == row["registration_data"]:
        end(session, row, VALIDATED, results.SUCCESS, add_card(session, row, body))
    else:
        end(session, row, FAILED, results.CARD_REGISTRATION_REFUSED)
    return present(session, find(session, row["id"]))


def end(session: SandboxSession, row: sqlite3.Row, status: str, code: str, card_id: str | None = None) -> None:
    session.change(
        "UPDATE card_registration SET status = ?, result_code = ?, card_id = ? WHERE id = ?",
        status,
        code,
        card_id,
        row["id"],
    )


def add_card(session: SandboxSession, row: sqlite3.Row, body: ChangedCardRegistration) -> str:
    """Store the card of a registration. Returns its id."""
    card: Card = BY_NUMBER[row["number"]]
    id = session.mint("card_m_")
    session.change(
        """INSERT INTO card (id, user_id, currency, card_type, number, fingerprint, expiry, created_at, tag)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        id,
        row["user_id"],
        row["currency"],
        row["card_type"],
        card.number,
        card.fingerprint,
        row["expiry"],
        int(session.now),
        body.tag or row["tag"],
    )
    if body.card_holder_name:
        session.change("INSERT INTO card_holder VALUES (?, ?)", id, body.card_holder_name)
    return id


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The registration's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM card_registration WHERE id = ?", id)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /cardregistrations/{id}"""
    return present(session, find(session, call.path["id"]))


def present(session: SandboxSession, row: sqlite3.Row) -> Json:
    """A registration in the provider's format."""
    validated = row["status"] == VALIDATED
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "UserId": row["user_id"],
        "AccessKey": row["access_key"],
        "PreregistrationData": row["preregistration_data"],
        "RegistrationData": f"data={row['registration_data']}" if validated else None,
        "CardId": row["card_id"],
        "CardType": row["card_type"],
        "CardRegistrationURL": f"{session.settings.root}/tokenise",
        "ResultCode": row["result_code"],
        "ResultMessage": results.message(row["result_code"]),
        "Currency": row["currency"],
        "Status": row["status"],
    }


ENDPOINTS = (
    WireEndpoint("POST", "/cardregistrations", create),
    WireEndpoint("GET", "/cardregistrations/{id}", read),
    WireEndpoint("PUT", "/cardregistrations/{id}", update),
)
