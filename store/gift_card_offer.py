"""Gift cards as every shop sells them."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

from schema.sale import GiftCardOffer
from store.voucher_sales import end_of_validity

OFFER = GiftCardOffer(
    suggested=tuple(Decimal(value).quantize(Decimal("0.01")) for value in (25, 50, 75, 100, 150, 200)),
    minimum=Decimal("10.00"),
    maximum=Decimal("1000.00"),
    validity_months=12,
)


def expires_on(now: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """When a gift card that is sold now stops working: at the end of a day at its marketplace."""
    return end_of_validity(now, OFFER.validity_months, zone)
