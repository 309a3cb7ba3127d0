"""The page at `/` of the service's own host, in development only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from coffret.demo.cart_command import curl_command
from coffret.demo.codes import usable_coupons, usable_gift_card_code, usable_voucher_code
from coffret.demo.network.codes import network_shop, usable_network_gift_card_code, usable_network_voucher_code
from coffret.demo.seed import demo_partners, shop_url
from coffret.demo.users import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS, PASSWORD
from coffret.mail_preview.pages import HEADERS, STYLESHEET_PATH
from coffret.sandbox.pages.texts import PageTexts
from coffret.sandbox.payments.cards import CARDS
from coffret.services import SANDBOX_PATH
from funnel.core.static_files import digest, read_asset
from resolvers.core.services import Services
from store.core.compiled_templates import compiled_templates
from store.core.localization.formats import Formats
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.coupon.coupons import CouponRow
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow

PREFIX = "/static/start/"
LANGUAGE = "en"
EXAMPLE_CART = {"items": [{"product_id": 1, "quantity": 2}]}


@dataclass(frozen=True, slots=True)
class DemoSamples:
    """Samples of the demo data."""

    shops: Sequence[tuple[str, str, bool]]
    """Name, URL, and whether the shop sells gift cards."""
    coupons: Sequence[CouponRow]
    gift_card: str
    voucher: str
    network: tuple[str, str] | None
    """Name and URL of the network's own shop."""
    network_gift_card: str
    network_voucher: str


async def load_demo_samples(services: Services) -> DemoSamples | None:
    """The samples; None without demo data."""
    async with services.db.sessions() as db:
        partners = await demo_partners(db)
        if not partners:
            return None
        now = services.clock.now()
        network = await network_shop(db, partners[0])
        return DemoSamples(
            shops=[shop_link(partner, services.settings) for partner in partners],
            coupons=await usable_coupons(db, partners[0], now),
            gift_card=await usable_gift_card_code(db, partners[0]),
            voucher=await usable_voucher_code(db, partners[0]),
            network=None if network is None else shop_link(network, services.settings)[:2],
            network_gift_card=await usable_network_gift_card_code(db, partners[0], now),
            network_voucher=await usable_network_voucher_code(db, partners[0], now),
        )


def shop_link(partner: PartnerRow, settings: Settings) -> tuple[str, str, bool]:
    """Name, URL, and whether the shop sells gift cards."""
    return brand_of(partner).name, shop_url(partner, settings), partner.gift_card_offer_enabled


class DevelopmentStartPage:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_sandbox = settings.provider is ProviderName.SANDBOX
        self._stylesheet = read_asset(Path(__file__).with_name("page.css"))
        self._stylesheet_path = f"{PREFIX}page.{digest(self._stylesheet.plain)}.css"
        templates = Environment(
            loader=PackageLoader("coffret.start_page", ""),
            autoescape=True,
            bytecode_cache=compiled_templates,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        formats, words = Formats(LANGUAGE), PageTexts(LANGUAGE)
        templates.globals.update(
            money=formats.money,
            percent=formats.percent,
            sheets=(STYLESHEET_PATH, self._stylesheet_path),
            base=settings.public_url,
            graphiql=settings.graphiql is not False,
            provider=f"{SANDBOX_PATH}/_sb/" if self._is_sandbox else "",
            cards=[(card, words(card.text)) for card in CARDS] if self._is_sandbox else [],
            log_ins=(
                *((user, "A partner: its shop, vouchers, gift cards, payments") for user in PARTNER_USERS),
                (MARKETPLACE_USER, "The marketplace, with all its partners"),
                (MASTER_USER, "Whoever runs the installation"),
            ),
            password=PASSWORD,
            curl=curl_command(settings.public_url, "<token>", EXAMPLE_CART),
        )
        self._page = templates.get_template("page.html")

    def routes(self) -> list[BaseRoute]:
        return [Route("/", self.show), Route(self._stylesheet_path, self.style)]

    async def style(self, request: Request) -> Response:
        return self._stylesheet.response(request)

    async def show(self, request: Request) -> Response:
        services: Services = request.app.state.container.services
        demo = await load_demo_samples(services) if self._settings.demo and self._is_sandbox else None
        return HTMLResponse(self._page.render(demo=demo), headers=HEADERS)


def routes(settings: Settings) -> list[BaseRoute]:
    """The page in development; none in production."""
    return DevelopmentStartPage(settings).routes() if settings.development else []
