"""The data of the events about offers of network products: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

_OFFER = {
    "id": "The offer's id.",
    "box_id": "The id of the box.",
    "product_id": "The id of the prototype that it offers; null if none.",
    "name": "Its name.",
    "is_active": "Whether it counts once it is accepted; false if the partner has withdrawn it.",
    "edited_on": "When its content was last changed.",
}
OFFER_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "offer.submitted": {**_OFFER, "submitted_on": "When it was submitted."},
    "offer.accepted": {**_OFFER, "accepted_on": "When it was accepted."},
    "offer.rejected": {
        **_OFFER,
        "rejected_on": "When it was rejected.",
        "rejection_reason": "Why it was rejected; empty if there is no reason.",
    },
}
"""The keys of an event's `data`, as in `schema.event.EVENT_DATA_KEYS`."""
_EXAMPLE = {
    "id": 12,
    "box_id": 3,
    "product_id": 7,
    "name": {"en": "A massage for two", "fr": "Un massage en duo"},
    "is_active": True,
    "edited_on": "2026-11-20T09:29:41.204155Z",
}
OFFER_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "offer.submitted": {**_EXAMPLE, "submitted_on": "2026-11-20T09:31:02.000000Z"},
    "offer.accepted": {**_EXAMPLE, "accepted_on": "2026-11-21T04:45:32.000000Z"},
    "offer.rejected": {
        **_EXAMPLE,
        "rejected_on": "2026-11-21T04:45:32.000000Z",
        "rejection_reason": "Please say on which days.",
    },
}
"""An example of the `data` of each type."""
