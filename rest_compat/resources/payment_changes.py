"""What is sent to create, change and refund a payment, and what is answered."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_compat.resources.kyc import PARTNER_UUID
from rest_compat.resources.payment import CUSTOMER, PAYMENT_ID
from rest_compat.shapes.keys import ComputedKey, ConstantKey, FieldKey, decimal_string, same
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.payment.payment import Payment, Refund, RefundState

RENAMED_PAYMENT_KEYS = {"payment_receipt_description": "description"}
CREATED_PAYMENT = ResourceShape(
    "CreatedPayment",
    Payment,
    {
        "id": "id",
        "customer": Nested("", CUSTOMER),
        "partner_uuid": "partner.uuid",
        "partner": "partner.id",
        "amount": decimal_string("amount.amount"),
        "discount": decimal_string("discount.amount"),
        **same("product", "type", "origin"),
        "payment_receipt_description": "description",
        "freeze_payout_date": FieldKey("freeze_payout_date", nullable=True),
    },
    example={
        "id": PAYMENT_ID,
        "partner_uuid": PARTNER_UUID,
        "partner": 41,
        "amount": "100.00",
        "discount": "0.00",
        "product": "stay",
        "type": "credit_card",
        "origin": "newsletter",
        "payment_receipt_description": "Two nights by the lake",
        "freeze_payout_date": None,
    },
)
NEW_PAYMENT: Mapping[str, Any] = {
    "customer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
    "partner_uuid": PARTNER_UUID,
    "amount": 100.0,
    "discount": 0,
    "product": "stay",
    "type": "credit_card",
    "payment_receipt_description": "Two nights by the lake",
}
UPDATED_PAYMENT = ResourceShape(
    "UpdatedPayment",
    Payment,
    {"id": "id", "freeze_payout_date": FieldKey("freeze_payout_date", nullable=True)},
    example={"id": PAYMENT_ID, "freeze_payout_date": "2026-06-01T12:00:00.000000Z"},
)
PAYMENT_CHANGE: Mapping[str, Any] = {"freeze_payout_date": "2026-06-01T12:00:00Z"}


def _detail(state: str, amount: Decimal, currency: str, held_up_by: str) -> str:
    done = state == RefundState.DONE
    told = f"{amount} {currency} {'have gone back.' if done else 'will go back: the refund is accepted.'}"
    return f"{told} {held_up_by}".rstrip()


REFUND = ResourceShape(
    "AcceptedRefund",
    Refund,
    {
        "status": ConstantKey("ok", {"type": "string", "enum": ["ok"]}, "`ok`: the refund is accepted."),
        "detail": ComputedKey(
            ("state", "amount.amount", "amount.currency", "detail"),
            _detail,
            {"type": "string"},
            "What becomes of the money.",
        ),
    },
    example={"status": "ok", "detail": "40.00 EUR will go back: the refund is accepted."},
)
REFUND_REQUEST: Mapping[str, Any] = {"amount": 40.0}
