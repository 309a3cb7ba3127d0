"""Users on their way in and out: created, changed, made owners, closed."""

from store.providers.sandbox import enrolment, events, users
from store.providers.sandbox.database import Session
from store.providers.sandbox.user_bodies import LegalUser, NaturalUser, UserBody
from store.providers.sandbox.users import LEGAL, NATURAL
from store.providers.sandbox.wire.endpoints import Call, Endpoint, Json


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


ENDPOINTS = (
    Endpoint("POST", "/sca/users/natural", create_natural),
    Endpoint("POST", "/sca/users/legal", create_legal),
)
