"""The validity of a present whose day of sending is changed after the sale."""

import datetime as dt
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from store.catalogue.catalogue import VoucherPrototypeRow
from store.coupon.validity import DAY_PATTERN, validity_end
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow
from store.payment.snapshot import GiftCardPurchase, NetworkGiftCardPurchase, Purchase
from store.voucher.payment import end_of_validity
from store.voucher.vouchers import VoucherRow


async def end_from(
    db: AsyncSession,
    sold: VoucherRow | GiftCardRow | NetworkVoucherRow,
    bought: Purchase,
    begins: dt.datetime,
    zone: ZoneInfo,
) -> dt.datetime | None:
    """The end of the validity of a present whose day of sending is changed, as the checkout counts it from the new day, and
    never earlier than before; None for no limit. A last day that a coupon has set stays.

    It depends on nothing that earlier changes have left, but for the end itself: however often the day is moved, the end
    is that of the latest day.
    """
    if sold.expires_on is None or DAY_PATTERN.fullmatch(bought.validity):
        return sold.expires_on
    end = validity_end(bought.validity, begins, zone)
    return max(sold.expires_on, end or end_of_validity(begins, await _months_of(db, sold, bought), zone))


async def _months_of(db: AsyncSession, sold: VoucherRow | GiftCardRow | NetworkVoucherRow, bought: Purchase) -> int:
    """The usual period of what was sold."""
    if isinstance(bought, GiftCardPurchase | NetworkGiftCardPurchase):
        return bought.validity_months
    if isinstance(sold, VoucherRow):
        return (await db.get_one(VoucherPrototypeRow, sold.voucher_prototype_id)).validity_months
    assert isinstance(sold, NetworkVoucherRow), "a gift card has its purchase"
    return (await db.get_one(MarketplaceRow, sold.marketplace_id)).network_voucher_validity_months
