"""The data of the events about the fulfilment of orders and the requests of their buyers: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

_REQUEST_KEYS = {
    "id": "The request's id.",
    "order_id": "The order's id.",
    "kind": "`withdrawal` or `refund`.",
    "state": "`pending`, `approved`, `declined` or `cancelled`.",
    "requested_on": "When the buyer sent it.",
    "reason": "Why, in the words of the buyer; empty if not given.",
    "lines": "The lines of the order that it is about, each with `id` and `quantity`.",
    "includes_delivery": "Whether the price of delivery goes back too.",
    "answer": "The seller's message to the buyer; empty if none.",
    "answered_on": "When it was approved, declined or taken back; null before.",
    "refund_id": "The id of its refund; null unless approved.",
}
_REQUEST: Mapping[str, Any] = {
    "id": 54,
    "order_id": 1207,
    "kind": "withdrawal",
    "state": "pending",
    "requested_on": "2026-11-24T18:02:11.000000Z",
    "reason": "",
    "lines": [{"id": 2311, "quantity": 1}],
    "includes_delivery": True,
    "answer": "",
    "answered_on": None,
    "refund_id": None,
}
_ANSWERED: Mapping[str, Any] = {**_REQUEST, "answered_on": "2026-11-25T09:30:00.000000Z"}
ORDER_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "refund_request.approved": _REQUEST_KEYS,
    "refund_request.cancelled": _REQUEST_KEYS,
    "refund_request.created": _REQUEST_KEYS,
    "refund_request.declined": _REQUEST_KEYS,
    "order.details_corrected": {
        "id": "The order's id.",
        "uuid": "The order's uuid.",
        "number": "The order's number.",
        "cart_id": "The cart it was created from; for vouchers and gift cards the basket, which is not a cart of the API.",
        "buyer": "The buyer as it is now: `first_name`, `last_name`, `email`, `phone`.",
        "recipient_name": "The recipient of the parcel; null if it is the buyer.",
        "address": "The address that it is sent to; null if it is not sent to its buyer.",
        "changed_on": "When it was corrected.",
    },
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
    },
}
"""The keys of an event's `data`, as in `schema.event.EVENT_DATA_KEYS`."""
ORDER_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "refund_request.approved": {
        **_ANSWERED,
        "state": "approved",
        "refund_id": "5b0c4f9e-0a55-4a39-8f5e-6b9d7c1f2e30",
    },
    "refund_request.cancelled": {**_ANSWERED, "state": "cancelled"},
    "refund_request.created": _REQUEST,
    "refund_request.declined": {
        **_ANSWERED,
        "state": "declined",
        "answer": "The massage took place on 21 November.",
    },
    "order.details_corrected": {
        "id": 1207,
        "uuid": "7a1c4f0e-5d0b-4c61-9d55-0f6f6d3f0c11",
        "number": 318,
        "cart_id": "0b0f4b43-9f53-4f5e-8f0a-3d2f5f1f7a90",
        "buyer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", "phone": ""},
        "recipient_name": None,
        "address": {
            "line_1": "3 rue des Lilas",
            "line_2": "",
            "postal_code": "74000",
            "city": "Annecy",
            "country": "FR",
        },
        "changed_on": "2026-11-23T08:10:02.000000Z",
    },
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
    },
}
"""An example of the `data` of each type."""
