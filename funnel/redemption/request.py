"""One request of somebody who works at a venue."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlencode

from starlette.responses import Response

from funnel.checkout.shops import Shop
from funnel.core.flash import Flash, Flashes
from funnel.core.messages import Ending
from funnel.core.page_request import FieldError, Guest, WayOut
from funnel.core.pages import HEADERS
from funnel.core.static_files import brand_path
from funnel.redemption.texts import ENDINGS, TO_START, error_text
from resolvers.account.staff import name_of
from resolvers.core.context import Caller, Context, Transport
from store.checkout.sessions import new_session_id
from store.core.codes import normal

ROOT = "/redeem/"
LOG_IN = f"{ROOT}log-in/"
LONGEST_CODE = 40
OWN_PAGE = re.compile(r"/redeem/(log-in/)?(\?code=[A-Za-z0-9%._~+-]{1,200})?")
WITH_CAMERA = HEADERS["Permissions-Policy"].replace("camera=()", "camera=(self)")


@dataclass
class Staff(Guest):
    """A request of somebody at a venue, logged in or not."""

    shop: Shop = field(kw_only=True)
    caller: Caller | None = field(kw_only=True)
    """Who is logged in; None: nobody, or not any more."""
    was_known: bool = field(kw_only=True)
    """Whether the browser has brought a log-in, good or not."""
    language_path = f"{ROOT}language/"
    name = ""
    """What whoever is logged in is called."""

    @cached_property
    def context(self) -> Context:
        """What operations are called with."""
        return Context(self.services, self.caller, self.request.state.request_id, self.address, Transport.VENUE)

    async def introduce(self) -> None:
        """Find out what whoever is logged in is called."""
        if self.caller is not None:
            self.name = await name_of(self.services, self.caller)

    @property
    def origin(self) -> str:
        """Scheme and host of this shop's pages, as browsers see them."""
        return f"{self.services.settings.funnel_scheme}://{self.shop.host}"

    @property
    def brand_sheet(self) -> str:
        """Where the style sheet with the shop's colours is."""
        return brand_path(self.shop.brand)

    @property
    def here(self) -> str:
        """The address to come back to after changing the language."""
        if self.request.method not in {"GET", "HEAD"}:
            return self.to_code(ROOT)
        return self.to_code(self.request.url.path if OWN_PAGE.fullmatch(self.request.url.path) else ROOT)

    @cached_property
    def code(self) -> str:
        """The code that this is about, as it is matched; empty without one."""
        given = self.form.get("code") or self.request.query_params.get("code", "")
        return code_in(given)

    def to_code(self, path: str = ROOT, **more: str) -> str:
        """The address of a page about this code."""
        query = ({"code": self.code} if self.code else {}) | more
        return path + (f"?{urlencode(query)}" if query else "")

    def to_log_in(self) -> Response:
        """Lead to the log-in, and from there back to this code."""
        return self.redirect(self.to_code(LOG_IN))

    def begin_anew(self) -> None:
        """Go on in another session: nobody who knew the one before, or left it in this browser, knows what comes after a log-in."""
        self.session_id = new_session_id()

    def once(self) -> str:
        """A new name for what a form of this page does, so that it is done once."""
        return token_urlsafe(16)

    @cached_property
    def flashes(self) -> Flashes:
        """The messages that wait for staff of this shop."""
        return Flashes(self.services.kv, self.shop.partner_id)

    async def leave(self, flash: Flash, **more: str) -> Response:
        """Leave a message for the page about this code, and lead there."""
        await self.flashes.leave(self._place, flash)
        return self.redirect(self.to_code(**more))

    async def left(self) -> Flash:
        """The message that was left for the page about this code."""
        return await self.flashes.take(self._place)

    @property
    def _place(self) -> str:
        return f"{self.session_id}:redeem:{self.code}"

    def problem(self, place: str, code: str) -> FieldError:
        """What to say about a field that is wrong."""
        return FieldError(place, error_text(place, code), {})

    def ending(self, ending: Ending, status: int) -> Response:
        """A page that is nothing but a message, with the way back to the start."""
        return self.message(ENDINGS[ending], [WayOut(self.to_code() if self.code else ROOT, TO_START)], status)

    def with_camera(self, response: Response) -> Response:
        """A page that may ask for the camera: no other may."""
        response.headers["Permissions-Policy"] = WITH_CAMERA
        return response


def code_in(given: str) -> str:
    """The code in what was typed, pasted or scanned, as it is matched: also in the whole address that is printed as a QR code.

    Empty where there is none, or what is given is longer than any code.
    """
    if "code=" in given:
        query = given.strip().partition("?")[2].partition("#")[0]
        given = parse_qs(query).get("code", [""])[0]
    code = normal(given[: 4 * LONGEST_CODE])
    return code if len(code) <= LONGEST_CODE else ""
