"""Payments and their transactions."""

import resolvers.payment.payments  # noqa: F401 - registers the derived fields
from rest_compat.http.links import RowLink
from rest_compat.http.parameters import (
    Ordering,
    Parameter,
    among,
    any_of,
    by_boolean,
    exactly,
    since,
    until,
)
from rest_compat.resources.kyc import PARTNER_UUID
from rest_compat.shapes.keys import ComputedKey, FieldKey, decimal_string, number, or_null, same
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.payment.payment import Payment, PaymentRefundStatus, PaymentStatus, PaymentTransaction
from schema.payment.payout import PayoutRequestStatus
from schema.validation.currencies import currency_symbol

PAYMENT_LINK = RowLink("payment", "payment_url")
"""Where the customer pays."""
PAYMENT_ID = "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"

CUSTOMER = ResourceShape(
    "Customer",
    Payment,
    {
        "first_name": "customer.first_name",
        "last_name": "customer.last_name",
        "email": "customer.email",
    },
    example={"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
)


PAYMENT = ResourceShape(
    "Payment",
    Payment,
    {
        **same("id", "status"),
        "currency": "amount.currency",
        "payment_receipt_pdf_file": FieldKey("receipt_url", description="URL of the receipt; empty before it is paid."),
        "customer": Nested("", CUSTOMER),
        "origin": "origin",
        "payout_request_id": "payout.id",
        "payout_request_status": "payout.status",
        "payout_request_creation_date": or_null("payout.created_on"),
        "payout_request_validation_date": or_null("payout.validated_on"),
        "partner": "partner.id",
        "partner_uuid": "partner.uuid",
        "created_on": "created_on",
        "modified_on": "modified_on",
        "amount": decimal_string("amount.amount"),
        "discount": decimal_string("discount.amount"),
        "commission": number("commission.amount"),
        "net_amount": number("net.amount"),
        "refunded_amount": number("refunded.amount"),
        **same("type", "product"),
        "extra_source_amount": number("extra_part.amount"),
        "extra_source_wallet": "extra_wallet.id",
        "extra_source_wallet_uuid": or_null("extra_wallet.visible_uuid"),
        **same("payin_result_code", "payin_result_message"),
        "payment_request_id": "payment_request.id",
    },
    example={
        "id": PAYMENT_ID,
        "status": "ok",
        "currency": "EUR",
        "payment_receipt_pdf_file": "https://shop.example/documents/receipt/3f1c…/receipt.pdf",
        "origin": "newsletter",
        "payout_request_id": 12,
        "payout_request_status": "to be validated",
        "payout_request_creation_date": "2026-06-01T00:07:02.118240Z",
        "payout_request_validation_date": None,
        "partner": 41,
        "partner_uuid": PARTNER_UUID,
        "created_on": "2026-05-02T09:29:41.204155Z",
        "modified_on": "2026-05-02T09:31:07.118240Z",
        "amount": "100.00",
        "discount": "0.00",
        "commission": 3.75,
        "net_amount": 96.25,
        "refunded_amount": 0.0,
        "product": "stay",
        "extra_source_amount": 25.0,
        "extra_source_wallet": 12,
        "extra_source_wallet_uuid": "1b9c2f4e-58f5-4cbb-a7b0-2f6f3e5a0a0d",
        "payin_result_code": "",
        "payin_result_message": "",
        "payment_request_id": None,
    },
)

TRANSACTION = ResourceShape(
    "Transaction",
    PaymentTransaction,
    {
        **same("id", "created_on", "type", "payment_method", "status"),
        "amount": number("amount.amount"),
        "commission": number("commission.amount"),
        "net_amount": number("net.amount"),
        "currency": "amount.currency",
        "currency_symbol": ComputedKey(
            ("amount.currency",), currency_symbol, {"type": "string"}, "The symbol of the currency."
        ),
        "partner": "partner.id",
        "payment_id": "payment.id",
        "customer": Nested("payment", CUSTOMER),
    },
    example={
        "id": 311,
        "created_on": "2026-05-02T09:29:41.204155Z",
        "type": "payin",
        "payment_method": "credit_card",
        "status": "ok",
        "amount": 75.0,
        "commission": 3.75,
        "net_amount": 71.25,
        "currency": "EUR",
        "currency_symbol": "€",
        "partner": 41,
        "payment_id": PAYMENT_ID,
    },
)

NONE, PARTIAL, FULL = PaymentRefundStatus
QUERY: tuple[Parameter, ...] = (
    since("created_on__gte", "created_from", "Created at this time or later."),
    until("created_on__lte", "created_until", "Created at this time or earlier."),
    exactly("partner_uuid", "partner_uuid", "Payments of the partner with this uuid."),
    exactly("status", "status", "Payments with this status."),
    among("status__in", "statuses", PaymentStatus, "Payments with one of these statuses, separated by commas."),
    any_of(
        "payout_request_status",
        "payout_statuses",
        PayoutRequestStatus,
        "Payments in payout requests with this status.",
    ),
    any_of(
        "payout_request_status__in",
        "payout_statuses",
        PayoutRequestStatus,
        "Payments in payout requests with one of these statuses, separated by commas.",
        many=True,
    ),
    exactly("customer_first_name", "customer_first_name", "Part of the customer's first name, in any case."),
    exactly("customer_last_name", "customer_last_name", "Part of the customer's last name, in any case."),
    exactly("customer_email", "customer_email", "Part of the customer's e-mail address, in any case."),
    by_boolean(
        "partially_refunded", "refund_statuses", (PARTIAL,), (NONE, FULL), "Whether a part of it was refunded, not all."
    ),
    by_boolean("fully_refunded", "refund_statuses", (FULL,), (NONE, PARTIAL), "Whether all of it was refunded."),
)
ORDERING = Ordering({"created_on": "created_on", "amount": "payment_amount"})
