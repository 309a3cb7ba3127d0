"""Network gift cards and their usages: lists, look-ups and derived fields."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
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
from schema.network.gift_card import (
    NetworkGiftCard,
    NetworkGiftCardContent,
    NetworkGiftCardStatus,
    NetworkGiftCardUsage,
)
from store.gift_card.designs import content_of_cards
from store.network.gift_cards import NetworkGiftCardRow, NetworkGiftCardUsageRow
from store.network.states import is_ready
from store.partner.partners import PartnerRow


@graphql_enum
class NetworkGiftCardSort(DescribedEnum):
    """Sort order of network gift cards."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Earliest expiry first; those without expiry last."
    ENDING_DESCENDING = "-expires_on", "Latest expiry first; those without expiry before all others."


@graphql_input_for(NetworkGiftCard)
class NetworkGiftCardFilter(GoodFilter):
    """Filter for network gift cards. Periods include both ends."""

    status: Annotated[NetworkGiftCardStatus | None, Where("status")] = None
    statuses: Annotated[list[NetworkGiftCardStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only network gift cards with one of these statuses."
    )


network_gift_cards = Listing(
    NetworkGiftCard,
    NetworkGiftCardFilter,
    NetworkGiftCardSort,
    Permission.USE_NETWORK_GIFT_CARD,
    "The network gift cards visible to you, newest first. A partner's users see none here: they look a card up by its "
    "code.",
    guarded=GuardedArgument(
        "email", Where("emails", "item"), "Only cards whose gifter or giftee has this e-mail address."
    ),
)
network_gift_card = Lookup(
    NetworkGiftCard,
    "normal_code",
    "network gift card",
    Permission.USE_NETWORK_GIFT_CARD,
    "A network gift card by its code, in any spelling, by its id or by its uuid. A partner that is linked to the gift cards "
    "of its network sees them by their code.",
    visible=seen_by_code(col(PartnerRow.linked_to_ngc_settings)),
)
network_gift_card_with_id = Lookup(
    NetworkGiftCard, "id", "network gift card", Permission.USE_NETWORK_GIFT_CARD, "A network gift card by its id."
)
network_gift_card_with_uuid = Lookup(
    NetworkGiftCard, "uuid", "network gift card", Permission.USE_NETWORK_GIFT_CARD, "A network gift card by its uuid."
)


@graphql_enum
class NetworkGiftCardUsageSort(DescribedEnum):
    """Sort order of usages."""

    NEWEST = "-used_on", "The newest first."
    OLDEST = "used_on", "The oldest first."


@graphql_input_for(NetworkGiftCardUsage)
class NetworkGiftCardUsageFilter(UsageFilter):
    """Filter for usages of network gift cards. Periods include both ends."""

    gift_card_id: Annotated[int | None, Where("gift_card_id")] = None


network_gift_card_usages = Listing(
    NetworkGiftCardUsage,
    NetworkGiftCardUsageFilter,
    NetworkGiftCardUsageSort,
    Permission.USE_NETWORK_GIFT_CARD,
    "The usages of network gift cards visible to you, newest first: a partner's users see those at their partner.",
)
network_gift_card_usage = Lookup(
    NetworkGiftCardUsage,
    "id",
    "usage",
    Permission.USE_NETWORK_GIFT_CARD,
    "A usage of a network gift card by its id.",
)


@computes(NetworkGiftCard, "content")
async def network_gift_card_content(context: Context, ids: Sequence[int]) -> Mapping[int, NetworkGiftCardContent]:
    """What the designs of cards say. Cards without a design are left out."""
    async with context.db.read_sessions() as db:
        return await content_of_cards(db, ids)


@derives(NetworkGiftCard, "is_usable")
def _is_usable(
    context: Context,
    status: str,
    is_active: bool,
    starts_on: dt.datetime | None,
    expires_on: dt.datetime | None,
    remaining: Decimal,
    frozen_on: Any,
) -> bool:
    now, is_frozen = context.services.clock.now(), frozen_on is not None
    return remaining > 0 and is_ready(status, starts_on, (expires_on,), now, is_active=is_active, is_frozen=is_frozen)


@computes(NetworkGiftCardUsage, "gift_card")
async def network_gift_card_of_usages(context: Context, ids: Sequence[int]) -> Mapping[int, NetworkGiftCardRow]:
    """What was used, by the ids of usages, as far as the caller sees it by its code."""
    async with context.db.read_sessions() as db:
        return await used_by_usages(
            db,
            context.required_caller,
            NetworkGiftCardUsageRow,
            "gift_card_id",
            NetworkGiftCardRow,
            ids,
            col(PartnerRow.linked_to_ngc_settings),
            by_code=col(NetworkGiftCardUsageRow.payment_id).is_(None),
        )
