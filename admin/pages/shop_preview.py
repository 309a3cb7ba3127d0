"""Pages of a shop as its customers will see them: with a look that is typed, or of what is not on sale yet.

They are the pages of the shop, rendered from its templates with its style sheets. Nothing in them can be used.
"""

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.core.titles import title_of, url_of
from admin.forms.current import own_path
from admin.graph.labels import label_of
from admin.graph.selections import value_selection
from admin.pages.resolving import read_object, resource_of
from admin.resources.resource import Resource
from funnel.checkout import network_page
from funnel.checkout.storefronts import BASKET, NETWORK, Storefront
from funnel.core.brand_sheets import look_path
from funnel.core.messages import N_
from funnel.core.pages import HEADERS, PageTemplates
from funnel.shop import catalogue_page, experience
from funnel.shop.handler import ShopPageRequest
from resolvers.catalogue.experience_page import get_experience_page
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.partner.sites import Shop, network_shop_of, shop_of
from schema.core.errors import NotFound
from schema.core.text import Text
from schema.theme import BrandTheme, CornerRadius, HeadingFont, StartPage
from schema.validation.colours import Colour, OptionalColour
from schema.validation.languages import LANGUAGES
from store.core.brand_colours import UNREADABLE_TINT, build_brand, is_readable_tint

SLUG = "shop-preview"
FRAME_SLUG = "shop-page"
LANGUAGE = "_lang"
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
        caller = Caller.preview(self.shop.partner_id, self.shop.marketplace_id)
        return Context(self.services, caller, self.http_request.state.request_id, self.client_ip, Transport.BACK_OFFICE)

    @property
    def brand_sheet(self) -> str:
        return look_path(self.shop.brand)


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
def _templates(*, reload: bool) -> PreviewTemplates:
    return PreviewTemplates(reload=reload)


@dataclass(frozen=True, slots=True)
class ShopPage:
    """A page of a shop: what is read of the object, whose shop it is, and how the page is rendered."""

    selection: str
    find_shop: Callable[[Services, Mapping[str, Any]], Awaitable[Shop | None]]
    render: Callable[[PreviewRequest, Mapping[str, Any]], Awaitable[Response]]
    url: str = ""
    """The field with the address of the page; empty if there is none."""
    on_sale: str = ""
    """The field that tells whether customers see it."""
    storefront: Storefront = BASKET


