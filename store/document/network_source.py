"""Reads what the documents of a network's gift cards and vouchers show from the database."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.localization.formats import Formats
from store.document import words
from store.document.gift_names import giftee_name, gifter_name
from store.document.printable import printable
from store.document.rich import TextBlock, TextRun, plain_text_of
from store.document.sheet import Sheet, SheetBrand, SmallPrintSection
from store.gift_card.designs import find_design
from store.gift_card.gift_cards import GiftCardRow
from store.media.media import MediaRow
from store.network.boxes import BoxImageRow, BoxRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.brand import brand_of_marketplace
from store.partner.partners import MarketplaceRow


@dataclass(frozen=True, slots=True)
class NetworkSource:
    """The content of a document, and its picture."""

    sheet: Sheet
    picture_url: str = ""
    """The path of the picture of a design; empty if none."""
    cover: MediaRow | None = None
    """The picture of a box."""


async def read_network_gift_card(db: AsyncSession, card: GiftCardRow, mark: tuple[str, str]) -> NetworkSource:
    """The document of a card, in its language. `mark` is its stamp and its explanation, not translated."""
    network = await db.get_one(MarketplaceRow, card.network_id)
    design = await find_design(db, card)
    language = card.language
    overline = words.translate(language, words.GIFT_CARD)
    value = Formats(language).money(card.value_amount, card.currency)
    sheet = Sheet(
        title=f"{overline} – {value}",
        look=SheetBrand.from_brand(brand_of_marketplace(network, design.accent_colour if design else "")),
        words=words.network_gift_card_labels(language, card.code),
        overline=overline,
        name=value,
        facts=design.name.in_language(language) if design else "",
        description=design.short_description.in_language(language) if design else "",
        validity=words.validity_text(language, card.expires_on, network.time_zone, _later_start(card)),
        small_print=_terms(network, card),
        **_shared_fields(network, card, mark),
    )
    return NetworkSource(sheet, design.picture_url if design else "")


async def read_network_voucher(db: AsyncSession, voucher: NetworkVoucherRow, mark: tuple[str, str]) -> NetworkSource:
    """The document of a voucher, in its language, with its box. Its price is not told: it is a present."""
    network = await db.get_one(MarketplaceRow, voucher.marketplace_id)
    box = await db.get_one(BoxRow, voucher.box_id)
    language = voucher.language
    overline, name = words.translate(language, words.VOUCHER), box.name.in_language(language)
    ends = [end for end in (voucher.expires_on, voucher.usable_until) if end is not None]
    short, full = (text.in_language(language) for text in (box.short_description, box.long_description))
    sheet = Sheet(
        title=f"{overline} – {name}",
        look=SheetBrand.from_brand(brand_of_marketplace(network)),
        words=words.voucher_labels(language, voucher.code),
        overline=overline,
        name=name,
        facts=words.persons_text(language, box.price_scope),
        description=full if len(plain_text_of(full)) <= LONGEST_DESCRIPTION else short or full,
        validity=words.validity_text(language, min(ends, default=None), network.time_zone, _later_start(voucher)),
        small_print=_voucher_terms(network, voucher),
        **_shared_fields(network, voucher, mark),
    )
    return NetworkSource(sheet, cover=await _cover(db, box))


LONGEST_DESCRIPTION = 700
"""The longest full description of a box, in characters, that is printed in place of the short one."""


def _shared_fields(
    network: MarketplaceRow, held: GiftCardRow | NetworkVoucherRow, mark: tuple[str, str]
) -> dict[str, Any]:
    """The fields that gift cards and vouchers share."""
    stamp, hint = (words.translate(held.language, text) if text else "" for text in mark)
    return {
        "language": held.language,
        "to": giftee_name(held),
        "sender": gifter_name(held),
        "message": held.message or "",
        "code": held.code,
        "scanned": held.code,
        "mark": stamp,
        "mark_hint": hint,
        "contact": [line for line in ("  ·  ".join(filter(None, (network.email, network.domain))),) if line],
    }


def _later_start(held: GiftCardRow | NetworkVoucherRow) -> dt.datetime | None:
    """When its validity begins, if that is not with the sale."""
    return held.starts_on if held.starts_on is not None and held.starts_on > held.created_on else None


async def _cover(db: AsyncSession, box: BoxRow) -> MediaRow | None:
    """The cover of a box, else its first picture."""
    image = BoxImageRow
    query = select(MediaRow).join(image, col(image.media_id) == col(MediaRow.id)).where(col(image.box_id) == box.id)
    return (await db.exec(query.order_by(col(image.is_cover).desc(), col(image.position)).limit(1))).first()


def _voucher_terms(network: MarketplaceRow, voucher: NetworkVoucherRow) -> list[SmallPrintSection]:
    """How a voucher is used, how often, and where its partners are listed, if the network has a site."""
    language, network_name = voucher.language, printable(network.name)
    limits = words.usages_text(language, voucher.max_usages, voucher.max_days_after_first_usage)
    how = words.translate(language, words.NETWORK_VOUCHER_USE) % {"network": network_name}
    return [
        SmallPrintSection(
            words.translate(language, words.HOW_TO_USE), [TextBlock([TextRun(text)]) for text in (how, limits)]
        ),
        *_where(network, language, words.WHERE_THEY_ARE_LISTED),
    ]


def _terms(network: MarketplaceRow, card: GiftCardRow) -> list[SmallPrintSection]:
    """How the card is used, and where its partners are listed, if the network has a site."""
    language, name = card.language, printable(network.name)
    spending = words.NETWORK_SPENDING if card.is_splittable else words.NETWORK_SPENDING_AT_ONCE
    how = TextBlock([TextRun(words.translate(language, spending) % {"network": name})])
    sections = [SmallPrintSection(words.translate(language, words.HOW_TO_USE), [how])]
    return [*sections, *_where(network, language, words.WHERE_IT_IS_TAKEN)]


def _where(network: MarketplaceRow, language: str, text: str) -> list[SmallPrintSection]:
    """Where the partners that accept it are listed, if the network has a site."""
    if not network.domain:
        return []
    before, _, after = words.translate(language, text).partition("%(site)s")
    name, site = {"network": printable(network.name)}, TextRun(network.domain, link=f"https://{network.domain}/")
    where = TextBlock([TextRun(before % name), site, TextRun(after % name)])
    return [SmallPrintSection(words.translate(language, words.WHERE_TO_USE), [where])]
