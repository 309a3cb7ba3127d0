"""Users on their way in and out: created, changed, made owners, closed."""

from coffret.sandbox import documents, enrolment, events, identity, ledger, regulatory, sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.user_bodies import LegalUser, NaturalUser, UserBody
from coffret.sandbox.users import LEGAL, NATURAL
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError

CONTACT = ("Email", "PhoneNumber", "PhoneNumberCountry")
"""Whoever changes one of these has to enrol again."""
IDENTITY = ("FirstName", "LastName", "Birthday", "Nationality")
"""Whoever changes one of these is no longer proven to be who they are."""


def create_natural(session: Session, call: Call) -> Json:
    """POST /sca/users/natural"""
    body = call.json(NaturalUser)
    return create(session, NATURAL, body.full_name, body)


def create_legal(session: Session, call: Call) -> Json:
    """POST /sca/users/legal"""
    body = call.json(LegalUser)
    return create(session, LEGAL, body.full_name, body)


def create(session: Session, person_type: str, name: str, body: UserBody) -> Json:
    """Write a user. An owner has to authenticate first, unless its e-mail goes around that."""
    id = session.mint("user_m_")
    written = {
        **body.written(),
        "CreationDate": int(session.now),
        "KYCLevel": "LIGHT",
        "UserStatus": users.ACTIVE,
        "TermsAndConditionsAcceptedDate": int(session.now) if body.terms_and_conditions_accepted else None,
        "PendingUserAction": None,
    }
    users.add(session, id, person_type, name, written)
    if body.user_category == "OWNER":
        await_enrolment(session, id)
    return users.present(session, id)


def await_enrolment(session: Session, id: str) -> None:
    """An owner can do little until it has enrolled."""
    users.rewrite(session, id, {"UserStatus": users.PENDING})
    action = enrolment.begin(session, id)
    if action is not None:
        users.rewrite(session, id, {"PendingUserAction": action})
        events.emit(session, "USER_ACCOUNT_VALIDATION_ASKED", id)


def update_natural(session: Session, call: Call) -> Json:
    """PUT /sca/users/natural/{id}"""
    user = users.living(session, call.path["id"], NATURAL)
    body = NaturalUser.read(merged(user, same_category(user, call.object()), NaturalUser))
    return change(session, user, body.full_name, body, user)


def update_legal(session: Session, call: Call) -> Json:
    """PUT /sca/users/legal/{id}"""
    user = users.living(session, call.path["id"], LEGAL)
    body = LegalUser.read(merged(user, same_category(user, call.object()), LegalUser))
    return change(session, user, body.full_name, body, user["LegalRepresentative"])


def promote_natural(session: Session, call: Call) -> Json:
    """PUT /sca/users/natural/{id}/category"""
    user = payer(session, call.path["id"], NATURAL)
    body = NaturalUser.read(merged(user, to_owner(call.object()), NaturalUser))
    return promote(session, user["Id"], body.full_name, body)


def promote_legal(session: Session, call: Call) -> Json:
    """PUT /sca/users/legal/{id}/category"""
    user = payer(session, call.path["id"], LEGAL)
    body = LegalUser.read(merged(user, to_owner(call.object()), LegalUser))
    return promote(session, user["Id"], body.full_name, body)


def merged(user: Json, sent: Json, shape: type[UserBody]) -> Json:
    """What the user would be like: what is sent over what is there. Of a nested object, what is not sent stays too."""
    kept = {str(field.alias): user.get(str(field.alias)) for field in shape.model_fields.values()}
    for name, value in sent.items():
        before = kept.get(name)
        kept[name] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    return {name: value for name, value in kept.items() if value is not None}


def same_category(user: Json, sent: Json) -> Json:
    """Refuse another category: that has a call of its own."""
    if sent.get("UserCategory", user["UserCategory"]) != user["UserCategory"]:
        raise ParamError({"UserCategory": "The UserCategory is changed at /category."})
    return sent


