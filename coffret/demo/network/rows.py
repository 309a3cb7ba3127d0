"""Inserts the network of the demo data: what it has set, its shop and partners, its designs, boxes and offers."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from random import Random
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.catalogue_rows import TaxonomyIds
from coffret.demo.content import DemoPartner
from coffret.demo.network.content import DemoNetwork, NetworkBox, NetworkPartner, NetworkTerms
from coffret.demo.rows import coupon_row, insert_delivery, theme_columns
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.network.box import OfferStatus
from schema.partner.partner import PartnerStatus
from store.catalogue.catalogue import PriceRangeRow, VoucherPrototypeRow
from store.core.settings import Settings
from store.gift_card.designs import GiftCardDesignRow
from store.media.media import MediaRow
from store.media.pictures import store_picture
from store.network.boxes import BoxImageRow, BoxRow, OfferRow
from store.partner.creation import with_port_of
from store.partner.partners import MarketplaceRow, PartnerRow

SHOP_HOST = "network.localhost"
SEED = "demo network"
DAY = dt.timedelta(days=1)
STATUSES = {OfferStatus.ACCEPTED: 80, OfferStatus.SUBMITTED: 8, OfferStatus.DRAFT: 6, OfferStatus.REJECTED: 6}
"""The statuses of offers, with their shares in percent."""


def set_terms(marketplace: MarketplaceRow, content: DemoNetwork) -> None:
    """Write the name of the network, and what it has set."""
    marketplace.name, marketplace.email = content.shop.commercial_name, content.shop.email
    for name, value in theme_columns(content.shop.theme).items():
        setattr(marketplace, name, value)
    for name, value in asdict(content.invoicing).items():
        setattr(marketplace, f"invoicer_{name}", value)
    both: Mapping[str, NetworkTerms] = {"network_gift_card": content.gift_cards, "network_voucher": content.vouchers}
    for prefix, terms in both.items():
        setattr(marketplace, f"{prefix}_validity_months", terms.validity_months)
        setattr(marketplace, f"{prefix}_management_fee_amount", terms.management_fee)
        setattr(marketplace, f"{prefix}_commission_rate", terms.commission_rate)
        setattr(marketplace, f"{prefix}_vat_rate", terms.vat_rate)
        setattr(marketplace, f"{prefix}_books_breakage", terms.books_breakage)


async def insert_partners(
    db: AsyncSession, marketplace: MarketplaceRow, settings: Settings, content: DemoNetwork
) -> Sequence[PartnerRow]:
    """Insert the partners that have no log-in."""
    rows = []
    for each in content.partners:
        row = PartnerRow(
            site_domain=with_port_of(f"{each.key}.localhost", settings),
            agency_email=f"contact@{each.key}.example",
            tags=list(each.tags),
            gift_card_offer_enabled=False,
            linked_to_nv_settings=True,
            linked_to_ngc_settings=True,
            vat_id=each.vat_id,
            **_partner_columns(marketplace, each.key, each),
        )
        rows.append(await _add_partner(db, row))
    return rows


async def insert_network_shop(
    db: AsyncSession,
    marketplace: MarketplaceRow,
    settings: Settings,
    content: DemoNetwork,
    delivery_like: DemoPartner,
    now: dt.datetime,
) -> None:
    """Insert the partner that stands for the network, with its coupon, and the delivery modes of `delivery_like` that need
    no place to collect from.
    """
    shop = content.shop
    row = PartnerRow(
        site_domain=with_port_of(SHOP_HOST, settings),
        agency_email=shop.email,
        tags=["network"],
        gift_card_offer_enabled=False,
        gift_card_offer_suggested=list(shop.suggested),
        gift_card_offer_minimum=shop.minimum,
        gift_card_offer_maximum=shop.maximum,
        gift_card_offer_validity_months=shop.validity_months,
        is_network_shop=True,
        headline=Text(**shop.theme.headline),
        **theme_columns(shop.theme),
        **_partner_columns(marketplace, "network", shop),
    )
    await _add_partner(db, row)
    modes = [mode for mode in delivery_like.delivery if mode.kind is not DeliveryKind.CLICK_AND_COLLECT]
    for ranking, mode in enumerate(modes, 1):
        await insert_delivery(db, marketplace.currency, row, mode, ranking)
    db.add(coupon_row(marketplace.currency, row, shop.coupon, now))


def _partner_columns(marketplace: MarketplaceRow, key: str, content: Any) -> dict[str, Any]:
    """The columns that all partners of the network have; `content` is a partner or the shop."""
    alike = ("name", "commercial_name", "short_name", "accent_colour", "language")
    return {
        "marketplace_id": marketplace.id,
        "source_id": key,
        "status": PartnerStatus.ACTIVE,
        "agency_phone": content.phone,
        "hq_address_line_1": content.address.line,
        "hq_postal_code": content.address.postal_code,
        "hq_city": content.address.city,
        "hq_country": content.address.country,
        "hq_country_code": content.address.country,
        "payments_active": True,
        "provider_user_id": f"demo-user-{key}",
        "provider_wallet_id": f"demo-wallet-{key}",
        **{name: getattr(content, name) for name in alike},
    }


async def _add_partner(db: AsyncSession, row: PartnerRow) -> PartnerRow:
    db.add(row)
    await db.flush()
    row.source_id = str(row.id)
    return row


async def insert_designs(
    db: AsyncSession, marketplace: MarketplaceRow, owner: PartnerRow, content: DemoNetwork
) -> None:
    """Insert the designs of gift cards. Their pictures are those of a partner."""
    for ranking, (design, picture) in enumerate(zip(content.designs, content.pictures, strict=True), 1):
        row = GiftCardDesignRow(
            marketplace_id=marketplace.id,
            name=Text(**design.name),
            occasion=design.occasion,
            short_description=Text(**design.short_description),
            description=Text(**design.description),
            picture_url=await store_picture(db, owner.id, picture, "webp"),
            accent_colour=design.accent_colour,
            is_active=design.is_active,
            ranking=ranking,
        )
        db.add(row)


async def insert_boxes(
    db: AsyncSession,
    marketplace: MarketplaceRow,
    content: DemoNetwork,
    now: dt.datetime,
) -> Mapping[str, BoxRow]:
    """Insert the boxes with their pictures, by key."""
    ranges = (await db.exec(select(PriceRangeRow).where(col(PriceRangeRow.marketplace_id) == marketplace.id))).all()
    media = {row.name: row.id for row in await db.exec(select(MediaRow))}
    rows = {
        box.key: BoxRow(
            marketplace_id=marketplace.id,
            currency=marketplace.currency,
            name=Text(**box.name),
            short_description=Text(**box.short_description),
            long_description=_long_description(content, box),
            price_amount=box.price,
            price_range_id=next((each.id for each in ranges if _is_in(each, box)), None),
            ranking=ranking,
            created_on=now - 300 * DAY,
            **{name: getattr(box, name) for name in ("price_scope", "max_usages", "is_highlight", "is_active")},
            max_days_after_first_usage=box.max_days_after_first_usage,
        )
        for ranking, box in enumerate(content.boxes, 1)
    }
    db.add_all(rows.values())
    await db.flush()
    for box in content.boxes:
        ids = [media[key.replace("-", " ").capitalize()] for key in box.images]
        db.add_all(
            BoxImageRow(box_id=rows[box.key].id, position=at, media_id=id, is_cover=at == 1)
            for at, id in enumerate(ids, 1)
        )
    return rows


def _long_description(content: DemoNetwork, box: NetworkBox) -> Text:
    details = content.details[box.universe]
    return Text(**{language: f"{text} {details[language]}" for language, text in box.short_description.items()})


def _is_in(each: PriceRangeRow, box: NetworkBox) -> bool:
    return each.minimum_amount <= box.price and (each.maximum_amount is None or box.price < each.maximum_amount)


async def insert_offers(
    db: AsyncSession,
    content: DemoNetwork,
    boxes: Mapping[str, BoxRow],
    partners: Sequence[PartnerRow],
    taxonomy: TaxonomyIds,
    now: dt.datetime,
) -> None:
    """Insert offers of the partners for the boxes of their universes. Partners with a catalogue offer a prototype of it."""
    known = {each.name: each for each in content.partners}
    prototypes = (await db.exec(select(VoucherPrototypeRow).order_by(col(VoucherPrototypeRow.id)))).all()
    products = {(row.partner_id, row.universe_id): row.id for row in reversed(prototypes)}
    for box in content.boxes:
        rng, universe = Random(f"{SEED} {box.key}"), taxonomy.universes[box.universe]  # noqa: S311 - not a secret
        for partner in partners:
            product = products.get((partner.id, universe))
            if product is not None or _takes_part(known.get(partner.name), box, rng):
                offer = _offer(content, box, boxes[box.key], partner, rng, now)
                offer.product_id = product
                db.add(offer)
    await db.flush()


def _takes_part(partner: NetworkPartner | None, box: NetworkBox, rng: Random) -> bool:
    return partner is not None and box.universe in partner.universes and rng.random() < 0.9


def _offer(
    content: DemoNetwork, box: NetworkBox, row: BoxRow, partner: PartnerRow, rng: Random, now: dt.datetime
) -> OfferRow:
    """An offer. Those for highlights, and those of the first partners, are accepted."""
    is_sure = box.is_highlight or partner.name not in {each.name for each in content.partners}
    status = OfferStatus.ACCEPTED if is_sure else rng.choices(list(STATUSES), list(STATUSES.values()))[0]
    written = now - rng.randrange(270, 290) * DAY
    decided = written + rng.randrange(2, 8) * DAY
    return OfferRow(
        partner_id=partner.id,
        marketplace_id=row.marketplace_id,
        box_id=row.id,
        name=Text(**{language: f"{name}, {partner.commercial_name}" for language, name in box.name.items()}),
        description=_long_description(content, box),
        terms_of_use=Text(**content.terms_of_use),
        status=status,
        is_active=is_sure or rng.random() > 0.04,
        ranking=rng.randrange(1, 10),
        created_on=written,
        edited_on=written,
        submitted_on=None if status is OfferStatus.DRAFT else written + DAY,
        accepted_on=decided if status is OfferStatus.ACCEPTED else None,
        rejected_on=decided if status is OfferStatus.REJECTED else None,
        rejection_reason=content.rejection_reason if status is OfferStatus.REJECTED else "",
    )
