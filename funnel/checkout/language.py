"""Changes the language of the pages; the browser stores it in a cookie."""

import re

from starlette.responses import Response

from funnel.checkout.request import CheckoutRequest
from schema.checkout.checkout import CheckoutStep
from schema.validation.languages import LANGUAGES

OWN_PAGE = re.compile(r"/(?!/)[A-Za-z0-9/?&=.,~+%_-]*")
"""The path of any page on the same host."""


async def change(request: CheckoutRequest) -> Response:
    """Set the language cookie and redirect to the same page."""
    here = request.form.get("next", "")
    response = (
        request.redirect(here) if OWN_PAGE.fullmatch(here) else request.redirect_to_step(CheckoutStep.CUSTOMIZATION)
    )
    language = request.form.get("language", "")
    if language in LANGUAGES:
        request.cookies.set_language(response, language)
    return response
