"""Log-in, in one step or in two, and log-out."""

import re

from starlette.responses import Response

from admin.core.handler import LOG_IN_COOKIE
from admin.core.paths import FORGOT_PASSWORD_PATH, LOG_IN_CODE_PATH, LOG_IN_PATH, PASSKEY_PATH, ROOT
from admin.core.request import AdminRequest
from admin.sign_in.impersonation import end_view
from funnel.core.messages import N_
from funnel.core.page_handler import with_retry_after
from resolvers.account import staff
from resolvers.account.staff import BACK_OFFICE
from schema.core.errors import InvalidInput, TooManyRequests, Unauthenticated, WrongCredentials
from schema.validation.languages import LANGUAGES
from store.core.session_ids import new_session_id

LONGEST_NAME, LONGEST_PASSWORD = 254, 1000
TICKET_COOKIE = "admin-log-in"
"""The cookie that stands for a right password until the code of the second factor is entered."""
NEXT_COOKIE = "admin-next"
"""The cookie with the page to lead to after the second step."""
OWN_PAGE = re.compile(r"/admin/(?:[A-Za-z0-9_.~-]+/)*(?:\?[A-Za-z0-9%._~+&=-]{0,1800})?")
WRONG = N_("The user name or the password is wrong.")
WRONG_CODE = N_("This code is wrong, or was used already.")
TOO_MANY = N_("Too many attempts. Wait a moment, then try again.")


async def show(request: AdminRequest) -> Response:
    """Show the log-in form. A logged-in user is led on."""
    if request.caller is not None:
        return request.redirect(_next(request))
    return log_in_page(request, ended=request.had_cookie)


async def log_in(request: AdminRequest) -> Response:
    """Log in, and lead to the page that was asked for, or to the form for the code of the second factor."""
    username, password = request.form.get("username", ""), request.form.get("password", "")
    try:
        step = await staff.log_in(
            request.context, username[:LONGEST_PASSWORD], password[:LONGEST_PASSWORD], BACK_OFFICE
        )
    except (WrongCredentials, InvalidInput):
        return log_in_page(request, 400, username=username, problem=WRONG)
    except TooManyRequests as error:
        return with_retry_after(log_in_page(request, 429, username=username, problem=TOO_MANY), error)
    if not step.ticket:
        return enter(request, step.token)
    response = request.redirect(LOG_IN_CODE_PATH)
    seconds = int(staff.TICKET_LIFETIME.total_seconds())
    request.cookies.set(response, TICKET_COOKIE, step.ticket, seconds)
    request.cookies.set(response, NEXT_COOKIE, _next(request), seconds)
    return response


async def show_code(request: AdminRequest) -> Response:
    """Show the form for the code of the second factor, after the password was right."""
    if request.caller is not None:
        return request.redirect(ROOT)
    if not request.cookies.read(request.http_request, TICKET_COOKIE):
        return request.redirect(LOG_IN_PATH)
    return _code_form(request)


async def enter_code(request: AdminRequest) -> Response:
    """Complete the log-in with the code. If it took too long, the log-in begins again."""
    ticket, otp = request.cookies.read(request.http_request, TICKET_COOKIE), request.form.get("otp", "").strip()
    if not otp:
        return _code_form(request, 400, WRONG_CODE)
    try:
        token = await staff.log_in_with_code(request.context, ticket, otp, BACK_OFFICE)
    except Unauthenticated:
        return request.redirect(LOG_IN_PATH)
    except (WrongCredentials, InvalidInput):
        return _code_form(request, 400, WRONG_CODE)
    except TooManyRequests as error:
        return with_retry_after(_code_form(request, 429, TOO_MANY), error)
    kept = request.cookies.read(request.http_request, NEXT_COOKIE)
    response = enter(request, token, kept if _is_own(kept) else ROOT)
    request.cookies.delete(response, TICKET_COOKIE)
    request.cookies.delete(response, NEXT_COOKIE)
    return response


async def log_out(request: AdminRequest) -> Response:
    """End the log-in, and a look as a partner with it."""
    if request.view is not None:
        await end_view(request)
    if request.own_caller is not None:
        await staff.log_out(request.own_context)
    request.session_id = new_session_id()
    response = request.redirect(LOG_IN_PATH)
    request.cookies.delete(response, LOG_IN_COOKIE)
    return response


async def change_language(request: AdminRequest) -> Response:
    """Set the language, and lead back to the same page."""
    language = request.form.get("language", "")
    response = request.redirect(_next(request))
    if language in LANGUAGES:
        request.cookies.set_language(response, language)
    return response


def enter(request: AdminRequest, token: str, url: str = "") -> Response:
    """Begin the log-in of a token, and lead to a page, by default to the one that was asked for."""
    request.session_id = new_session_id()
    response = request.redirect(url or _next(request))
    request.cookies.set(response, LOG_IN_COOKIE, token, int(staff.LOGIN_LIFETIME.total_seconds()))
    return response


def _is_own(page: str) -> bool:
    return OWN_PAGE.fullmatch(page) is not None


def _next(request: AdminRequest) -> str:
    """The page of the back office that was asked for, else the first one."""
    asked = request.form.get("next") or request.http_request.query_params.get("next", "")
    return asked if _is_own(asked) else ROOT


def log_in_page(
    request: AdminRequest, status: int = 200, *, username: str = "", problem: str = "", ended: bool = False
) -> Response:
    """The log-in form."""
    return request.render(
        "sign_in/log_in.html",
        status,
        username=username[:LONGEST_NAME],
        problem=problem,
        ended=ended,
        next=_next(request),
        path=LOG_IN_PATH,
        forgot_path=FORGOT_PASSWORD_PATH,
        passkey_path=PASSKEY_PATH,
    )


def _code_form(request: AdminRequest, status: int = 200, problem: str = "") -> Response:
    return request.render("sign_in/code.html", status, problem=problem, path=LOG_IN_CODE_PATH, back=LOG_IN_PATH)
