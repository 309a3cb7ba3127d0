"""What search engines read of a shop: which pages they may visit, and a list of them."""

import datetime as dt
from xml.sax.saxutils import escape

from starlette.responses import PlainTextResponse, Response

from funnel.checkout.storefronts import BASKET
from funnel.core.experience_links import experience_path
from funnel.core.languages import NAMES
from funnel.shop.handler import ShopPageRequest
from resolvers.catalogue.experience_page import list_experience_entries
from store.core.localization.translations import SOURCE_LANGUAGE

HEADERS = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
ROBOTS = """User-agent: *
Disallow: /documents/
Disallow: /ecommerce/
Disallow: /k/
Disallow: /orders/
Disallow: /pay/
Disallow: /redeem/

Sitemap: {origin}/sitemap.xml
"""
"""The steps of the checkout say themselves that they are not to be listed."""
START = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
)


async def robots(request: ShopPageRequest) -> Response:
    """Which pages robots may visit, and where their list is."""
    return PlainTextResponse(ROBOTS.format(origin=request.origin), headers=HEADERS)


async def sitemap(request: ShopPageRequest) -> Response:
    """The shop's start page and the experiences on sale, in each language."""
    entries = await list_experience_entries(request.context)
    pages = [(experience_path(entry.slug), entry.updated_on) for entry in entries]
    if pages:
        pages.insert(0, (BASKET.start_path, max(entry.updated_on for entry in entries)))
    body = START + "".join(_page(request.origin + path, changed) for path, changed in pages) + "</urlset>\n"
    return Response(body, headers=HEADERS, media_type="application/xml")


def _page(url: str, changed: dt.datetime) -> str:
    """The entry of a page, with links to it in each language."""
    url = escape(url)
    links = "".join(_link(language, f"{url}?lang={language}") for language in NAMES) + _link("x-default", url)
    day = changed.date().isoformat()
    return f"<url><loc>{url}?lang={SOURCE_LANGUAGE}</loc><lastmod>{day}</lastmod>{links}</url>\n"


def _link(language: str, url: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{language}" href="{url}"/>'
