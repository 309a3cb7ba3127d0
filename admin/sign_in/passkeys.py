"""Passkeys: logging in with one, and those of the user. They need a script, as browsers offer them to scripts only."""

from starlette.responses import JSONResponse, Response

from admin.core.paths import ACCOUNT_PATH
from admin.core.request import AdminRequest
from admin.sign_in.account import account_page, id_of, wrong_proof
from admin.sign_in.log_in import TOO_MANY, enter, log_in_page
from funnel.core.messages import N_
from funnel.core.page_handler import with_retry_after
from resolvers.account import staff
from resolvers.account.passkeys import NOT_USABLE
from resolvers.account.staff import BACK_OFFICE
from schema.core.errors import InvalidInput, TooManyRequests, WrongCredentials

NO_STORE = {"Cache-Control": "no-store"}
LONGEST = 20_000
REFUSED = N_("This passkey was not accepted. Try again, or log in with your password.")
NOT_REGISTERED = N_("The passkey could not be registered. Try again.")


async def show_options(request: AdminRequest) -> Response:
    """What the browser needs to log in, as JSON."""
    answer = await request.run("query { passkeyOptions { options } }")
    return Response(answer.only("passkeyOptions")["options"], 200, NO_STORE, "application/json")


async def log_in(request: AdminRequest) -> Response:
    """Log in with the browser's answer, and lead to the page that was asked for."""
    try:
        token = await staff.log_in_with_passkey(
            request.context, request.form.get("credential", "")[:LONGEST], BACK_OFFICE
        )
    except (WrongCredentials, InvalidInput):
        return log_in_page(request, 400, problem=REFUSED)
    except TooManyRequests as error:
        return with_retry_after(log_in_page(request, 429, problem=TOO_MANY), error)
    return enter(request, token)


async def begin(request: AdminRequest) -> Response:
    """What the browser needs to make a passkey, as JSON, for whoever knows the password and has the second factor."""
    input = {"password": request.form.get("password", ""), "otp": request.form.get("otp", "").strip()}
    try:
        payload = await request.change("beginPasskey", input, "passkeyOptions { options }")
    except TooManyRequests as error:
        return with_retry_after(_problem(request, TOO_MANY, 429), error)
    if payload["userErrors"]:
        return _problem(request, wrong_proof(payload))
    return Response(payload["passkeyOptions"]["options"], 200, NO_STORE, "application/json")


async def register(request: AdminRequest) -> Response:
    """Register the passkey that the browser has made."""
    input = {"name": request.form.get("name", "").strip(), "credential": request.form.get("credential", "")}
    payload = await request.change("registerPasskey", input, "passkey { id }")
    if payload["userErrors"]:
        told = payload["userErrors"][0]["message"]
        return await account_page(request, 400, NOT_REGISTERED if told == NOT_USABLE else told)
    return request.redirect(ACCOUNT_PATH)


async def delete(request: AdminRequest) -> Response:
    """Delete one of the user's passkeys."""
    id = id_of(request.form.get("id", ""))
    if id is not None:
        await request.change("deletePasskey", {"id": id}, "passkey { id }")
    return request.redirect(ACCOUNT_PATH)


def _problem(request: AdminRequest, text: str, status: int = 400) -> Response:
    """What the script shows."""
    return JSONResponse({"problem": request.translate(text)}, status, NO_STORE)
