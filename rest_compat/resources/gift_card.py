"""Gift cards."""

import resolvers.gift_card.gift_cards  # noqa: F401 - registers the computed fields
from rest_compat.http.links import RowLink
from rest_compat.http.parameters import Ordering, between, since, until
from rest_compat.shapes.keys import FieldKey, decimal_string, same
from rest_compat.shapes.shape import ResourceShape
from schema.gift_card.gift_card import GiftCard
from schema.wallet import WALLET_PERMISSION

GIFT_CARD = ResourceShape(
    "GiftCard",
    GiftCard,
    {
        **same("id", "code", "status", "created_on"),
        "expires_on": FieldKey("expires_on", description="When the gift card expires; empty: never."),
        "value": decimal_string("value.amount"),
        "remaining_value": decimal_string("remaining_value.amount"),
        "gifter_first_name": "gifter_details.first_name",
        "gifter_last_name": "gifter_details.last_name",
    },
    example={
        "id": 77,
        "code": "7Q4C-KX9M-2H8R-TDWE",
        "status": "using",
        "created_on": "2026-05-02T09:29:41.204155Z",
        "expires_on": "2027-05-02T21:59:59.000000Z",
        "value": "55.00",
        "remaining_value": "35.00",
        "gifter_first_name": "Ada",
        "gifter_last_name": "Martin",
    },
)

QUERY = (
    since("created_on__gte", "created_from", "Issued at this time or later."),
    until("created_on__lte", "created_until", "Issued at this time or earlier."),
    between("created_on__range", "created_from", "created_until", "Issued within this period."),
)
WALLET_LINK = RowLink(
    "wallet",
    "wallet.visible_uuid",
    "/api/wallets/{}/transfers/",
    WALLET_PERMISSION,
    owner=("wallet.partner.id", "wallet.marketplace.id"),
)
ORDERING = Ordering({"created_on": "created_on", "expires_on": "expires_on"})
