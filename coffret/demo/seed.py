"""Creates the demo data in an empty database, or finds it there at a later start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from sqlalchemy import func, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.types import ASGIApp

from coffret.demo.catalogue_content import load_catalogue, load_taxonomy
from coffret.demo.catalogue_rows import insert_catalogue, insert_taxonomy
from coffret.demo.codes import usable_gift_card_code, usable_voucher_code
from coffret.demo.content import PARTNERS, load_content
from coffret.demo.legal import insert_legal_texts
from coffret.demo.network.codes import network_shop, usable_network_gift_card_code, usable_network_voucher_code
from coffret.demo.network.rows import SHOP_HOST
from coffret.demo.network.seed import WALLET, insert_network
from coffret.demo.rows import insert_shop
from coffret.demo.users import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS, PASSWORD
from schema.account.user import UserRole
from schema.checkout.checkout import ProductChoice
from store.account.credentials import hash_password
from store.account.users import UserRow
from store.checkout.offers import ShopProduct, load_products
from store.checkout.pricing.goods import price_lines
from store.core.clock import Clock
from store.core.files import open_store
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.database.db import Database
from store.database.transaction_reader import DatabaseReader, TransactionReader
from store.partner.creation import with_port_of
from store.partner.partners import MarketplaceRow, PartnerRow

HOSTS = ("demo.localhost", "demo2.localhost")
LOCK = 0x64656D6F  # an arbitrary number: the process with the lock creates the data, others wait and find it


class DemoDataRefused(RuntimeError):
    """The demo data cannot be created here. The message states the reason and the fix."""


@dataclass(frozen=True)
class DemoData:
    """The parts of the demo data that the welcome message shows."""

    site_domains: tuple[str, ...]
    """Of the partners."""
    cart: Mapping[str, Any]
    """An orderable cart of the first partner's products, in the API's input format."""
    gift_card: str
    """The code of a gift card of the first partner; empty if all are spent."""
    voucher: str
    """The code of a usable voucher of the first partner; empty if all are used."""
    network_domain: str
    """The site domain of the network's own shop; empty if it has none."""
    network_gift_card: str
    """The code of a network gift card that the first partner accepts; empty if there is none."""
    network_voucher: str
    """The code of an unused network voucher that the first partner accepts; empty if there is none."""


async def seed(db: Database, settings: Settings, clock: Clock, sandbox: ASGIApp) -> DemoData | None:
    """Create the demo data in an empty database. If it exists, update what depends on this start.

    Safe to call concurrently. Returns None, without changes, for a database with other marketplaces. Raises
    DemoDataRefused outside development and with a provider other than the sandbox.
    """
    if not settings.development:
        raise DemoDataRefused("The demo data has public passwords, so it is for development only: unset ENVIRONMENT.")
    if settings.provider is not ProviderName.SANDBOX:
        raise DemoDataRefused("The demo shops are paid through the sandbox only: unset COFFRET_PROVIDER.")
    async with db.sessions() as session, session.begin():
        await (await session.connection()).execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        if (await session.exec(select(func.count()).select_from(MarketplaceRow))).one() == 0:
            await _insert_demo(session, settings, clock)
        partners = await demo_partners(session)
        if len(partners) != len(HOSTS):
            return None
        everybody = await _all_partners(session, partners[0])
        _update_ports(everybody, settings)
        shop = await network_shop(session, partners[0])
        found = DemoData(
            site_domains=tuple(partner.site_domain for partner in partners),
            cart=await _cart(TransactionReader(db, session), partners[0], settings),
            gift_card=await usable_gift_card_code(session, partners[0]),
            voucher=await usable_voucher_code(session, partners[0]),
            network_domain="" if shop is None else shop.site_domain,
            network_gift_card=await usable_network_gift_card_code(session, partners[0], clock.now()),
            network_voucher=await usable_network_voucher_code(session, partners[0], clock.now()),
        )
    await _seed_provider(sandbox, everybody, settings)
    return found


async def _insert_demo(session: AsyncSession, settings: Settings, clock: Clock) -> None:
    marketplace = MarketplaceRow(name="Demo", domain="demo.localhost")
    session.add(marketplace)
    await session.flush()
    now, password_hash, files = clock.now(), await hash_password(PASSWORD), open_store(settings)
    sortings = await insert_taxonomy(session, marketplace, load_taxonomy())
    shops = []
    for content, host, username in zip(load_content().partners, HOSTS, PARTNER_USERS, strict=True):
        partner = await insert_shop(session, marketplace, with_port_of(host, settings), content, now)
        shown = load_catalogue(content.key)
        await insert_catalogue(session, files, partner, sortings, shown, now, hero=content.theme.hero)
        await insert_legal_texts(session, partner, now)
        session.add(_user(username, "partner", password_hash, partner_id=partner.id))
        shops.append((partner, content))
    await insert_network(session, marketplace, settings, shops, sortings, now)
    session.add(_user(MARKETPLACE_USER, "marketplace", password_hash, marketplace_id=marketplace.id))
    session.add(_user(MASTER_USER, "master", password_hash))
    await session.flush()


