"""Inserts the demo content's voucher catalogue and sold vouchers."""

import datetime as dt
import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from PIL import Image
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.catalogue_content import (
    DemoCatalogue,
    DemoDesign,
    DemoMedia,
    DemoPrototype,
    DemoTaxonomy,
    DemoVoucher,
)
from schema.core.text import Text
from schema.media import MediaSize
from schema.validation.html import clean_html
from schema.validation.slugs import slug_of
from schema.voucher.voucher import VoucherGiftee, VoucherGifter, VoucherState
from store.catalogue.catalogue import (
    EnvironmentRow,
    PriceRangeRow,
    PrototypeImageRow,
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.catalogue.prices import Party, PrototypeRates, rent_price
from store.core.files import FileStore
from store.gift_card.designs import GiftCardDesignRow
from store.media.media import CONTENT_TYPE, MediaRow, media_key_of, media_path_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.issuing import NewVoucher, NewVoucherOption, issue_voucher
from store.voucher.states import transition
from store.voucher.vouchers import VoucherRow

ISSUED_STATES = frozenset({VoucherState.DRAFT, VoucherState.PAID})
"""The states in which vouchers can be issued."""
ONE_MONTH = dt.timedelta(days=30)


@dataclass(frozen=True)
class TaxonomyIds:
    """Ids of the universes and environments, by key."""

    universes: Mapping[str, int]
    environments: Mapping[str, int]


async def insert_taxonomy(db: AsyncSession, marketplace: MarketplaceRow, content: DemoTaxonomy) -> TaxonomyIds:
    """Insert the universes, environments and price ranges of the marketplace."""
    of: dict[str, Any] = {"marketplace_id": marketplace.id}
    universes, environments = (
        {each.key: kind(**of, name=Text(**each.name), ranking=at) for at, each in enumerate(several, 1)}
        for kind, several in ((UniverseRow, content.universes), (EnvironmentRow, content.environments))
    )
    ranges = [
        PriceRangeRow(
            **of,
            name=Text(**each.name),
            minimum_amount=each.minimum,
            maximum_amount=each.maximum,
            currency=marketplace.currency,
            ranking=at,
        )
        for at, each in enumerate(content.price_ranges, 1)
    ]
    db.add_all([*universes.values(), *environments.values(), *ranges])
    await db.flush()
    return TaxonomyIds(
        {key: row.id for key, row in universes.items()}, {key: row.id for key, row in environments.items()}
    )


async def insert_catalogue(
    db: AsyncSession,
    files: FileStore,
    partner: PartnerRow,
    taxonomy: TaxonomyIds,
    content: DemoCatalogue,
    now: dt.datetime,
    *,
    hero: str = "",
) -> None:
    """Insert the pictures, options and prototypes of a partner, its sold vouchers, and its designs. `hero` is the key of the picture of
    its start page.
    """
    media = {each.key: await _media(db, files, partner, each) for each in content.media}
    if hero:
        partner.hero_picture_url = media_path_of(media[hero].uuid, MediaSize.COVER)
    db.add_all(_design(partner, each, media[each.picture], ranking) for ranking, each in enumerate(content.designs, 1))
    options = await _options(db, partner, content)
    prototypes = {}
    for each in content.prototypes:
        prototypes[each.key] = row = _prototype(partner, taxonomy, content, each)
        db.add(row)
        await db.flush()
        of: dict[str, Any] = {"partner_id": partner.id, "voucher_prototype_id": row.id}
        db.add_all(
            PrototypeImageRow(**of, media_id=media[key].id, position=at) for at, key in enumerate(each.images, 1)
        )
        db.add_all(
            VoucherOptionLinkRow(**of, option_id=options[link.key].id, count=link.count, included=link.included)
            for link in each.options
        )
    await db.flush()
    for voucher in content.vouchers:
        await _voucher(db, prototypes[voucher.prototype], options, voucher, now)


def _design(partner: PartnerRow, content: DemoDesign, picture: MediaRow, ranking: int) -> GiftCardDesignRow:
    return GiftCardDesignRow(
        marketplace_id=partner.marketplace_id,
        partner_id=partner.id,
        name=Text(**content.name),
        occasion=content.occasion,
        short_description=Text(**content.short_description),
        description=Text(),
        picture_url=media_path_of(picture.uuid, MediaSize.CARD),
        accent_colour=content.accent_colour,
        is_active=content.is_active,
        ranking=ranking,
    )


async def _media(db: AsyncSession, files: FileStore, partner: PartnerRow, content: DemoMedia) -> MediaRow:
    full, uuid = content.files[MediaSize.FULL], uuid4()
    for size, file in content.files.items():
        await files.put(media_key_of(uuid, size), file, CONTENT_TYPE, lasting=False)
    with Image.open(io.BytesIO(full)) as image:
        width, height = image.size
    row = MediaRow(
        partner_id=partner.id,
        uuid=uuid,
        name=content.key.replace("-", " ").capitalize(),
        content_type=CONTENT_TYPE,
        size=len(full),
        width=width,
        height=height,
        digest=hashlib.sha256(full).hexdigest(),
    )
    db.add(row)
    await db.flush()
    return row


async def _options(db: AsyncSession, partner: PartnerRow, content: DemoCatalogue) -> Mapping[str, VoucherOptionRow]:
    """Insert the options and their categories. Returns the options by key."""
    categories = {
        each.key: VoucherOptionCategoryRow(
            partner_id=partner.id,
            name=Text(**each.name),
            description=Text(**each.description),
            ranking=at,
            min_number_options=each.min_options,
            max_number_options=each.max_options,
        )
        for at, each in enumerate(content.categories, 1)
    }
    db.add_all(categories.values())
    await db.flush()
    options = {
        each.key: VoucherOptionRow(
            partner_id=partner.id,
            name=Text(**each.name),
            description=Text(**each.description),
            selling_price_amount=each.price,
            category_id=None if each.category is None else categories[each.category].id,
            countable=each.countable,
            is_global=each.is_global,
            ranking=at,
        )
        for at, each in enumerate(content.options, 1)
    }
    db.add_all(options.values())
    await db.flush()
    return options


def _prototype(
    partner: PartnerRow, taxonomy: TaxonomyIds, catalogue: DemoCatalogue, content: DemoPrototype
) -> VoucherPrototypeRow:
    as_given = (
        "type",
        "ranking",
        "price_scope",
        "min_capacity",
        "max_capacity",
        "nb_nights",
        "vat_rate",
        "is_highlight",
    )
    prices = ("stay_price", "adults_price", "children_price", "baby_price")
    return VoucherPrototypeRow(
        partner_id=partner.id,
        is_active=True,
        name=Text(**content.name),
        slug=slug_of(content.name["en"], content.key),
        description=Text(**content.description),
        long_description=Text(**content.long_description),
        rent_conditions=Text(**catalogue.rent_conditions),
        how_to_book_html=Text(**{at: clean_html(html) for at, html in catalogue.how_to_book_html.items()}),
        pdf_description=Text(**content.description),
        universe_id=taxonomy.universes[content.universe],
        environment_id=taxonomy.environments[content.environment],
        **{name: getattr(content, name) for name in as_given},
        **{f"{name}_amount": getattr(content, name) for name in prices},
    )


async def _voucher(
    db: AsyncSession,
    prototype: VoucherPrototypeRow,
    options: Mapping[str, VoucherOptionRow],
    content: DemoVoucher,
    now: dt.datetime,
) -> VoucherRow:
    sold_on = now - dt.timedelta(days=content.sold_days_ago)
    nights = content.nights or prototype.nb_nights
    party = Party(content.adults, content.children, nights=nights)
    rent = rent_price(prototype, PrototypeRates.from_row(prototype), party)
    counted = [(options[each.key], each.count) for each in content.options]
    chosen = [NewVoucherOption(option.id, count, option.selling_price_amount) for option, count in counted]
    total = rent + sum(each.unit_price * each.count for each in chosen)
    sold = VoucherRow(
        partner_id=prototype.partner_id,
        voucher_prototype_id=prototype.id,
        nb_nights=nights,
        nb_adults=content.adults,
        nb_children=content.children,
        rent_price_amount=rent,
        total_price_amount=total,
        bought_rent_price_amount=rent,
        purchase_price_amount=total,
        state=content.state if content.state in ISSUED_STATES else VoucherState.PAID,
        **_gifter(content).model_dump(),
        **_giftee(content).model_dump(),
        self_gifted=content.giftee_first_name is None,
        message=content.message,
        to_giftee=content.giftee_first_name or "",
        from_gifter=content.gifter_first_name,
        language=content.language,
        payment_type="credit_card",
    )
    row = await issue_voucher(db, NewVoucher(sold, chosen), sold_on)
    if content.state not in ISSUED_STATES:
        await transition(db, row, content.state, max(sold_on, now - ONE_MONTH))
    return row


def _gifter(content: DemoVoucher) -> VoucherGifter:
    return VoucherGifter(
        gifter_first_name=content.gifter_first_name,
        gifter_last_name=content.gifter_last_name,
        gifter_email=content.gifter_email,
    )


def _giftee(content: DemoVoucher) -> VoucherGiftee:
    return VoucherGiftee(
        giftee_first_name=content.giftee_first_name,
        giftee_last_name=content.giftee_last_name,
        giftee_email=content.giftee_email,
    )
