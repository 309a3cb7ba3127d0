"""Creates, changes, promotes and closes users."""

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import documents, identity
from coffret.sandbox.payments import ledger
from coffret.sandbox.users import enrolment, regulatory, sca, users
from coffret.sandbox.users.user_bodies import LegalUser, NaturalUser, UserBody
from coffret.sandbox.users.users import LEGAL, NATURAL
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError

CONTACT = ("Email", "PhoneNumber", "PhoneNumberCountry")
"""A change of one of these requires a new enrolment."""
IDENTITY = ("FirstName", "LastName", "Birthday", "Nationality")
"""A change of one of these invalidates the proof of identity."""


def create_natural(session: SandboxSession, call: HttpCall) -> Json:
    """POST /sca/users/natural"""
    body = call.json(NaturalUser)
    return create(session, NATURAL, body.full_name, body)


def create_legal(session: SandboxSession, call: HttpCall) -> Json:
    """POST /sca/users/legal"""
    body = call.json(LegalUser)
    return create(session, LEGAL, body.full_name, body)


def create(session: SandboxSession, person_type: str, name: str, body: UserBody, *, exempt: bool = False) -> Json:
    """Create a user. An owner must enrol first, unless it or its e-mail address is exempt."""
    id = session.mint("user_m_")
    written = {
        **body.to_wire(),
        "CreationDate": int(session.now),
        "KYCLevel": "LIGHT",
        "UserStatus": users.ACTIVE,
        "TermsAndConditionsAcceptedDate": int(session.now) if body.terms_and_conditions_accepted else None,
        "PendingUserAction": None,
    }
    users.add(session, id, person_type, name, written)
    if exempt:
        users.exempt(session, id)
    elif body.user_category == "OWNER":
        await_enrolment(session, id)
    return users.present(session, id)


def await_enrolment(session: SandboxSession, id: str) -> None:
    """Set an owner to pending until it has enrolled."""
    users.rewrite(session, id, {"UserStatus": users.PENDING})
    action = enrolment.begin(session, id)
    if action is not None:
        users.rewrite(session, id, {"PendingUserAction": action})
        events.emit(session, "USER_ACCOUNT_VALIDATION_ASKED", id)


