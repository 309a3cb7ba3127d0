"""Natural and legal users, payers and owners. The authentication of owners is not modelled yet: see `pending_action`."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from store.providers.sandbox import events
from store.providers.sandbox.database import Session
from store.providers.sandbox.wire.bodies import Address, Body, Country, Email, Tag, Text, Timestamp
from store.providers.sandbox.wire.endpoints import Call, Endpoint, Json
from store.providers.sandbox.wire.errors import ParamError, ResourceNotFound

Category = Literal["PAYER", "OWNER"]
NATURAL, LEGAL = "NATURAL", "LEGAL"


class NewUser(Body):
    """What every user has."""

    user_category: Category
    terms_and_conditions_accepted: bool = False
    email: Email
    tag: Tag | None = None

    @model_validator(mode="after")
    def owners_accept_terms(self) -> Self:
        """An owner can't be created without having accepted the provider's terms."""
        if self.user_category == "OWNER" and not self.terms_and_conditions_accepted:
            raise ParamError(
                {"TermsAndConditionsAccepted": "The field TermsAndConditionsAccepted must be true for an OWNER."}
            )
        return self


class NewNatural(NewUser):
    """The body of POST /sca/users/natural. A payer needs names and e-mail only."""

    first_name: Text
    last_name: Text
    birthday: Timestamp | None = None
    nationality: Country | None = None
    country_of_residence: Country | None = None
    address: Address | None = None
    phone_number: Text | None = None
    phone_number_country: Country | None = None

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """An owner also has a birthday, a nationality and a country of residence."""
        needed = {
            "Birthday": self.birthday,
            "Nationality": self.nationality,
            "CountryOfResidence": self.country_of_residence,
        }
        missing = [name for name, value in needed.items() if value is None]
        if self.user_category == "OWNER" and missing:
            raise ParamError({name: f"The {name} field is required." for name in missing})
        return self


class Representative(Body):
    """Who acts for a legal user."""

    first_name: Text
    last_name: Text
    email: Email
    birthday: Timestamp
    nationality: Country
    country_of_residence: Country
    phone_number: Text | None = None
    phone_number_country: Country | None = None


class NewLegal(NewUser):
    """The body of POST /sca/users/legal."""

    legal_person_type: Literal["BUSINESS", "ORGANIZATION", "SOLETRADER", "PARTNERSHIP"]
    name: Text
    legal_representative: Representative
    headquarters_address: Address
    legal_representative_address: Address | None = None
    company_number: Annotated[str, Field(min_length=1, max_length=255)] | None = None

    @model_validator(mode="after")
    def businesses_are_registered(self) -> Self:
        """A business has a number in its country's register."""
        if self.legal_person_type == "BUSINESS" and not self.company_number:
            raise ParamError({"CompanyNumber": "The CompanyNumber field is required for a BUSINESS."})
        return self


def create_natural(session: Session, call: Call) -> Json:
    """POST /sca/users/natural"""
    body = call.json(NewNatural)
    return create(session, NATURAL, f"{body.first_name} {body.last_name}", body, body.email)


def create_legal(session: Session, call: Call) -> Json:
    """POST /sca/users/legal"""
    body = call.json(NewLegal)
    return create(session, LEGAL, body.name, body, body.legal_representative.email)


def create(session: Session, person_type: str, name: str, body: NewUser, email: str) -> Json:
    """Write a user. An owner has to authenticate first, unless the e-mail holds `accept`, the provider's own bypass."""
    id = session.mint("user_m_")
    owner = body.user_category == "OWNER"
    pending = owner and "accept" not in email
    written = {
        **body.written(),
        "CreationDate": int(session.now),
        "KYCLevel": "LIGHT",
        "UserStatus": "PENDING_USER_ACTION" if pending else "ACTIVE",
        "TermsAndConditionsAcceptedDate": int(session.now) if body.terms_and_conditions_accepted else None,
        "PendingUserAction": pending_action(session) if pending else None,
    }
    add(session, id, person_type, name, written)
    if owner:
        events.emit(session, "USER_ACCOUNT_VALIDATION_ASKED" if pending else "USER_ACCOUNT_ACTIVATED", id)
    return present(session, id)


def add(session: Session, id: str, person_type: str, name: str, written: dict[str, Any]) -> None:
    """Write a user under an id."""
    session.change(
        "INSERT INTO user (id, person_type, category, name, body) VALUES (?, ?, ?, ?, ?)",
        id,
        person_type,
        written["UserCategory"],
        name,
        json.dumps(written),
    )


def pending_action(session: Session) -> Json:
    """Where the owner would authenticate; the page there says that the sandbox has no such session yet."""
    return {"RedirectUrl": f"{session.settings.root}/sca?token={session.secret()}"}


def present(session: Session, id: str, person_type: str | None = None) -> Json:
    """A user as the provider shows it, if there is one of this person type."""
    row = session.row("SELECT * FROM user WHERE id = ?", id)
    if row is None or person_type not in {None, row["person_type"]}:
        raise ResourceNotFound
    return {"Id": row["id"], "PersonType": row["person_type"], **json.loads(row["body"])}


def known(session: Session, field: str, id: str) -> str:
    """The name of a user that a body refers to."""
    row = session.row("SELECT name FROM user WHERE id = ?", id)
    if row is None:
        raise ParamError({field: f"The value {id} is invalid: there is no such user."})
    return str(row["name"])


def read(session: Session, call: Call) -> Json:
    """GET /sca/users/{id}"""
    return present(session, call.path["id"])


def read_natural(session: Session, call: Call) -> Json:
    """GET /sca/users/natural/{id}"""
    return present(session, call.path["id"], NATURAL)


def read_legal(session: Session, call: Call) -> Json:
    """GET /sca/users/legal/{id}"""
    return present(session, call.path["id"], LEGAL)


ENDPOINTS = (
    Endpoint("POST", "/sca/users/natural", create_natural),
    Endpoint("POST", "/sca/users/legal", create_legal),
    Endpoint("GET", "/sca/users/natural/{id}", read_natural),
    Endpoint("GET", "/sca/users/legal/{id}", read_legal),
    Endpoint("GET", "/sca/users/{id}", read),
)
