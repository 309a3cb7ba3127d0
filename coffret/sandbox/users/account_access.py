"""Access to an owner's wallets and movements. It requires strong authentication, which is valid for 180 days."""

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import enrolment, sca, users
from coffret.sandbox.wire.endpoints import HttpCall
from coffret.sandbox.wire.errors import AuthenticationAsked, ForbiddenResource, ParamError, WireError

PRESENT, NOT_PRESENT = "USER_PRESENT", "USER_NOT_PRESENT"


def refusal(session: SandboxSession, call: HttpCall, user_id: str) -> WireError | None:
    """The error that refuses access to a user's account; None if access is allowed. Raises ParamError and
    ForbiddenResource.

    AuthenticationAsked is returned, not raised, because the session that it opens must be committed.
    """
    context = call.one("ScaContext") or PRESENT
    if context not in {PRESENT, NOT_PRESENT}:
        raise ParamError({"ScaContext": f"The field ScaContext must be {PRESENT} or {NOT_PRESENT}."})
    user = users.present(session, user_id)
    if user["UserStatus"] == users.CLOSED or user["UserCategory"] != "OWNER" or users.bypasses(user):
        return None
    if users.is_exempt(session, user_id) and call.one("ScaContext") is None:
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
