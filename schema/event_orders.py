"""The data of the events about the fulfilment of orders: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

ORDER_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "order.fulfilment_changed": {
        "id": "The order's id.",
        "uuid": "The order's uuid.",
        "number": "The order's number.",
        "cart_id": "The cart it was created from; for vouchers and gift cards the basket, which is not a cart of the API.",
        "delivery_kind": "`click_and_collect` or `home_delivery`.",
        "old_state": "The state before; the same as `state` if the tracking was corrected.",
        "state": "`to_prepare`, `ready_to_collect`, `collected`, `sent`, `delivered` or `cancelled`.",
        "changed_on": "When it changed.",
        "carrier": "Who carries the parcel; null if not given.",
        "tracking_number": "The carrier's number of it; null if not given.",
        "tracking_url": "Where the customer follows the parcel; null if not given.",
    }
}
"""The keys of an event's `data`, as in `schema.event.EVENT_DATA_KEYS`."""
ORDER_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "order.fulfilment_changed": {
        "id": 1207,
        "uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11",
        "number": 318,
        "cart_id": "0b0f4b43-9f53-4f5e-8f0a-3d2f5f1f7a90",
        "delivery_kind": "home_delivery",
        "old_state": "to_prepare",
        "state": "sent",
        "changed_on": "2026-11-23T08:12:40.000000Z",
        "carrier": "Colissimo",
        "tracking_number": "6A12345678901",
        "tracking_url": "https://www.laposte.fr/outils/suivre-vos-envois?code=6A12345678901",
    }
}
"""An example of the `data` of each type."""
