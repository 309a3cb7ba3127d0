"""Reads what the document of a network's gift card shows from the database."""

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.localization.formats import Formats
from store.document import words
from store.document.gift_names import giftee_name, gifter_name
from store.document.printable import printable
from store.document.rich import TextBlock, TextRun
from store.document.sheet import Sheet, SheetBrand, SmallPrintSection
from store.gift_card.gift_cards import GiftCardRow
from store.network.designs import GiftCardDesignRow
from store.partner.brand import brand_of_marketplace
from store.partner.partners import MarketplaceRow


@dataclass(frozen=True, slots=True)
class NetworkGiftCardSource:
    """The content of a document, and the path of its picture; empty if none."""

    sheet: Sheet
    picture_url: str


async def read_network_gift_card(db: AsyncSession, card: GiftCardRow, mark: tuple[str, str]) -> NetworkGiftCardSource:
    """The document of a card, in its language. `mark` is its stamp and its explanation, not translated."""
    network = await db.get_one(MarketplaceRow, card.network_id)
    design = None if card.design_id is None else await db.get_one(GiftCardDesignRow, card.design_id)
    language = card.language
    overline = words.translate(language, words.GIFT_CARD)
    value = Formats(language).money(card.value_amount, card.currency)
    stamp, hint = (words.translate(language, text) if text else "" for text in mark)
    starts_on = card.starts_on if card.starts_on is not None and card.starts_on > card.created_on else None
    sheet = Sheet(
        language=language,
        title=f"{overline} – {value}",
        look=SheetBrand.from_brand(brand_of_marketplace(network, design.accent_colour if design else "")),
        words=words.network_gift_card_labels(language, card.code),
        overline=overline,
        name=value,
        facts=design.name.in_language(language) if design else "",
        description=design.short_description.in_language(language) if design else "",
        to=giftee_name(card),
        sender=gifter_name(card),
        message=card.message or "",
        code=card.code,
        scanned=card.code,
        validity=words.validity_text(language, card.expires_on, network.time_zone, starts_on),
        mark=stamp,
        mark_hint=hint,
        small_print=_terms(network, card),
        contact=[line for line in ("  ·  ".join(filter(None, (network.email, network.domain))),) if line],
    )
    return NetworkGiftCardSource(sheet, design.picture_url if design else "")


def _terms(network: MarketplaceRow, card: GiftCardRow) -> list[SmallPrintSection]:
    """How the card is used, and where its partners are listed, if the network has a site."""
    language, name = card.language, printable(network.name)
    spending = words.NETWORK_SPENDING if card.is_splittable else words.NETWORK_SPENDING_AT_ONCE
    how = TextBlock([TextRun(words.translate(language, spending) % {"network": name})])
    sections = [SmallPrintSection(words.translate(language, words.HOW_TO_USE), [how])]
    if network.domain:
        before, _, after = words.translate(language, words.WHERE_IT_IS_TAKEN).partition("%(site)s")
        site = TextRun(network.domain, link=f"https://{network.domain}/")
        where = TextBlock([TextRun(before % {"network": name}), site, TextRun(after % {"network": name})])
        sections.append(SmallPrintSection(words.translate(language, words.WHERE_TO_USE), [where]))
    return sections
