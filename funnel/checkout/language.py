"""Another language for the pages, kept in the browser."""

import re

from starlette.responses import Response

from funnel.checkout.request import Visit
from schema.checkout.checkout import Step
from schema.validation.languages import LANGUAGES

OWN_PAGE = re.compile(r"/(?!/)[A-Za-z0-9/?&=.,~+%_-]*")
"""An address on the same host, whatever page it is of."""


async def change(visit: Visit) -> Response:
    """Remember the language, and show the same page in it."""
    here = visit.form.get("next", "")
    response = visit.redirect(here) if OWN_PAGE.fullmatch(here) else visit.to(Step.CUSTOMIZATION)
    language = visit.form.get("language", "")
    if language in LANGUAGES:
        visit.cookies.keep_language(response, language)
    return response
