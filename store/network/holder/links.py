"""Signed links to the page of the holder of a gift card or voucher. They contain no code, and stay valid."""

from enum import StrEnum
from uuid import UUID

from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.settings import Settings
from store.core.signed_links import BadLink, read_link, sign_link
from store.gift_card.gift_cards import GiftCardRow
from store.network.gift_cards import network_card
from store.network.vouchers import NetworkVoucherRow, find_network_voucher

PURPOSE = "holder"


class HeldKind(StrEnum):
    """What a link leads to."""

    GIFT_CARD = "c"
    VOUCHER = "v"


def holder_path(settings: Settings, kind: HeldKind, uuid: UUID | str) -> str:
    """The path of the page, on any host: `/network/<token>/`."""
    return f"/network/{sign_link(settings, PURPOSE, [kind.value, UUID(str(uuid)).hex])}/"


def holder_url(settings: Settings, kind: HeldKind, uuid: UUID | str) -> str:
    """The full URL of the page."""
    return f"{settings.public_url}{holder_path(settings, kind, uuid)}"


async def find_held(db: AsyncSession, settings: Settings, token: str) -> GiftCardRow | NetworkVoucherRow | None:
    """The gift card or voucher of a link; None if the link is forged."""
    try:
        kind, hexadecimal = read_link(settings, PURPOSE, token)
        is_card, uuid = HeldKind(kind) is HeldKind.GIFT_CARD, UUID(hex=hexadecimal)
    except (BadLink, ValueError, TypeError, AttributeError):
        return None
    if is_card:
        return await network_card(db, col(GiftCardRow.uuid) == uuid)
    return await find_network_voucher(db, col(NetworkVoucherRow.uuid) == uuid)
