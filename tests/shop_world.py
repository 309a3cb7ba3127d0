"""A marketplace, a partner with a shop, a customer and the provider's sandbox: what tests of selling start from."""

import asyncio
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

import httpx
from sqlalchemy import text
from starlette.applications import Starlette

from resolvers import checkout, payment
from resolvers.callers import Callers
from resolvers.context import Caller, Context, Role, Services
from schema.cart import Cart, CartItem
from schema.checkout import Agreed, Buyer, Checkout, CheckoutKey, Choice, PaymentStarted
from schema.coupon import CouponTarget
from schema.delivery import DeliveryKind
from schema.gift_card import GiftCardMovementKind, GiftCardStatus
from schema.permission import NAMED
from schema.tenancy import PartnerStatus
from schema.values import Text
from store.carts import Carts
from store.clock import clock
from store.codes import draw, normal
from store.coupons import CouponRow
from store.db import Database, Session
from store.delivery import DeliveryModeRow, DeliveryRateRow
from store.files import FileStore
from store.gift_cards import GiftCardEntryRow, GiftCardRow
from store.kv import KeyValue
from store.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow
from store.providers.mangopay import Mangopay
from store.providers.sandbox import SandboxSettings, sandbox_app
from store.sessions import Sessions, new_session_id
from store.settings import Settings
from store.tenancy import MarketplaceRow, PartnerRow

GOOD_CARD = "4970107111111119"
CHALLENGE_CARD = "4970105181818183"
DECLINED_CARD = "4970109000000106"
BUYER = Buyer(
    first_name="Ada",
    last_name="Martin",
    email="ada@example.com",
    address_line_1="1 rue des Lilas",
    postal_code="75011",
    city="Paris",
    country="FR",
)
RETURN = "http://shop.localhost/ecommerce/shop/payment/return/"


async def no_sleep(_seconds: float) -> None:
    """Tests do not wait."""


def sandbox_and_provider(**options: Any) -> tuple[Starlette, Mangopay]:
    """A sandbox in memory, and the adapter that speaks to it."""
    sandbox = sandbox_app(SandboxSettings(public_url="http://provider.test/_provider", **options))
    transport = httpx.ASGITransport(sandbox)
    provider = Mangopay(
        base_url="http://sandbox",
        client_id="sandbox",
        api_key="sandbox",
        hook_secret="hook-secret",
        transport=transport,
        sleep=no_sleep,
    )
    return sandbox, provider


R = TypeVar("R")


