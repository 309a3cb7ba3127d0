"""Strong customer authentication of owners: enrolment, consent to act for them, and account access."""

from dataclasses import dataclass

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import sca, users
from coffret.sandbox.users.sca import ScaOutcome, ScaSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError

SCOPES = ("ContactInformationUpdate", "RecipientRegistration", "Transfer", "ViewAccountInformation")
ACCESS_LASTS = 180 * 24 * 3600
"""Seconds for which an authenticated owner may access wallets and movements."""


@dataclass(frozen=True, slots=True)
class EnrolmentState:
    """The authentication state of a user. `access_until` is 0 if access was never granted."""

    enrolled: bool = False
    consented: bool = False
    access_until: float = 0


def of_user(session: SandboxSession, user_id: str) -> EnrolmentState:
    """The state of a user; the initial state if it was never asked to enrol."""
    row = session.row("SELECT * FROM enrolment WHERE user_id = ?", user_id)
    if row is None:
        return EnrolmentState()
    return EnrolmentState(row["enrolled_at"] is not None, row["consented_at"] is not None, row["access_until"] or 0)


def begin(session: SandboxSession, user_id: str) -> Json | None:
    """Start an owner's enrolment.

    Returns the action with its URL; None for an owner that is exempt and enrolled immediately.
    """
    session.change("INSERT INTO enrolment (user_id) VALUES (?) ON CONFLICT DO NOTHING", user_id)
    if users.bypasses(users.present(session, user_id)):
        complete_enrolment(session, user_id, session.now)
        return None
    return {"RedirectUrl": sca.open_session(session, user_id, "enrolment")}


@sca.concludes("enrolment")
def conclude_enrolment(session: SandboxSession, done: ScaSession, at: float) -> None:
    """The result of an enrolment session. Only success changes the user's state."""
    user = users.present(session, done.user_id)
    if user["PendingUserAction"] == {"RedirectUrl": sca.address(session, done.token)}:
        users.rewrite(session, done.user_id, {"PendingUserAction": None})
    if done.outcome is ScaOutcome.SUCCEEDED:
        complete_enrolment(session, done.user_id, at)
    else:
        events.emit(
            session, f"SCA_ENROLLMENT_{'EXPIRED' if done.outcome is ScaOutcome.EXPIRED else 'FAILED'}", done.user_id, at
        )


def complete_enrolment(session: SandboxSession, user_id: str, at: float) -> None:
    """Enrol the owner, and activate it if it was waiting for that."""
    session.change("UPDATE enrolment SET enrolled_at = ? WHERE user_id = ?", int(at), user_id)
    users.end_exemption(session, user_id)
    if users.present(session, user_id)["UserStatus"] == users.PENDING:
        users.rewrite(session, user_id, {"UserStatus": users.ACTIVE, "PendingUserAction": None})
        events.emit(session, "USER_ACCOUNT_ACTIVATED", user_id, at)
    events.emit(session, "SCA_ENROLLMENT_SUCCEEDED", user_id, at)


@sca.concludes("consent")
def conclude_consent(session: SandboxSession, done: ScaSession, at: float) -> None:
    """Store the consent if the session succeeded."""
    if done.outcome is ScaOutcome.SUCCEEDED:
        session.change("UPDATE enrolment SET consented_at = ? WHERE user_id = ?", int(at), done.user_id)


@sca.concludes("account_access")
def conclude_account_access(session: SandboxSession, done: ScaSession, at: float) -> None:
    """Grant account access if the session succeeded."""
    if done.outcome is ScaOutcome.SUCCEEDED:
        session.change(
            """INSERT INTO enrolment (user_id, access_until) VALUES (?, ?)
               ON CONFLICT (user_id) DO UPDATE SET access_until = excluded.access_until""",
            done.user_id,
            at + ACCESS_LASTS,
        )


def owner(session: SandboxSession, id: str) -> Json:
    """An owner that is not closed. Raises ParamError for a payer: payers do not authenticate."""
    user = users.living(session, id)
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserCategory": "The UserCategory must be OWNER: a PAYER does not authenticate."})
    return user


def enrol(session: SandboxSession, call: HttpCall) -> Json:
    """POST /sca/users/{id}/enrollment: earlier links stay valid, and the user's status does not change"""
    id = owner(session, call.path["id"])["Id"]
    return {"PendingUserAction": begin(session, id)}


def consent(session: SandboxSession, call: HttpCall) -> Json:
    """POST /sca/users/{id}/consent"""
    user = owner(session, call.path["id"])
    if session.row("SELECT 1 FROM enrolment WHERE user_id = ?", user["Id"]) is None:
        raise ForbiddenResource("The user was never asked to enrol, so it cannot consent to anything.")
    if users.bypasses(user):
        session.change("UPDATE enrolment SET consented_at = ? WHERE user_id = ?", int(session.now), user["Id"])
        return {"PendingUserAction": None}
    return {"PendingUserAction": {"RedirectUrl": sca.open_session(session, user["Id"], "consent")}}


def status(session: SandboxSession, call: HttpCall) -> Json:
    """GET /sca/users/{id}/sca-status"""
    user = users.present(session, call.path["id"])
    row = session.require_row("SELECT * FROM enrolment WHERE user_id = ?", user["Id"])
    return {
        "UserStatus": user["UserStatus"],
        "IsEnrolled": row["enrolled_at"] is not None,
        "LastEnrollmentDate": row["enrolled_at"],
        "LastConsentCollectionDate": row["consented_at"],
        "ConsentScope": dict.fromkeys(SCOPES, "INACTIVE" if row["consented_at"] is None else "ACTIVE"),
    }


ENDPOINTS = (
    WireEndpoint("POST", "/sca/users/{id}/enrollment", enrol),
    WireEndpoint("GET", "/sca/users/{id}/sca-status", status),
    WireEndpoint("POST", "/sca/users/{id}/consent", consent),
)