def _user(
    username: str, role: str, password_hash: str, partner_id: int | None = None, marketplace_id: int | None = None
) -> UserRow:
    return UserRow(
        username=username,
        email=username.replace("@demo.localhost", "@demo.example"),
        first_name=role.capitalize(),
        role=UserRole(role),
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        password_hash=password_hash,
    )


async def demo_partners(session: AsyncSession) -> list[PartnerRow]:
    """The partners of the demo log-ins, in the order of their content; empty if the database holds other data."""
    query = (
        select(PartnerRow)
        .join(UserRow, col(UserRow.partner_id) == col(PartnerRow.id))
        .where(col(UserRow.username).in_(PARTNER_USERS))
        .order_by(col(PartnerRow.id))
    )
    return list((await session.exec(query)).all())


async def _all_partners(session: AsyncSession, first: PartnerRow) -> list[PartnerRow]:
    """The partners of the demo data: those of the marketplace that are seeded at the provider."""
    of_demo = col(PartnerRow.provider_wallet_id).startswith("demo-wallet-")
    query = select(PartnerRow).where(col(PartnerRow.marketplace_id) == first.marketplace_id, of_demo)
    return list((await session.exec(query.order_by(col(PartnerRow.id)))).all())


def _update_ports(partners: list[PartnerRow], settings: Settings) -> None:
    """Update the port in the shops' URLs. Hosts that a user has changed are unchanged."""
    for partner in partners:
        key = partner.provider_wallet_id.removeprefix("demo-wallet-")
        host = {**dict(zip(PARTNERS, HOSTS, strict=True)), "network": SHOP_HOST}.get(key, f"{key}.localhost")
        if partner.site_domain.partition(":")[0] == host:
            partner.site_domain = with_port_of(host, settings)
            partner.website = shop_url(partner, settings)


async def _cart(db: DatabaseReader, partner: PartnerRow, settings: Settings) -> dict[str, Any]:
    """A cart with one product with variants, one with attributes and a plain one, of the orderable products."""
    products = await load_products(db, partner.id, (), others=True)
    choices = [first_choice(sold) for sold in products.values()]
    lines = price_lines(choices, products)
    orderable = [line.choice for line in lines if line.problem is None]
    kinds = {(bool(c.variant_id), bool(c.attribute_values)): c for c in reversed(orderable)}
    items = [_item(kinds[kind]) for kind in sorted(kinds)]
    return {"items": items, "return_url": shop_url(partner, settings)}


def shop_url(partner: PartnerRow, settings: Settings) -> str:
    """The URL of the demo shop that creates carts: the root of its checkout's host."""
    return f"{settings.funnel_scheme}://{partner.site_domain}/"


def first_choice(sold: ShopProduct) -> ProductChoice:
    """One item of a product: the first available variant, and the first value of each required attribute."""
    offered = sold.offered
    variant = next((v.id for v in offered.variants if v.available != 0), None)
    values = {a.id: a.values[0].value for a in offered.attributes if a.is_required and a.values}
    return ProductChoice(offered.id, 1, variant, values)


def _item(choice: ProductChoice) -> dict[str, Any]:
    item: dict[str, Any] = {"product_id": choice.product_id, "quantity": choice.quantity}
    if choice.variant_id is not None:
        item["variant_id"] = choice.variant_id
    if choice.attribute_values:
        item["attribute_values"] = {str(id): value for id, value in choice.attribute_values.items()}
    return item


async def _seed_provider(sandbox: ASGIApp, partners: list[PartnerRow], settings: Settings) -> None:
    """Create the owners and wallets of the partners and of the network in the sandbox, which may have been reset since the
    last start.
    """
    owners = [
        {
            "user_id": partner.provider_user_id,
            "wallet_id": partner.provider_wallet_id,
            "name": partner.name,
            "email": partner.agency_email,
        }
        for partner in partners
    ]
    network = {"user_id": settings.platform_user_id, "wallet_id": WALLET, "name": "Coffret"}
    transport = httpx.ASGITransport(sandbox)
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
        for owner in [*owners, network]:
            (await client.post("/_sb/seed", json=owner)).raise_for_status()
