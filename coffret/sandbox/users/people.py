"""The control plane's view of users and of their authentication sessions, and changes to them."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox import events, registration
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import enrolment, regulatory, renewal, sca, users
from coffret.sandbox.users.sca import ScaSession
from coffret.sandbox.wire.endpoints import Json
from coffret.sandbox.wire.errors import OutOfTurn, ResourceNotFound


class ScaDecision(BaseModel):
    """How a session ends. `leave` does not end it: the link stays valid."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["succeed", "fail", "expire", "leave"]


class UserBlock(BaseModel):
    """The payment flows to block, and the provider's code for the reason."""

    model_config = ConfigDict(extra="forbid")

    inflows: bool = False
    outflows: bool = False
    code: Annotated[str, Field(pattern=r"^\d{6}$")] = regulatory.CODE


class UserChange(BaseModel):
    """A change to a user. Omitted fields are unchanged. By `renewal_deadline` its identity must be verified again."""

    model_config = ConfigDict(extra="forbid")

    status: users.Status | None = None
    kyc_level: users.Level | None = None
    block: UserBlock | None = None
    renewal_deadline: dt.date | None = None


def decide(session: SandboxSession, token: str, decision: ScaDecision) -> Json:
    """End a session as the user would on its page. Returns the session. Raises OutOfTurn if it has ended."""
    page = known_session(session, token)
    if page.outcome is not None:
        raise OutOfTurn(f"The session has ended: {page.outcome}.")
    if decision.outcome in sca.CHOICES:
        sca.end(session, token, sca.CHOICES[decision.outcome])
    return describe(session, known_session(session, token))


def session_of(session: SandboxSession, token: str) -> Json:
    return describe(session, known_session(session, token))


def open_sessions(session: SandboxSession, user_id: str | None = None) -> list[Json]:
    """All open sessions, oldest first; with `user_id`, only those of one user."""
    return [describe(session, page) for page in sca.open_ones(session) if user_id in {None, page.user_id}]


def known_session(session: SandboxSession, token: str) -> ScaSession:
    """The session of a token. Raises ResourceNotFound."""
    page = sca.of_token(session, token)
    if page is None:
        raise ResourceNotFound
    return page


def describe(session: SandboxSession, page: ScaSession) -> Json:
    """A session in the control plane's format. Add a `returnUrl` to its `url` before opening it."""
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


def person(session: SandboxSession, id: str) -> Json:
    """A user with its authentication state, regulatory blocks and open sessions."""
    state = enrolment.of_user(session, id)
    return {
        "user": users.present(session, id),
        "enrolled": state.enrolled,
        "consented": state.consented,
        "access_until": state.access_until or None,
        "regulatory": regulatory.current_blocks(session, id),
        "renewal": renewal.information(session, id),
        "sessions": open_sessions(session, id),
    }


def change(session: SandboxSession, id: str, change: UserChange) -> Json:
    """Change a user as the provider would, including notifications. Returns the user."""
    user = users.present(session, id)
    if change.status is not None and change.status != user["UserStatus"]:
        set_status(session, id, change.status)
    if change.kyc_level is not None:
        users.identify(session, id, change.kyc_level)
    if change.block is not None:
        block = change.block
        regulatory.block(session, id, inflows=block.inflows, outflows=block.outflows, code=block.code)
    if change.renewal_deadline is not None:
        renewal.set_deadline(session, id, change.renewal_deadline)
    return person(session, id)


def set_status(session: SandboxSession, id: str, status: users.Status) -> None:
    """Activate a user, ask it to enrol, or close it. A closed user cannot be changed."""
    users.living(session, id)
    match status:
        case "ACTIVE":
            users.rewrite(session, id, {"UserStatus": users.ACTIVE, "PendingUserAction": None})
            events.emit(session, "USER_ACCOUNT_ACTIVATED", id)
        case "PENDING_USER_ACTION":
            registration.await_enrolment(session, id)
        case "CLOSED":
            registration.close(session, id)
