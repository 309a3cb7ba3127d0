"""Events: what has happened, told to shops. Each is written in the transaction that makes it happen."""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any

import strawberry
from sqlalchemy import Enum
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.ownership import of_marketplace, of_partner
from schema.core.resource import ClosedSet, Fields, closed_set, moment

LONGEST_TYPE = 60


@closed_set
class EventType(ClosedSet):
    """What can happen. More are added; receivers ignore those that they do not know."""

    CART_COMPLETED = "cart.completed", "A cart has become an order."
    CART_EXPIRED = "cart.expired", "A cart was left alone until it was deleted."
    GIFT_CARD_ACTIVATED = "gift_card.activated", "A gift card that was a draft can be spent from now on."
    GIFT_CARD_CANCELLED = "gift_card.cancelled", "A gift card was cancelled."
    GIFT_CARD_CAPTURED = "gift_card.captured", "What was held of a gift card over the API was spent, or a part of it."
    GIFT_CARD_EXPIRED = "gift_card.expired", "The time of a gift card is over."
    GIFT_CARD_EXTENDED = "gift_card.extended", "A gift card is valid for longer than it was."
    GIFT_CARD_HELD = "gift_card.held", "An amount of a gift card was held over the API."
    GIFT_CARD_ISSUED = "gift_card.issued", "A gift card was issued."
    GIFT_CARD_RELEASED = "gift_card.released", "What was held of a gift card over the API is back on it."
    GIFT_CARD_REVERSED = "gift_card.reversed", "What was spent of a gift card was put back within a day."
    ORDER_CREATED = "order.created", "An order was made."
    ORDER_PAID = "order.paid", "The money of an order has arrived."
    PARTNER_KYC_CHANGED = (
        "partner.kyc_changed",
        "The provider has validated or refused something that identifies a partner.",
    )
    PARTNER_PAYMENTS_ACTIVATED = "partner.payments_activated", "A partner can be paid from now on."
    VOUCHER_EXTENDED = "voucher.extended", "A voucher is valid for longer than it was."
    VOUCHER_ISSUED = "voucher.issued", "A voucher was issued."
    VOUCHER_STATE_CHANGED = "voucher.state_changed", "A voucher has gone from one state to another."
    WEBHOOK_TEST = "webhook.test", "Nothing has happened: an endpoint is being tried. It is never kept."


