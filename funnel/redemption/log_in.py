"""Logging in and out at a venue."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.redemption.handler import KEPT
from funnel.redemption.request import LOG_IN, OWN_PAGE, ROOT, Staff
from resolvers.account import staff as sessions
from schema.core.errors import InvalidInput, TooManyRequests, WrongCredentials
from schema.validation.languages import LANGUAGES

LONGEST = 254
ENDED = "ENDED"


async def show(staff: Staff) -> Response:
    """The form; whoever is logged in already goes on."""
    if staff.caller is not None:
        return staff.redirect(staff.to_code())
    return _form(staff, Flash(), 200, ended=staff.was_known)


async def log_in(staff: Staff) -> Response:
    """Log in, and go on to the code that was asked for."""
    username, password = staff.form.get("username", ""), staff.form.get("password", "")
    wrong = [(name, "REQUIRED") for name in ("username", "password") if not staff.form.get(name, "").strip()]
    if wrong:
        return _form(staff, Flash(tuple(wrong), {"username": username[:LONGEST]}), 400)
    try:
        secret = await sessions.log_in(
            staff.context, username[:1000], password[:1000], staff.shop.partner_id, staff.shop.marketplace_id
        )
    except (WrongCredentials, InvalidInput):
        return _form(staff, Flash((("username", "WRONG"),), {"username": username[:LONGEST]}), 400)
    except TooManyRequests as error:
        response = _form(staff, Flash((("username", "TOO_MANY_REQUESTS"),), {"username": username[:LONGEST]}), 429)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    staff.begin_anew()
    response = staff.redirect(staff.to_code())
    staff.cookies.keep(response, KEPT, secret, int(sessions.LIFE.total_seconds()))
    return response


async def log_out(staff: Staff) -> Response:
    """End the log-in, here and wherever its token was taken to."""
    if staff.caller is not None:
        await sessions.log_out(staff.context)
    staff.begin_anew()
    response = staff.redirect(LOG_IN)
    staff.cookies.forget(response, KEPT)
    return response


async def change_language(staff: Staff) -> Response:
    """Remember the language, and show the same page in it."""
    here, language = staff.form.get("next", ""), staff.form.get("language", "")
    response = staff.redirect(here if OWN_PAGE.fullmatch(here) else ROOT)
    if language in LANGUAGES:
        staff.cookies.keep_language(response, language)
    return response


def _form(staff: Staff, flash: Flash, status: int, *, ended: bool = False) -> Response:
    return staff.page("redeem/log_in.html", status, flash=flash, ended=ended, path=LOG_IN)
