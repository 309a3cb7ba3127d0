"""What the inputs of usages have in common: the partner, and the dates."""

import datetime as dt
from typing import Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call
from resolvers.core.scoping import visible_conditions
from schema.core.errors import InvalidInput
from schema.validation.dates import moment_in
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.contents import paid_out_until

LATEST = dt.timedelta(days=1)
"""How far in the future a usage may be dated: systems of partners are in other time zones."""


class NamesPartner(Protocol):
    """An input that names a partner in one of three ways."""

    @property
    def partner_id(self) -> int | None: ...

    @property
    def partner_uuid(self) -> UUID | None: ...

    @property
    def partner_source_id(self) -> str | None: ...


async def partner_of_usage(call: Call, input: NamesPartner, marketplace_id: int) -> PartnerRow:
    """The partner of a usage, among those of the network that the caller sees. Raises InvalidInput if there is none, or
    unless the input names it in exactly one way.
    """
    ways = {
        name: value
        for name, value in (
            ("partner_id", input.partner_id),
            ("partner_uuid", input.partner_uuid),
            ("partner_source_id", input.partner_source_id),
        )
        if value is not None
    }
    if len(ways) != 1:
        raise InvalidInput.at("partner_id", "Name the partner by its id, its uuid or its source id.", "REQUIRED")
    ((name, value),) = ways.items()
    column = col(getattr(PartnerRow, name.removeprefix("partner_")))
    query = select(PartnerRow).where(
        *visible_conditions(call.caller, PartnerRow), col(PartnerRow.marketplace_id) == marketplace_id, column == value
    )
    partner = (await call.db.exec(query)).one_or_none()
    if partner is None:
        raise InvalidInput.at(name, "This network has no such partner of yours.")
    return partner


async def check_period_open(
    db: AsyncSession, partner: PartnerRow, used_on: dt.datetime, freeze_payout_date: dt.datetime | None
) -> None:
    """Raise InvalidInput for a usage of a time that is paid out already, unless another date decides about its payout."""
    until = await paid_out_until(db, partner.id)
    if freeze_payout_date is None and until is not None and used_on < until:
        raise InvalidInput.at("used_on", "Send a time after the partner's last payout.", "OUT_OF_RANGE")


def check_used_on(
    network: MarketplaceRow, moment: dt.datetime | None, starts_on: dt.datetime, now: dt.datetime
) -> dt.datetime:
    """When something is used, in UTC: now, unless the caller sends a time. Raises InvalidInput for a time more than a day
    in the future, or on a day before it is valid.
    """
    zone = ZoneInfo(network.time_zone)
    used_on = moment_in(zone, moment)
    if used_on is None:
        return now
    if used_on > now + LATEST:
        raise InvalidInput.at("used_on", "Send a time that is not more than a day in the future.", "OUT_OF_RANGE")
    if used_on.astimezone(zone).date() < starts_on.astimezone(zone).date():
        raise InvalidInput.at("used_on", "Send a day on which it was valid already.", "OUT_OF_RANGE")
    return used_on