_VOUCHER_KEYS = {"id": "The voucher's id.", "code": "Its code, as it is printed on it."}
_GIFT_CARD_KEYS = {
    "id": "The gift card's id.",
    "status": "Where it stands, as REST names it.",
    "remaining_value": "What is left on it, what is held taken off.",
    "expires_on": "When it stops working; null: never.",
}
_HOLD_KEYS = {
    **_GIFT_CARD_KEYS,
    "hold": "The hold: `id`, `state` (`running`, `captured`, `released`, `expired`, `reversed`), `amount`, `captured` (what of it was "
    "spent), `reference` (empty: none), `expires_on`.",
}
DATA: Mapping[EventType, Mapping[str, str]] = {
    EventType.CART_COMPLETED: {
        "id": "The cart's id.",
        "last_modified": "Which of its writings was bought: its `last_modified` in milliseconds, as REST answers it.",
        "return_url": "Where its customer is sent afterwards; null: nowhere.",
        "order_id": "The id of the order that it became.",
        "order_uuid": "That order's uuid.",
        "order_number": "That order's number.",
    },
    EventType.CART_EXPIRED: {
        "id": "The cart's id.",
        "last_modified": "When it was last written, in milliseconds, as REST answers it.",
        "expired_on": "When it could be read no more: two hours later.",
        "return_url": "Where its customer would have been sent; null: nowhere, or no longer known.",
        "items": "Its lines, each with `product_id`, `variant_id`, `quantity`; null when they are no longer known.",
    },
    EventType.GIFT_CARD_ACTIVATED: _GIFT_CARD_KEYS,
    EventType.GIFT_CARD_CANCELLED: _GIFT_CARD_KEYS,
    EventType.GIFT_CARD_CAPTURED: _HOLD_KEYS,
    EventType.GIFT_CARD_EXPIRED: _GIFT_CARD_KEYS,
    EventType.GIFT_CARD_EXTENDED: {**_GIFT_CARD_KEYS, "old_expires_on": "When it would have stopped working."},
    EventType.GIFT_CARD_HELD: _HOLD_KEYS,
    EventType.GIFT_CARD_ISSUED: {
        "id": "The gift card's id.",
        "order_id": "The order it was sold with; null: the partner issued it.",
        "status": "`paid`: it can be spent; `draft`: it is not paid for yet.",
        "value": "What can be spent with it.",
        "language": "The language it was bought in.",
        "reception_mode": "How it reaches its recipient, as coupons name it: `print_at_home`, `giftee_email` and so on.",
        "created_on": "When it was issued.",
        "expires_on": "When it stops working; null: never.",
    },
    EventType.GIFT_CARD_RELEASED: _HOLD_KEYS,
    EventType.GIFT_CARD_REVERSED: _HOLD_KEYS,
    EventType.ORDER_CREATED: {
        "id": "The order's id.",
        "uuid": "Its uuid.",
        "number": "Its number.",
        "kind": "What it is an order of: `products`, `vouchers` or `gift_cards`.",
        "created_on": "When it was made.",
        "language": "The language it was bought in.",
        "cart_id": "The cart it came from; of vouchers and gift cards the bag, which is no cart.",
        "return_url": "Where its customer is sent afterwards; null: nowhere.",
        "message": "What the buyer wrote; empty: nothing.",
        "buyer": "Who bought: `first_name`, `last_name`, `email`, `phone`.",
        "delivery": "How it is delivered: `kind`, `name`, `recipient_name`, `address` (null unless something is sent to the buyer).",
        "products": "What was sold, each with `product_id`, `variant_id`, `voucher_id`, `gift_card_id` (null, all but "
        "what it is of), `name`, `variant`, `choices`, `quantity`, `unit_price`, `total`, `vat_rate`.",
        "products_total": "The products, before discounts.",
        "discount_total": "What coupons took off.",
        "delivery_total": "What delivery cost.",
        "total": "What was to be paid.",
    },
    EventType.ORDER_PAID: {
        "id": "The order's id.",
        "uuid": "Its uuid.",
        "number": "Its number.",
        "cart_id": "The cart it came from; of vouchers and gift cards the bag, which is no cart.",
        "total": "What was paid in all.",
        "gift_card_total": "What gift cards paid.",
        "card_total": "What a bank card paid.",
    },
    EventType.PARTNER_KYC_CHANGED: {
        "id": "The partner's id.",
        "uuid": "Its uuid.",
        "status": "`ok`: the provider has validated it; `error`: it has not, or not yet.",
        "detail": "The same in a sentence, with the way out.",
        "changed": "What has changed, each with `kind` (`level`, `document`, `identity_check`), `id` (null of a level), "
        "`document_type` (null but of a document), `status`, `refused_reason`.",
        "errors": "What is refused or missing now, each with `kind`, `id` (null where it is missing), `document_type`, "
        "`status`, `refused_reason`.",
    },
    EventType.PARTNER_PAYMENTS_ACTIVATED: {
        "id": "The partner's id.",
        "uuid": "Its uuid.",
        "source_id": "The id that the network's own systems know it by.",
        "activation_id": "The id of the activation that was completed.",
    },
    EventType.VOUCHER_EXTENDED: {
        **_VOUCHER_KEYS,
        "old_expires_on": "When it would have stopped working.",
        "expires_on": "When it stops working now.",
    },
    EventType.VOUCHER_ISSUED: {
        **_VOUCHER_KEYS,
        "voucher_prototype_id": "The prototype it was made from.",
        "order_id": "The order it was sold with; null: the partner issued it.",
        "state": "`paid`: it works; `draft`: it is not paid for yet.",
        "language": "The language it was bought in.",
        "reception_mode": "How it reaches its recipient, as coupons name it: `print_at_home`, `giftee_email` and so on.",
        "total_price": "Its price with its options, before any coupon.",
        "purchase_price": "What was paid for it.",
        "created_on": "When it was made.",
        "activated_on": "From when on it can be used; null: not yet.",
        "expires_on": "When it stops working; null: not settled before it is paid.",
    },
    EventType.VOUCHER_STATE_CHANGED: {
        **_VOUCHER_KEYS,
        "old_state": "The state it was in, as REST names it.",
        "state": "The state it is in.",
        "activated_on": "From when on it can be used; null: never yet.",
        "used_on": "When it was used; null: it is not used, or no longer.",
        "expires_on": "When it stops working; null: never, or not settled yet.",
    },
    EventType.WEBHOOK_TEST: {
        "message": "A greeting.",
    },
}
"""What the `data` of an event holds: key -> its meaning. Money is `{"amount": "12.50", "currency": "EUR"}`, a time is ISO
8601 in UTC, a text in several languages an object of them, an id the one that REST and GraphQL answer."""


