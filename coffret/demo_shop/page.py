"""The demo shop's only page: what the partner sells, each product with a button that hands a cart over."""

import functools
import gzip
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from coffret.demo.content import load_content
from coffret.demo.seed import demo_partners, first_choice, shop_url
from funnel.core.cookies import Cookies
from funnel.core.forms import read_form
from funnel.core.languages import chosen
from funnel.core.page_handler import Endpoint
from funnel.core.pages import HEADERS
from funnel.core.static_files import KINDS, Asset, Assets, brand_path, digest
from resolvers.cart.carts import save_ecommerce_cart
from resolvers.core.context import Caller, Context, Role, Services
from schema.cart.input import SaveEcommerceCart
from schema.checkout.checkout import OfferedProduct
from schema.core.errors import AppError, NotFound
from schema.core.resource import Text
from store.checkout.offers import SoldProduct, load_products
from store.core.localization import Formats
from store.core.settings import ProviderName, Settings
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow

PREFIX = "/static/storefront/"
NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Shop:
    """The demo partner of a host, with what it sells."""

    partner: PartnerRow
    currency: str
    tagline: Text
    products: Mapping[int, SoldProduct]

    @property
    def offered(self) -> list[OfferedProduct]:
        """What is on sale, sold out or not."""
        return [sold.offered for sold in self.products.values() if sold.is_active]


async def shop_at(services: Services, host: str) -> Shop:
    """The demo shop at a host. Raises NotFound where there is none."""
    async with services.db.sessions() as db:
        for partner, tagline in zip(await demo_partners(db), taglines(), strict=False):
            if partner.site_domain == host.lower():
                marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
                products = await load_products(db, partner.id, (), others=True)
                return Shop(partner, marketplace.currency, tagline, products)
    raise NotFound(thing="shop")


@functools.cache
def taglines() -> tuple[Text, ...]:
    """What each demo partner says of itself, in the order of the partners."""
    return tuple(Text(**content.tagline) for content in load_content().partners)


class Storefront:
    """Shows the page, takes its form."""

    def __init__(self, settings: Settings, elsewhere: Endpoint) -> None:
        self._settings = settings
        self._elsewhere = elsewhere
        self._cookies = Cookies(secure=settings.funnel_scheme == "https")
        folder = files("coffret.demo_shop")
        self._texts = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
        css = (folder / "page.css").read_bytes()
        self._sheet = Asset(KINDS[".css"], css, gzip.compress(css, mtime=0))
        self._sheet_path = f"{PREFIX}page.{digest(css)}.css"
        self._checkout_sheet = Assets().path("funnel.css")

    def routes(self) -> list[BaseRoute]:
        """What is served."""
        return [
            Route("/", self.show),
            Route("/", self.buy, methods=["POST"]),
            Route(self._sheet_path, self.style),
        ]

    async def style(self, request: Request) -> Response:
        """The page's own style sheet."""
        return self._sheet.response(request)

    async def show(self, request: Request) -> Response:
        """The products; above them a word of thanks for whoever comes back with an order."""
        services: Services = request.app.state.house.services
        try:
            shop = await shop_at(services, request.headers.get("host", ""))
        except NotFound:
            return await self._elsewhere(request)
        language = chosen(self._cookies.read(request, "language"), request.headers.get("accept-language", ""))
        order = request.query_params.get("order", "")
        brand = brand_of(shop.partner)
        html = (
            environment(language)
            .get_template("page.html")
            .render(
                brand=brand,
                currency=shop.currency,
                order=order if NUMBER.fullmatch(order) else "",
                products=shop.offered,
                sells_gift_cards=shop.partner.gift_card_offer_enabled,
                sheets=(self._checkout_sheet, brand_path(brand), self._sheet_path),
                t=self._texts[language],
                tagline=shop.tagline.in_language(language),
            )
        )
        return HTMLResponse(html, headers=HEADERS | {"Content-Language": language})

    async def buy(self, request: Request) -> Response:
        """Hand a cart with one product over, as a shop's own server would, and send the browser to the checkout.

        The form carries no token against forgery: a page elsewhere that presses the button brings its visitor to a new cart
        that nobody has to pay, and changes nothing.
        """
        services: Services = request.app.state.house.services
        try:
            shop = await shop_at(services, request.headers.get("host", ""))
            product_id = (await read_form(request)).get("product", "")
        except AppError as error:
            return PlainTextResponse(str(error), error.status)
        sold = shop.products.get(int(product_id)) if NUMBER.fullmatch(product_id) else None
        back = shop_url(shop.partner, self._settings)
        if sold is None:
            return RedirectResponse(back, 303)
        try:
            cart = await save_ecommerce_cart(context_of(request, services, shop.partner), cart_of(sold, back))
        except AppError as error:
            return PlainTextResponse(str(error), error.status)
        return RedirectResponse(cart.funnel_url, 303)


def cart_of(sold: SoldProduct, return_url: str) -> SaveEcommerceCart:
    """A cart of one product, as it is sent to the API."""
    choice = first_choice(sold)
    item: dict[str, Any] = {
        "product_id": choice.product_id,
        "quantity": choice.quantity,
        "variant_id": choice.variant_id,
        "attribute_values": dict(choice.attribute_values),
    }
    return SaveEcommerceCart.model_validate({"items": [item], "return_url": return_url})


def context_of(request: Request, services: Services, partner: PartnerRow) -> Context:
    """What the partner's own server would call with, by its token."""
    caller = Caller(
        role=Role.PARTNER,
        permissions=frozenset(),
        partner_id=partner.id,
        marketplace_id=partner.marketplace_id,
        site_domain=partner.site_domain,
        return_hosts=tuple(partner.return_hosts),
        partner_status=partner.status,
    )
    return Context(services, caller, request.state.request_id)


@functools.cache
def environment(language: str) -> Environment:
    """The template of a language."""
    made = Environment(
        loader=PackageLoader("coffret.demo_shop", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formats = Formats(language)
    made.filters["said"] = formats.said
    made.globals.update(language=language, money=formats.money)
    return made


def routes(settings: Settings, elsewhere: Endpoint) -> list[BaseRoute]:
    """The demo shops at the root of their hosts, and what answers at those of all others; nothing where an installation has no
    demo data.
    """
    wanted = settings.development and settings.demo and settings.provider is ProviderName.SANDBOX
    return Storefront(settings, elsewhere).routes() if wanted else []
