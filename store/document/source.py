"""What a document is made from: rows of the database, read to a sheet, and the pictures that go with it."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import PrototypeImageRow, VoucherPrototypeRow
from store.core.localization import Formats
from store.core.settings import Settings
from store.database.loaders import among
from store.document import words
from store.document.addresses import DocumentKind
from store.document.rich import blocks_of_html, blocks_of_text
from store.document.sheet import Look, Part, Sheet
from store.gift_card.gift_cards import GiftCardRow
from store.mail.gifts import from_gifter, to_giftee
from store.media.media import MediaRow, read_path
from store.media.pictures import PictureRow
from store.media.pictures import find as find_picture
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRow

Printed: TypeAlias = VoucherRow | GiftCardRow
TABLES: dict[DocumentKind, Any] = {DocumentKind.VOUCHER: VoucherRow, DocumentKind.GIFT_CARD: GiftCardRow}
LOGO = re.compile(r"/media/([^/?]+)(?:\?.*)?")
NOT_PRINTED = frozenset({VoucherState.DRAFT, VoucherState.ERROR, GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED})
"""What nobody has paid for, or what was taken back, has no document."""
VOUCHER_MARKS = {
    VoucherState.USED: (words.USED, words.VOUCHER_USED),
    VoucherState.EXPIRED: (words.EXPIRED, words.VOUCHER_EXPIRED),
}
GIFT_CARD_MARKS = {
    GiftCardStatus.USED: (words.USED, words.GIFT_CARD_USED),
    GiftCardStatus.EXPIRED: (words.EXPIRED, words.GIFT_CARD_EXPIRED),
}
"""What stands on a document that is good for nothing any more."""
TOKEN = re.compile(r"[\w-]{20,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Source:
    """A sheet, and where its pictures are."""

    key: str
    """Where the document is kept."""
    sheet: Sheet
    made_on: dt.datetime
    """When what it is about was made: a document made again is the same, to the byte."""
    cover: MediaRow | None
    logo: MediaRow | PictureRow | None
    """A logo that we keep, uploaded or laid in with demo data: nothing is fetched from the network."""


async def find_printed(db: AsyncSession, kind: DocumentKind, token: str) -> Printed | None:
    """What the document at an address is about, if there is a document of it."""
    if TOKEN.fullmatch(token) is None:
        return None
    table = TABLES[kind]
    found: Printed | None = (await db.exec(select(table).where(col(table.document_token) == token))).one_or_none()
    return found if found is not None and is_printed(found) else None


async def printed_among(db: AsyncSession, kind: DocumentKind, ids: Sequence[int]) -> list[Printed]:
    """Of vouchers or gift cards those that there is a document of, in the order of their ids."""
    table = TABLES[kind]
    found = await db.exec(select(table).where(among(col(table.id), list(ids))).order_by(col(table.id)))
    return [row for row in found.all() if is_printed(row)]


def is_printed(row: Printed) -> bool:
    """Whether there is a document of a voucher or a gift card."""
    return (row.state if isinstance(row, VoucherRow) else row.status) not in NOT_PRINTED


async def source_of(db: AsyncSession, settings: Settings, row: Printed, now: dt.datetime) -> Source:
    """Everything that a document shows as of now."""
    query = select(PartnerRow, MarketplaceRow.time_zone).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    partner, time_zone = (await db.exec(query.where(col(PartnerRow.id) == row.partner_id))).one()
    logo = await _logo(db, partner.logo_url)
    common = _common(settings, partner, row, time_zone, now)
    if isinstance(row, GiftCardRow):
        key = f"documents/{DocumentKind.GIFT_CARD}/{row.id}.pdf"
        return Source(key, _gift_card(row, common), row.created_on, None, logo)
    prototype = await db.get_one(VoucherPrototypeRow, row.voucher_prototype_id)
    sheet = _voucher(row, prototype, await _options(db, row), common)
    key = f"documents/{DocumentKind.VOUCHER}/{row.id}.pdf"
    return Source(key, sheet, row.created_on, await _cover(db, prototype), logo)


def _common(settings: Settings, partner: PartnerRow, row: Printed, time_zone: str, now: dt.datetime) -> dict[str, Any]:
    """What vouchers and gift cards have in common."""
    mark, hint = _mark(row, now)
    return {
        "language": row.language,
        "look": Look.of(brand_of(partner)),
        "to": to_giftee(row),
        "sender": from_gifter(row),
        "message": row.message or "",
        "code": row.code,
        "scanned": f"{settings.funnel_scheme}://{partner.site_domain}/redeem/?code={row.normal_code}",
        "validity": words.validity(row.language, row.expires_on, time_zone),
        "mark": words.say(row.language, mark) if mark else "",
        "mark_hint": words.say(row.language, hint) if hint else "",
        "contact": contact_of(partner, row.language),
    }


def _mark(row: Printed, now: dt.datetime) -> tuple[str, str]:
    """What is stamped on a document, and what is said of it; empty where it can be used.

    Its last day counts by itself, for the job that notes that it is over comes by once a day.
    """
    over = row.expires_on is not None and row.expires_on < now
    if isinstance(row, VoucherRow):
        return VOUCHER_MARKS.get(row.state, VOUCHER_MARKS[VoucherState.EXPIRED] if over else ("", ""))
    return GIFT_CARD_MARKS.get(row.status, GIFT_CARD_MARKS[GiftCardStatus.EXPIRED] if over else ("", ""))


def _voucher(
    row: VoucherRow, prototype: VoucherPrototypeRow, options: Sequence[tuple[Text, int]], common: dict[str, Any]
) -> Sheet:
    language = row.language
    overline = words.say(language, words.VOUCHER)
    name = row.prototype_name.in_language(language)
    described = prototype.pdf_description.in_language(language) or row.prototype_description.in_language(language)
    return Sheet(
        title=f"{overline} – {name}",
        words=words.voucher_words(language, row.code),
        overline=overline,
        name=name,
        facts=words.party(language, words.Party(row.nb_adults, row.nb_children, row.nb_babies, row.nb_nights)),
        description=described,
        included=[_counted(text.in_language(language), count) for text, count in options],
        small_print=[
            Part(words.say(language, title), blocks)
            for title, blocks in (
                (words.HOW_TO_BOOK, blocks_of_html(prototype.how_to_book_html.in_language(language))),
                (words.CONDITIONS, blocks_of_text(row.prototype_rent_conditions.in_language(language))),
            )
        ],
        **common,
    )


def _gift_card(row: GiftCardRow, common: dict[str, Any]) -> Sheet:
    overline = words.say(row.language, words.GIFT_CARD)
    value = Formats(row.language).money(row.value_amount, row.currency)
    how = Part(words.say(row.language, words.HOW_TO_USE), blocks_of_text(words.say(row.language, words.SPENDING)))
    return Sheet(
        title=f"{overline} – {value}",
        words=words.gift_card_words(row.language, row.code),
        overline=overline,
        name=value,
        small_print=[how],
        **common,
    )


def _counted(name: str, count: int) -> str:
    return name if count == 1 else f"{count} × {name}"


def contact_of(partner: PartnerRow, language: str) -> list[str]:
    """How a shop is reached: its address, then telephone, e-mail and site, as lines."""
    country = partner.hq_country_code
    place = (
        partner.hq_address_line_1,
        partner.hq_address_line_2,
        f"{partner.hq_postal_code} {partner.hq_city}".strip(),
        Formats(language).country(country) if country else "",
    )
    site = partner.website.partition("://")[2].rstrip("/")
    reached = (partner.agency_phone, partner.agency_email, site)
    lines = (", ".join(filter(None, place)), "  ·  ".join(filter(None, reached)))
    return [line for line in lines if line]


async def _options(db: AsyncSession, row: VoucherRow) -> list[tuple[Text, int]]:
    """What came with the voucher, then what was chosen."""
    included, chosen = VoucherIncludedOptionRow, VoucherChosenOptionRow
    came = select(included).where(col(included.voucher_id) == row.id).order_by(col(included.id))
    bought = select(chosen).where(col(chosen.voucher_id) == row.id).order_by(col(chosen.id))
    return [(option.name, option.count) for option in (await db.exec(came)).all()] + [
        (option.name, option.count) for option in (await db.exec(bought)).all()
    ]


async def _logo(db: AsyncSession, path: str) -> MediaRow | PictureRow | None:
    """The picture that a partner's logo is, if it is kept here."""
    if uploaded := read_path(path):
        return (await db.exec(select(MediaRow).where(col(MediaRow.uuid) == uploaded[0]))).one_or_none()
    kept_here = LOGO.fullmatch(path)
    return await find_picture(db, kept_here[1]) if kept_here else None


async def _cover(db: AsyncSession, prototype: VoucherPrototypeRow) -> MediaRow | None:
    """The picture at the place that the prototype names, else its first one."""
    query = (
        select(MediaRow)
        .join(PrototypeImageRow, col(PrototypeImageRow.media_id) == col(MediaRow.id))
        .where(col(PrototypeImageRow.voucher_prototype_id) == prototype.id)
        .order_by((col(PrototypeImageRow.position) != prototype.cover_image), col(PrototypeImageRow.position))
        .limit(1)
    )
    return (await db.exec(query)).first()
