"""Another language for the pages, kept in the browser."""

import re

from starlette.responses import Response

from funnel.visit import Visit
from schema.checkout import Step
from schema.languages import LANGUAGES

BELOW = re.compile(r"/[A-Za-z0-9/?&=._-]*")


async def change(visit: Visit) -> Response:
    """Remember the language, and show the same page in it."""
    here, root = visit.form.get("next", ""), visit.counter.root
    ours = here.startswith(root) and BELOW.fullmatch(here.removeprefix(root))
    response = visit.redirect(here) if ours else visit.to(Step.CUSTOMIZATION)
    language = visit.form.get("language", "")
    if language in LANGUAGES:
        visit.cookies.keep_language(response, language)
    return response
