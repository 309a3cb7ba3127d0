"""Strong authentication of owners: enrolment, the consent to act for them, and what both leave behind."""

from dataclasses import dataclass

from coffret.sandbox import events, sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.sca import Authentication, Outcome
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError

SCOPES = ("ContactInformationUpdate", "RecipientRegistration", "Transfer", "ViewAccountInformation")
ACCESS_LASTS = 180 * 24 * 3600
"""Seconds for which an owner who has authenticated may look at wallets and movements."""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What strong authentication knows of a user. `access_until` is 0 until the account was opened to be looked at."""

    enrolled: bool = False
    consented: bool = False
    access_until: float = 0


def of_user(session: Session, user_id: str) -> Enrolment:
    """What is known of a user, nothing if it was never asked to enrol."""
    row = session.row("SELECT * FROM enrolment WHERE user_id = ?", user_id)
    if row is None:
        return Enrolment()
    return Enrolment(row["enrolled_at"] is not None, row["consented_at"] is not None, row["access_until"] or 0)


def begin(session: Session, user_id: str) -> Json | None:
    """Let an owner enrol: where to go, or nothing for whoever goes around it and is enrolled at once."""
    session.change("INSERT INTO enrolment (user_id) VALUES (?) ON CONFLICT DO NOTHING", user_id)
    if not users.authenticates(users.present(session, user_id)):
        enrolled(session, user_id, session.now)
        return None
    return {"RedirectUrl": sca.open_session(session, user_id, "enrolment")}


@sca.concludes("enrolment")
def ended(session: Session, done: Authentication, at: float) -> None:
    """An enrolment succeeded, failed or ran out of time; only success changes the user."""
    user = users.present(session, done.user_id)
    if user["PendingUserAction"] == {"RedirectUrl": sca.address(session, done.token)}:
        users.rewrite(session, done.user_id, {"PendingUserAction": None})
    if done.outcome is Outcome.SUCCEEDED:
        enrolled(session, done.user_id, at)
    else:
        events.emit(
            session, f"SCA_ENROLLMENT_{'EXPIRED' if done.outcome is Outcome.EXPIRED else 'FAILED'}", done.user_id, at
        )


def enrolled(session: Session, user_id: str, at: float) -> None:
    """The owner is enrolled, and active if that was what it waited for."""
    session.change("UPDATE enrolment SET enrolled_at = ? WHERE user_id = ?", int(at), user_id)
    if users.present(session, user_id)["UserStatus"] == users.PENDING:
        users.rewrite(session, user_id, {"UserStatus": users.ACTIVE, "PendingUserAction": None})
        events.emit(session, "USER_ACCOUNT_ACTIVATED", user_id, at)
    events.emit(session, "SCA_ENROLLMENT_SUCCEEDED", user_id, at)


@sca.concludes("consent")
def consented(session: Session, done: Authentication, at: float) -> None:
    """Only success leaves the consent behind."""
    if done.outcome is Outcome.SUCCEEDED:
        session.change("UPDATE enrolment SET consented_at = ? WHERE user_id = ?", int(at), done.user_id)


@sca.concludes("account_access")
def accessed(session: Session, done: Authentication, at: float) -> None:
    """Only success opens the account to be looked at."""
    if done.outcome is Outcome.SUCCEEDED:
        session.change("UPDATE enrolment SET access_until = ? WHERE user_id = ?", at + ACCESS_LASTS, done.user_id)


def owner(session: Session, id: str) -> Json:
    """A user that is not closed and an owner: payers do not authenticate."""
    user = users.living(session, id)
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserCategory": "The UserCategory must be OWNER: a PAYER does not authenticate."})
    return user


def enrol(session: Session, call: Call) -> Json:
    """POST /sca/users/{id}/enrollment: links that are out stay good, and the user's status stays as it is."""
    return {"PendingUserAction": begin(session, owner(session, call.path["id"])["Id"])}


def consent(session: Session, call: Call) -> Json:
    """POST /sca/users/{id}/consent"""
    user = owner(session, call.path["id"])
    if not of_user(session, user["Id"]).enrolled:
        raise ForbiddenResource("The user is not enrolled, so it cannot consent to anything.")
    if not users.authenticates(user):
        session.change("UPDATE enrolment SET consented_at = ? WHERE user_id = ?", int(session.now), user["Id"])
        return {"PendingUserAction": None}
    return {"PendingUserAction": {"RedirectUrl": sca.open_session(session, user["Id"], "consent")}}


def status(session: Session, call: Call) -> Json:
    """GET /sca/users/{id}/sca-status"""
    user = users.present(session, call.path["id"])
    row = session.found("SELECT * FROM enrolment WHERE user_id = ?", user["Id"])
    return {
        "UserStatus": user["UserStatus"],
        "IsEnrolled": row["enrolled_at"] is not None,
        "LastEnrollmentDate": row["enrolled_at"],
        "LastConsentCollectionDate": row["consented_at"],
        "ConsentScope": dict.fromkeys(SCOPES, "INACTIVE" if row["consented_at"] is None else "ACTIVE"),
    }


ENDPOINTS = (
    Endpoint("POST", "/sca/users/{id}/enrollment", enrol),
    Endpoint("GET", "/sca/users/{id}/sca-status", status),
    Endpoint("POST", "/sca/users/{id}/consent", consent),
)
