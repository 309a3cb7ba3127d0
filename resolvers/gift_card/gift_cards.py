"""Gift cards as they are read: lists of them, one by its code or its id, and what follows from the time."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.gift_card.gift_card import GiftCard, GiftCardStatus
from store.core.codes import normal
from store.document.addresses import DocumentKind, document_url
from store.document.source import NOT_PRINTED
from store.gift_card.gift_cards import GiftCardRow  # noqa: F401 - the table of gift cards
from store.gift_card.states import spendable

LONGEST_TERM = 200
"""Of a text that is searched for, in characters."""


@closed_set
class GiftCardSort(ClosedSet):
    """How to order gift cards."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    ENDING = "expires_on", "Those first that stop working first; those without an end last."
    ENDING_DESCENDING = "-expires_on", "Those first that work longest; those without an end before them."


@writable_as(GiftCard)
class GiftCardFilter(OfPartner):
    """Which gift cards. Texts are found anywhere, whatever the case and the accents; both ends of a period belong to it."""

    code: Annotated[str | None, AfterValidator(lambda sent: sent and normal(sent)), Where("normal_code")] = Field(
        default=None, description="The code, however it is spaced."
    )
    status: Annotated[GiftCardStatus | None, Where("status")] = None
    statuses: Annotated[list[GiftCardStatus] | None, Where("status", "in")] = Field(
        default=None, description="With one of these statuses."
    )
    gifter: Annotated[str | None, Where("gifter_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In the name or the e-mail address of who gave it."
    )
    giftee: Annotated[str | None, Where("giftee_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="In the name or the e-mail address of whom it is for."
    )
    order_id: Annotated[int | None, Where("order_id")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Issued at this time or later."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Issued at this time or earlier."
    )
    expires_from: Annotated[dt.datetime | None, Where("expires_on", ">=")] = Field(
        default=None, description="Stops working at this time or later."
    )
    expires_until: Annotated[dt.datetime | None, Where("expires_on", "<=")] = Field(
        default=None, description="Stops working at this time or earlier."
    )


gift_cards = Listing(
    GiftCard, GiftCardFilter, GiftCardSort, Permission.VIEW_GIFT_CARD, "The gift cards you see, newest first."
)
gift_card = Lookup(
    GiftCard,
    "id",
    "gift card",
    Permission.VIEW_GIFT_CARD,
    "A gift card by its id, or by its code, however it is spaced.",
)
gift_card_with_code = Lookup(
    GiftCard, "normal_code", "gift card", Permission.VIEW_GIFT_CARD, "A gift card by its code, however it is spaced."
)


class _Facts(NamedTuple):
    """What the rules look at, made of columns."""

    status: GiftCardStatus
    expires_on: dt.datetime | None


@derives(GiftCard, "is_spendable")
def _is_spendable(context: Context, status: str, expires_on: Any, remaining: Decimal) -> bool:
    return remaining > 0 and spendable(_Facts(GiftCardStatus(status), expires_on), context.services.clock.now())


@derives(GiftCard, "document_url")
def _document_url(context: Context, status: str, token: str) -> str | None:
    return None if status in NOT_PRINTED else document_url(context.services.settings, DocumentKind.GIFT_CARD, token)
