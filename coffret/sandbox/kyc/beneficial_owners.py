"""Declarations of the beneficial owners (UBOs) of a legal user: filled with owners, submitted, then validated.

A declaration does not change the user's level: the document SHAREHOLDER_DECLARATION stands for it there.
"""

from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import AddressBody, Body, Country, Flag, Text, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound

DECLARATIONS = Collection("ubodeclarations", "ubodec_m_")
CREATED, ASKED, VALIDATED = "CREATED", "VALIDATION_ASKED", "VALIDATED"
VALIDATED_AFTER = 60
"""Seconds until a submitted declaration is validated, as for documents."""


class Birthplace(Body):
    city: Text
    country: Country


class NewOwner(Body):
    """The body of POST …/ubos, and of PUT …/ubos/{ubo}."""

    first_name: Text
    last_name: Text
    address: AddressBody
    nationality: Country
    birthday: Timestamp
    birthplace: Birthplace
    is_active: Annotated[Flag, Field(alias="IsActive")] = True


class Submission(Body):
    """The body of PUT /users/{id}/kyc/ubodeclarations/{declaration}."""

    status: Literal["VALIDATION_ASKED"]


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/kyc/ubodeclarations"""
    user = users.living(session, call.path["id"], users.LEGAL)
    told = {"UserId": user["Id"], "Status": CREATED, "Ubos": []}
    declaration = DECLARATIONS.add(session, {**told, **dict.fromkeys(("ProcessedDate", "Reason", "Message"))})
    events.emit(session, "UBO_DECLARATION_CREATED", declaration["Id"])
    return declaration


def find(session: SandboxSession, call: HttpCall) -> Json:
    """The declaration in the path, if it is of the user in the path. Raises ResourceNotFound."""
    return DECLARATIONS.find_within(session, call.path["declaration"], UserId=call.path["id"])


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/kyc/ubodeclarations"""
    return DECLARATIONS.page(session, call, UserId=users.find(session, call.path["id"])["id"])


def submit(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/{id}/kyc/ubodeclarations/{declaration}"""
    declaration = unsubmitted(session, call)
    call.json(Submission)
    if not declaration["Ubos"]:
        raise ParamError({"Ubos": "The declaration has no owner."})
    events.emit(session, "UBO_DECLARATION_VALIDATION_ASKED", declaration["Id"])
    DECLARATIONS.await_end(session, declaration["Id"], session.now + VALIDATED_AFTER)
    return DECLARATIONS.change(session, declaration["Id"], {"Status": ASKED})


def settle_due(session: SandboxSession) -> None:
    """Validate declarations that were submitted long enough ago."""
    for declaration in DECLARATIONS.due(session):
        changes = {"Status": VALIDATED, "ProcessedDate": int(session.now)}
        DECLARATIONS.change(session, declaration["Id"], changes)
        events.emit(session, "UBO_DECLARATION_VALIDATED", declaration["Id"])


def unsubmitted(session: SandboxSession, call: HttpCall) -> Json:
    """The declaration in the path, if it can be changed. Raises ResourceNotFound and ParamError."""
    declaration = find(session, call)
    if declaration["Status"] != CREATED:
        raise ParamError({"Status": f"The declaration is {declaration['Status']} and can't be changed."})
    return declaration


def add_owner(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/kyc/ubodeclarations/{declaration}/ubos"""
    declaration, body = unsubmitted(session, call), call.json(NewOwner)
    owner = {"Id": session.mint("ubo_m_"), "CreationDate": int(session.now), **body.to_wire()}
    keep(session, declaration, owner)
    return owner


def read_owner(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/kyc/ubodeclarations/{declaration}/ubos/{ubo}"""
    return owner_of(find(session, call), call.path["ubo"])


def change_owner(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/{id}/kyc/ubodeclarations/{declaration}/ubos/{ubo}: omitted fields are unchanged"""
    declaration = unsubmitted(session, call)
    owner = owner_of(declaration, call.path["ubo"])
    body = NewOwner.read({**owner, **call.object()})
    changed = {**owner, **body.to_wire()}
    keep(session, declaration, changed)
    return changed


def owner_of(declaration: Json, id: str) -> Json:
    """An owner of a declaration. Raises ResourceNotFound."""
    found: Json | None = next((owner for owner in declaration["Ubos"] if owner["Id"] == id), None)
    if found is None:
        raise ResourceNotFound
    return found


def keep(session: SandboxSession, declaration: Json, changed: Json) -> None:
    """Store a new or changed owner of a declaration."""
    owners = {owner["Id"]: owner for owner in (*declaration["Ubos"], changed)}
    DECLARATIONS.change(session, declaration["Id"], {"Ubos": list(owners.values())})


PATH = "/users/{id}/kyc/ubodeclarations"
ENDPOINTS = (
    WireEndpoint("POST", PATH, create),
    WireEndpoint("GET", PATH, list_of_user),
    WireEndpoint("GET", f"{PATH}/{{declaration}}", find),
    WireEndpoint("PUT", f"{PATH}/{{declaration}}", submit),
    WireEndpoint("POST", f"{PATH}/{{declaration}}/ubos", add_owner),
    WireEndpoint("GET", f"{PATH}/{{declaration}}/ubos/{{ubo}}", read_owner),
    WireEndpoint("PUT", f"{PATH}/{{declaration}}/ubos/{{ubo}}", change_owner),
    WireEndpoint("GET", "/kyc/ubodeclarations/{id}", DECLARATIONS.read),
)