def update_natural(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /sca/users/natural/{id}"""
    user = users.living(session, call.path["id"], NATURAL)
    body = NaturalUser.read(merge_user_fields(user, same_category(user, call.object()), NaturalUser))
    return change(session, user, body.full_name, body, user)


def update_legal(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /sca/users/legal/{id}"""
    user = users.living(session, call.path["id"], LEGAL)
    body = LegalUser.read(merge_user_fields(user, same_category(user, call.object()), LegalUser))
    return change(session, user, body.full_name, body, user["LegalRepresentative"])


def promote_natural(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /sca/users/natural/{id}/category"""
    user = payer(session, call.path["id"], NATURAL)
    body = NaturalUser.read(merge_user_fields(user, to_owner(call.object()), NaturalUser))
    return promote(session, user["Id"], body.full_name, body)


def promote_legal(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /sca/users/legal/{id}/category"""
    user = payer(session, call.path["id"], LEGAL)
    body = LegalUser.read(merge_user_fields(user, to_owner(call.object()), LegalUser))
    return promote(session, user["Id"], body.full_name, body)


def merge_user_fields(user: Json, body: Json, shape: type[UserBody]) -> Json:
    """The user's fields, overridden by the sent ones. Nested objects are merged too."""
    kept = {str(field.alias): user.get(str(field.alias)) for field in shape.model_fields.values()}
    for name, value in body.items():
        before = kept.get(name)
        kept[name] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    return {name: value for name, value in kept.items() if value is not None}


def same_category(user: Json, body: Json) -> Json:
    """Raise ParamError if the category differs: another endpoint changes it."""
    if body.get("UserCategory", user["UserCategory"]) != user["UserCategory"]:
        raise ParamError({"UserCategory": "The UserCategory is changed at /category."})
    return body


def to_owner(body: Json) -> Json:
    """Raise ParamError unless the body makes the user an owner and accepts the terms."""
    missing = [name for name in ("UserCategory", "TermsAndConditionsAccepted") if body.get(name) is None]
    if missing:
        raise ParamError({name: f"The {name} field is required." for name in missing})
    if body["UserCategory"] != "OWNER":
        raise ParamError({"UserCategory": "The UserCategory must be OWNER."})
    return body


def payer(session: SandboxSession, id: str, person_type: str) -> Json:
    """A user that can still become an owner. Raises ParamError."""
    user = users.living(session, id, person_type)
    if user["UserCategory"] != "PAYER":
        raise ParamError({"UserCategory": "The user is an OWNER already."})
    return user


def promote(session: SandboxSession, id: str, name: str, body: UserBody) -> Json:
    """Make a payer an owner. It must enrol like a new owner."""
    users.rewrite(session, id, {**body.to_wire(), "TermsAndConditionsAcceptedDate": int(session.now)}, name)
    await_enrolment(session, id)
    return users.present(session, id)


def change(session: SandboxSession, user: Json, name: str, body: UserBody, person: Json) -> Json:
    """Write changed fields. New contact data require a new enrolment; new identity data require a new proof."""
    id, written = user["Id"], body.to_wire()
    after = written["LegalRepresentative"] if user["PersonType"] == LEGAL else written
    users.rewrite(session, id, written, name)
    if written.get("LegalPersonType") != user.get("LegalPersonType") or differ(person, after, IDENTITY):
        outdate(session, id)
    if body.user_category == "OWNER" and differ(person, after, CONTACT) and not users.is_exempt(session, id):
        await_enrolment(session, id)
    return users.present(session, id)


def outdate(session: SandboxSession, id: str) -> None:
    """Outdate every proof of the user's identity."""
    for row in session.rows("SELECT id FROM identity_verification WHERE user_id = ? AND status = 'VALIDATED'", id):
        identity.decide(
            session, row["id"], identity.VerificationDecision(outcome=identity.VerificationOutcome.OUT_OF_DATE)
        )
    for row in session.rows("SELECT id FROM kyc_document WHERE user_id = ? AND status = 'VALIDATED'", id):
        documents.decide(session, row["id"], documents.DocumentDecision(outcome=documents.DocumentOutcome.OUT_OF_DATE))
    users.identify(session, id, "LIGHT")


def differ(before: Json, after: Json, names: tuple[str, ...]) -> bool:
    """True if one of these fields has changed."""
    return any(before.get(name) != after.get(name) for name in names)


def close_natural(session: SandboxSession, call: HttpCall) -> Json:
    """DELETE /users/natural/{id}"""
    return close(session, users.living(session, call.path["id"], NATURAL)["Id"])


def close_legal(session: SandboxSession, call: HttpCall) -> Json:
    """DELETE /users/legal/{id}"""
    return close(session, users.living(session, call.path["id"], LEGAL)["Id"])


def close(session: SandboxSession, id: str) -> Json:
    """Close a user permanently.

    Its wallets must be empty. Blocks all inflows and outflows. Raises ForbiddenResource.
    """
    for wallet in session.rows("SELECT id, currency FROM wallet WHERE owner_id = ?", id):
        if ledger.balance(session, ledger.wallet(wallet["id"]), wallet["currency"]):
            raise ForbiddenResource(f"The wallet {wallet['id']} is not empty.")
    users.rewrite(session, id, {"UserStatus": users.CLOSED, "PendingUserAction": None})
    events.emit(session, "USER_ACCOUNT_CLOSED", id)
    regulatory.block(session, id, inflows=True, outflows=True)
    for page in sca.open_ones(session):
        if page.user_id == id:
            sca.end(session, page.token, sca.ScaOutcome.FAILED)
    return users.present(session, id)


ENDPOINTS = (
    WireEndpoint("POST", "/sca/users/natural", create_natural),
    WireEndpoint("POST", "/sca/users/legal", create_legal),
    WireEndpoint("PUT", "/sca/users/natural/{id}", update_natural),
    WireEndpoint("PUT", "/sca/users/legal/{id}", update_legal),
    WireEndpoint("PUT", "/sca/users/natural/{id}/category", promote_natural),
    WireEndpoint("PUT", "/sca/users/legal/{id}/category", promote_legal),
    WireEndpoint("DELETE", "/users/natural/{id}", close_natural),
    WireEndpoint("DELETE", "/users/legal/{id}", close_legal),
)
