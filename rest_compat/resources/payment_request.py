"""Payment requests: their shape and their routes."""

from collections.abc import Mapping, Sequence
from typing import Any

from resolvers.payment.requests.payment_requests import create_payment_request, payment_request, payment_requests
from rest_compat.http.parameters import exactly
from rest_compat.http.route import ResponseEnvelope, RestRoute
from rest_compat.resources.kyc import PARTNER_UUID
from rest_compat.resources.payment import PAYMENT, PAYMENT_LINK
from rest_compat.shapes.keys import number, same
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.payment.request import PaymentRequest

REQUEST_CUSTOMER = ResourceShape(
    "PaymentRequestCustomer",
    PaymentRequest,
    {
        "first_name": "customer.first_name",
        "last_name": "customer.last_name",
        "email": "customer.email",
    },
    example={"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
)
PAYMENT_REQUEST = ResourceShape(
    "PaymentRequest",
    PaymentRequest,
    {
        **same("id", "code", "status"),
        "amount": number("amount.amount"),
        **same("created_on", "modified_on", "reference", "description"),
        "customer": Nested("", REQUEST_CUSTOMER),
        "partner_uuid": "partner.uuid",
        **same("origin", "product"),
    },
    example={
        "id": 31,
        "code": "7K4P-QX2M-RT9W-AB3V",
        "status": "pending",
        "amount": 250.0,
        "created_on": "2026-05-02T09:29:41.204155Z",
        "modified_on": "2026-05-02T09:29:41.204155Z",
        "reference": "B-2041",
        "description": "Deposit for your stay",
        "partner_uuid": PARTNER_UUID,
        "origin": "",
        "product": "stay",
    },
)
NEW_PAYMENT_REQUEST: Mapping[str, Any] = {
    "partner_uuid": PARTNER_UUID,
    "amount": 250.0,
    "customer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
    "language": "fr",
    "reference": "B-2041",
    "description": "Deposit for your stay",
    "product": "stay",
}
ROUTES: Sequence[RestRoute] = (
    RestRoute(
        "POST",
        "/api/payment_requests/",
        create_payment_request,
        PAYMENT_REQUEST,
        status=201,
        links=(PAYMENT_LINK,),
        example=NEW_PAYMENT_REQUEST,
    ),
    RestRoute(
        "GET",
        "/api/payment_requests/",
        payment_requests,
        PAYMENT_REQUEST,
        ResponseEnvelope.PAGE,
        query=(exactly("search", "search", "Requests whose reference, description, code or customer contains this."),),
    ),
    RestRoute("GET", "/api/payment_requests/{id}/", payment_request, PAYMENT_REQUEST, links=(PAYMENT_LINK,)),
    RestRoute(
        "GET",
        "/api/payment_requests/{id}/payments/",
        payment_request,
        PAYMENT,
        ResponseEnvelope.ARRAY,
        through="payments",
        newest_first=True,
    ),
)
