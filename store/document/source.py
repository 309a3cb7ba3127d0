"""Reads the source of a document from the database: its content and its pictures."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.payment.payment import PaymentStatus
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import PrototypeImageRow, VoucherPrototypeRow
from store.core.localization.formats import Formats
from store.core.settings import Settings
from store.database.loaders import is_any_of
from store.document import words
from store.document.addresses import DocumentKind, document_key
from store.document.contact import contact_of
from store.document.gift_names import SoldItem, giftee_name, gifter_name
from store.document.network_source import read_network_gift_card, read_network_voucher
from store.document.order_invoice import read_receipt
from store.document.rich import blocks_of_html, blocks_of_text
from store.document.sheet import Sheet, SheetBrand, SmallPrintSection
from store.document.typeset import TypesetDocument
from store.gift_card.designs import GiftCardDesignRow, find_design
from store.gift_card.gift_cards import GiftCardRow
from store.media.media import MediaRow, parse_media_path
from store.media.pictures import PictureRow, find_picture
from store.network.vouchers import NetworkVoucherRow
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.payments import PaymentRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRow

PrintableItem: TypeAlias = SoldItem | NetworkVoucherRow
PrintableRow: TypeAlias = PrintableItem | PaymentRow
TABLES: dict[DocumentKind, Any] = {
    DocumentKind.VOUCHER: VoucherRow,
    DocumentKind.GIFT_CARD: GiftCardRow,
    DocumentKind.NETWORK_VOUCHER: NetworkVoucherRow,
    DocumentKind.RECEIPT: PaymentRow,
}
PICTURE_PATH = re.compile(r"/media/([^/?]+)(?:\?.*)?")
UNPRINTABLE_STATES = frozenset(
    {
        *(VoucherState.DRAFT, VoucherState.ERROR),
        *(GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED),
        *(NetworkVoucherStatus.DRAFT, NetworkVoucherStatus.CANCELLED),
    }
)
"""States without a document: not paid, or taken back."""
VOUCHER_MARKS = {
    VoucherState.USED: (words.USED, words.VOUCHER_USED),
    VoucherState.EXPIRED: (words.EXPIRED, words.VOUCHER_EXPIRED),
}
GIFT_CARD_MARKS = {
    GiftCardStatus.USED: (words.USED, words.GIFT_CARD_USED),
    GiftCardStatus.EXPIRED: (words.EXPIRED, words.GIFT_CARD_EXPIRED),
}
NETWORK_VOUCHER_MARKS = {
    NetworkVoucherStatus.USED: (words.USED, words.VOUCHER_USED),
    NetworkVoucherStatus.EXPIRED: (words.EXPIRED, words.VOUCHER_EXPIRED),
}
"""The stamp, and its explanation, on documents that can no longer be used."""
TOKEN = re.compile(r"[\w-]{20,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document and its pictures."""

    key: str
    """The document's key in the file store."""
    sheet: TypesetDocument
    rendered_on: dt.datetime
    """The creation time of the row, so that rendering again gives identical bytes."""
    cover: MediaRow | PictureRow | None
    logo: MediaRow | PictureRow | None
    """Pictures in our own storage, uploaded or from demo data; nothing is fetched from the network."""


async def find_printable(db: AsyncSession, kind: DocumentKind, token: str) -> PrintableRow | None:
    """The voucher, gift card or payment of a document's address, if it has a document."""
    if TOKEN.fullmatch(token) is None:
        return None
    table = TABLES[kind]
    row: PrintableRow | None = (await db.exec(select(table).where(col(table.document_token) == token))).one_or_none()
    return row if row is not None and is_printable(row) else None


async def find_printables(db: AsyncSession, kind: DocumentKind, ids: Sequence[int]) -> list[PrintableItem]:
    """The vouchers or gift cards with these ids that have a document, ordered by id."""
    table = TABLES[kind]
    rows = await db.exec(select(table).where(is_any_of(col(table.id), list(ids))).order_by(col(table.id)))
    return [row for row in rows.all() if is_printable(row)]


