"""Another language for the pages at the service's own address, kept in the browser."""

import re

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.messages import PUBLIC_ENDINGS, TRY_AGAIN, Ending
from funnel.core.page_request import WayOut
from funnel.core.public_pages import Holder, PublicDesk
from schema.validation.languages import LANGUAGES

OWN_PAGE = re.compile(r"/(onboarding|k)/[A-Za-z0-9._-]{1,500}/?(return/|leaving/)?")


class LanguageDesk(PublicDesk[Holder]):
    """Takes the form that changes the language, from whatever page: its address tells nothing of the link."""

    async def guest(self, request: Request) -> Holder:
        """Anybody."""
        return self.nobody(request)

    def ended(self, guest: Holder, ending: Ending, status: int) -> Response:
        """The page for an error, with the way back to where the form was."""
        here = guest.form.get("next", "")
        ways = [WayOut(here, TRY_AGAIN)] if OWN_PAGE.fullmatch(here) else []
        return guest.message(PUBLIC_ENDINGS[ending], ways, status)


async def change(holder: Holder) -> Response:
    """Remember the language, and show the same page in it."""
    here = holder.form.get("next", "")
    if not OWN_PAGE.fullmatch(here):
        return holder.message(PUBLIC_ENDINGS[Ending.NOT_FOUND], status=404)
    response = holder.redirect(here)
    language = holder.form.get("language", "")
    if language in LANGUAGES:
        holder.cookies.keep_language(response, language)
    return response
