"""The calls below `/users` that older integrations make: create, change and read users without strong authentication.

They keep the same users as `/sca/users`. Owners created here are exempt from authentication until they are asked to
enrol, and the fields of a legal user's representative are flat: `LegalRepresentativeFirstName`.
"""

import sqlite3
from typing import Self

from pydantic import model_validator

from coffret.sandbox import registration
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import users
from coffret.sandbox.users.user_bodies import Category, LegalUser, NaturalUser, require
from coffret.sandbox.users.users import LEGAL, NATURAL
from coffret.sandbox.wire.bodies import Flag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError
from coffret.sandbox.wire.paging import ListBuilder

REPRESENTATIVE = ("FirstName", "LastName", "Email", "Birthday", "Nationality", "CountryOfResidence")
"""Fields of the representative, which have the prefix `LegalRepresentative` here."""
FLAT = "LegalRepresentative"


class LegacyNaturalUser(NaturalUser):
    """The body of POST /users/natural. Without a category the user is an owner."""

    user_category: Category = "OWNER"
    terms_and_conditions_accepted: Flag = False

    @model_validator(mode="after")
    def owners_accept_terms(self) -> Self:
        """Owners may accept the terms later."""
        return self


class LegacyLegalUser(LegalUser):
    """The body of POST /users/legal, with the representative's fields addresses. Without a category the user is an owner."""

    user_category: Category = "OWNER"
    terms_and_conditions_accepted: Flag = False

    @model_validator(mode="after")
    def owners_accept_terms(self) -> Self:
        """Owners may accept the terms later."""
        return self

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """An owner's representative must be known. Address, number and e-mail address may follow."""
        if self.user_category == "OWNER":
            person = self.legal_representative
            known = (person.birthday, person.nationality, person.country_of_residence)
            require({f"{FLAT}.{name}": value for name, value in zip(REPRESENTATIVE[3:], known, strict=True)})
        return self


def create_natural(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/natural"""
    body = call.json(LegacyNaturalUser)
    return flat(registration.create(session, NATURAL, body.full_name, body, exempt=True))


def create_legal(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/legal"""
    body = read_legal_body(group_representative(call.object()))
    return flat(registration.create(session, LEGAL, body.full_name, body, exempt=True))


def update_natural(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/natural/{id}"""
    user = users.living(session, call.path["id"], NATURAL)
    written = upward(user, call.object())
    body = LegacyNaturalUser.read(registration.merge_user_fields(user, written, LegacyNaturalUser))
    return flat(registration.change(session, user, body.full_name, body, user))


def update_legal(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/legal/{id}"""
    user = users.living(session, call.path["id"], LEGAL)
    written = upward(user, group_representative(call.object()))
    body = read_legal_body(registration.merge_user_fields(user, written, LegacyLegalUser))
    return flat(registration.change(session, user, body.full_name, body, user[FLAT]))


def upward(user: Json, body: Json) -> Json:
    """Raise ParamError if the body makes an owner a payer. These calls have no other way to make a payer an owner."""
    return body if user["UserCategory"] == "PAYER" else registration.same_category(user, body)


def read_legal_body(body: Json) -> LegacyLegalUser:
    """Validate a body whose representative is addresses. Raises ParamError with the flat names of fields."""
    try:
        return LegacyLegalUser.read(body)
    except ParamError as error:
        names = {name: name.replace(f"{FLAT}.", FLAT) for name in error.errors or {}}
        raise ParamError(
            {names[name]: text.replace(name, names[name]) for name, text in (error.errors or {}).items()}
        ) from None


def group_representative(body: Json) -> Json:
    """A body with the representative's fields in one object."""
    person = {name: body[FLAT + name] for name in REPRESENTATIVE if FLAT + name in body}
    rest = {name: value for name, value in body.items() if name not in {FLAT + each for each in person}}
    return {**rest, FLAT: person} if person else rest


def flat(user: Json) -> Json:
    """A user in the format of these calls."""
    rest = {name: value for name, value in user.items() if name not in {FLAT, "PendingUserAction"}}
    if user["PersonType"] == NATURAL:
        return {"ProofOfIdentity": None, "ProofOfAddress": None, **rest}
    return {**rest, **{FLAT + name: user[FLAT][name] for name in REPRESENTATIVE}}


def flat_row(row: sqlite3.Row) -> Json:
    return flat(users.present_row(row))


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}"""
    return flat_row(users.find(session, call.path["id"]))


def read_natural(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/natural/{id}"""
    return flat_row(users.find(session, call.path["id"], NATURAL))


def read_legal(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/legal/{id}"""
    return flat_row(users.find(session, call.path["id"], LEGAL))


def list_users(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users; without the platform itself, which the platform did not create"""
    listing = ListBuilder(call, "user", "json_extract(body, '$.CreationDate')")
    listing.where("category <> 'PLATFORM'")
    return listing.page(session, flat_row)


ENDPOINTS = (
    WireEndpoint("POST", "/users/natural", create_natural),
    WireEndpoint("POST", "/users/legal", create_legal),
    WireEndpoint("PUT", "/users/natural/{id}", update_natural),
    WireEndpoint("PUT", "/users/legal/{id}", update_legal),
    WireEndpoint("GET", "/users", list_users),
    WireEndpoint("GET", "/users/natural/{id}", read_natural),
    WireEndpoint("GET", "/users/legal/{id}", read_legal),
    WireEndpoint("GET", "/users/{id}", read),
)