def is_printable(row: PrintableRow) -> bool:
    """True if a row has a document. A payment has its receipt once it is paid."""
    if isinstance(row, PaymentRow):
        return row.status is PaymentStatus.OK
    return (row.state if isinstance(row, VoucherRow) else row.status) not in UNPRINTABLE_STATES


async def document_source_of(
    db: AsyncSession,
    settings: Settings,
    row: PrintableRow,
    now: dt.datetime,
    options: Sequence[tuple[Text, int]] | None = None,
) -> DocumentSource:
    """The source of a document in its current state. `options` are those of a voucher that is not stored."""
    if isinstance(row, GiftCardRow) and row.network_id is not None:
        found = await read_network_gift_card(db, row, _stamp(row, now))
        key = document_key(DocumentKind.GIFT_CARD, row.id)
        return DocumentSource(key, found.sheet, row.created_on, await stored_picture(db, found.picture_url), None)
    if isinstance(row, NetworkVoucherRow):
        found = await read_network_voucher(db, row, _stamp(row, now))
        key = document_key(DocumentKind.NETWORK_VOUCHER, row.id)
        return DocumentSource(key, found.sheet, row.created_on, found.cover, None)
    query = select(PartnerRow, MarketplaceRow.time_zone).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    partner, time_zone = (await db.exec(query.where(col(PartnerRow.id) == row.partner_id))).one()
    logo = await stored_picture(db, partner.logo_url)
    if isinstance(row, PaymentRow):
        receipt = await read_receipt(db, row, partner, time_zone)
        return DocumentSource(document_key(DocumentKind.RECEIPT, row.id), receipt, row.created_on, None, logo)
    common = _shared_fields(settings, partner, row, time_zone, now)
    if isinstance(row, GiftCardRow):
        key, design = document_key(DocumentKind.GIFT_CARD, row.id), await find_design(db, row)
        picture = await stored_picture(db, design.picture_url) if design else None
        sheet = _gift_card(row, design, {**common, "look": _look(partner, design)})
        return DocumentSource(key, sheet, row.created_on, picture, logo)
    prototype = await db.get_one(VoucherPrototypeRow, row.voucher_prototype_id)
    sheet = _voucher(row, prototype, await _options(db, row) if options is None else options, common)
    key = document_key(DocumentKind.VOUCHER, row.id)
    return DocumentSource(key, sheet, row.created_on, await _cover(db, prototype), logo)


def _shared_fields(
    settings: Settings, partner: PartnerRow, row: SoldItem, time_zone: str, now: dt.datetime
) -> dict[str, Any]:
    """The fields that vouchers and gift cards share."""
    mark, hint = _stamp(row, now)
    return {
        "language": row.language,
        "look": _look(partner),
        "to": giftee_name(row),
        "sender": gifter_name(row),
        "message": row.message or "",
        "code": row.code,
        "scanned": f"{settings.funnel_scheme}://{partner.site_domain}/redeem/?code={row.normal_code}",
        "validity": words.validity_text(row.language, row.expires_on, time_zone),
        "mark": words.translate(row.language, mark) if mark else "",
        "mark_hint": words.translate(row.language, hint) if hint else "",
        "contact": contact_of(partner, row.language),
    }


def _look(partner: PartnerRow, design: GiftCardDesignRow | None = None) -> SheetBrand:
    return SheetBrand.from_brand(brand_of(partner, design.accent_colour if design else ""))


def _stamp(row: PrintableItem, now: dt.datetime) -> tuple[str, str]:
    """The stamp of a document and its explanation; empty if it can be used.

    The end of the validity counts by itself, since the job that records expiry runs once a day.
    """
    over = row.expires_on is not None and row.expires_on < now
    if isinstance(row, NetworkVoucherRow):
        over = over or (row.usable_until is not None and row.usable_until < now)
        none = NETWORK_VOUCHER_MARKS[NetworkVoucherStatus.EXPIRED] if over else ("", "")
        return NETWORK_VOUCHER_MARKS.get(row.status, none)
    if isinstance(row, VoucherRow):
        if row.refunded_on is not None:
            return words.REFUNDED, words.VOUCHER_REFUNDED
        return VOUCHER_MARKS.get(row.state, VOUCHER_MARKS[VoucherState.EXPIRED] if over else ("", ""))
    return GIFT_CARD_MARKS.get(row.status, GIFT_CARD_MARKS[GiftCardStatus.EXPIRED] if over else ("", ""))


