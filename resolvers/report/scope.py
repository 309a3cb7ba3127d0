"""Whose figures a caller asks for."""

from dataclasses import dataclass
from typing import Annotated
from zoneinfo import ZoneInfo

import strawberry

from resolvers.core.caller import Role
from resolvers.core.operation import Call
from resolvers.core.scoping import find_visible
from resolvers.core.time_zone import UTC
from schema.core.errors import NotFound
from store.partner.partners import MarketplaceRow, PartnerRow
from store.report.scope import ReportScope

PartnerId = Annotated[
    int | None, strawberry.argument(description="Only this partner. A partner's users see their own partner only.")
]
MarketplaceId = Annotated[
    int | None,
    strawberry.argument(
        description="Only this marketplace. All of them for callers of none; others see their own only."
    ),
]


@dataclass(frozen=True, slots=True)
class ReportOwner:
    """Whose figures a report has: one partner's, a marketplace's, or everybody's."""

    scope: ReportScope
    zone: ZoneInfo
    currency: str | None
    """The currency of the marketplace; None for several."""


async def report_owner(call: Call, partner_id: int | None, marketplace_id: int | None) -> ReportOwner:
    """The owner that a caller names; by default all that the caller sees. Raises NotFound for what the caller cannot see."""
    caller = call.caller
    if partner_id is not None or caller.role is Role.PARTNER:
        id = partner_id if partner_id is not None else caller.partner_id
        partner = await find_visible(call.db, caller, PartnerRow, "partner", id=id)
        if marketplace_id not in {None, partner.marketplace_id}:
            raise NotFound(thing="partner")
        network = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
        return ReportOwner(ReportScope(partner_id=partner.id), ZoneInfo(network.time_zone), network.currency)
    id = marketplace_id if marketplace_id is not None else caller.marketplace_id
    if id is None:
        return ReportOwner(ReportScope(), UTC, None)
    network = await find_visible(call.db, caller, MarketplaceRow, "marketplace", id=id)
    return ReportOwner(ReportScope(marketplace_id=network.id), ZoneInfo(network.time_zone), network.currency)