@dataclass
class Shop:
    """A shop to buy from, and the means to do it."""

    services: Services
    sandbox: Starlette
    partner: PartnerRow
    modes: dict[DeliveryKind, int] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        """A customer's request."""
        caller = Caller.customer(self.partner.id, self.partner.marketplace_id)
        return Context(services=self.services, caller=caller)

    @property
    def manager(self) -> Context:
        """A request of somebody who manages the shop."""
        of, at = self.partner.id, self.partner.marketplace_id
        return Context(self.services, Caller(Role.PARTNER, NAMED, partner_id=of, marketplace_id=at))

    async def add(self, row: R) -> R:
        """Put a row into the database."""
        async with self.services.db.sessions() as db, db.begin():
            db.add(row)
        return row

    async def product(self, price: str = "20.00", stock: int | None = None, **more: Any) -> ProductRow:
        """A product."""
        values: dict[str, Any] = {"name": Text(en="Candle", fr="Bougie"), "description": Text(en="A candle"), **more}
        return await self.add(
            ProductRow(partner_id=self.partner.id, price_amount=Decimal(price), stock=stock, currency="EUR", **values)
        )

    async def choice(self, product: ProductRow, name: str, *values: str) -> ProductAttributeRow:
        """Something of a product that must be chosen."""
        of: dict[str, Any] = {"partner_id": self.partner.id}
        made = await self.add(ProductAttributeRow(**of, product_id=product.id, name=Text(en=name), is_required=True))
        for value in values:
            await self.add(AttributeValueRow(**of, attribute_id=made.id, value=value, label=Text(en=value.upper())))
        return made

    async def variant(self, product: ProductRow, price: str, stock: int | None = None) -> ProductVariantRow:
        """A variant of a product."""
        return await self.add(
            ProductVariantRow(
                partner_id=self.partner.id,
                product_id=product.id,
                name=Text(en="Large"),
                price_amount=Decimal(price),
                stock=stock,
            )
        )

    async def coupon(self, code: str = "WELCOME10", percentage: str = "10.00", **more: Any) -> CouponRow:
        """A coupon, ten per cent by default."""
        values: dict[str, Any] = {
            "discount_percentage": Decimal(percentage),
            "targets": [CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT],
            **more,
        }
        return await self.add(CouponRow(partner_id=self.partner.id, code=code, normal_code=normal(code), **values))

    async def gift_card(self, value: str = "50.00", **more: Any) -> GiftCardRow:
        """A gift card with its first entry."""
        code = draw()
        amount = Decimal(value)
        card = await self.add(
            GiftCardRow(
                partner_id=self.partner.id,
                code=code,
                normal_code=normal(code),
                value_amount=amount,
                remaining_amount=amount,
                **{"status": GiftCardStatus.PAID, **more},
            )
        )
        await self.add(
            GiftCardEntryRow(
                partner_id=self.partner.id, gift_card_id=card.id, kind=GiftCardMovementKind.ISSUE, amount=amount
            )
        )
        return card

    async def cart(self, *items: CartItem, return_url: str = "") -> Cart:
        """A cart the shop has handed over."""
        return (await self.services.carts.create(self.partner.id, list(items), return_url)).cart

    def key(self, cart: Cart, session_id: str | None = None) -> CheckoutKey:
        """A customer's way into a cart."""
        return CheckoutKey(cart.id, session_id or new_session_id())

    async def opened(self, *items: CartItem, return_url: str = "") -> tuple[Cart, CheckoutKey, Checkout]:
        """A cart handed over, and its checkout as a new customer sees it."""
        cart = await self.cart(*items, return_url=return_url)
        key = self.key(cart)
        return cart, key, await checkout.open_checkout(self.context, key)

    async def ready(
        self,
        *choices: Choice,
        delivery: DeliveryKind = DeliveryKind.CLICK_AND_COLLECT,
        codes: tuple[str, ...] = (),
        return_url: str = "",
        session_id: str | None = None,
    ) -> tuple[CheckoutKey, Checkout]:
        """A checkout that only needs paying."""
        cart = await self.cart(
            *(CartItem(c.product_id, c.quantity, c.variant_id) for c in choices), return_url=return_url
        )
        key = self.key(cart, session_id)
        await checkout.choose_items(self.context, key, list(choices), self.modes[delivery], "FR")
        seen = await checkout.identify_buyer(self.context, key, BUYER)
        for code in codes:
            seen = await checkout.apply_code(self.context, key, code)
        return key, seen

    async def start(self, key: CheckoutKey, seen: Checkout) -> PaymentStarted:
        """Press pay."""
        return await payment.start_payment(self.context, key, Agreed.of(seen.totals), "en", RETURN)

    async def pay(self, started: PaymentStarted, card: str | None = GOOD_CARD, challenge: str = "confirm") -> None:
        """What the buyer does at the provider; without a card the buyer cancels."""
        payin = await self.payin_of(started.attempt_id)
        answer = await self.control("POST", f"/payins/{payin}/pay", {"card": card, "challenge": challenge})
        assert answer.status_code == 200, answer.text

    async def control(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Tell the sandbox something."""
        transport = httpx.ASGITransport(self.sandbox)
        async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
            return await client.request(method, f"/_sb{path}", json=body)

    async def payin_of(self, attempt_id: uuid.UUID) -> str:
        """The provider's pay-in of an attempt."""
        found = await self.one("SELECT payin_id FROM checkout_attempt WHERE id = :id", id=attempt_id)
        return str(found)

    async def one(self, statement: str, **parameters: Any) -> Any:
        """One value out of the database."""
        return (await self.services.db.rows(text(statement), parameters))[0][0]

    async def becomes(self, statement: str, wanted: object) -> None:
        """Wait until the database says so."""
        async with asyncio.timeout(60):
            while await self.one(statement) != wanted:
                await asyncio.sleep(0.02)

    async def execute(self, statement: str, **parameters: Any) -> None:
        """Change something behind the back of the program."""
        async with self.services.db.engine.begin() as connection:
            await connection.execute(text(statement), parameters)

    async def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(await self.one(f"SELECT count(*) FROM {table}"))  # noqa: S608 - a name from a test


def services_over(database: Database, kv: KeyValue, provider: Mangopay, settings: Settings | None = None) -> Services:
    """The services of a test, of a development installation unless `settings` say otherwise."""
    return Services(
        settings=settings or Settings(funnel_scheme="http"),
        clock=clock,
        db=database,
        kv=kv,
        carts=Carts(kv),
        customers=Sessions(kv),
        provider=provider,
        callers=Callers(database, clock),
        files=FileStore.in_memory(),
    )


async def _ways_to_deliver(db: Session, partner_id: int) -> dict[DeliveryKind, int]:
    modes = {}
    for kind in DeliveryKind:
        mode = DeliveryModeRow(partner_id=partner_id, kind=kind, name=Text(en=kind.value), description=Text())
        db.add(mode)
        await db.flush()
        modes[kind] = mode.id
    home = modes[DeliveryKind.HOME_DELIVERY]
    for country, limit, price in (("FR", 1000, "5.00"), ("FR", None, "9.00"), ("BE", None, "12.00")):
        db.add(
            DeliveryRateRow(
                partner_id=partner_id,
                delivery_mode_id=home,
                country=country,
                max_weight_grams=limit,
                price_amount=Decimal(price),
            )
        )
    return modes


async def open_shop(services: Services, sandbox: Starlette, domain: str = "shop.localhost") -> Shop:
    """A marketplace with one partner that can be paid, and all three ways to deliver."""
    async with services.db.sessions() as db, db.begin():
        marketplace = MarketplaceRow(name="Market")
        db.add(marketplace)
        await db.flush()
        partner = PartnerRow(
            marketplace_id=marketplace.id,
            source_id=domain,
            commercial_name="The Shop",
            short_name="shop",
            site_domain=domain,
            status=PartnerStatus.ACTIVE,
            website="https://shop.example",
            agency_email="hello@shop.example",
            payments_active=True,
            hq_country="FR",
            hq_country_code="FR",
            provider_user_id=f"user-{domain}",
            provider_wallet_id=f"wallet-{domain}",
        )
        db.add(partner)
        await db.flush()
        modes = await _ways_to_deliver(db, partner.id)
    shop = Shop(services, sandbox, partner, modes)
    seed = {"user_id": partner.provider_user_id, "wallet_id": partner.provider_wallet_id, "name": "The Shop"}
    assert (await shop.control("POST", "/seed", seed)).status_code < 300
    return shop