def _voucher(
    row: VoucherRow, prototype: VoucherPrototypeRow, options: Sequence[tuple[Text, int]], common: dict[str, Any]
) -> Sheet:
    language = row.language
    overline = words.translate(language, words.VOUCHER)
    name = row.prototype_name.in_language(language)
    described = prototype.pdf_description.in_language(language) or row.prototype_description.in_language(language)
    return Sheet(
        title=f"{overline} – {name}",
        words=words.voucher_labels(language, row.code),
        overline=overline,
        name=name,
        facts=words.guests_text(
            language, words.GuestCounts(row.nb_adults, row.nb_children, row.nb_babies, row.nb_nights)
        ),
        description=described,
        included=[_with_count(text.in_language(language), count) for text, count in options],
        small_print=[
            SmallPrintSection(words.translate(language, title), blocks)
            for title, blocks in (
                (words.HOW_TO_BOOK, blocks_of_html(prototype.how_to_book_html.in_language(language))),
                (words.CONDITIONS, blocks_of_text(row.prototype_rent_conditions.in_language(language))),
            )
        ],
        **common,
    )


def _gift_card(row: GiftCardRow, design: GiftCardDesignRow | None, common: dict[str, Any]) -> Sheet:
    overline = words.translate(row.language, words.GIFT_CARD)
    value = Formats(row.language).money(row.value_amount, row.currency)
    how = SmallPrintSection(
        words.translate(row.language, words.HOW_TO_USE), blocks_of_text(words.translate(row.language, words.SPENDING))
    )
    return Sheet(
        title=f"{overline} – {value}",
        words=words.gift_card_labels(row.language, row.code),
        overline=overline,
        name=value,
        facts=design.name.in_language(row.language) if design else "",
        description=design.short_description.in_language(row.language) if design else "",
        small_print=[how],
        **common,
    )


def _with_count(name: str, count: int) -> str:
    return name if count == 1 else f"{count} × {name}"


async def _options(db: AsyncSession, row: VoucherRow) -> list[tuple[Text, int]]:
    """The included options of the voucher, then the chosen ones."""
    included, chosen = VoucherIncludedOptionRow, VoucherChosenOptionRow
    came = select(included).where(col(included.voucher_id) == row.id).order_by(col(included.id))
    bought = select(chosen).where(col(chosen.voucher_id) == row.id).order_by(col(chosen.id))
    return [(option.name, option.count) for option in (await db.exec(came)).all()] + [
        (option.name, option.count) for option in (await db.exec(bought)).all()
    ]


async def stored_picture(db: AsyncSession, path: str) -> MediaRow | PictureRow | None:
    """The picture with a path, if it is in our own storage."""
    if uploaded := parse_media_path(path):
        return (await db.exec(select(MediaRow).where(col(MediaRow.uuid) == uploaded[0]))).one_or_none()
    kept_here = PICTURE_PATH.fullmatch(path)
    return await find_picture(db, kept_here[1]) if kept_here else None


async def _cover(db: AsyncSession, prototype: VoucherPrototypeRow) -> MediaRow | None:
    """The image at the position that the prototype names as its cover, else its first image."""
    query = (
        select(MediaRow)
        .join(PrototypeImageRow, col(PrototypeImageRow.media_id) == col(MediaRow.id))
        .where(col(PrototypeImageRow.voucher_prototype_id) == prototype.id)
        .order_by((col(PrototypeImageRow.position) != prototype.cover_image), col(PrototypeImageRow.position))
        .limit(1)
    )
    return (await db.exec(query)).first()
