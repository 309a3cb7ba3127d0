"""Activation of vouchers: start of validity, and sales counts."""

import calendar
import datetime as dt
from collections import Counter
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from sqlalchemy import update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.voucher.voucher import VoucherKind
from store.catalogue.catalogue import VoucherOptionRow, VoucherPrototypeRow
from store.database.loaders import is_any_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherRow

END_OF_DAY = dt.time(23, 59, 59, fold=1)
"""Last second of a day. `fold=1`: if clocks go back over midnight, it is the second occurrence."""


async def activate_vouchers(db: AsyncSession, vouchers: Sequence[VoucherRow], now: dt.datetime) -> None:
    """Activate vouchers of one partner. The rows and their options are flushed, and locked or new.

    Vouchers sold here that were never activated get their expiry date, counted from the day on which they are sent, and are
    counted in the prototypes' `nb_orders`
    and the options' `has_been_ordered`. Options and then prototypes are locked last, each by ascending id.
    """
    first = [row for row in vouchers if row.activated_on is None]
    for row in first:
        row.activated_on = now
    sold = [row for row in first if row.kind is VoucherKind.SOLD]
    if not sold:
        return
    zone = await zone_of(db, sold[0].partner_id)
    times = Counter(row.voucher_prototype_id for row in sold)
    query = select(VoucherPrototypeRow.id, VoucherPrototypeRow.validity_months)
    validity = dict((await db.exec(query.where(is_any_of(col(VoucherPrototypeRow.id), list(times))))).all())
    for row in sold:
        if row.expires_on is None:
            row.expires_on = end_of_validity(row.send_on or now, validity[row.voucher_prototype_id], zone)
    await db.flush()
    await _mark_options(db, [row.id for row in sold])
    for prototype_id, count in sorted(times.items()):
        counted = update(VoucherPrototypeRow).where(col(VoucherPrototypeRow.id) == prototype_id)
        more = col(VoucherPrototypeRow.nb_orders) + count
        unchanged = col(VoucherPrototypeRow.updated_on)  # a sale does not count as a change
        await db.exec(counted.values(nb_orders=more, updated_on=unchanged))


async def _mark_options(db: AsyncSession, voucher_ids: list[int]) -> None:
    """Set `has_been_ordered` on the chosen options that lack it; most have it already."""
    chosen = select(VoucherChosenOptionRow.option_id).where(
        is_any_of(col(VoucherChosenOptionRow.voucher_id), voucher_ids)
    )
    new = select(VoucherOptionRow.id).where(
        col(VoucherOptionRow.id).in_(chosen), col(VoucherOptionRow.has_been_ordered).is_(False)
    )
    ids = (await db.exec(new.order_by(col(VoucherOptionRow.id)).with_for_update())).all()
    if ids:
        unchanged = col(VoucherOptionRow.updated_on)
        marked = update(VoucherOptionRow).where(is_any_of(col(VoucherOptionRow.id), list(ids)))
        await db.exec(marked.values(has_been_ordered=True, updated_on=unchanged))


async def zone_of(db: AsyncSession, partner_id: int) -> ZoneInfo:
    """The time zone of a partner's marketplace, which defines the partner's calendar days."""
    query = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    return ZoneInfo((await db.exec(query.where(col(PartnerRow.id) == partner_id))).one())


def end_of_validity(sold_on: dt.datetime, months: int, zone: ZoneInfo) -> dt.datetime:
    """The last second of the day that is `months` after the sale, or of that month's last day if the month is shorter.

    A voucher of one month, sold on 31 January, is valid until the last day of February.
    """
    day = sold_on.astimezone(zone).date()
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    last = day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))
    return end_of_day(last, zone)


def end_of_day(day: dt.date, zone: ZoneInfo) -> dt.datetime:
    return dt.datetime.combine(day, END_OF_DAY, zone).astimezone(dt.UTC)
