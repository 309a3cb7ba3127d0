"""Gift cards: list, lookups and time-dependent fields."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCard, GiftCardStatus
from store.core.codes import normalize
from store.document.addresses import DocumentKind, document_url
from store.document.source import UNPRINTABLE_STATES
from store.gift_card.states import is_spendable


@graphql_enum
class GiftCardSort(DescribedEnum):
    """Sort order of gift cards."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Earliest expiry first; those without expiry last."
    ENDING_DESCENDING = "-expires_on", "Latest expiry first; those without expiry before all others."


@graphql_input_for(GiftCard)
class GiftCardFilter(OfPartner):
    """Filter for gift cards. Texts match any part, ignoring case and accents. Periods include both ends."""

    code: Annotated[str | None, AfterValidator(lambda sent: sent and normalize(sent)), Where("normal_code")] = Field(
        default=None, description="Only the gift card with this code, in any spelling."
    )
    status: Annotated[GiftCardStatus | None, Where("status")] = None
    statuses: Annotated[list[GiftCardStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only gift cards with one of these statuses."
    )
    gifter: Annotated[str | None, Where("gifter_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only gift cards whose gifter's name or e-mail address contains this.",
    )
    giftee: Annotated[str | None, Where("giftee_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only gift cards whose giftee's name or e-mail address contains this.",
    )
    order_id: Annotated[int | None, Where("order_id")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only gift cards issued at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only gift cards issued at or before this time."
    )
    expires_from: Annotated[dt.datetime | None, Where("expires_on", ">=")] = Field(
        default=None, description="Only gift cards that expire at or after this time."
    )
    expires_until: Annotated[dt.datetime | None, Where("expires_on", "<=")] = Field(
        default=None, description="Only gift cards that expire at or before this time."
    )


gift_cards = Listing(
    GiftCard, GiftCardFilter, GiftCardSort, Permission.VIEW_GIFT_CARD, "The gift cards visible to you, newest first."
)
gift_card = Lookup(
    GiftCard,
    "id",
    "gift card",
    Permission.VIEW_GIFT_CARD,
    "A gift card by its id, or by its code in any spelling.",
)
gift_card_with_code = Lookup(
    GiftCard, "normal_code", "gift card", Permission.VIEW_GIFT_CARD, "A gift card by its code, in any spelling."
)


class _GiftCardColumns(NamedTuple):
    """The columns that the gift card rules need."""

    status: GiftCardStatus
    expires_on: dt.datetime | None
    frozen_on: dt.datetime | None


@derives(GiftCard, "is_spendable")
def _is_spendable(context: Context, status: str, expires_on: Any, remaining: Decimal, frozen_on: Any) -> bool:
    return remaining > 0 and is_spendable(
        _GiftCardColumns(GiftCardStatus(status), expires_on, frozen_on), context.services.clock.now()
    )


@derives(GiftCard, "document_url")
def gift_card_document_url(context: Context, status: str, token: str) -> str | None:
    return (
        None if status in UNPRINTABLE_STATES else document_url(context.services.settings, DocumentKind.GIFT_CARD, token)
    )
