"""What happens when a voucher is paid for: it works from then on, until its prototype's validity ends, and counts as sold."""

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
from store.database.loaders import among
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherRow

LAST_SECOND = dt.time(23, 59, 59, fold=1)
"""Of a day; where clocks go back over midnight it comes twice, and the day ends with the second."""


async def pay(db: AsyncSession, vouchers: Sequence[VoucherRow], now: dt.datetime) -> None:
    """Let vouchers of one partner work from now on. The rows are in the database, with their options, and locked or new.

    Those issued here that have never worked before begin their validity, and are counted: their prototypes' `nb_orders`,
    their options' `has_been_ordered`. Options and prototypes are locked last, each by ascending id.
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
    validity = dict((await db.exec(query.where(among(col(VoucherPrototypeRow.id), list(times))))).all())
    for row in sold:
        if row.expires_on is None:
            row.expires_on = end_of_validity(now, validity[row.voucher_prototype_id], zone)
    await db.flush()
    await _mark_options(db, [row.id for row in sold])
    for prototype_id, count in sorted(times.items()):
        counted = update(VoucherPrototypeRow).where(col(VoucherPrototypeRow.id) == prototype_id)
        more = col(VoucherPrototypeRow.nb_orders) + count
        unchanged = col(VoucherPrototypeRow.updated_on)  # a sale is no change of the prototype
        await db.exec(counted.values(nb_orders=more, updated_on=unchanged))


async def _mark_options(db: AsyncSession, voucher_ids: list[int]) -> None:
    """Note of options that they have been ordered, which is true of most already."""
    chosen = select(VoucherChosenOptionRow.option_id).where(among(col(VoucherChosenOptionRow.voucher_id), voucher_ids))
    new = select(VoucherOptionRow.id).where(
        col(VoucherOptionRow.id).in_(chosen), col(VoucherOptionRow.has_been_ordered).is_(False)
    )
    ids = (await db.exec(new.order_by(col(VoucherOptionRow.id)).with_for_update())).all()
    if ids:
        unchanged = col(VoucherOptionRow.updated_on)
        marked = update(VoucherOptionRow).where(among(col(VoucherOptionRow.id), list(ids)))
        await db.exec(marked.values(has_been_ordered=True, updated_on=unchanged))


async def zone_of(db: AsyncSession, partner_id: int) -> ZoneInfo:
    """The time zone of a partner's marketplace: its days begin and end there."""
    query = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    return ZoneInfo((await db.exec(query.where(col(PartnerRow.id) == partner_id))).one())


def end_of_validity(sold_on: dt.datetime, months: int, zone: ZoneInfo) -> dt.datetime:
    """The last second of the day that lies so many months after a sale; where its month has no such day, of its last day.

    Sold on 31 January, a voucher of one month is valid until the last day of February.
    """
    day = sold_on.astimezone(zone).date()
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    last = day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))
    return end_of_day(last, zone)


def end_of_day(day: dt.date, zone: ZoneInfo) -> dt.datetime:
    """The last second of a day."""
    return dt.datetime.combine(day, LAST_SECOND, zone).astimezone(dt.UTC)
