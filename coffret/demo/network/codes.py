"""The shop of the demo network, and codes of it that a demo partner accepts."""

import datetime as dt

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import OfferRow
from store.network.offers import is_accepted
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import PartnerRow


async def network_shop(session: AsyncSession, partner: PartnerRow) -> PartnerRow | None:
    """The partner that is the shop of a partner's network; None if it has none."""
    of_network = col(PartnerRow.marketplace_id) == partner.marketplace_id
    return (await session.exec(select(PartnerRow).where(of_network, col(PartnerRow.is_network_shop)))).first()


async def usable_network_gift_card_code(session: AsyncSession, partner: PartnerRow, now: dt.datetime) -> str:
    """The code of a network gift card that a partner accepts; empty if there is none."""
    if not partner.linked_to_ngc_settings:
        return ""
    card = GiftCardRow
    usable = (
        col(card.network_id) == partner.marketplace_id,
        col(card.status).in_((GiftCardStatus.PAID, GiftCardStatus.USING)),
        col(card.remaining_amount) > 0,
        col(card.is_active),
        ~col(card.is_test),
        col(card.expires_on) > now,
    )
    return (await session.exec(select(card.code).where(*usable).order_by(col(card.id)).limit(1))).first() or ""


async def usable_network_voucher_code(session: AsyncSession, partner: PartnerRow, now: dt.datetime) -> str:
    """The code of an unused network voucher that a partner accepts; empty if there is none."""
    if not partner.linked_to_nv_settings:
        return ""
    voucher = NetworkVoucherRow
    accepted = select(col(OfferRow.box_id)).where(col(OfferRow.partner_id) == partner.id, is_accepted())
    usable = (
        col(voucher.marketplace_id) == partner.marketplace_id,
        col(voucher.status) == NetworkVoucherStatus.PAID,
        col(voucher.is_active),
        col(voucher.expires_on) > now,
        col(voucher.box_id).in_(accepted),
    )
    return (await session.exec(select(voucher.code).where(*usable).order_by(col(voucher.id)).limit(1))).first() or ""
