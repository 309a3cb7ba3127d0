"""Log-in and log-out at a venue."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption.handler import STAFF_COOKIE
from funnel.redemption.request import LOG_IN_CODE_PATH, LOG_IN_PATH, OWN_PAGE, ROOT, RedemptionRequest
from resolvers.account import staff as sessions
from schema.core.errors import InvalidInput, TooManyRequests, Unauthenticated, WrongCredentials
from schema.validation.languages import LANGUAGES

LONGEST = 254
ENDED = "ENDED"
TICKET_COOKIE = "log-in"
"""The cookie that stands for a right password until the code of the second factor is entered."""
FORGOT_PASSWORD_PAGE = "/admin/forgot-password/"  # noqa: S105 - a path
"""The page of the back office where a link to choose a new password is asked for."""


async def show(request: RedemptionRequest) -> Response:
    """Show the log-in form. A logged-in user is redirected."""
    if request.caller is not None:
        return request.redirect(request.code_url())
    return _form(request, Flash(), 200, ended=request.had_cookie)


async def log_in(request: RedemptionRequest) -> Response:
    """Log in and redirect to the requested code, or to the form for the code of the second factor."""
    username, password = request.form.get("username", ""), request.form.get("password", "")
    typed = {"username": username[:LONGEST]}
    wrong = [(name, "REQUIRED") for name in ("username", "password") if not request.form.get(name, "").strip()]
    if wrong:
        return _form(request, Flash(tuple(wrong), typed), 400)
    try:
        step = await sessions.log_in(request.context, username[:1000], password[:1000], request.site)
    except (WrongCredentials, InvalidInput):
        return _form(request, Flash((("username", "WRONG"),), typed), 400)
    except TooManyRequests as error:
        return _wait(_form(request, Flash((("username", "TOO_MANY_REQUESTS"),), typed), 429), error)
    if step.ticket:
        response = request.redirect(request.code_url(LOG_IN_CODE_PATH))
        request.cookies.set(response, TICKET_COOKIE, step.ticket, int(sessions.TICKET_LIFETIME.total_seconds()))
        return response
    return _logged_in(request, step.token)


async def show_code(request: RedemptionRequest) -> Response:
    """Show the form for the code of the second factor, after the password was right."""
    if request.caller is not None:
        return request.redirect(request.code_url())
    if not request.cookies.read(request.http_request, TICKET_COOKIE):
        return request.redirect_to_login()
    return _code_form(request, Flash(), 200)


async def enter_code(request: RedemptionRequest) -> Response:
    """Complete the log-in with the code. If it took too long, the log-in begins again."""
    ticket, otp = request.cookies.read(request.http_request, TICKET_COOKIE), request.form.get("otp", "").strip()
    if not otp:
        return _code_form(request, Flash((("otp", "REQUIRED"),)), 400)
    try:
        token = await sessions.log_in_with_code(request.context, ticket, otp, request.site)
    except Unauthenticated:
        return request.redirect_to_login()
    except (WrongCredentials, InvalidInput):
        return _code_form(request, Flash((("otp", "WRONG"),)), 400)
    except TooManyRequests as error:
        return _wait(_code_form(request, Flash((("otp", "TOO_MANY_REQUESTS"),)), 429), error)
    return _logged_in(request, token)


def _logged_in(request: RedemptionRequest, token: str) -> Response:
    request.rotate_session()
    response = request.redirect(request.code_url())
    request.cookies.set(response, STAFF_COOKIE, token, int(sessions.LOGIN_LIFETIME.total_seconds()))
    if request.cookies.read(request.http_request, TICKET_COOKIE):
        request.cookies.delete(response, TICKET_COOKIE)
    return response


def _wait(response: Response, error: TooManyRequests) -> Response:
    response.headers["Retry-After"] = str(error.retry_after)
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
    forgot = f"{request.services.public_url}{FORGOT_PASSWORD_PAGE}"
    return request.render(
        "redemption/log_in.html", status, flash=flash, ended=ended, path=LOG_IN_PATH, forgot_url=forgot
    )


def _code_form(request: RedemptionRequest, flash: Flash, status: int) -> Response:
    return request.render("redemption/log_in_code.html", status, flash=flash, path=LOG_IN_CODE_PATH, back=LOG_IN_PATH)
