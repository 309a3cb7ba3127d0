"""Codes of a demo partner that work now."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState
from store.coupon.coupons import CouponRow
from store.coupon.rules import works
from store.gift_card.gift_cards import GiftCardRow
from store.partner.partners import PartnerRow
from store.voucher.vouchers import VoucherRow


async def coupons_to_try(session: AsyncSession, partner: PartnerRow, now: dt.datetime) -> Sequence[CouponRow]:
    """The coupons that can be used."""
    found = await session.exec(
        select(CouponRow).where(col(CouponRow.partner_id) == partner.id).order_by(col(CouponRow.id))
    )
    return [c for c in found if works(c.is_active, c.starts_on, c.ends_on, c.max_usages, c.usage_count, now)]


async def gift_card_to_try(session: AsyncSession, partner: PartnerRow) -> str:
    """The code of a gift card that has something left; empty when all are spent."""
    live = (GiftCardStatus.PAID, GiftCardStatus.USING)
    query = (
        select(GiftCardRow.code)
        .where(
            col(GiftCardRow.partner_id) == partner.id,
            col(GiftCardRow.status).in_(live),
            col(GiftCardRow.remaining_amount) > 0,
        )
        .order_by(col(GiftCardRow.id))
        .limit(1)
    )
    return (await session.exec(query)).first() or ""


async def voucher_to_try(session: AsyncSession, partner: PartnerRow) -> str:
    """The code of a voucher that can be used; empty when all were."""
    query = (
        select(VoucherRow.code)
        .where(col(VoucherRow.partner_id) == partner.id, col(VoucherRow.state) == VoucherState.PAID)
        .order_by(col(VoucherRow.id))
        .limit(1)
    )
    return (await session.exec(query)).first() or ""
