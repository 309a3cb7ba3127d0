"""The request of staff at a venue."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlencode

from starlette.responses import Response

from funnel.core.brand_sheets import brand_path
from funnel.core.flash import Flash, Flashes
from funnel.core.messages import ErrorPage
from funnel.core.page_request import FieldError, PageLink, PageRequest
from funnel.core.pages import HEADERS
from funnel.redemption.texts import ERROR_PAGES, TO_START, error_text
from resolvers.account.staff import StaffSite, display_name_of, venue_site
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.partner.sites import Shop
from store.core.codes import normalize
from store.core.session_ids import new_session_id

ROOT = "/redeem/"
LOG_IN_PATH = f"{ROOT}log-in/"
LOG_IN_CODE_PATH = f"{LOG_IN_PATH}code/"
LONGEST_CODE = 40
OWN_PAGE = re.compile(r"/redeem/(log-in/(code/)?)?(\?code=[A-Za-z0-9%._~+-]{1,200})?")
PERMISSIONS_WITH_CAMERA = HEADERS["Permissions-Policy"].replace("camera=()", "camera=(self)")


@dataclass
class RedemptionRequest(PageRequest):
    """The request of staff at a venue, logged in or not."""

    shop: Shop = field(kw_only=True)
    caller: Caller | None = field(kw_only=True)
    """The logged-in user; None without a valid log-in."""
    had_cookie: bool = field(kw_only=True)
    """True if the browser sent a log-in cookie, valid or not."""
    language_path = f"{ROOT}language/"
    name = ""
    """The display name of the logged-in user."""

    @cached_property
    def context(self) -> Context:
        return Context(
            self.services,
            self.caller,
            self.http_request.state.request_id,
            self.client_ip,
            Transport.VENUE,
            user_agent=self.http_request.headers.get("user-agent", ""),
        )

    @property
    def site(self) -> StaffSite:
        """Who may log in here."""
        return venue_site(self.shop.partner_id, self.shop.marketplace_id)

    async def load_name(self) -> None:
        """Load the display name of the logged-in user."""
        if self.caller is not None:
            self.name = await display_name_of(self.services, self.caller)

    @property
    def origin(self) -> str:
        """Scheme and host of this shop's pages, as browsers see them."""
        return f"{self.services.settings.funnel_scheme}://{self.shop.host}"

    @property
    def brand_sheet(self) -> str:
        """The URL of the style sheet with the shop's colours."""
        return brand_path(self.shop.brand)

    @property
    def next_url(self) -> str:
        """The URL to return to after a change of language."""
        if self.http_request.method not in {"GET", "HEAD"}:
            return self.code_url(ROOT)
        return self.code_url(self.http_request.url.path if OWN_PAGE.fullmatch(self.http_request.url.path) else ROOT)

    @cached_property
    def code(self) -> str:
        """The normalized code of this request; empty without one."""
        text = self.form.get("code") or self.http_request.query_params.get("code", "")
        return parse_code(text)

    def code_url(self, path: str = ROOT, **more: str) -> str:
        """The URL of a page about this code."""
        query = ({"code": self.code} if self.code else {}) | more
        return path + (f"?{urlencode(query)}" if query else "")

    def redirect_to_login(self) -> Response:
        """Redirect to the log-in form, which then leads back to this code."""
        return self.redirect(self.code_url(LOG_IN_PATH))

    def rotate_session(self) -> None:
        """Start a new session id, so that an earlier one gives no access after a log-in or log-out."""
        self.session_id = new_session_id()

    def new_form_key(self) -> str:
        """An idempotency key for a form of this page."""
        return token_urlsafe(16)

    @cached_property
    def flashes(self) -> Flashes:
        """The flash messages of this shop."""
        return Flashes(self.services.kv, self.shop.partner_id)

    async def redirect_with_flash(self, flash: Flash, **more: str) -> Response:
        """Store a message for this code's page and redirect there."""
        await self.flashes.put(self._flash_key, flash)
        return self.redirect(self.code_url(**more))

    async def take_flash(self) -> Flash:
        """Return and delete the message for this code's page."""
        return await self.flashes.take(self._flash_key)

    @property
    def _flash_key(self) -> str:
        return f"{self.session_id}:redeem:{self.code}"

    def field_error(self, place: str, code: str) -> FieldError:
        return FieldError(place, error_text(place, code), {})

    def render_error(self, ending: ErrorPage, status: int) -> Response:
        """An error page with a link to the start."""
        return self.render_message(
            ERROR_PAGES[ending], [PageLink(self.code_url() if self.code else ROOT, TO_START)], status
        )

    def with_camera(self, response: Response) -> Response:
        """Allow the page to use the camera. Other pages may not."""
        response.headers["Permissions-Policy"] = PERMISSIONS_WITH_CAMERA
        return response


def parse_code(text: str) -> str:
    """The normalized code in a typed, pasted or scanned text, which may be the URL in a QR code.

    Empty if there is none or if it is longer than any code.
    """
    if "code=" in text:
        query = text.strip().partition("?")[2].partition("#")[0]
        text = parse_qs(query).get("code", [""])[0]
    code = normalize(text[: 4 * LONGEST_CODE])
    return code if len(code) <= LONGEST_CODE else ""
