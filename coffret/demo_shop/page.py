"""The only page of the demo shop: the partner's products, each with a button that creates a cart."""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from coffret.demo.content import load_content
from coffret.demo.network.codes import network_shop
from coffret.demo.seed import demo_partners, first_choice, shop_url
from funnel.core.brand_sheets import brand_path
from funnel.core.cookies import Cookies
from funnel.core.forms import read_form
from funnel.core.languages import choose_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import HEADERS
from funnel.core.static_files import Assets, digest, read_asset
from resolvers.cart.carts import save_ecommerce_cart
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from schema.cart.input import SaveEcommerceCart
from schema.checkout.checkout import OfferedProduct
from schema.core.errors import AppError, NotFound
from schema.core.text import Text
from store.checkout.offers import ShopProduct, load_products
from store.core.localization.formats import Formats
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow

PREFIX = "/static/storefront/"
ORDER_NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class DemoPartnerShop:
    """The demo partner of a host, with its products."""

    partner: PartnerRow
    currency: str
    tagline: Text
    products: Mapping[int, ShopProduct]
    network: PartnerRow | None
    """The partner that is the shop of its network."""

    @property
    def products_on_sale(self) -> list[OfferedProduct]:
        """Active products, including those that are sold out."""
        return [sold.offered for sold in self.products.values() if sold.is_active]


async def find_shop(services: Services, host: str) -> DemoPartnerShop:
    """The demo shop of a host. Raises NotFound."""
    async with services.db.sessions() as db:
        for partner, tagline in zip(await demo_partners(db), taglines(), strict=False):
            if partner.site_domain == host.lower():
                marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
                products = await load_products(services.db, partner.id, (), others=True)
                return DemoPartnerShop(
                    partner, marketplace.currency, tagline, products, await network_shop(db, partner)
                )
    raise NotFound(thing="shop")


@functools.cache
def taglines() -> tuple[Text, ...]:
    """The tagline of each demo partner, in the order of the partners."""
    return tuple(Text(**content.tagline) for content in load_content().partners)


class DemoShopPages:
    def __init__(self, settings: Settings, elsewhere: PageEndpoint) -> None:
        self._settings = settings
        self._fallback = elsewhere
        self._cookies = Cookies(secure=settings.funnel_scheme == "https")
        folder = files("coffret.demo_shop")
        self._texts = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
        self._stylesheet = read_asset(Path(__file__).with_name("page.css"))
        self._stylesheet_path = f"{PREFIX}page.{digest(self._stylesheet.plain)}.css"
        assets = Assets()
        self._checkout_stylesheet, self._dark_stylesheet = assets.path("funnel.css"), assets.path("dark.css")

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self.show),
            Route("/", self.buy, methods=["POST"]),
            Route(self._stylesheet_path, self.style),
        ]

    async def style(self, request: Request) -> Response:
        return self._stylesheet.response(request)

    async def show(self, request: Request) -> Response:
        """The products. Customers who return with an order also see a thank-you message."""
        services: Services = request.app.state.container.services
        try:
            shop = await find_shop(services, request.headers.get("host", ""))
        except NotFound:
            return await self._fallback(request)
        language = choose_language(self._cookies.read(request, "language"), request.headers.get("accept-language", ""))
        order = request.query_params.get("order", "")
        brand = brand_of(shop.partner)
        html = (
            environment(language)
            .get_template("page.html")
            .render(
                brand=brand,
                currency=shop.currency,
                office=f"{self._settings.public_url}/admin/",
                network=shop.network and shop_url(shop.network, self._settings),
                order=order if ORDER_NUMBER.fullmatch(order) else "",
                products=shop.products_on_sale,
                sells_gift_cards=shop.partner.gift_card_offer_enabled,
                dark_sheet=self._dark_stylesheet,
                sheets=(self._checkout_stylesheet, brand_path(brand), self._stylesheet_path),
                t=self._texts[language],
                tagline=shop.tagline.in_language(language),
            )
        )
        return HTMLResponse(html, headers=HEADERS | {"Content-Language": language})

    async def buy(self, request: Request) -> Response:
        """Create a cart with one product, as a shop's server would, and redirect the browser to the checkout.

        The form has no CSRF token: a forged request only leads the visitor to a new unpaid cart.
        """
        services: Services = request.app.state.container.services
        try:
            shop = await find_shop(services, request.headers.get("host", ""))
            product_id = (await read_form(request)).get("product", "")
        except AppError as error:
            return PlainTextResponse(str(error), error.status)
        sold = shop.products.get(int(product_id)) if ORDER_NUMBER.fullmatch(product_id) else None
        back = shop_url(shop.partner, self._settings)
        if sold is None:
            return RedirectResponse(back, 303)
        try:
            cart = await save_ecommerce_cart(context_of(request, services, shop.partner), cart_of(sold, back))
        except AppError as error:
            return PlainTextResponse(str(error), error.status)
        return RedirectResponse(cart.funnel_url, 303)


def cart_of(sold: ShopProduct, return_url: str) -> SaveEcommerceCart:
    """The API input for a cart with one product."""
    choice = first_choice(sold)
    item: dict[str, Any] = {
        "product_id": choice.product_id,
        "quantity": choice.quantity,
        "variant_id": choice.variant_id,
        "attribute_values": dict(choice.attribute_values),
    }
    return SaveEcommerceCart.model_validate({"items": [item], "return_url": return_url})


def context_of(request: Request, services: Services, partner: PartnerRow) -> Context:
    """The context that the partner's own server would have with its token."""
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
    """The template environment of a language."""
    made = Environment(
        loader=PackageLoader("coffret.demo_shop", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formats = Formats(language)
    made.filters["said"] = formats.translate
    made.globals.update(language=language, money=formats.money)
    return made


def routes(settings: Settings, elsewhere: PageEndpoint) -> list[BaseRoute]:
    """The demo shops at `/` of their hosts; `elsewhere` answers on all other hosts. No routes without demo data."""
    wanted = settings.development and settings.demo and settings.provider is ProviderName.SANDBOX
    return DemoShopPages(settings, elsewhere).routes() if wanted else []
