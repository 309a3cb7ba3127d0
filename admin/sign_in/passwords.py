"""A forgotten password, and choosing one with the link of a message."""

from starlette.responses import Response

from admin.core.paths import FORGOT_PASSWORD_PATH, LOG_IN_PATH, RESET_PASSWORD_PATH
from admin.core.request import AdminRequest
from admin.sign_in.log_in import TOO_MANY
from funnel.core.messages import N_
from funnel.core.page_handler import with_retry_after
from resolvers.account.links import needs_invitation
from schema.core.errors import TooManyRequests

LINK_OVER = "LINK_OVER"
NO_NAME = N_("Enter your user name or your e-mail address.")
WEAK = N_("A password has at least 12 characters.")


async def show_forgotten(request: AdminRequest) -> Response:
    """Show the form that asks for a link."""
    return _forgotten(request)


async def send_link(request: AdminRequest) -> Response:
    """Send a link to choose a new password. The answer never tells whether there is such a user."""
    input = {"username": request.form.get("username", "").strip(), "language": request.language}
    try:
        payload = await request.change("requestPasswordReset", input, "passwordResetRequest { minutes }")
    except TooManyRequests as error:
        return with_retry_after(_forgotten(request, 429, TOO_MANY), error)
    if payload["userErrors"]:
        return _forgotten(request, 400, NO_NAME)
    return request.render(
        "sign_in/link_sent.html", minutes=payload["passwordResetRequest"]["minutes"], back=LOG_IN_PATH
    )


async def show_choice(request: AdminRequest) -> Response:
    """Show the form to choose a password, to whoever has the link."""
    return await _choice(request, request.http_request.query_params.get("token", ""))


async def choose(request: AdminRequest) -> Response:
    """Set the chosen password, and lead to the log-in."""
    token = request.form.get("token", "")
    input = {"token": token, "newPassword": request.form.get("password", "")}
    try:
        payload = await request.change("resetPassword", input, "accountLink { username }")
    except TooManyRequests as error:
        return with_retry_after(await _choice(request, token, 429, TOO_MANY), error)
    if any(error["code"] == LINK_OVER for error in payload["userErrors"]):
        return await _over(request, token)
    if payload["userErrors"]:
        return await _choice(request, token, 400, WEAK)
    return request.render("sign_in/password_chosen.html", path=LOG_IN_PATH)


async def _choice(request: AdminRequest, token: str, status: int = 200, problem: str = "") -> Response:
    document = "query($token: String!) { accountLink(token: $token) { kind username firstName } }"
    answer = await request.run(document, {"token": token})
    link = answer.data.get("accountLink")
    if link is None:
        return await _over(request, token)
    return request.render(
        "sign_in/choose_password.html", status, link=link, token=token, problem=problem, path=RESET_PASSWORD_PATH
    )


def _forgotten(request: AdminRequest, status: int = 200, problem: str = "") -> Response:
    return request.render(
        "sign_in/forgotten.html", status, problem=problem, path=FORGOT_PASSWORD_PATH, back=LOG_IN_PATH
    )


async def _over(request: AdminRequest, token: str) -> Response:
    """The page of a link that was used or has expired. Who was invited and has no password cannot ask for a new one."""
    is_invited = await needs_invitation(request.services, token)
    return request.render("sign_in/link_over.html", 410, forgot_path=FORGOT_PASSWORD_PATH, needs_invitation=is_invited)
