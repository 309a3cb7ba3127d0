"""The public pages of a shop: what it sells, the page of one experience, and the list of all pages."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import may_sell, require_open_shop
from schema.checkout.experience_page import ExperienceEntry, ExperiencePage, ShopSections
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.validation.numbers import LARGEST_ID
from schema.validation.slugs import LONGEST_SLUG, SLUG
from store.catalogue.experience_page import (
    load_entries,
    load_environment,
    load_place,
    sells_experiences,
    slug_of_prototype,
)
from store.catalogue.offers import ShopPrototype, load_prototypes, load_with_option
from store.catalogue.slugs import find_by_slug
from store.partner.partners import MarketplaceRow, PartnerRow, partner_status
from store.voucher.payment import zone_of


@operation(AccessRule.CUSTOMER, transaction=False)
async def get_experience_page(call: Call, slug: str) -> ExperiencePage:
    """The page of the experience with this slug, on sale or not. Its own slug differs from a former one.

    Raises NotFound for an unknown slug, PartnerInactive if the partner may not sell.
    """
    if len(slug) > LONGEST_SLUG or not SLUG.fullmatch(slug):  # the database refuses some characters
        raise NotFound(thing="experience")
    partner_id = partner_of(call)
    async with call.services.db.read_sessions() as db:
        await require_open_shop(call, db, partner_id)
        found = await find_by_slug(db, partner_id, slug)
        if found is None:
            raise NotFound(thing="experience")
        id, _ = found
        return await _page_of(
            call, db, (await load_prototypes(db, partner_id, await _today(call, db, partner_id), [id]))[id]
        )


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_option(call: Call, option_id: int) -> ExperiencePage:
    """The page of an experience that has this option, with this option only, on sale or not. Raises NotFound if none has it,
    and for customers.
    """
    partner_id = partner_of(call)
    async with call.services.db.read_sessions() as db:
        prototype = await load_with_option(db, partner_id, await _today(call, db, partner_id), option_id)
        if prototype is None or not call.caller.is_preview:
            raise NotFound(thing="preview")
        return await _page_of(call, db, prototype)


async def _page_of(call: Call, db: AsyncSession, prototype: ShopPrototype) -> ExperiencePage:
    marketplace = await db.get_one(MarketplaceRow, call.caller.marketplace_id)
    return ExperiencePage(
        prototype.offered,
        prototype.is_on_sale,
        await load_environment(db, prototype.offered.id),
        await load_place(db, partner_of(call)),
        marketplace.currency,
    )


@operation(AccessRule.CUSTOMER, transaction=False)
async def find_experience_slug(call: Call, prototype_id: int) -> str:
    """The slug of an experience. Raises NotFound."""
    async with call.services.db.read_sessions() as db:
        slug = await slug_of_prototype(db, partner_of(call), min(prototype_id, LARGEST_ID))
    if slug is None:
        raise NotFound(thing="experience")
    return slug


@operation(AccessRule.CUSTOMER, transaction=False)
async def list_experience_entries(call: Call) -> Sequence[ExperienceEntry]:
    """The experiences on sale, for the sitemap; none if the partner may not sell."""
    partner_id = partner_of(call)
    async with call.services.db.read_sessions() as db:
        if not may_sell(call.services, await partner_status(db, partner_id)):
            return []
        return await load_entries(db, partner_id, await _today(call, db, partner_id))


@operation(AccessRule.CUSTOMER, transaction=False)
async def get_shop_sections(call: Call) -> ShopSections:
    """What the shop sells at present; nothing if the partner may not sell."""
    partner_id = partner_of(call)
    async with call.services.db.read_sessions() as db:
        partner = await db.get_one(PartnerRow, partner_id)
        if not may_sell(call.services, partner.status):
            return ShopSections(experiences=False, gift_cards=False, network=False)
        return ShopSections(
            experiences=await sells_experiences(db, partner_id, await _today(call, db, partner_id)),
            gift_cards=partner.gift_card_offer_enabled,
            network=partner.is_network_shop,
        )


async def _today(call: Call, db: AsyncSession, partner_id: int) -> dt.date:
    """The current day in the time zone of the partner's marketplace."""
    return call.services.clock.now().astimezone(await zone_of(db, partner_id)).date()
