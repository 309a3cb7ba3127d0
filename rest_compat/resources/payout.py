"""Payout requests: their shape and their routes."""

from collections.abc import Sequence
from functools import partial

from resolvers.payment.payouts.documents import (
    MEDIA_TYPES,
    PDF,
    XLSX,
    generate_payout_pdf,
    generate_payout_xls,
    read_payout_file,
)
from resolvers.payment.payouts.payouts import (
    cancel_payout_request,
    payout_request,
    payout_requests,
    validate_payout_request,
)
from rest_compat.http.parameters import exactly, since, until
from rest_compat.http.route import FileAnswer, ResponseEnvelope, RestRoute
from rest_compat.resources.kyc import PARTNER_UUID
from rest_compat.resources.payment import PAYMENT, TRANSACTION
from rest_compat.resources.transfer import TRANSFER
from rest_compat.shapes.keys import ComputedKey, number, or_null
from rest_compat.shapes.shape import ResourceShape
from schema.payment.payout import PayoutRequest
from schema.validation.currencies import currency_symbol

PAYOUT_REQUEST = ResourceShape(
    "PayoutRequest",
    PayoutRequest,
    {
        "id": "id",
        "creation_date": "created_on",
        "validation_date": or_null("validated_on"),
        "partner": "partner.id",
        "partner_uuid": "partner.uuid",
        "partner_agency_name": "partner.commercial_name",
        "partner_is_kyc_validated": "readiness.kyc_validated",
        "partner_block_payout_validation": "readiness.validation_blocked",
        "invoicer_marketplace": "partner.marketplace.id",
        "amount": number("amount.amount"),
        "status": "status",
        "currency": "amount.currency",
        "currency_symbol": ComputedKey(
            ("amount.currency",), currency_symbol, {"type": "string"}, "The symbol of the currency."
        ),
        "bank_account_bic": "bank_account.bic",
        "bank_account_iban": "bank_account.iban",
        "pdf_file": or_null("pdf_url"),
        "xls_file": or_null("xlsx_url"),
    },
    example={
        "id": 12,
        "creation_date": "2026-11-01T00:07:02.118240Z",
        "validation_date": "2026-11-02T09:00:00.204155Z",
        "partner": 41,
        "partner_uuid": PARTNER_UUID,
        "partner_agency_name": "Auberge du Lac",
        "partner_is_kyc_validated": True,
        "partner_block_payout_validation": False,
        "invoicer_marketplace": 1,
        "amount": 1240.5,
        "status": "validated",
        "currency": "EUR",
        "currency_symbol": "€",
        "bank_account_bic": "BNPAFRPP",
        "bank_account_iban": "FR7630006000011234567890189",
        "pdf_file": "https://pay.example/documents/payouts/WzEyLCJwZGYi….pdf",
        "xls_file": None,
    },
)
QUERY = (
    since("creation_date__gte", "created_from", "Created at this time or later."),
    until("creation_date__lte", "created_until", "Created at this time or earlier."),
    exactly("status", "status", "Payout requests with this status."),
    exactly("partner_uuid", "partner_uuid", "Payout requests of the partner with this uuid."),
    exactly("has_validated_kyc", "kyc_validated", "Whether the payment provider has identified the partner."),
    exactly(
        "has_blocked_payout_validation",
        "validation_blocked",
        "Whether the validation of the partner's payouts is blocked.",
    ),
)
PDF_FILE = FileAnswer(MEDIA_TYPES[PDF], partial(read_payout_file, kind=PDF), "application/pdf")
XLSX_FILE = FileAnswer(MEDIA_TYPES[XLSX], partial(read_payout_file, kind=XLSX), "xlsx file")
PATH = "/api/payout_requests/{id}/"
ROUTES: Sequence[RestRoute] = (
    RestRoute("GET", "/api/payout_requests/", payout_requests, PAYOUT_REQUEST, ResponseEnvelope.PAGE, query=QUERY),
    RestRoute("GET", PATH, payout_request, PAYOUT_REQUEST),
    RestRoute("GET", f"{PATH}payments/", payout_request, PAYMENT, ResponseEnvelope.ARRAY, through="payments"),
    RestRoute("GET", f"{PATH}transfers/", payout_request, TRANSFER, ResponseEnvelope.ARRAY, through="transfers"),
    RestRoute(
        "GET", f"{PATH}transactions/", payout_request, TRANSACTION, ResponseEnvelope.ARRAY, through="transactions"
    ),
    RestRoute("GET", f"{PATH}pdf/", generate_payout_pdf, PAYOUT_REQUEST, ResponseEnvelope.FILE, file=PDF_FILE),
    RestRoute("GET", f"{PATH}xls/", generate_payout_xls, PAYOUT_REQUEST, ResponseEnvelope.FILE, file=XLSX_FILE),
    RestRoute("POST", f"{PATH}validate/", validate_payout_request, PAYOUT_REQUEST, ResponseEnvelope.ARRAY_OF_ONE),
    RestRoute("POST", f"{PATH}cancel/", cancel_payout_request, PAYOUT_REQUEST, ResponseEnvelope.ARRAY_OF_ONE),
)
