"""Log-in and log-out at a venue."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption.handler import STAFF_COOKIE
from funnel.redemption.request import LOG_IN_PATH, OWN_PAGE, ROOT, RedemptionRequest
from resolvers.account import staff as sessions
from schema.core.errors import InvalidInput, TooManyRequests, WrongCredentials
from schema.validation.languages import LANGUAGES

LONGEST = 254
ENDED = "ENDED"


async def show(request: RedemptionRequest) -> Response:
    """Show the log-in form. A logged-in user is redirected."""
    if request.caller is not None:
        return request.redirect(request.code_url())
    return _form(request, Flash(), 200, ended=request.had_cookie)


async def log_in(request: RedemptionRequest) -> Response:
    """Log in and redirect to the requested code."""
    username, password = request.form.get("username", ""), request.form.get("password", "")
    wrong = [(name, "REQUIRED") for name in ("username", "password") if not request.form.get(name, "").strip()]
    if wrong:
        return _form(request, Flash(tuple(wrong), {"username": username[:LONGEST]}), 400)
    try:
        secret = await sessions.log_in(
            request.context, username[:1000], password[:1000], request.shop.partner_id, request.shop.marketplace_id
        )
    except (WrongCredentials, InvalidInput):
        return _form(request, Flash((("username", "WRONG"),), {"username": username[:LONGEST]}), 400)
    except TooManyRequests as error:
        response = _form(request, Flash((("username", "TOO_MANY_REQUESTS"),), {"username": username[:LONGEST]}), 429)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    request.rotate_session()
    response = request.redirect(request.code_url())
    request.cookies.set(response, STAFF_COOKIE, secret, int(sessions.LOGIN_LIFETIME.total_seconds()))
    return response


async def log_out(request: RedemptionRequest) -> Response:
    """End the log-in and revoke its token."""
    if request.caller is not None:
        await sessions.log_out(request.context)
    request.rotate_session()
    response = request.redirect(LOG_IN_PATH)
    request.cookies.delete(response, STAFF_COOKIE)
    return response


async def change_language(request: RedemptionRequest) -> Response:
    """Set the language cookie and redirect to the same page."""
    here, language = request.form.get("next", ""), request.form.get("language", "")
    response = request.redirect(here if OWN_PAGE.fullmatch(here) else ROOT)
    if language in LANGUAGES:
        request.cookies.set_language(response, language)
    return response


def _form(request: RedemptionRequest, flash: Flash, status: int, *, ended: bool = False) -> Response:
    return request.render("redemption/log_in.html", status, flash=flash, ended=ended, path=LOG_IN_PATH)