def to_owner(sent: Json) -> Json:
    """Refuse what does not make an owner, who accepts the terms by it."""
    missing = [name for name in ("UserCategory", "TermsAndConditionsAccepted") if sent.get(name) is None]
    if missing:
        raise ParamError({name: f"The {name} field is required." for name in missing})
    if sent["UserCategory"] != "OWNER":
        raise ParamError({"UserCategory": "The UserCategory must be OWNER."})
    return sent


def payer(session: Session, id: str, person_type: str) -> Json:
    """A user that can still become an owner."""
    user = users.living(session, id, person_type)
    if user["UserCategory"] != "PAYER":
        raise ParamError({"UserCategory": "The user is an OWNER already."})
    return user


def promote(session: Session, id: str, name: str, body: UserBody) -> Json:
    """Make an owner of a payer; it has to enrol like one that was created."""
    users.rewrite(session, id, {**body.written(), "TermsAndConditionsAcceptedDate": int(session.now)}, name)
    await_enrolment(session, id)
    return users.present(session, id)


def change(session: Session, user: Json, name: str, body: UserBody, person: Json) -> Json:
    """Write changed fields. Another contact has to enrol again, another identity has to be proven again."""
    id, written = user["Id"], body.written()
    after = written["LegalRepresentative"] if user["PersonType"] == LEGAL else written
    users.rewrite(session, id, written, name)
    if written.get("LegalPersonType") != user.get("LegalPersonType") or differ(person, after, IDENTITY):
        outdate(session, id)
    if body.user_category == "OWNER" and differ(person, after, CONTACT):
        await_enrolment(session, id)
    return users.present(session, id)


def outdate(session: Session, id: str) -> None:
    """Whatever proved who the user was proves nothing of who it is now."""
    for row in session.rows("SELECT id FROM identity_verification WHERE user_id = ? AND status = 'VALIDATED'", id):
        identity.decide(session, row["id"], identity.Decision(outcome=identity.Outcome.OUT_OF_DATE))
    for row in session.rows("SELECT id FROM kyc_document WHERE user_id = ? AND status = 'VALIDATED'", id):
        documents.decide(session, row["id"], documents.Decision(outcome=documents.Outcome.OUT_OF_DATE))
    users.identify(session, id, "LIGHT")


def differ(before: Json, after: Json, names: tuple[str, ...]) -> bool:
    """Whether one of these fields has changed."""
    return any(before.get(name) != after.get(name) for name in names)


def close_natural(session: Session, call: Call) -> Json:
    """DELETE /users/natural/{id}"""
    return close(session, users.living(session, call.path["id"], NATURAL)["Id"])


def close_legal(session: Session, call: Call) -> Json:
    """DELETE /users/legal/{id}"""
    return close(session, users.living(session, call.path["id"], LEGAL)["Id"])


def close(session: Session, id: str) -> Json:
    """Close a user for good, once its wallets are empty. Nothing goes in or out any more."""
    for wallet in session.rows("SELECT id, currency FROM wallet WHERE owner_id = ?", id):
        if ledger.balance(session, ledger.wallet(wallet["id"]), wallet["currency"]):
            raise ForbiddenResource(f"The wallet {wallet['id']} is not empty.")
    users.rewrite(session, id, {"UserStatus": users.CLOSED, "PendingUserAction": None})
    events.emit(session, "USER_ACCOUNT_CLOSED", id)
    regulatory.block(session, id, inflows=True, outflows=True)
    for page in sca.open_ones(session):
        if page.user_id == id:
            sca.end(session, page.token, sca.Outcome.FAILED)
    return users.present(session, id)


ENDPOINTS = (
    Endpoint("POST", "/sca/users/natural", create_natural),
    Endpoint("POST", "/sca/users/legal", create_legal),
    Endpoint("PUT", "/sca/users/natural/{id}", update_natural),
    Endpoint("PUT", "/sca/users/legal/{id}", update_legal),
    Endpoint("PUT", "/sca/users/natural/{id}/category", promote_natural),
    Endpoint("PUT", "/sca/users/legal/{id}/category", promote_legal),
    Endpoint("DELETE", "/users/natural/{id}", close_natural),
    Endpoint("DELETE", "/users/legal/{id}", close_legal),
)
