"""The requests, the templates and the headers of previewed pages: they are seen within the back office, and cannot be used."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.brand_sheets import look_path
from funnel.core.page_request import PageRequest
from funnel.core.pages import HEADERS, PageTemplates
from funnel.shop.handler import ShopPageRequest
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.partner.sites import Shop

SCRIPT = re.compile(r'<script type="module"[^>]*></script>')
POLICY = HEADERS["Content-Security-Policy"]
IN_FRAMES = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
"""The policy of a previewed page: it is shown within pages of the back office."""
WITH_FRAMES = f"{POLICY}; frame-src 'self'"
"""The policy of a page with a preview."""


@dataclass
class PreviewRequest(ShopPageRequest):
    """A request of a page of a shop by staff. It has no basket, and its colours need no host."""

    has_basket = False

    @cached_property
    def context(self) -> Context:
        return preview_context(self, self.shop)

    @property
    def brand_sheet(self) -> str:
        return look_path(self.shop.brand)


def preview_context(request: PageRequest, shop: Shop) -> Context:
    """The context of operations for whoever looks at what a shop does not show yet."""
    caller = Caller.preview(shop.partner_id, shop.marketplace_id)
    request_id: str = request.http_request.state.request_id
    return Context(request.services, caller, request_id, request.client_ip, Transport.BACK_OFFICE)


class PreviewTemplates(PageTemplates):
    """The templates of shops. Their pages can be seen, but not used: their addresses are those of the shop's host."""

    def markup(self, language: str, template: str, values: Mapping[str, Any]) -> str:
        html = SCRIPT.sub("", super().markup(language, template, values))
        return html.replace("<body", "<body inert", 1)

    def render(self, request: Request, language: str, template: str, status: int = 200, /, **values: Any) -> Response:
        response = super().render(request, language, template, status, **values)
        response.headers.update({"Content-Security-Policy": IN_FRAMES, "X-Robots-Tag": "noindex"})
        return response


@functools.cache
def preview_templates(*, reload: bool) -> PreviewTemplates:
    return PreviewTemplates(reload=reload)
