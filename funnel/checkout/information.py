"""The second step: the buyer's details and the delivery address."""

import dataclasses
from collections.abc import Mapping

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from funnel.core.email_hints import is_hint_due, is_taken, with_suggestion
from funnel.core.flash import Flash
from funnel.core.forms import Form, shown_errors_of
from funnel.core.messages import error_text
from funnel.core.page_request import FieldError
from resolvers.checkout import steps as operations
from resolvers.checkout.billing import LENGTHS as COMPANY_LENGTHS
from resolvers.checkout.billing import PRESELECTED
from resolvers.checkout.buyer import LENGTHS, needs_address
from schema.checkout.checkout import Buyer, CheckoutStep
from schema.checkout.view import Checkout
from schema.core.errors import InvalidInput, Problem
from schema.validation.mail_domains import suggested_email

STEP, EMAIL = CheckoutStep.INFORMATION, "email"
PERSON = ("first_name", "last_name", "email", "phone")
ADDRESS = ("recipient_name", "address_line_1", "address_line_2", "postal_code", "city", "country")
FIELDS = (*PERSON, *ADDRESS, *COMPANY_LENGTHS, "message")
"""In the order of the page."""
LONGEST_TYPED = 2000
"""Maximum number of characters stored of a field to show it again. The operation validates the real limit."""


async def show(request: CheckoutRequest) -> Response:
    """Show the step with the known details; after an error, with the typed values."""
    checkout = await operations.open_checkout(request.context, request.key)
    if back := request.redirect_if_unreached(checkout, STEP):
        return back
    return _page(request, checkout, await request.take_flash())


async def preview(request: CheckoutRequest) -> Response:
    """Check the form and price its country without storing anything. Returns an HTML fragment for the script."""
    checkout = await operations.open_checkout(request.context, request.key)
    typed = _typed_values(request.form)
    buyer = dataclasses.replace(checkout.buyer or Buyer(), **typed)
    checkout, problems = await operations.preview_buyer(request.context, request.key, buyer)
    shown = shown_errors_of(request.form)
    wrong = [problem for problem in sorted(problems, key=_field_index) if str(problem.path[0]) in shown]
    return _page(request, checkout, Flash.of(wrong, typed), layout="piece.html")


def _typed_values(form: Form) -> dict[str, str]:
    form = with_suggestion(form, EMAIL)
    return {name: form[name][:LONGEST_TYPED] for name in LENGTHS if name in form}


def _page(request: CheckoutRequest, checkout: Checkout, flash: Flash, layout: str = "layout.html") -> Response:
    delivery = checkout.delivery
    buyer = checkout.buyer or Buyer()
    shown = {name: flash.fields.get(name, getattr(buyer, name)) for name in LENGTHS}
    shown["country"] = shown["country"] or checkout.country or request.shop.country
    home = needs_buyer_address(checkout)
    has_company = any(shown[name] for name in COMPANY_LENGTHS if name != PRESELECTED)
    if not home:
        shown["billing_country"] = shown["billing_country"] or shown["country"]
    return request.render(
        "information.html",
        errors=[_field_error(place, code, shown) for place, code in flash.problems],
        checkout=checkout,
        company_shown=has_company or any(place in COMPANY_LENGTHS for place, _ in flash.problems),
        current=STEP,
        delivery=delivery,
        flash=flash,
        home=home,
        layout=layout,
        asks_for_message=request.storefront.section is None,
        limits=LENGTHS,
        values=shown,
        suggestion=suggested_email(flash.fields.get(EMAIL, ""), request.shop.country),
    )


def _field_error(place: str, code: str, shown: Mapping[str, str]) -> FieldError:
    country = shown["billing_country" if place in COMPANY_LENGTHS else "country"]
    return FieldError(place, *error_text(place, code, country))


async def identify(request: CheckoutRequest) -> Response:
    """Store the buyer's details. Fields that this page does not show are unchanged."""
    checkout = await operations.open_checkout(request.context, request.key)
    if back := request.redirect_if_unreached(checkout, STEP):
        return back
    typed = _typed_values(request.form)
    if is_taken(request.form, EMAIL):  # the customer sees it in its field before going on
        return await request.redirect_with_errors(STEP, Flash(fields=typed), EMAIL)
    buyer = dataclasses.replace(checkout.buyer or Buyer(), **typed)
    try:
        await operations.identify_buyer(request.context, request.key, buyer)
    except InvalidInput as error:
        return await request.redirect_with_errors(STEP, Flash.of(sorted(error.problems, key=_field_index), typed))
    if is_hint_due(request.form, EMAIL, request.shop.country):
        return await request.redirect_with_errors(STEP, Flash(fields=typed), EMAIL)
    return request.redirect_to_step(CheckoutStep.PAYMENT)


def needs_buyer_address(checkout: Checkout) -> bool:
    """True if the order is sent to an address that the buyer enters."""
    return needs_address(checkout.delivery)


def _field_index(problem: Problem) -> int:
    return FIELDS.index(str(problem.path[0]))
