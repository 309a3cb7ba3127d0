"""The data of the events about network vouchers: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

_KEYS = {
    "id": "The network voucher's id.",
    "uuid": "Its uuid.",
    "status": "Its status, as named in REST.",
    "box_id": "The id of its box.",
    "price": "The price of the box when it was issued.",
    "max_usages": "How often it can be used.",
    "usage_count": "How often it was used; cancelled usages do not count.",
    "expires_on": "When it expires; null if never.",
}
_USAGE_KEYS = {
    **_KEYS,
    "usage": "The usage: `id`, `partner_id`, `offer_id` (null if unknown), `used_on`, `value`, `net` (what the partner "
    "earns), `reservation_id` (empty if none), `is_active` (false once cancelled).",
}
NETWORK_VOUCHER_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "network_voucher.activated": _KEYS,
    "network_voucher.cancelled": _KEYS,
    "network_voucher.expired": _KEYS,
    "network_voucher.extended": {**_KEYS, "old_expires_on": "When it would have expired before."},
    "network_voucher.issued": _KEYS,
    "network_voucher.usage_cancelled": _USAGE_KEYS,
    "network_voucher.used": _USAGE_KEYS,
}

_VOUCHER = {
    "id": 311,
    "uuid": "0b6a1f2c-7f0e-4d0f-9a53-0f1c2b7d9e11",
    "status": "paid",
    "box_id": 14,
    "price": {"amount": "120.00", "currency": "EUR"},
    "max_usages": 2,
    "usage_count": 0,
    "expires_on": "2027-11-21T22:59:59.000000Z",
}
_USAGE = {
    "id": 57,
    "partner_id": 41,
    "used_on": "2026-12-05T11:00:00.000000Z",
    "value": {"amount": "60.00", "currency": "EUR"},
    "net": {"amount": "54.00", "currency": "EUR"},
    "reservation_id": "R-2043",
    "is_active": True,
    "offer_id": 9,
}
NETWORK_VOUCHER_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "network_voucher.activated": _VOUCHER,
    "network_voucher.cancelled": {**_VOUCHER, "status": "cncld"},
    "network_voucher.expired": {**_VOUCHER, "status": "exprd"},
    "network_voucher.extended": {
        **_VOUCHER,
        "expires_on": "2028-11-21T22:59:59.000000Z",
        "old_expires_on": "2027-11-21T22:59:59.000000Z",
    },
    "network_voucher.issued": _VOUCHER,
    "network_voucher.usage_cancelled": {**_VOUCHER, "usage": {**_USAGE, "is_active": False}},
    "network_voucher.used": {**_VOUCHER, "status": "using", "usage_count": 1, "usage": _USAGE},
}