_TOTALS = {
    "products_total": {"amount": "42.00", "currency": "EUR"},
    "discount_total": {"amount": "4.20", "currency": "EUR"},
    "delivery_total": {"amount": "5.00", "currency": "EUR"},
    "total": {"amount": "42.80", "currency": "EUR"},
}
_ORDER = {"id": 1207, "uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11", "number": 318}
_CART = "0b0f4b43-9f53-4f5e-8f0a-3d2f5f1f7a90"
_VOUCHER = {"id": 318, "code": "7K4P-QX2M-RT9W-AB3V"}
_GIFT_CARD = {
    "id": 77,
    "status": "paid",
    "remaining_value": {"amount": "35.00", "currency": "EUR"},
    "expires_on": "2027-11-21T22:59:59.000000Z",
}
_HOLD = {
    "id": 12,
    "state": "running",
    "amount": {"amount": "20.00", "currency": "EUR"},
    "captured": {"amount": "0.00", "currency": "EUR"},
    "reference": "till-2-0815",
    "expires_on": "2026-11-21T05:00:32.000000Z",
}
EXAMPLES: Mapping[EventType, Mapping[str, Any]] = {
    EventType.CART_COMPLETED: {
        "id": _CART,
        "last_modified": 1795236332114,
        "return_url": "https://shop.example/thanks",
        "order_id": 1207,
        "order_uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11",
        "order_number": 318,
    },
    EventType.CART_EXPIRED: {
        "id": _CART,
        "last_modified": 1795229132114,
        "expired_on": "2026-11-21T04:45:32.114000Z",
        "return_url": None,
        "items": [{"product_id": 12, "variant_id": None, "quantity": 2}],
    },
    EventType.GIFT_CARD_ACTIVATED: {**_GIFT_CARD, "remaining_value": {"amount": "55.00", "currency": "EUR"}},
    EventType.GIFT_CARD_CANCELLED: {**_GIFT_CARD, "status": "cncld"},
    EventType.GIFT_CARD_CAPTURED: {
        **_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "37.50", "currency": "EUR"},
        "hold": {**_HOLD, "state": "captured", "captured": {"amount": "17.50", "currency": "EUR"}},
    },
    EventType.GIFT_CARD_EXPIRED: {**_GIFT_CARD, "status": "exprd"},
    EventType.GIFT_CARD_EXTENDED: {
        **_GIFT_CARD,
        "expires_on": "2028-11-21T22:59:59.000000Z",
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.GIFT_CARD_HELD: {**_GIFT_CARD, "hold": _HOLD},
    EventType.GIFT_CARD_ISSUED: {
        "id": 77,
        "order_id": 1207,
        "status": "paid",
        "value": {"amount": "55.00", "currency": "EUR"},
        "language": "fr",
        "reception_mode": "giftee_email",
        "created_on": "2026-11-21T04:45:32.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.GIFT_CARD_RELEASED: {
        **_GIFT_CARD,
        "remaining_value": {"amount": "55.00", "currency": "EUR"},
        "hold": {**_HOLD, "state": "released"},
    },
    EventType.GIFT_CARD_REVERSED: {
        **_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "55.00", "currency": "EUR"},
        "hold": {**_HOLD, "state": "reversed", "captured": {"amount": "20.00", "currency": "EUR"}},
    },
    EventType.ORDER_CREATED: {
        **_ORDER,
        "kind": "products",
        "created_on": "2026-11-21T04:45:32.000000Z",
        "language": "fr",
        "cart_id": _CART,
        "return_url": "https://shop.example/thanks",
        "message": "",
        "buyer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", "phone": ""},
        "delivery": {
            "kind": "home_delivery",
            "name": {"en": "By post", "fr": "Par la poste"},
            "recipient_name": "Ada Martin",
            "address": {
                "line_1": "1 rue des Lilas",
                "line_2": "",
                "postal_code": "75011",
                "city": "Paris",
                "country": "FR",
            },
        },
        "products": [
            {
                "product_id": 12,
                "variant_id": None,
                "voucher_id": None,
                "gift_card_id": None,
                "name": {"en": "Candle", "fr": "Bougie"},
                "variant": None,
                "choices": None,
                "quantity": 2,
                "unit_price": {"amount": "21.00", "currency": "EUR"},
                "total": {"amount": "42.00", "currency": "EUR"},
                "vat_rate": "20.00",
            }
        ],
        **_TOTALS,
    },
    EventType.ORDER_PAID: {
        **_ORDER,
        "cart_id": _CART,
        "total": {"amount": "42.80", "currency": "EUR"},
        "gift_card_total": {"amount": "20.00", "currency": "EUR"},
        "card_total": {"amount": "22.80", "currency": "EUR"},
    },
    EventType.PARTNER_KYC_CHANGED: {
        "id": 41,
        "uuid": "dd783a87-8351-4578-ad2a-16c698e86acb",
        "status": "error",
        "detail": "The payment provider has not validated this partner yet. Refused: IDENTITY_PROOF (DOCUMENT_UNREADABLE). "
        "Hand in what is named, or open an identity verification.",
        "changed": [
            {
                "kind": "document",
                "id": 12,
                "document_type": "IDENTITY_PROOF",
                "status": "REFUSED",
                "refused_reason": "DOCUMENT_UNREADABLE",
            }
        ],
        "errors": [
            {
                "kind": "document",
                "id": 12,
                "document_type": "IDENTITY_PROOF",
                "status": "REFUSED",
                "refused_reason": "DOCUMENT_UNREADABLE",
            }
        ],
    },
    EventType.PARTNER_PAYMENTS_ACTIVATED: {
        "id": 41,
        "uuid": "dd783a87-8351-4578-ad2a-16c698e86acb",
        "source_id": "41",
        "activation_id": "3c1d9c56-6a55-4f0e-9d0d-0d4f4f7a3b52",
    },
    EventType.VOUCHER_EXTENDED: {
        **_VOUCHER,
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
        "expires_on": "2028-02-21T22:59:59.000000Z",
    },
    EventType.VOUCHER_ISSUED: {
        **_VOUCHER,
        "voucher_prototype_id": 7,
        "order_id": 1207,
        "state": "paid",
        "language": "fr",
        "reception_mode": "giftee_email",
        "total_price": {"amount": "240.00", "currency": "EUR"},
        "purchase_price": {"amount": "216.00", "currency": "EUR"},
        "created_on": "2026-11-21T04:45:32.000000Z",
        "activated_on": "2026-11-21T04:45:32.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.VOUCHER_STATE_CHANGED: {
        **_VOUCHER,
        "old_state": "paid",
        "state": "used",
        "activated_on": "2026-11-21T04:45:32.000000Z",
        "used_on": "2026-12-05T10:12:00.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    EventType.WEBHOOK_TEST: {"message": "It works."},
}
"""The data of an event of each type: what endpoints are tried with, and the documentation shows."""


@strawberry.pydantic.type(description="Something that has happened, as it was at that moment.")
class Event(Fields):
    """Something that has happened."""

    key: Annotated[str, strawberry.field(name="id")] = Field(
        max_length=40, unique=True, description="Its id, `evt_…`: the `id` in the body of the webhooks that tell of it."
    )
    type: EventType = Field(
        sa_type=Enum(EventType, native_enum=False, length=LONGEST_TYPE, values_callable=lambda e: [m.value for m in e]),
        description="What has happened.",
    )
    occurred_on: dt.datetime = moment("When it happened.")
    subject: str = Field(max_length=80, description="What it happened to, such as the id of an order or of a cart.")
    data: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        sa_type=JSONB, description="What there is to know, with the keys that are documented for its type."
    )
    partner = of_partner()
    marketplace = of_marketplace()
