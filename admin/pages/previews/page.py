"""Pages of a shop as its customers will see them: with a look that is typed, or of what is not on sale yet.

They are the pages of the shop, rendered from its templates with its style sheets. Nothing in them can be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.core.titles import title_of, url_of
from admin.graph.labels import label_of
from admin.graph.selections import value_selection
from admin.pages.previews.look import problems_of_look, with_look
from admin.pages.previews.requests import IN_FRAMES, WITH_FRAMES, PreviewRequest, preview_context, preview_templates
from admin.pages.previews.shop_pages import PAGES, ShopPage
from admin.pages.resolving import read_object, resource_of
from admin.resources.resource import Resource
from funnel.checkout.gift_preview import KEPT
from schema.core.errors import NotFound
from schema.validation.languages import LANGUAGES

SLUG = "shop-preview"
FRAME_SLUG = "shop-page"
DOCUMENT_SLUG = "document-preview"
LANGUAGE = "_lang"


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
        frame_url=f"{own}{FRAME_SLUG}/?{urlencode({LANGUAGE: language})}" + (f"#{page.place}" if page.place else ""),
        shown_language=language,
        languages=LANGUAGES,
        url=values.get(page.url) or "",
        is_on_sale=page.is_on_sale(values),
        document_url=document_url(resource, values, language),
    )
    response.headers["Content-Security-Policy"] = WITH_FRAMES
    return response


async def show_page(request: AdminRequest) -> Response:
    """The previewed page itself, with the look in the query of the address, or as it is."""
    return await _render(request, request.http_request.query_params)


async def show_typed_page(request: AdminRequest) -> Response:
    """The previewed page with the look of a form that was not saved."""
    return await _render(request, request.form)


async def show_document(request: AdminRequest) -> Response:
    """The document that the buyer of an object gets, as a picture."""
    resource, page = _page_of(request)
    if page.document is None:
        raise NotFound(thing="page")
    values = await read_object(request, resource, _selection(resource, page))
    shop = await page.document.find_seller(request.services, values)
    if shop is None:
        raise NotFound(thing="page")
    language = _language(request, values, request.http_request.query_params)
    picture = await page.document.draw(preview_context(request, shop), values, language)
    return Response(picture, headers=KEPT, media_type="image/png")


def preview_links(resource: Resource, values: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """The name and the address of the preview of an object; none if customers have no page of such objects."""
    page = PAGES.get(resource.type.name)
    return [] if page is None else [(page.named, f"{url_of(resource, values)}{SLUG}/")]


def document_url(resource: Resource, values: Mapping[str, Any], language: str = "") -> str:
    """The address of the picture of the document that the buyer of an object gets; empty if that is none of its own."""
    page = PAGES.get(resource.type.name)
    if page is None or page.document is None:
        return ""
    return f"{url_of(resource, values)}{DOCUMENT_SLUG}/" + (f"?{urlencode({LANGUAGE: language})}" if language else "")


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
        return _missing(request, page)
    if problems := problems_of_look(typed):
        return _without_preview(request, problems, 400)
    shop = with_look(shop, typed)
    shown = PreviewRequest(
        request.http_request,
        preview_templates(reload=request.services.settings.development),
        request.csrf_tokens,
        request.cookies,
        request.session_id,
        _language(request, values, typed),
        shop.brand,
        shop=shop,
        storefront=page.storefront,
    )
    try:
        return await page.render(shown, values)
    except NotFound:
        return _missing(request, page)


def _missing(request: AdminRequest, page: ShopPage) -> Response:
    field, text = page.missing
    return _without_preview(request, {label_of(field): text}, 404)


def _without_preview(request: AdminRequest, problems: Mapping[str, str], status: int) -> Response:
    """What is told in the place of a page that cannot be shown."""
    response = request.render("preview_problems.html", status, problems=problems, menu=())
    response.headers["Content-Security-Policy"] = IN_FRAMES
    return response


def _language(request: AdminRequest, values: Mapping[str, Any], typed: Mapping[str, str]) -> str:
    """The language of the previewed page: as it is chosen, else that of the partner."""
    of_partner = (values.get("partner") or values).get("language")
    return next((each for each in (typed.get(LANGUAGE), of_partner) if each in LANGUAGES), request.language)
