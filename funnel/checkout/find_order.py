"""The page of a shop where customers ask for the link to their order."""

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from funnel.core.email_hints import is_hint_due, is_taken, with_suggestion
from funnel.core.page_request import FieldError
from resolvers.order.mailing import request_order_link
from schema.order.page import FIND_PATH
from schema.validation.mail_domains import suggested_email

DIGITS = 9
LONGEST_EMAIL = 254


async def show(request: CheckoutRequest) -> Response:
    """The form; after it was sent, the one answer that it has."""
    return _page(request, is_sent="sent" in request.http_request.query_params)


async def submit(request: CheckoutRequest) -> Response:
    """Send the link, if there is such an order. The answer is the same if there is none."""
    form = with_suggestion(request.form, "email")
    email, number = (form.get(name, "").strip() for name in ("email", "number"))
    number = number.removeprefix("#").strip()
    errors = [
        request.field_error(name, "REQUIRED") for name, typed in (("email", email), ("number", number)) if not typed
    ]
    if number and not (number.isascii() and number.isdecimal() and len(number) <= DIGITS):
        errors.append(request.field_error("number", "INVALID"))
    if email and ("@" not in email or len(email) > LONGEST_EMAIL):
        errors.append(request.field_error("email", "INVALID_EMAIL"))
    typed = {"email": email, "number": number}
    if errors:
        return _page(request, 422, errors=errors, typed=typed)
    if is_taken(form, "email") or is_hint_due({**form, **typed}, "email", request.shop.country):
        return _page(request, typed=typed)
    await request_order_link(request.context, email, int(number))
    return request.redirect(f"{FIND_PATH}?sent=1")


def _page(
    request: CheckoutRequest,
    status: int = 200,
    *,
    errors: Sequence[FieldError] = (),
    typed: Mapping[str, str] | None = None,
    is_sent: bool = False,
) -> Response:
    typed = typed or {}
    suggestion = suggested_email(typed.get("email", ""), request.shop.country)
    return request.render(
        "order/find.html", status, errors=errors, flash=None, sent=is_sent, typed=typed, suggestion=suggestion
    )
