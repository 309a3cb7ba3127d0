"""The page at the root of the service's own address, in development only."""

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from coffret.commands.welcome import curl
from coffret.demo.codes import coupons_to_try, gift_card_to_try, voucher_to_try
from coffret.demo.seed import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS, PASSWORD, demo_partners, shop_url
from coffret.mail_preview.pages import HEADERS, SHEET_PATH
from coffret.sandbox.cards import CARDS
from coffret.sandbox.pages.texts import Texts
from coffret.services import SANDBOX_PATH
from funnel.core.static_files import KINDS, Asset
from resolvers.core.context import Services
from store.core.localization import Formats
from store.core.settings import ProviderName, Settings
from store.coupon.coupons import CouponRow
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow

PREFIX = "/static/start/"
LANGUAGE = "en"
CART = {"items": [{"product_id": 1, "quantity": 2}]}


@dataclass(frozen=True, slots=True)
class Tried:
    """What the demo data offer to try."""

    shops: Sequence[tuple[str, str, bool]]
    """Name and address of each shop, and whether it sells gift cards."""
    coupons: Sequence[CouponRow]
    gift_card: str
    voucher: str


async def tried(services: Services) -> Tried | None:
    """The demo data as they are now; None where there are none."""
    async with services.db.sessions() as db:
        partners = await demo_partners(db)
        if not partners:
            return None
        return Tried(
            shops=[shop(partner, services.settings) for partner in partners],
            coupons=await coupons_to_try(db, partners[0], services.clock.now()),
            gift_card=await gift_card_to_try(db, partners[0]),
            voucher=await voucher_to_try(db, partners[0]),
        )


def shop(partner: PartnerRow, settings: Settings) -> tuple[str, str, bool]:
    """A shop as the page shows it."""
    return brand_of(partner).name, shop_url(partner, settings), partner.gift_card_offer_enabled


class StartPage:
    """Shows the page."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._paid_here = settings.provider is ProviderName.SANDBOX
        css = (files("coffret.start_page") / "page.css").read_bytes()
        self._sheet = Asset(KINDS[".css"], css, gzip.compress(css, mtime=0))
        self._sheet_path = f"{PREFIX}page.{hashlib.sha256(css).hexdigest()[:12]}.css"
        templates = Environment(
            loader=PackageLoader("coffret.start_page", ""),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        formats, words = Formats(LANGUAGE), Texts(LANGUAGE)
        templates.globals.update(
            money=formats.money,
            percent=formats.percent,
            sheets=(SHEET_PATH, self._sheet_path),
            base=settings.public_url,
            graphiql=settings.graphiql is not False,
            provider=f"{SANDBOX_PATH}/_sb/" if self._paid_here else "",
            cards=[(card, words(card.text)) for card in CARDS] if self._paid_here else [],
            log_ins=(
                *((user, "A partner: its shop, vouchers, gift cards, payments") for user in PARTNER_USERS),
                (MARKETPLACE_USER, "The marketplace, with all its partners"),
                (MASTER_USER, "Whoever runs the installation"),
            ),
            password=PASSWORD,
            curl=curl(settings.public_url, "<token>", CART),
        )
        self._page = templates.get_template("page.html")

    def routes(self) -> list[BaseRoute]:
        """What is served."""
        return [Route("/", self.show), Route(self._sheet_path, self.style)]

    async def style(self, request: Request) -> Response:
        """The page's own style sheet."""
        return self._sheet.response(request)

    async def show(self, request: Request) -> Response:
        """The page."""
        services: Services = request.app.state.house.services
        demo = await tried(services) if self._settings.demo and self._paid_here else None
        return HTMLResponse(self._page.render(demo=demo), headers=HEADERS)


def routes(settings: Settings) -> list[BaseRoute]:
    """The page in development; nothing in production, which tells nobody what it is."""
    return StartPage(settings).routes() if settings.development else []
