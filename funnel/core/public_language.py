"""Changes the language of pages for holders of a link; the browser stores it in a cookie."""

import re

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.messages import PUBLIC_ERROR_PAGES, TRY_AGAIN, ErrorPage
from funnel.core.page_request import PageLink
from funnel.core.public_pages import PublicRequest, PublicSite
from schema.validation.languages import LANGUAGES

OWN_PAGE = re.compile(r"/(onboarding|k|legal|network|orders|pay)/[A-Za-z0-9._-]{1,500}/?(return/|leaving/)?")


class LanguageSite(PublicSite[PublicRequest]):
    """Processes the form that changes the language. Its path does not reveal the link."""

    async def build_request(self, request: Request) -> PublicRequest:
        return self.anonymous_request(request)

    def render_error(self, page_request: PublicRequest, ending: ErrorPage, status: int) -> Response:
        """The error page, with a link to the page that contained the form."""
        here = page_request.form.get("next", "")
        ways = [PageLink(here, TRY_AGAIN)] if OWN_PAGE.fullmatch(here) else []
        return page_request.render_message(PUBLIC_ERROR_PAGES[ending], ways, status)


async def change(request: PublicRequest) -> Response:
    """Set the language cookie and redirect to the same page."""
    here = request.form.get("next", "")
    if not OWN_PAGE.fullmatch(here):
        return request.render_message(PUBLIC_ERROR_PAGES[ErrorPage.NOT_FOUND], status=404)
    response = request.redirect(here)
    language = request.form.get("language", "")
    if language in LANGUAGES:
        request.cookies.set_language(response, language)
    return response
