"""Network gift cards and their usages: shapes and routes."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import resolvers.network.gift_cards  # noqa: F401 - registers the computed fields
from resolvers.network.gift_card_issuing import create_network_gift_card
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.network.gift_cards import network_gift_card, network_gift_cards
from rest_compat.http.route import Deprecation, ResponseEnvelope, RestRoute
from rest_compat.resources.gift_card import WALLET_LINK
from rest_compat.shapes.keys import FieldKey, number, same
from rest_compat.shapes.shape import Nested, ResourceShape
from rest_compat.shapes.writers import DIGITS
from schema.network.gift_card import NetworkGiftCard, NetworkGiftCardUsage

MARKETPLACE_UUID = "3f1f3f0a-7d7c-4f0e-9d42-1c0a6b1f7e55"


def _person(role: str, first_name: str, last_name: str, email: str) -> ResourceShape:
    keys = {name: f"{role}_details.{name}" for name in ("first_name", "last_name", "email")}
    example = {"first_name": first_name, "last_name": last_name, "email": email}
    return ResourceShape(f"NetworkGiftCard{role.title()}", NetworkGiftCard, keys, example=example)


GIFTER = _person("gifter", "Ada", "Martin", "ada@example.com")
GIFTEE = _person("giftee", "Grace", "Bell", "grace@example.com")
NETWORK_GIFT_CARD = ResourceShape(
    "NetworkGiftCard",
    NetworkGiftCard,
    {
        **same("id", "code", "status"),
        "value": number("value.amount"),
        "remaining_value": number("remaining_value.amount"),
        "creation_date": "created_on",
        "activation_date": "starts_on",
        "expiration_date": "expires_on",
        **same("is_active", "is_splittable"),
        "gifter": Nested("", GIFTER),
        "giftee": Nested("", GIFTEE),
        "from_gifter": "message",
        "marketplace_uuid": "marketplace.uuid",
    },
    example={
        "id": 912,
        "code": "7Q4C-KX9M-2H8R-TDWE",
        "status": "paid",
        "value": 100.0,
        "remaining_value": 100.0,
        "creation_date": "2026-05-02T09:29:41.204155Z",
        "activation_date": "2026-05-02T00:00:00.000000Z",
        "expiration_date": "2027-05-02T21:59:59.000000Z",
        "is_active": True,
        "is_splittable": True,
        "from_gifter": "Happy birthday!",
        "marketplace_uuid": MARKETPLACE_UUID,
    },
)
FOUND_NETWORK_GIFT_CARD = ResourceShape(
    "FoundNetworkGiftCard",
    NetworkGiftCard,
    {
        **same("id", "uuid", "code", "status"),
        "creation_date": "created_on",
        "expiration_date": "expires_on",
        "value": number("value.amount"),
        "remaining_value": number("remaining_value.amount"),
        "order_uuid": FieldKey("order.uuid", is_public=True),
        "order_creation_date": FieldKey("order.created_on", is_public=True),
        "description": "content.description",
        "short_description": "content.short_description",
        "theme": "content.theme",
    },
    example={
        "id": 912,
        "uuid": "5f1d6d5e-2c0e-4a53-8d0a-6f8f0d7f2a44",
        "code": "7Q4C-KX9M-2H8R-TDWE",
        "status": "using",
        "creation_date": "2026-05-02T09:29:41.204155Z",
        "expiration_date": "2027-05-02T21:59:59.000000Z",
        "value": 100.0,
        "remaining_value": 70.0,
        "order_uuid": "",
        "order_creation_date": "",
        "description": "A birthday card with a lake in the morning.",
        "short_description": "For a birthday",
        "theme": "Birthday",
    },
)
NETWORK_GIFT_CARD_USAGE = ResourceShape(
    "NetworkGiftCardUsage",
    NetworkGiftCardUsage,
    {
        "id": "id",
        "network_giftcard": "gift_card_id",
        "partner": "partner.id",
        "value": number("value.amount"),
        "is_active": "is_active",
        "comment": "visible_comment",
        "reservation_id": "visible_reservation_id",
        "partner_source_id": FieldKey("partner.source_id", DIGITS),
        "freeze_payout_date": "visible_freeze_payout_date",
    },
    example={
        "id": 88,
        "network_giftcard": 912,
        "partner": 41,
        "value": 30.0,
        "is_active": True,
        "comment": "Lunch for two",
        "reservation_id": "R-2043",
        "partner_source_id": 41,
        "freeze_payout_date": "",
    },
)

NEW_NETWORK_GIFT_CARD: Mapping[str, Any] = {
    "marketplace_uuid": MARKETPLACE_UUID,
    "status": "test",
    "value": 100.0,
    "gifter": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
    "giftee": {"first_name": "Grace", "last_name": "Bell", "email": "grace@example.com"},
    "from_gifter": "Happy birthday!",
    "activation_date": "2026-05-02",
    "expiration_date": "2030-05-02",
}
RENAMED_KEYS = {
    "gifter": "gifter_details",
    "giftee": "giftee_details",
    "from_gifter": "message",
    "activation_date": "starts_on",
    "expiration_date": "expires_on",
}
REQUIRED = ("marketplace_uuid", "status", "value", "gifter_details", "message", "starts_on", "expires_on")
GRAPHQL_ONLY = ("is_splittable", "language", "code", "remaining_value", "design_id")
USAGE: Mapping[str, Any] = {
    "creation_date": "2026-12-05T12:00:00",
    "value": "30.00",
    "comment": "Lunch for two",
    "reservation_id": "R-2043",
}


def _usage_route(path: str, partner: str, others: tuple[str, ...], example: Mapping[str, Any]) -> RestRoute:
    return RestRoute(
        "POST",
        path,
        use_network_gift_card,
        NETWORK_GIFT_CARD_USAGE,
        renamed={"creation_date": "used_on"},
        required=("used_on", "value", partner),
        graphql_only=others,
        example={**USAGE, **example},
    )


ROUTES: Sequence[RestRoute] = (
    RestRoute(
        "POST",
        "/api/networkgiftcards/",
        create_network_gift_card,
        NETWORK_GIFT_CARD,
        status=201,
        renamed=RENAMED_KEYS,
        required=REQUIRED,
        graphql_only=GRAPHQL_ONLY,
        example=NEW_NETWORK_GIFT_CARD,
        links=(WALLET_LINK,),
    ),
    RestRoute(
        "GET",
        "/api/networkgiftcards/{code}/",
        network_gift_card,
        NETWORK_GIFT_CARD,
        deprecated=Deprecation(dt.date(2026, 11, 23), "/api/networkgiftcards_by_code/{code}/"),
        links=(WALLET_LINK,),
    ),
    RestRoute(
        "GET",
        "/api/networkgiftcards_by_code/{code}/",
        network_gift_card,
        FOUND_NETWORK_GIFT_CARD,
        links=(WALLET_LINK,),
    ),
    RestRoute(
        "GET",
        "/api/networkgiftcards_by_email/{email}/",
        network_gift_cards,
        FOUND_NETWORK_GIFT_CARD,
        ResponseEnvelope.ARRAY,
    ),
    RestRoute(
        "GET", "/api/networkgiftcards/{code}/usages/", network_gift_card, NETWORK_GIFT_CARD_USAGE, through="usages"
    ),
    RestRoute(
        "GET",
        "/api/networkgiftcards_by_code/{code}/usages/",
        network_gift_card,
        NETWORK_GIFT_CARD_USAGE,
        ResponseEnvelope.ARRAY,
        through="usages",
        newest_first=True,
    ),
    _usage_route(
        "/api/networkgiftcards_by_code/{code}/use/",
        "partner_source_id",
        ("partner_id", "partner_uuid"),
        {"partner_source_id": 41},
    ),
    _usage_route(
        "/api/networkgiftcards_by_code/{code}/use_with_{service}_id/",
        "partner_id",
        ("partner_source_id", "partner_uuid"),
        {"partner_id": 41},
    ),
    RestRoute(
        "POST",
        "/api/networkgiftcard_usages/{id}/cancel/",
        cancel_network_gift_card_usage,
        NETWORK_GIFT_CARD_USAGE,
        example={"comment": "The guest has cancelled"},
    ),
)
