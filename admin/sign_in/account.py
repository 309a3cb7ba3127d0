"""The account of the user: log-ins, the password, the second factor."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from admin.core.paths import ACCOUNT_PATH, PASSKEYS_PATH, SECOND_FACTOR_PATH
from admin.core.request import AdminRequest
from admin.core.values import Cell
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at, object_type
from admin.sign_in.log_in import TOO_MANY
from funnel.core.messages import N_
from funnel.core.page_handler import with_retry_after
from schema.core.errors import NotFound, SecondFactorActive, TooManyRequests

ACCOUNT = """query {
    me { user { username firstName email hasSecondFactor recoveryCodesLeft } token { id } }
    passkeys { id name createdOn lastUsedOn }
    sessions { id kind label hint userAgent address createdOn lastUsedOn expiresOn }
}"""
SESSIONS = "query { sessions { id kind label hint createdOn lastUsedOn expiresOn } }"
API = "API"
LOG_IN_COLUMNS = "label", "userAgent", "address", "lastUsedOn", "expiresOn"
TOKEN_COLUMNS = "label", "hint", "createdOn", "lastUsedOn", "expiresOn"
LARGEST = 2**31 - 1
QUIET_ZONE = 2
WRONG_CODE = N_("This code is wrong, or was used already.")
WRONG_PASSWORD = N_("The password is wrong.")
ON_ALREADY = N_("Your second factor is on already. If you do not have its recovery codes, make new ones here.")


async def show(request: AdminRequest) -> Response:
    """Show the account."""
    return await account_page(request)


async def end_session(request: AdminRequest) -> Response:
    """End one of the user's log-ins, or revoke one of the tokens."""
    id = id_of(request.form.get("id", ""))
    if id is not None:
        payload = await request.change("revokeToken", {"id": id}, "token { id }")
        if payload["userErrors"]:
            return await account_page(request, 400, payload["userErrors"][0]["message"])
    return request.redirect(ACCOUNT_PATH)


async def confirm_revocation(request: AdminRequest) -> Response:
    """Ask whether one of the user's API tokens is to be revoked: the program that uses it stops working."""
    tokens = _api_tokens((await request.run(SESSIONS)).only("sessions"))
    token = next((it for it in tokens if str(it["id"]) == request.http_request.path_params["id"]), None)
    if token is None:
        raise NotFound(thing="token")
    cells = zip(TOKEN_COLUMNS, _cells(request, token, TOKEN_COLUMNS), strict=True)
    return request.render(
        "sign_in/revoke_token.html",
        token=token,
        facts=[{"label": label_of(name), "cell": cell} for name, cell in cells if cell.kind != "empty"],
        path=f"{ACCOUNT_PATH}sessions/end/",
        back=ACCOUNT_PATH,
    )


async def end_other_sessions(request: AdminRequest) -> Response:
    """End all log-ins but this one."""
    await request.change("revokeOtherSessions", {}, "count")
    return request.redirect(ACCOUNT_PATH)


async def set_up(request: AdminRequest) -> Response:
    """Begin a second factor: show what the authenticator app needs, and ask for a code."""
    input = {"password": request.form.get("password", "")}
    try:
        payload = await request.change("setUpSecondFactor", input, "secondFactorSetup { secret otpauthUrl }")
    except TooManyRequests as error:
        return with_retry_after(await account_page(request, 429, TOO_MANY), error)
    if _is_on_already(payload):
        return await account_page(request, 409, ON_ALREADY)
    if payload["userErrors"]:
        return await account_page(request, 400, WRONG_PASSWORD)
    setup = payload["secondFactorSetup"]
    return _set_up_form(request, secret=setup["secret"], drawing=_drawing(setup["otpauthUrl"]))


async def confirm(request: AdminRequest) -> Response:
    """Turn the second factor on, and show the recovery codes. After a wrong code, the secret is not shown again: the app
    has it.
    """
    input = {"otp": request.form.get("otp", "").strip()}
    payload = await request.change("confirmSecondFactor", input, "recoveryCodes { codes }")
    if _is_on_already(payload):
        return await account_page(request, 409, ON_ALREADY)
    if payload["userErrors"]:
        return _set_up_form(request, 400, WRONG_CODE)
    return request.render("sign_in/recovery_codes.html", codes=payload["recoveryCodes"]["codes"], back=ACCOUNT_PATH)


