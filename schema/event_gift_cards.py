"""The data of the events about gift cards, of partners and of networks: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

_GIFT_CARD_KEYS = {
    "id": "The gift card's id.",
    "status": "Its status, as named in REST.",
    "remaining_value": "The available balance, running holds deducted.",
    "expires_on": "When it expires; null if never.",
}
_HOLD_KEYS = {
    **_GIFT_CARD_KEYS,
    "hold": "The hold: `id`, `state` (`running`, `captured`, `released`, `expired`, `reversed`), "
    "`amount`, `captured` (the amount that was spent), `reference` (empty if none), `expires_on`.",
}
_NETWORK_KEYS = {
    "id": "The network gift card's id.",
    "uuid": "Its uuid.",
    "status": "Its status, as named in REST.",
    "value": "The amount it was issued with.",
    "remaining_value": "What is left of it.",
    "expires_on": "When it expires; null if never.",
}
_USAGE_KEYS = {
    **_NETWORK_KEYS,
    "value": "The amount it was issued with; null if the usage is a part of a payment, whose partner does not know the card.",
    "remaining_value": "What is left of it; null if the usage is a part of a payment.",
    "usage": "The usage: `id`, `partner_id`, `used_on`, `value`, `net` (what the partner earns), `reservation_id` (empty if "
    "none), `is_active` (false once cancelled, or returned in full), `payment_id` (of the payment that it is a part of; null "
    "over the API), `returned` (what refunds of the payment gave back to the card).",
}
GIFT_CARD_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "gift_card.activated": _GIFT_CARD_KEYS,
    "gift_card.cancelled": _GIFT_CARD_KEYS,
    "gift_card.captured": _HOLD_KEYS,
    "gift_card.expired": _GIFT_CARD_KEYS,
    "gift_card.extended": {**_GIFT_CARD_KEYS, "old_expires_on": "When it would have expired before."},
    "gift_card.held": _HOLD_KEYS,
    "gift_card.issued": {
        "id": "The gift card's id.",
        "order_id": "The order it was sold with; null if the partner issued or imported it.",
        "status": "`paid`: it can be spent; `draft`: it is not paid yet. Of an imported card also `using`: a part was spent "
        "elsewhere; `exprd`: it had expired.",
        "value": "The amount it was issued with.",
        "remaining_value": "What is owed for it from now on: less than `value` if a part of an imported card was spent elsewhere.",
        "language": "The buyer's language.",
        "reception_mode": "How it reaches its recipient, with the values of coupons: `print_at_home`, `giftee_email` "
        "and so on.",
        "created_on": "When it was issued.",
        "expires_on": "When it expires; null if never.",
    },
    "gift_card.released": _HOLD_KEYS,
    "gift_card.reversed": _HOLD_KEYS,
    "network_gift_card.activated": _NETWORK_KEYS,
    "network_gift_card.cancelled": _NETWORK_KEYS,
    "network_gift_card.expired": _NETWORK_KEYS,
    "network_gift_card.extended": {**_NETWORK_KEYS, "old_expires_on": "When it would have expired before."},
    "network_gift_card.issued": _NETWORK_KEYS,
    "network_gift_card.usage_cancelled": _USAGE_KEYS,
    "network_gift_card.usage_returned": _USAGE_KEYS,
    "network_gift_card.used": _USAGE_KEYS,
}

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
_NETWORK_GIFT_CARD = {
    "id": 912,
    "uuid": "5f1d6d5e-2c0e-4a53-8d0a-6f8f0d7f2a44",
    "status": "paid",
    "value": {"amount": "100.00", "currency": "EUR"},
    "remaining_value": {"amount": "100.00", "currency": "EUR"},
    "expires_on": "2027-11-21T22:59:59.000000Z",
}
_USAGE = {
    "id": 88,
    "partner_id": 41,
    "used_on": "2026-12-05T11:00:00.000000Z",
    "value": {"amount": "30.00", "currency": "EUR"},
    "net": {"amount": "27.00", "currency": "EUR"},
    "reservation_id": "R-2043",
    "is_active": True,
    "payment_id": None,
    "returned": {"amount": "0.00", "currency": "EUR"},
}
GIFT_CARD_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "gift_card.activated": {**_GIFT_CARD, "remaining_value": {"amount": "55.00", "currency": "EUR"}},
    "gift_card.cancelled": {**_GIFT_CARD, "status": "cncld"},
    "gift_card.captured": {
        **_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "37.50", "currency": "EUR"},
        "hold": {**_HOLD, "state": "captured", "captured": {"amount": "17.50", "currency": "EUR"}},
    },
    "gift_card.expired": {**_GIFT_CARD, "status": "exprd"},
    "gift_card.extended": {
        **_GIFT_CARD,
        "expires_on": "2028-11-21T22:59:59.000000Z",
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
    },
    "gift_card.held": {**_GIFT_CARD, "hold": _HOLD},
    "gift_card.issued": {
        "id": 77,
        "order_id": 1207,
        "status": "paid",
        "value": {"amount": "55.00", "currency": "EUR"},
        "remaining_value": {"amount": "55.00", "currency": "EUR"},
        "language": "fr",
        "reception_mode": "giftee_email",
        "created_on": "2026-11-21T04:45:32.000000Z",
        "expires_on": "2027-11-21T22:59:59.000000Z",
    },
    "gift_card.released": {
        **_GIFT_CARD,
        "remaining_value": {"amount": "55.00", "currency": "EUR"},
        "hold": {**_HOLD, "state": "released"},
    },
    "gift_card.reversed": {
        **_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "55.00", "currency": "EUR"},
        "hold": {**_HOLD, "state": "reversed", "captured": {"amount": "20.00", "currency": "EUR"}},
    },
    "network_gift_card.activated": _NETWORK_GIFT_CARD,
    "network_gift_card.cancelled": {**_NETWORK_GIFT_CARD, "status": "cncld"},
    "network_gift_card.expired": {**_NETWORK_GIFT_CARD, "status": "exprd"},
    "network_gift_card.extended": {
        **_NETWORK_GIFT_CARD,
        "expires_on": "2028-11-21T22:59:59.000000Z",
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
    },
    "network_gift_card.issued": _NETWORK_GIFT_CARD,
    "network_gift_card.usage_cancelled": {**_NETWORK_GIFT_CARD, "usage": {**_USAGE, "is_active": False}},
    "network_gift_card.usage_returned": {
        **_NETWORK_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "80.00", "currency": "EUR"},
        "usage": {
            **_USAGE,
            "payment_id": "0d2f4a7c-9b1e-4c55-8a53-2f1f0b7f6b10",
            "returned": {"amount": "10.00", "currency": "EUR"},
        },
    },
    "network_gift_card.used": {
        **_NETWORK_GIFT_CARD,
        "status": "using",
        "remaining_value": {"amount": "70.00", "currency": "EUR"},
        "usage": _USAGE,
    },
}
