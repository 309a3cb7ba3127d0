"""What a public page tells search engines and those who share its link."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from funnel.core.languages import NAMES
from funnel.shop.handler import ShopPageRequest
from schema.checkout.experience_page import ExperiencePage
from schema.media import ResponsivePicture
from schema.validation.html import plain_text
from store.core.localization.formats import Formats

LONGEST_DESCRIPTION = 200
OPEN_GRAPH_LOCALES = {
    "en": "en_GB",
    "fr": "fr_FR",
    "es": "es_ES",
    "it": "it_IT",
    "de": "de_DE",
    "nl": "nl_NL",
    "ca": "ca_ES",
    "pt": "pt_PT",
}
COVER_SIDE = 1920


@dataclass(frozen=True, slots=True)
class SharedPicture:
    """A picture that is shown with a shared link. Its size is in pixels."""

    url: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PageHead:
    """The head of a public page. URLs are absolute."""

    description: str
    canonical: str
    alternates: Mapping[str, str]
    """The URL in each language."""
    default: str
    """The URL that chooses the language of the browser."""
    locale: str
    kind: str = "website"
    picture: SharedPicture | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    """Structured data of schema.org."""


def page_head(
    request: ShopPageRequest, description: str, parameters: Mapping[str, object] | None = None, **more: Any
) -> PageHead:
    """The head of the page of a request. Its addresses have these parameters, and none that the page does not know."""
    here = {language: page_address(request, language, parameters) for language in NAMES}
    default = page_address(request, "", parameters)
    return PageHead(
        description=shorten(description),
        canonical=here.get(request.http_request.query_params.get("lang", ""), default),
        alternates=here,
        default=default,
        locale=OPEN_GRAPH_LOCALES[request.language],
        **more,
    )


def page_address(request: ShopPageRequest, language: str, parameters: Mapping[str, object] | None = None) -> str:
    """The absolute URL of the page of a request in a language, or in that of the browser, with these parameters."""
    query = urlencode({**(parameters or {}), **({"lang": language} if language else {})})
    path = f"{request.http_request.url.path.rstrip('/')}/"
    return f"{request.origin}{path}" + (f"?{query}" if query else "")


def experience_head(request: ShopPageRequest, page: ExperiencePage) -> PageHead:
    """The head of the page of an experience."""
    formats = Formats(request.language)
    experience = page.experience
    description = shorten(plain_text(formats.translate(experience.description)))
    pictures = [shared_picture(request, picture) for picture in experience.pictures]
    offer = {
        "@type": "Offer",
        "url": page_address(request, request.language),
        "price": f"{experience.price_from:.2f}",
        "priceCurrency": page.currency,
        "availability": "https://schema.org/InStock",
        "itemCondition": "https://schema.org/NewCondition",
        "seller": {"@type": "Organization", "name": request.shop.brand.name, "url": f"{request.origin}/"},
    }
    if experience.last_active_day:
        offer["priceValidUntil"] = experience.last_active_day.isoformat()
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": formats.translate(experience.name),
        "description": description,
        "sku": str(experience.id),
        "category": formats.translate(experience.universe),
        "image": [picture.url for picture in pictures],
        "offers": offer,
    }
    return page_head(
        request,
        description,
        kind="product",
        picture=pictures[0] if pictures else None,
        data={name: value for name, value in data.items() if value},
    )


def shared_picture(request: ShopPageRequest, picture: ResponsivePicture) -> SharedPicture:
    """A picture in the size for page headers."""
    longest = max(picture.width, picture.height, 1)
    side = min(longest, COVER_SIDE)
    return SharedPicture(
        request.origin + picture.path("cover"), picture.width * side // longest, picture.height * side // longest
    )


def shorten(text: str) -> str:
    """The text in one line; a longer one ends after a word."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_DESCRIPTION:
        return line
    return line[:LONGEST_DESCRIPTION].rpartition(" ")[0].rstrip(",;:–- ") + "…"
