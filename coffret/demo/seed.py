"""The demo data in the database: laid into an empty one, found again at a later start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from sqlalchemy import func, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.types import ASGIApp

from coffret.demo.catalogue_content import load_catalogue, load_sortings
from coffret.demo.catalogue_rows import lay_catalogue, lay_sortings
from coffret.demo.codes import gift_card_to_try, voucher_to_try
from coffret.demo.content import load_content
from coffret.demo.rows import lay_shop
from schema.checkout.checkout import Choice
from schema.partner.partner import UserRole
from store.account.credentials import hashed
from store.checkout.offers import SoldProduct, load_products
from store.checkout.pricing import price_lines
from store.core.clock import Clock
from store.core.files import open_store
from store.core.settings import ProviderName, Settings
from store.database.db import Database
from store.partner.creation import with_port
from store.partner.partners import MarketplaceRow, PartnerRow, UserRow

PASSWORD = "coffret-demo"  # noqa: S105 - public, and why the demo data is refused in production
HOSTS = ("demo.localhost", "demo2.localhost")
PARTNER_USERS = ("partner@demo.localhost", "partner2@demo.localhost")
MARKETPLACE_USER, MASTER_USER = "marketplace@demo.localhost", "master@demo.localhost"
USERNAMES = (*PARTNER_USERS, MARKETPLACE_USER, MASTER_USER)
LOCK = 0x64656D6F  # any fixed number: whoever holds it lays the data, the others wait and find it


class DemoRefused(RuntimeError):
    """The demo data does not belong here. The message says why, and the way out."""


@dataclass(frozen=True)
class DemoShop:
    """The demo data, as far as a newcomer wants to know it."""

    site_domains: tuple[str, ...]
    """Of the partners."""
    cart: Mapping[str, Any]
    """A cart of the first partner's products that can be ordered now, as the API takes it."""
    gift_card: str
    """The code of a gift card of the first partner; empty when all are spent."""
    voucher: str
    """The code of a voucher of the first partner that can be used; empty when all were."""


async def seed(db: Database, settings: Settings, clock: Clock, sandbox: ASGIApp) -> DemoShop | None:
    """Fill an empty database with the demo data. Where it is there already, put right what depends on the start.

    Any number of processes may call this at once. Answers None, and changes nothing, for a database that has
    marketplaces of its own; raises DemoRefused outside development and where money is not the sandbox's.
    """
    if not settings.development:
        raise DemoRefused("The demo data has public passwords, so it is for development only: unset ENVIRONMENT.")
    if settings.provider is not ProviderName.SANDBOX:
        raise DemoRefused("The demo shops are paid through the sandbox only: unset COFFRET_PROVIDER.")
    async with db.sessions() as session, session.begin():
        await (await session.connection()).execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        if (await session.exec(select(func.count()).select_from(MarketplaceRow))).one() == 0:
            await _lay(session, settings, clock)
        partners = await demo_partners(session)
        if len(partners) != len(HOSTS):
            return None
        _follow_port(partners, settings)
        found = DemoShop(
            site_domains=tuple(partner.site_domain for partner in partners),
            cart=await _cart(session, partners[0], settings),
            gift_card=await gift_card_to_try(session, partners[0]),
            voucher=await voucher_to_try(session, partners[0]),
        )
    await _seed_provider(sandbox, partners)
    return found


async def _lay(session: AsyncSession, settings: Settings, clock: Clock) -> None:
    marketplace = MarketplaceRow(name="Demo", domain="demo.localhost")
    session.add(marketplace)
    await session.flush()
    now, password_hash, files = clock.now(), await hashed(PASSWORD), open_store(settings)
    sortings = await lay_sortings(session, marketplace, load_sortings())
    for content, host, username in zip(load_content().partners, HOSTS, PARTNER_USERS, strict=True):
        partner = await lay_shop(session, marketplace, with_port(host, settings), content, now)
        await lay_catalogue(session, files, partner, sortings, load_catalogue(content.key), now)
        session.add(_user(username, "partner", password_hash, partner_id=partner.id))
    session.add(_user(MARKETPLACE_USER, "marketplace", password_hash, marketplace_id=marketplace.id))
    session.add(_user(MASTER_USER, "master", password_hash))
    await session.flush()


def _user(
    username: str, role: str, password_hash: str, partner_id: int | None = None, marketplace_id: int | None = None
) -> UserRow:
    return UserRow(
        username=username,
        email=username,
        first_name=role.capitalize(),
        role=UserRole(role),
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        password_hash=password_hash,
    )


async def demo_partners(session: AsyncSession) -> list[PartnerRow]:
    """The partners of the demo log-ins, in the order of their content; none where other data is in their place."""
    query = (
        select(PartnerRow)
        .join(UserRow, col(UserRow.partner_id) == col(PartnerRow.id))
        .where(col(UserRow.username).in_(PARTNER_USERS))
        .order_by(col(PartnerRow.id))
    )
    return list((await session.exec(query)).all())


def _follow_port(partners: list[PartnerRow], settings: Settings) -> None:
    """Addresses carry the port of this start; those that somebody has changed stay."""
    for partner, host in zip(partners, HOSTS, strict=True):
        if partner.site_domain.partition(":")[0] == host:
            partner.site_domain = with_port(host, settings)
            partner.website = shop_url(partner, settings)


async def _cart(session: AsyncSession, partner: PartnerRow, settings: Settings) -> dict[str, Any]:
    """One product with variants, one with something to choose and a plain one, of those that can be had now."""
    products = await load_products(session, partner.id, (), others=True)
    choices = [first_choice(sold) for sold in products.values()]
    lines = price_lines(choices, products)
    orderable = [line.choice for line in lines if line.problem is None]
    kinds = {(bool(c.variant_id), bool(c.attribute_values)): c for c in reversed(orderable)}
    items = [_item(kinds[kind]) for kind in sorted(kinds)]
    return {"items": items, "return_url": shop_url(partner, settings)}


def shop_url(partner: PartnerRow, settings: Settings) -> str:
    """Where the shop is that hands its carts over: at the root of its checkout's host."""
    return f"{settings.funnel_scheme}://{partner.site_domain}/"


def first_choice(sold: SoldProduct) -> Choice:
    """One of a product, with the first variant that is left and the first value of all that must be chosen."""
    offered = sold.offered
    variant = next((v.id for v in offered.variants if v.available != 0), None)
    values = {a.id: a.values[0].value for a in offered.attributes if a.is_required and a.values}
    return Choice(offered.id, 1, variant, values)


def _item(choice: Choice) -> dict[str, Any]:
    item: dict[str, Any] = {"product_id": choice.product_id, "quantity": choice.quantity}
    if choice.variant_id is not None:
        item["variant_id"] = choice.variant_id
    if choice.attribute_values:
        item["attribute_values"] = {str(id): value for id, value in choice.attribute_values.items()}
    return item


async def _seed_provider(sandbox: ASGIApp, partners: list[PartnerRow]) -> None:
    """Tell the sandbox of the partners' owners and wallets; it may have been emptied since the last start."""
    transport = httpx.ASGITransport(sandbox)
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
        for partner in partners:
            owner = {
                "user_id": partner.provider_user_id,
                "wallet_id": partner.provider_wallet_id,
                "name": partner.name,
                "email": partner.agency_email,
            }
            (await client.post("/_sb/seed", json=owner)).raise_for_status()