async def _shop_of_itself(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await shop_of(services.db, UUID(values["uuid"]))


async def _shop_of_partner(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await shop_of(services.db, UUID(values["partner"]["uuid"]))


async def _shop_of_network(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await network_shop_of(services.db, UUID(values["marketplace"]["uuid"]))


async def _start_page(request: PreviewRequest, _values: Mapping[str, Any]) -> Response:
    return await catalogue_page.show(request)


async def _experience(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return await experience.render(request, await get_experience_page(request.context, values["slug"]))


async def _box(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return await network_page.preview(request, values["id"])


PAGES: Mapping[str, ShopPage] = {
    "Partner": ShopPage("uuid language", _shop_of_itself, _start_page),
    "VoucherPrototype": ShopPage(
        "slug isActive url partner { uuid language }", _shop_of_partner, _experience, "url", "isActive"
    ),
    "Box": ShopPage("id isActive marketplace { uuid }", _shop_of_network, _box, on_sale="isActive", storefront=NETWORK),
}
"""By the type of the object."""


async def show(request: AdminRequest) -> Response:
    """The page with the preview of an object."""
    resource, page = _page_of(request)
    values = await read_object(request, resource, _selection(resource, page))
    language = _language(request, values, request.http_request.query_params)
    own = url_of(resource, values)
    response = request.render(
        "shop_preview.html",
        here=resource.slug,
        title=title_of(resource, values, request.reader),
        back_url=own,
        frame_url=f"{own}{FRAME_SLUG}/?{urlencode({LANGUAGE: language})}",
        shown_language=language,
        languages=LANGUAGES,
        url=values.get(page.url) or "",
        is_on_sale=not page.on_sale or values[page.on_sale],
    )
    response.headers["Content-Security-Policy"] = WITH_FRAMES
    return response


async def show_page(request: AdminRequest) -> Response:
    """The previewed page itself, with the look in the query of the address, or as it is."""
    return await _render(request, request.http_request.query_params)


async def show_typed_page(request: AdminRequest) -> Response:
    """The previewed page with the look of a form that was not saved."""
    return await _render(request, request.form)


def preview_url(resource: Resource, values: Mapping[str, Any]) -> str:
    """The address of the preview of an object; empty if shops have no page of such objects."""
    return f"{url_of(resource, values)}{SLUG}/" if resource.type.name in PAGES else ""


def _page_of(request: AdminRequest) -> tuple[Resource, ShopPage]:
    """The resource of the address, and the page of its objects. Raises NotFound, and Forbidden without the permission."""
    resource = resource_of(request)
    request.context.require(resource.access)
    if (page := PAGES.get(resource.type.name)) is None:
        raise NotFound(thing="page")
    return resource, page


def _selection(resource: Resource, page: ShopPage) -> str:
    return " ".join((page.selection, *(value_selection(resource.type, path) for path in resource.title), resource.key))


async def _render(request: AdminRequest, typed: Mapping[str, str]) -> Response:
    resource, page = _page_of(request)
    values = await read_object(request, resource, _selection(resource, page))
    shop = await page.find_shop(request.services, values)
    if shop is None:
        return _without_preview(request, {label_of("marketplace"): N_("The network has no shop of its own.")}, 404)
    if problems := problems_of_look(typed):
        return _without_preview(request, problems, 400)
    shop = with_look(shop, typed)
    shown = PreviewRequest(
        request.http_request,
        _templates(reload=request.services.settings.development),
        request.csrf_tokens,
        request.cookies,
        request.session_id,
        _language(request, values, typed),
        shop.brand,
        shop=shop,
        storefront=page.storefront,
    )
    return await page.render(shown, values)


def _without_preview(request: AdminRequest, problems: Mapping[str, str], status: int) -> Response:
    """What is told in the place of a page that cannot be shown."""
    response = request.render("preview_problems.html", status, problems=problems, menu=())
    response.headers["Content-Security-Policy"] = IN_FRAMES
    return response


def _language(request: AdminRequest, values: Mapping[str, Any], typed: Mapping[str, str]) -> str:
    """The language of the previewed page: as it is chosen, else that of the partner."""
    of_partner = (values.get("partner") or values).get("language")
    return next((each for each in (typed.get(LANGUAGE), of_partner) if each in LANGUAGES), request.language)


def problems_of_look(typed: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with a typed look, by the labels of its fields."""
    problems = {}
    for name, kind in (("accentColour", Colour), ("theme.pageTint", OptionalColour)):
        if (text := typed.get(name)) is None:
            continue
        try:
            colour = TypeAdapter(kind).validate_python(text)
        except ValidationError as error:
            problems[label_of(name.rpartition(".")[2])] = error.errors()[0]["msg"]
        else:
            if name == "theme.pageTint" and colour and not is_readable_tint(colour):
                problems[label_of("pageTint")] = UNREADABLE_TINT
    return problems


def with_look(shop: Shop, typed: Mapping[str, str]) -> Shop:
    """The shop with a look that is typed. What is not typed stays, and what cannot be chosen."""
    brand, start = shop.brand, shop.start_page
    theme = BrandTheme(
        _member(HeadingFont, typed.get("theme.headingFont"), brand.theme.heading_font),
        _member(CornerRadius, typed.get("theme.cornerRadius"), brand.theme.corner_radius),
        typed.get("theme.pageTint", brand.theme.page_tint).strip().lower(),
    )
    logo_url = _picture(typed.get("logoUrl"), brand.logo_url)
    of_look = build_brand(brand.name, typed.get("accentColour", brand.accent).strip().lower(), theme=theme)
    headline = {each: typed.get(f"startPage.headline.{each}", getattr(start.headline, each)) for each in LANGUAGES}
    return replace(
        shop,
        brand=replace(
            brand,
            logo_url=logo_url,
            accent=of_look.accent,
            accent_ink=of_look.accent_ink,
            accent_text=of_look.accent_text,
            theme=theme,
        ),
        start_page=StartPage(
            hero_picture_url=_picture(typed.get("startPage.heroPictureUrl"), start.hero_picture_url),
            headline=Text(**headline),
        ),
    )


def _member(kind: Any, name: str | None, otherwise: Any) -> Any:
    return kind.__members__.get(name, otherwise)


def _picture(typed: str | None, saved: str) -> str:
    """The path of a picture that is typed: none, the saved one, or one of this service."""
    if typed is None or typed == saved:
        return saved
    path = own_path(typed)
    return saved if urlsplit(path).netloc else path
