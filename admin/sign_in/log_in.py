"""Log-in and log-out."""

import re

from starlette.responses import Response

from admin.core.handler import LOG_IN_COOKIE
from admin.core.paths import LOG_IN_PATH, ROOT
from admin.core.request import AdminRequest
from funnel.core.messages import N_
from resolvers.account.staff import LOGIN_LIFETIME
from resolvers.account.tokens import obtain_token, revoke_token
from schema.account.token import ObtainToken, RevokeToken
from schema.core.errors import InvalidInput, TooManyRequests, WrongCredentials
from schema.validation.languages import LANGUAGES
from store.core.session_ids import new_session_id

LONGEST = 254
OWN_PAGE = re.compile(r"/admin/(?:[A-Za-z0-9_.~-]+/)*(?:\?[A-Za-z0-9%._~+&=-]{0,1800})?")
LABEL = "Back office"
WRONG = N_("The user name or the password is wrong.")
TOO_MANY = N_("Too many attempts. Wait a moment, then try again.")


async def show(request: AdminRequest) -> Response:
    """Show the log-in form. A logged-in user is led on."""
    if request.caller is not None:
        return request.redirect(_next(request))
    return _form(request, ended=request.had_cookie)


async def log_in(request: AdminRequest) -> Response:
    """Log in, and lead to the page that was asked for."""
    username, password = request.form.get("username", "")[:1000], request.form.get("password", "")[:1000]
    hours = int(LOGIN_LIFETIME.total_seconds()) // 3600
    try:
        issued = await obtain_token(
            request.context, ObtainToken(username=username, password=password, label=LABEL, hours=hours)
        )
    except (WrongCredentials, InvalidInput):
        return _form(request, 400, username=username, problem=WRONG)
    except TooManyRequests as error:
        response = _form(request, 429, username=username, problem=TOO_MANY)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    request.session_id = new_session_id()
    response = request.redirect(_next(request))
    request.cookies.set(response, LOG_IN_COOKIE, issued.token, int(LOGIN_LIFETIME.total_seconds()))
    return response


async def log_out(request: AdminRequest) -> Response:
    """End the log-in."""
    if request.caller is not None:
        await revoke_token(request.context, RevokeToken())
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


def _next(request: AdminRequest) -> str:
    """The page of the back office that was asked for, else the first one."""
    asked = request.form.get("next") or request.http_request.query_params.get("next", "")
    return asked if OWN_PAGE.fullmatch(asked) and not asked.startswith(LOG_IN_PATH) else ROOT


def _form(
    request: AdminRequest, status: int = 200, *, username: str = "", problem: str = "", ended: bool = False
) -> Response:
    return request.render(
        "log_in.html",
        status,
        username=username[:LONGEST],
        problem=problem,
        ended=ended,
        next=_next(request),
        path=LOG_IN_PATH,
    )
