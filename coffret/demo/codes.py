"""Usable codes of a demo partner."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState
from store.coupon.coupons import CouponRow
from store.coupon.rules import is_effective
from store.gift_card.gift_cards import GiftCardRow
from store.partner.partners import PartnerRow
from store.voucher.vouchers import VoucherRow


async def usable_coupons(session: AsyncSession, partner: PartnerRow, now: dt.datetime) -> Sequence[CouponRow]:
    """The effective coupons."""
    found = await session.exec(
        select(CouponRow).where(col(CouponRow.partner_id) == partner.id).order_by(col(CouponRow.id))
    )
    return [c for c in found if is_effective(c.is_active, c.starts_on, c.ends_on, c.max_usages, c.usage_count, now)]


async def usable_gift_card_code(session: AsyncSession, partner: PartnerRow) -> str:
    """The code of a gift card with a positive balance; empty if all are spent."""
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


async def usable_voucher_code(session: AsyncSession, partner: PartnerRow) -> str:
    """The code of a paid, unused voucher; empty if all are used."""
    query = (
        select(VoucherRow.code)
        .where(col(VoucherRow.partner_id) == partner.id, col(VoucherRow.state) == VoucherState.PAID)
        .order_by(col(VoucherRow.id))
        .limit(1)
    )
    return (await session.exec(query)).first() or ""