async def renew_codes(request: AdminRequest) -> Response:
    """Replace the recovery codes, and show the new ones."""
    input = {"otp": request.form.get("otp", "").strip()}
    try:
        payload = await request.change("renewRecoveryCodes", input, "recoveryCodes { codes }")
    except TooManyRequests as error:
        return with_retry_after(await account_page(request, 429, TOO_MANY), error)
    if payload["userErrors"]:
        return await account_page(request, 400, WRONG_CODE)
    return request.render("sign_in/recovery_codes.html", codes=payload["recoveryCodes"]["codes"], back=ACCOUNT_PATH)


async def disable(request: AdminRequest) -> Response:
    """Turn the second factor off."""
    input = {"password": request.form.get("password", ""), "otp": request.form.get("otp", "").strip()}
    try:
        payload = await request.change("disableSecondFactor", input, "user { id }")
    except TooManyRequests as error:
        return with_retry_after(await account_page(request, 429, TOO_MANY), error)
    if payload["userErrors"]:
        return await account_page(request, 400, wrong_proof(payload))
    return request.redirect(ACCOUNT_PATH)


def id_of(text: str) -> int | None:
    """The id that a form has; None if it cannot be one."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    return int(text) if is_number and int(text) <= LARGEST else None


def wrong_proof(payload: Mapping[str, Any]) -> str:
    """What is wrong: the password, or the code of the second factor."""
    return WRONG_CODE if payload["userErrors"][0]["field"] == ["otp"] else WRONG_PASSWORD


async def account_page(request: AdminRequest, status: int = 200, problem: str = "") -> Response:
    """The account, with what is wrong with a form."""
    answer = await request.run(ACCOUNT)
    me, sessions = answer.only("me"), answer.only("sessions")
    log_ins = [each for each in sessions if each["kind"] != API]
    return request.render(
        "sign_in/account.html",
        status,
        here="account",
        user=me["user"],
        this=me["token"]["id"],
        log_ins=[(each["id"], _cells(request, each, LOG_IN_COLUMNS)) for each in log_ins],
        tokens=[(each["id"], _cells(request, each, TOKEN_COLUMNS)) for each in _api_tokens(sessions)],
        log_in_columns=LOG_IN_COLUMNS,
        token_columns=TOKEN_COLUMNS,
        passkeys=[(each, _passkey_cells(request, each)) for each in answer.only("passkeys")],
        passkey_path=PASSKEYS_PATH,
        problem=problem,
        path=ACCOUNT_PATH,
        factor_path=SECOND_FACTOR_PATH,
    )


def _api_tokens(sessions: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [each for each in sessions if each["kind"] == API]


def _cells(request: AdminRequest, session: Mapping[str, Any], columns: Sequence[str]) -> Sequence[Cell]:
    kind = object_type("Token")
    return [request.reader.cell(name, field_at(kind, name), session[name]) for name in columns]


def _passkey_cells(request: AdminRequest, passkey: Mapping[str, Any]) -> Sequence[Cell]:
    kind = object_type("Passkey")
    return [request.reader.cell(name, field_at(kind, name), passkey[name]) for name in ("createdOn", "lastUsedOn")]


def _is_on_already(payload: Mapping[str, Any]) -> bool:
    return any(error["code"] == SecondFactorActive.code() for error in payload["userErrors"])


def _drawing(url: str) -> Markup:
    """The QR code of a URL that the service has made."""
    import segno

    drawing = io.BytesIO()
    segno.make_qr(url).save(
        drawing, kind="svg", border=QUIET_ZONE, scale=5, xmldecl=False, svgns=False, light="#fff", nl=False
    )
    return Markup(drawing.getvalue().decode())  # noqa: S704 - drawn here


def _set_up_form(
    request: AdminRequest, status: int = 200, problem: str = "", *, secret: str = "", drawing: str = ""
) -> Response:
    return request.render(
        "sign_in/second_factor.html",
        status,
        secret=secret,
        drawing=drawing,
        problem=problem,
        path=f"{SECOND_FACTOR_PATH}confirm/",
        back=ACCOUNT_PATH,
    )
