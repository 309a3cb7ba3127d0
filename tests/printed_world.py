"""Vouchers and gift cards to print, and how what was printed is read."""

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import zxingcpp
from PIL import Image, ImageDraw
from pypdf import PdfReader

from schema.gift_card import GiftCardStatus
from schema.media import MediaSize
from schema.values import Text
from schema.voucher import VoucherState
from schema.voucher_prototype import VoucherPrototypeType
from store.catalogue import PrototypeImageRow, UniverseRow, VoucherOptionRow, VoucherPrototypeRow
from store.clock import clock
from store.codes import draw, normal
from store.gift_cards import GiftCardRow
from store.media import MediaRow, key_of
from store.vouchers import VoucherIncludedOptionRow, VoucherRow
from tests.shop_world import Shop

UNTIL = dt.datetime(2027, 8, 23, 21, 59, 59, tzinfo=dt.UTC)
"""The last second of the day in Paris."""


async def prototype(shop: Shop, **more: Any) -> VoucherPrototypeRow:
    """An experience with everything that can be printed, in English and French."""
    universe = await shop.add(UniverseRow(marketplace_id=shop.partner.marketplace_id, name=Text(en="Wellness")))
    values: dict[str, Any] = {
        "name": Text(en="A night above the lake", fr="Une nuit sur le lac"),
        "description": Text(en="A night.", fr="Une nuit."),
        "long_description": Text(),
        "rent_conditions": Text(en="Not on public holidays.", fr="Hors jours fériés."),
        "how_to_book_html": Text(en="<p>Call <b>us</b>.</p>", fr="<p>Appelez-<b>nous</b>.</p>"),
        "pdf_description": Text(en="With dinner and breakfast.", fr="Avec dîner et petit-déjeuner."),
        "type": VoucherPrototypeType.FIXED_STAY,
        "nb_nights": 1,
        "vat_rate": Decimal("10.00"),
        "stay_price_amount": Decimal("180.00"),
        **more,
    }
    return await shop.add(VoucherPrototypeRow(partner_id=shop.partner.id, universe_id=universe.id, **values))


async def voucher(shop: Shop, of: VoucherPrototypeRow, **more: Any) -> VoucherRow:
    """A voucher that can be used, for two adults and a child."""
    code = draw()
    values: dict[str, Any] = {
        "state": VoucherState.PAID,
        "nb_adults": 2,
        "nb_children": 1,
        "nb_nights": 1,
        "to_giftee": "Claire Dubois",
        "from_gifter": "Ada & Jean",
        "message": "Bonne fête !\nÀ bientôt",
        "gifter_first_name": "Ada",
        "gifter_email": "ada@example.com",
        "giftee_email": "claire@example.com",
        "activated_on": clock.now(),
        "expires_on": UNTIL,
        **more,
    }
    for amount in ("total_price_amount", "purchase_price_amount", "rent_price_amount", "bought_rent_price_amount"):
        values.setdefault(amount, Decimal("180.00"))
    return await shop.add(
        VoucherRow(
            partner_id=shop.partner.id,
            code=code,
            normal_code=normal(code),
            voucher_prototype_id=of.id,
            prototype_name=of.name,
            prototype_description=of.description,
            prototype_rent_conditions=of.rent_conditions,
            prototype_type=of.type,
            **values,
        )
    )


async def includes(shop: Shop, of: VoucherRow, name: Text, count: int) -> None:
    """An option that came with a voucher."""
    partner_id = shop.partner.id
    values: dict[str, Any] = {"name": name, "description": Text(), "selling_price_amount": Decimal("10.00")}
    option = await shop.add(VoucherOptionRow(partner_id=partner_id, **values))
    await shop.add(
        VoucherIncludedOptionRow(partner_id=partner_id, voucher_id=of.id, option_id=option.id, name=name, count=count)
    )


async def gift_card(shop: Shop, **more: Any) -> GiftCardRow:
    """A gift card of 150.00 that can be spent."""
    values = {
        "value": "150.00",
        "status": GiftCardStatus.PAID,
        "gifter_first_name": "Ada",
        "gifter_last_name": "Martin",
        "gifter_email": "ada@example.com",
        "giftee_first_name": "Claire",
        "expires_on": UNTIL,
        **more,
    }
    return await shop.gift_card(**values)


async def pictured(shop: Shop, of: VoucherPrototypeRow, *colours: str) -> list[MediaRow]:
    """Give an experience pictures, each of one colour."""
    rows = []
    for position, colour in enumerate(colours, start=1):
        content = picture(colour)
        values: dict[str, Any] = {
            "name": colour,
            "digest": colour.strip("#").rjust(64, "0"),
            "content_type": "image/webp",
        }
        row = await shop.add(MediaRow(partner_id=shop.partner.id, size=len(content), width=1600, height=900, **values))
        await shop.add(
            PrototypeImageRow(
                partner_id=shop.partner.id, voucher_prototype_id=of.id, media_id=row.id, position=position
            )
        )
        await shop.services.files.put(key_of(row.uuid, MediaSize.COVER), content, "image/webp")
        rows.append(row)
    return rows


def picture(colour: str, form: str = "WEBP", size: tuple[int, int] = (1600, 900)) -> bytes:
    """A picture of one colour with a disc on it."""
    made = Image.new("RGB", size, colour)
    ImageDraw.Draw(made).ellipse((40, 40, size[1] // 2, size[1] // 2), fill="white")
    written = io.BytesIO()
    made.save(written, form)
    return written.getvalue()


# ---- reading


def words(pdf: bytes) -> str:
    """What is read on a document, in one line, with its spaces as spaces."""
    text = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    return " ".join(text.replace("\N{ZERO WIDTH SPACE}", "").split())


def colours(pdf: bytes) -> list[Any]:
    """The colour in the middle of each picture of a document that is none of a page's own drawing."""
    found = [image.image for page in PdfReader(io.BytesIO(pdf)).pages for image in page.images]
    return [image.convert("RGB").getpixel((image.width - 20, image.height - 20)) for image in found if image]


def scanned(png: bytes) -> list[str]:
    """What the QR codes of a picture say."""
    return [found.text for found in zxingcpp.read_barcodes(Image.open(io.BytesIO(png)))]
