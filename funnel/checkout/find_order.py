"""The page of a shop where customers ask for the link to their order."""

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from resolvers.order.mailing import request_order_link
from schema.order.page import FIND_PATH

DIGITS = 9
LONGEST_EMAIL = 254


async def show(request: CheckoutRequest) -> Response:
    """The form; after it was sent, the one answer that it has."""
    return request.render("order/find.html", sent="sent" in request.http_request.query_params)


async def submit(request: CheckoutRequest) -> Response:
    """Send the link, if there is such an order. The answer is the same if there is none."""
    email, number = (request.form.get(name, "").strip() for name in ("email", "number"))
    number = number.removeprefix("#").strip()
    errors = [
        request.field_error(name, "REQUIRED") for name, typed in (("email", email), ("number", number)) if not typed
    ]
    if number and not (number.isascii() and number.isdecimal() and len(number) <= DIGITS):
        errors.append(request.field_error("number", "INVALID"))
    if email and ("@" not in email or len(email) > LONGEST_EMAIL):
        errors.append(request.field_error("email", "INVALID_EMAIL"))
    if errors:
        typed = {"email": email, "number": number}
        return request.render("order/find.html", 422, errors=errors, flash=None, sent=False, typed=typed)
    await request_order_link(request.context, email, int(number))
    return request.redirect(f"{FIND_PATH}?sent=1")
