"""The uses of today at a partner, as staff see them: what was used, when, by whom, and what of it can be taken back."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from resolvers.redemption.used_items import (
    Items,
    UsedItem,
    used_gift_cards,
    used_network_cards,
    used_network_vouchers,
    used_vouchers,
)
from schema.core.permission import Permission
from store.audit.uses import UseEntry, uses_since

PAGE = 20
"""Number of uses on a page."""


class UseKind(StrEnum):
    """What was used."""

    VOUCHER = "voucher"
    GIFT_CARD = "gift-card"
    NETWORK_GIFT_CARD = "network-gift-card"
    NETWORK_VOUCHER = "network-voucher"


KINDS: Mapping[str, UseKind] = {
    "update_voucher": UseKind.VOUCHER,
    "spend_gift_card": UseKind.GIFT_CARD,
    "capture_gift_card": UseKind.GIFT_CARD,
    "use_network_gift_card": UseKind.NETWORK_GIFT_CARD,
    "use_network_voucher": UseKind.NETWORK_VOUCHER,
}
"""What each operation uses."""
VIEWS: Mapping[UseKind, Permission] = {
    UseKind.VOUCHER: Permission.VIEW_VOUCHER,
    UseKind.GIFT_CARD: Permission.VIEW_GIFT_CARD,
    UseKind.NETWORK_GIFT_CARD: Permission.USE_NETWORK_GIFT_CARD,
    UseKind.NETWORK_VOUCHER: Permission.VIEW_NETWORK_VOUCHER,
}
"""The permission to look each up by its code."""
LOADERS = {
    UseKind.VOUCHER: used_vouchers,
    UseKind.GIFT_CARD: used_gift_cards,
    UseKind.NETWORK_GIFT_CARD: used_network_cards,
    UseKind.NETWORK_VOUCHER: used_network_vouchers,
}


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """A use and who recorded it."""

    entry: UseEntry
    kind: UseKind
    item: UsedItem


@dataclass(frozen=True, slots=True)
class TodaysUses:
    """A page of the uses of today, newest first."""

    uses: Sequence[RecordedUse]
    earlier_than: int | None
    """The entry before which there are more; None if there are none."""


async def todays_uses(context: Context, zone: ZoneInfo, before_id: int | None = None) -> TodaysUses:
    """The uses that were recorded at the caller's partner today in a time zone, of what the caller may look up, newest
    first; with `before_id` those before that one.
    """
    caller, now = context.required_caller, context.services.clock.now()
    midnight = dt.datetime.combine(now.astimezone(zone), dt.time.min, zone).astimezone(dt.UTC)
    operations = [name for name, kind in KINDS.items() if caller.may(VIEWS[kind])]
    assert caller.partner_id is not None, "staff act for a partner"
    async with context.services.db.sessions() as db:
        found = await uses_since(db, caller.partner_id, operations, midnight, before_id=before_id, limit=PAGE + 1)
        entries = found[:PAGE]
        items = await _items(db, context, entries)
    uses = [RecordedUse(entry, KINDS[entry.operation], items[entry.id]) for entry in entries if entry.id in items]
    return TodaysUses(uses, earlier_than=entries[-1].id if len(found) > PAGE else None)


async def _items(db: AsyncSession, context: Context, entries: Sequence[UseEntry]) -> Items:
    """What was used, by the id of the entry."""
    items = dict[int, UsedItem]()
    for kind, load in LOADERS.items():
        of_kind = [entry for entry in entries if KINDS[entry.operation] is kind]
        if of_kind:
            items |= await load(db, context, of_kind)
    return items
