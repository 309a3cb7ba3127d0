"""The data of the events about payments, refunds, disputes and payment requests: type -> its keys, and an example."""

from collections.abc import Mapping
from typing import Any

_PAYMENT = {
    "id": "The payment's id.",
    "status": "Its status, as named in REST.",
    "amount": "What is collected, from all sources together.",
    "commission": "The marketplace's commission, VAT included.",
    "refunded": "What has been refunded, or is promised to be.",
    "product": "What is paid for; empty if not told.",
    "origin": "Where it comes from; empty if not told.",
    "order_id": "The order that it pays; null if none.",
    "payment_request_id": "The payment request that it pays; null if none.",
    "customer": "The customer: `first_name`, `last_name`, `email`.",
    "result_code": "The payment provider's code of the last try; empty if it succeeded.",
}
_REFUND = {
    "id": "The refund's id.",
    "payment_id": "The payment's id.",
    "state": "`pending`, `needs_action`, `done` or `failed`.",
    "amount": "The amount, from all sources together.",
    "origin": "Who began it: `staff`, `shop` or `provider`.",
    "reason": "Why, in the words of who began it; empty if not given.",
    "detail": "What holds it up or why it failed; empty while nothing does.",
    "lines": "The lines of the order that it refunds: `id`, `quantity`, `amount`; empty if it refunds an amount.",
    "delivery": "The part of the amount that is for delivery.",
}
_DISPUTE = {
    "id": "The dispute's id.",
    "payment_id": "The payment's id.",
    "state": "`open`, `needs_response`, `under_review`, `won`, `lost` or `cancelled`.",
    "kind": "`contestable`, `not_contestable`, `retrieval` or `unknown`.",
    "amount": "What the bank disputes.",
    "lost": "What is lost of it; 0 while it is open.",
    "reason_code": "The bank's reason, as the payment provider names it; empty if none.",
    "reason_message": "The bank's reason in words; empty if none.",
    "contest_until": "Until when it can be contested; null if it cannot.",
    "closed_on": "When it ended; null while it is open.",
}
_REQUEST = {
    "id": "The payment request's id.",
    "code": "Its code.",
    "status": "Its status, as named in REST.",
    "amount": "The amount to pay.",
    "reference": "Your own reference; empty if none.",
    "customer": "The customer: `first_name`, `last_name`, `email`.",
    "expires_on": "Until when it can be paid.",
}
_ADJUSTMENT = {
    "id": "The adjustment's id.",
    "status": "Its status, as `booked`.",
    "amount": "What the partner receives; negative if it is taken from it.",
    "reason": "Why.",
    "requires_approval": "Whether a second user has to approve it.",
    "rejection_reason": "Why it was rejected; empty if it was not.",
    "created_on": "When it was requested.",
    "booked_on": "When it was booked; null before.",
}
_PAYOUT = {
    "id": "The payout request's id.",
    "status": "Its status, as named in REST.",
    "amount": "What is paid out.",
    "first_day": "The first day of its period.",
    "last_day": "The last day of its period.",
    "detail": "What holds it up, or why it failed; empty if nothing does.",
    "validated_on": "When it was validated; null before.",
    "paid_on": "When it was paid out; null before.",
    "returned_on": "When the bank sent the money back; null if it did not.",
}
PAYMENT_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("payment.cancelled", "payment.failed", "payment.refunded", "payment.succeeded"), _PAYMENT),
    **dict.fromkeys(
        ("dispute.cancelled", "dispute.lost", "dispute.opened", "dispute.updated", "dispute.won"), _DISPUTE
    ),
    **dict.fromkeys(("refund.created", "refund.failed", "refund.needs_action", "refund.succeeded"), _REFUND),
    **dict.fromkeys(
        ("payment_request.cancelled", "payment_request.created", "payment_request.expired", "payment_request.paid"),
        _REQUEST,
    ),
    **dict.fromkeys(
        ("payout_adjustment.booked", "payout_adjustment.rejected", "payout_adjustment.requested"), _ADJUSTMENT
    ),
    **dict.fromkeys(
        (
            "payout_request.cancelled",
            "payout_request.created",
            "payout_request.failed",
            "payout_request.paid",
            "payout_request.validated",
            "payout_request.waiting",
        ),
        _PAYOUT,
    ),
}
"""The keys of the data, each with its description."""

