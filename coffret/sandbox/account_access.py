"""Who may look at an owner's wallets and movements: only after strong authentication, which is good for 180 days."""

from coffret.sandbox import enrolment, sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Call
from coffret.sandbox.wire.errors import AuthenticationAsked, ForbiddenResource, ParamError, WireError

PRESENT, NOT_PRESENT = "USER_PRESENT", "USER_NOT_PRESENT"


def refusal(session: Session, call: Call, user_id: str) -> WireError | None:
    """Why this call may not look at a user's account now; none when it may.

    The answer that asks the owner to authenticate is no exception, since the session that it opens has to stay.
    """
    context = call.one("ScaContext") or PRESENT
    if context not in {PRESENT, NOT_PRESENT}:
        raise ParamError({"ScaContext": f"The field ScaContext must be {PRESENT} or {NOT_PRESENT}."})
    user = users.present(session, user_id)
    if user["UserStatus"] == users.CLOSED or not users.authenticates(user):
        return None
    users.acting(session, user_id)
    state = enrolment.of_user(session, user_id)
    if context == NOT_PRESENT:
        if not state.consented:
            raise ForbiddenResource("The user has not consented to be acted for: USER_NOT_PRESENT is not possible.")
        return None
    if session.now < state.access_until:
        return None
    return AuthenticationAsked(sca.open_session(session, user_id, "account_access"))
