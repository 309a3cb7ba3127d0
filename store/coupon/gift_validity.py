"""The validity of a present whose day of sending is changed after the sale."""

import datetime as dt
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from store.catalogue.catalogue import VoucherPrototypeRow
from store.coupon.validity import validity_end
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
    """The end of the validity of a present, counted from another day of sending, as the checkout counts it; None for no
    limit.

    If the present does not end as the checkout would have it today, staff have extended it, or its seller sells another
    period by now: it then keeps its end, or the period that it has had, if that is longer.
    """
    if sold.expires_on is None or sold.send_on is None:
        return sold.expires_on
    months = await _months_of(db, sold, bought)

    def by_rule(start: dt.datetime) -> dt.datetime:
        return validity_end(bought.validity, start, zone) or end_of_validity(start, months, zone)

    if sold.expires_on == by_rule(sold.send_on):
        return by_rule(begins)
    first, last = sold.send_on.astimezone(zone), sold.expires_on.astimezone(zone)
    had = 12 * (last.year - first.year) + last.month - first.month
    ends = [sold.expires_on, by_rule(begins)]
    if had > 0 and end_of_validity(sold.send_on, had, zone) == sold.expires_on:
        ends.append(end_of_validity(begins, had, zone))
    return max(ends)


async def _months_of(db: AsyncSession, sold: VoucherRow | GiftCardRow | NetworkVoucherRow, bought: Purchase) -> int:
    """The usual period of what was sold."""
    if isinstance(bought, GiftCardPurchase | NetworkGiftCardPurchase):
        return bought.validity_months
    if isinstance(sold, VoucherRow):
        return (await db.get_one(VoucherPrototypeRow, sold.voucher_prototype_id)).validity_months
    assert isinstance(sold, NetworkVoucherRow), "a gift card has its purchase"
    return (await db.get_one(MarketplaceRow, sold.marketplace_id)).network_voucher_validity_months