_CUSTOMER = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
_PAID = {
    "id": "4c0f0f0e-98a5-4d1c-8e8e-6f0a3f1f2d11",
    "status": "ok",
    "amount": {"amount": "100.00", "currency": "EUR"},
    "commission": {"amount": "5.00", "currency": "EUR"},
    "refunded": {"amount": "0.00", "currency": "EUR"},
    "product": "spa",
    "origin": "website",
    "order_id": None,
    "payment_request_id": None,
    "customer": _CUSTOMER,
    "result_code": "",
}
_REFUNDED = {
    "id": "0f3c1b2a-1d3e-4c5f-9a7b-2c4d6e8f0a1b",
    "payment_id": _PAID["id"],
    "state": "pending",
    "amount": {"amount": "40.00", "currency": "EUR"},
    "origin": "staff",
    "reason": "The guest was ill.",
    "detail": "",
    "lines": [{"id": 57, "quantity": 2, "amount": {"amount": "35.00", "currency": "EUR"}}],
    "delivery": {"amount": "5.00", "currency": "EUR"},
}
_DISPUTED = {
    "id": "6d3f8a90-2b1c-4e5d-8f7a-9b0c1d2e3f40",
    "payment_id": _PAID["id"],
    "state": "needs_response",
    "kind": "contestable",
    "amount": {"amount": "100.00", "currency": "EUR"},
    "lost": {"amount": "0.00", "currency": "EUR"},
    "reason_code": "FRAUD",
    "reason_message": "",
    "contest_until": "2026-12-05T09:00:00.000000Z",
    "closed_on": None,
}
_DISPUTE_ENDED = {**_DISPUTED, "closed_on": "2026-12-12T09:00:00.000000Z"}
_ASKED = {
    "id": 31,
    "code": "7K4P-QX2M-RT9W-AB3V",
    "status": "pending",
    "amount": {"amount": "250.00", "currency": "EUR"},
    "reference": "B-2041",
    "customer": _CUSTOMER,
    "expires_on": "2026-12-05T22:59:59.000000Z",
}
_ADJUSTED = {
    "id": 5,
    "status": "pending",
    "amount": {"amount": "-120.00", "currency": "EUR"},
    "reason": "The stand at the fair in October",
    "requires_approval": True,
    "rejection_reason": "",
    "created_on": "2026-11-02T09:00:00.000000Z",
    "booked_on": None,
}
_GATHERED = {
    "id": 12,
    "status": "to be validated",
    "amount": {"amount": "1240.50", "currency": "EUR"},
    "first_day": "2026-10-01",
    "last_day": "2026-10-31",
    "detail": "",
    "validated_on": None,
    "paid_on": None,
    "returned_on": None,
}
_VALIDATED = {**_GATHERED, "status": "validated", "validated_on": "2026-11-02T09:00:00.000000Z"}
PAYMENT_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "dispute.cancelled": {**_DISPUTE_ENDED, "state": "cancelled"},
    "dispute.lost": {**_DISPUTE_ENDED, "state": "lost", "lost": _DISPUTED["amount"]},
    "dispute.opened": _DISPUTED,
    "dispute.updated": {**_DISPUTED, "state": "under_review"},
    "dispute.won": {**_DISPUTE_ENDED, "state": "won"},
    "payment.cancelled": {**_PAID, "status": "cncl"},
    "payment.failed": {**_PAID, "status": "err", "result_code": "101101"},
    "payment.refunded": {**_PAID, "refunded": _PAID["amount"]},
    "payment.succeeded": _PAID,
    "payout_adjustment.booked": {**_ADJUSTED, "status": "booked", "booked_on": "2026-11-02T10:30:00.000000Z"},
    "payout_adjustment.rejected": {
        **_ADJUSTED,
        "status": "rejected",
        "rejection_reason": "The stand was free of charge.",
    },
    "payout_adjustment.requested": _ADJUSTED,
    "payout_request.cancelled": {**_GATHERED, "status": "cancelled"},
    "payout_request.created": _GATHERED,
    "payout_request.failed": {
        **_VALIDATED,
        "status": "failed",
        "detail": "The bank account is wrong, closed or somebody else's: register another one.",
    },
    "payout_request.paid": {**_VALIDATED, "status": "paid", "paid_on": "2026-11-03T06:12:44.000000Z"},
    "payout_request.validated": _VALIDATED,
    "payout_request.waiting": {
        **_VALIDATED,
        "detail": "The marketplace's wallet holds 120.00 of 310.00 EUR: a refill of 190.00 EUR releases it.",
    },
    "refund.created": _REFUNDED,
    "refund.failed": {**_REFUNDED, "state": "failed", "detail": "The payment is too old to be refunded to its card."},
    "refund.needs_action": {
        **_REFUNDED,
        "state": "needs_action",
        "detail": "The wallet at the payment provider does not hold enough money.",
    },
    "refund.succeeded": {**_REFUNDED, "state": "done"},
    "payment_request.cancelled": {**_ASKED, "status": "cancelled"},
    "payment_request.created": _ASKED,
    "payment_request.expired": {**_ASKED, "status": "expired"},
    "payment_request.paid": {**_ASKED, "status": "paid"},
}
"""An example of the data of each."""
