"""The time zone of a caller's dates."""

from zoneinfo import ZoneInfo

from sqlalchemy import select

from resolvers.core.context import Context
from store.database.loaders import column
from store.partner.partners import MarketplaceRow

UTC = ZoneInfo("UTC")


async def time_zone(context: Context) -> ZoneInfo:
    """The time zone of the caller's marketplace; UTC for a caller without one."""
    marketplace_id = context.required_caller.marketplace_id
    if marketplace_id is None:
        return UTC
    zone, id = column(MarketplaceRow, "time_zone"), column(MarketplaceRow, "id")
    rows = await context.db.rows(select(zone).where(id == marketplace_id))
    return ZoneInfo(rows[0][0])
