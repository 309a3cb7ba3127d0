"""What the control plane tells of users and their sessions of strong authentication, and does to them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox import enrolment, events, registration, regulatory, sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.sca import Authentication
from coffret.sandbox.wire.endpoints import Json
from coffret.sandbox.wire.errors import OutOfTurn, ResourceNotFound


class Decision(BaseModel):
    """How a session ends. Whoever leaves ends nothing: the link stays good."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["succeed", "fail", "expire", "leave"]


class Block(BaseModel):
    """What is closed for a user from now on, and the provider's code for the reason."""

    model_config = ConfigDict(extra="forbid")

    inflows: bool = False
    outflows: bool = False
    code: Annotated[str, Field(pattern=r"^\d{6}$")] = regulatory.CODE


class Change(BaseModel):
    """What happens to a user; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    status: users.Status | None = None
    kyc_level: users.Level | None = None
    block: Block | None = None


def decide(session: Session, token: str, decision: Decision) -> Json:
    """End a session as somebody on its page would; answers it."""
    page = known_session(session, token)
    if page.outcome is not None:
        raise OutOfTurn(f"The session has ended: {page.outcome}.")
    if decision.outcome in sca.CHOICES:
        sca.end(session, token, sca.CHOICES[decision.outcome])
    return told(session, known_session(session, token))


def session_of(session: Session, token: str) -> Json:
    """A session and where it stands."""
    return told(session, known_session(session, token))


def open_sessions(session: Session, user_id: str | None = None) -> list[Json]:
    """Every session that can still be used, oldest first; only those of a user, if one is named."""
    return [told(session, page) for page in sca.open_ones(session) if user_id in {None, page.user_id}]


def known_session(session: Session, token: str) -> Authentication:
    """The session of a token."""
    page = sca.of_token(session, token)
    if page is None:
        raise ResourceNotFound
    return page


def told(session: Session, page: Authentication) -> Json:
    """A session as the control plane shows it; a `returnUrl` is added to its address before it is opened."""
    return {
        "token": page.token,
        "url": sca.address(session, page.token),
        "user_id": page.user_id,
        "purpose": page.purpose,
        "subject_id": page.subject_id,
        "stage": page.stage,
        "outcome": page.outcome,
        "wrong_codes": page.wrong_codes,
        "expires_at": page.due_at,
    }


def person(session: Session, id: str) -> Json:
    """A user with everything that strong authentication and regulation know of it."""
    state = enrolment.of_user(session, id)
    return {
        "user": users.present(session, id),
        "enrolled": state.enrolled,
        "consented": state.consented,
        "access_until": state.access_until or None,
        "regulatory": regulatory.blocked(session, id),
        "sessions": open_sessions(session, id),
    }


def change(session: Session, id: str, wanted: Change) -> Json:
    """Do to a user what the provider would, with the notifications of it; answers the user."""
    user = users.present(session, id)
    if wanted.status is not None and wanted.status != user["UserStatus"]:
        set_status(session, id, wanted.status)
    if wanted.kyc_level is not None:
        users.identify(session, id, wanted.kyc_level)
    if wanted.block is not None:
        block = wanted.block
        regulatory.block(session, id, inflows=block.inflows, outflows=block.outflows, code=block.code)
    return person(session, id)


def set_status(session: Session, id: str, status: users.Status) -> None:
    """Let a user become active without its doing, ask it to enrol, or close it; who is closed stays so."""
    users.living(session, id)
    match status:
        case "ACTIVE":
            users.rewrite(session, id, {"UserStatus": users.ACTIVE, "PendingUserAction": None})
            events.emit(session, "USER_ACCOUNT_ACTIVATED", id)
        case "PENDING_USER_ACTION":
            registration.await_enrolment(session, id)
        case "CLOSED":
            registration.close(session, id)
