"""Network vouchers and their usages: lists, look-ups and computed fields."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from sqlmodel import col

from resolvers.core.computed_fields import computes, derives
from resolvers.core.context import Context
from resolvers.core.lists.filters import Where
from resolvers.core.lists.listing import GuardedArgument, Listing, Lookup
from resolvers.network.filters import GoodFilter, UsageFilter
from resolvers.network.scoping import seen_by_code, used_by_usages
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.network.voucher import NetworkVoucher, NetworkVoucherContent, NetworkVoucherStatus, NetworkVoucherUsage
from schema.validation.numbers import RowId
from store.network.states import is_ready
from store.network.voucher_content import content_of
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import PartnerRow


@graphql_enum
class NetworkVoucherSort(DescribedEnum):
    """Sort order of network vouchers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Earliest expiry first; those without expiry last."
    ENDING_DESCENDING = "-expires_on", "Latest expiry first; those without expiry before all others."


@graphql_input_for(NetworkVoucher)
class NetworkVoucherFilter(GoodFilter):
    """Filter for network vouchers. Periods include both ends."""

    box_id: Annotated[RowId | None, Where("box_id")] = Field(default=None, description="Only vouchers of this box.")
    status: Annotated[NetworkVoucherStatus | None, Where("status")] = None
    statuses: Annotated[list[NetworkVoucherStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only network vouchers with one of these statuses."
    )


network_vouchers = Listing(
    NetworkVoucher,
    NetworkVoucherFilter,
    NetworkVoucherSort,
    Permission.VIEW_NETWORK_VOUCHER,
    "The network vouchers visible to you, newest first. A partner's users see none here: they look a voucher up by its "
    "code.",
    guarded=GuardedArgument(
        "email", Where("emails", "item"), "Only vouchers whose gifter or giftee has this e-mail address."
    ),
)
network_voucher = Lookup(
    NetworkVoucher,
    "normal_code",
    "network voucher",
    Permission.VIEW_NETWORK_VOUCHER,
    "A network voucher by its code, in any spelling, by its id or by its uuid. A partner that is linked to the vouchers of "
    "its network sees them by their code.",
    visible=seen_by_code(col(PartnerRow.linked_to_nv_settings)),
)
network_voucher_with_id = Lookup(
    NetworkVoucher, "id", "network voucher", Permission.VIEW_NETWORK_VOUCHER, "A network voucher by its id."
)
network_voucher_with_uuid = Lookup(
    NetworkVoucher, "uuid", "network voucher", Permission.VIEW_NETWORK_VOUCHER, "A network voucher by its uuid."
)


@graphql_enum
class NetworkVoucherUsageSort(DescribedEnum):
    """Sort order of usages."""

    NEWEST = "-used_on", "The newest first."
    OLDEST = "used_on", "The oldest first."


@graphql_input_for(NetworkVoucherUsage)
class NetworkVoucherUsageFilter(UsageFilter):
    """Filter for usages of network vouchers. Periods include both ends."""

    network_voucher_id: Annotated[RowId | None, Where("network_voucher_id")] = None


network_voucher_usages = Listing(
    NetworkVoucherUsage,
    NetworkVoucherUsageFilter,
    NetworkVoucherUsageSort,
    Permission.VIEW_NETWORK_VOUCHER,
    "The usages of network vouchers visible to you, newest first: a partner's users see those at their partner.",
)
network_voucher_usage = Lookup(
    NetworkVoucherUsage, "id", "usage", Permission.VIEW_NETWORK_VOUCHER, "A usage of a network voucher by its id."
)


@derives(NetworkVoucher, "is_usable")
def _is_usable(
    context: Context,
    status: str,
    is_active: bool,
    starts_on: dt.datetime | None,
    expires_on: dt.datetime | None,
    usable_until: dt.datetime | None,
    frozen_on: Any,
) -> bool:
    now, ends, is_frozen = context.services.clock.now(), (expires_on, usable_until), frozen_on is not None
    return is_ready(status, starts_on, ends, now, is_active=is_active, is_frozen=is_frozen)


@computes(NetworkVoucher, "content")
async def network_voucher_content(context: Context, ids: Sequence[int]) -> Mapping[int, NetworkVoucherContent]:
    """What the holders of vouchers can get."""
    async with context.db.read_sessions() as db:
        return await content_of(db, ids)


@computes(NetworkVoucherUsage, "network_voucher")
async def network_voucher_of_usages(context: Context, ids: Sequence[int]) -> Mapping[int, NetworkVoucherRow]:
    """What was used, by the ids of usages, as far as the caller sees it by its code."""
    async with context.db.read_sessions() as db:
        return await used_by_usages(
            db,
            context.required_caller,
            NetworkVoucherUsageRow,
            "network_voucher_id",
            NetworkVoucherRow,
            ids,
            col(PartnerRow.linked_to_nv_settings),
        )
