"""Invoices: their shape and their routes."""

from collections.abc import Sequence

from resolvers.invoice.invoices import invoice, invoices
from rest_compat.http.parameters import days_between, days_since, days_until, exactly
from rest_compat.http.route import ResponseEnvelope, RestRoute
from rest_compat.resources.kyc import PARTNER_UUID
from rest_compat.resources.payment import PAYMENT
from rest_compat.shapes.keys import number, or_null
from rest_compat.shapes.shape import ResourceShape
from schema.invoice.invoice import Invoice

INVOICE = ResourceShape(
    "Invoice",
    Invoice,
    {
        "id": "id",
        "number": "number",
        "partner_customer": or_null("partner.id"),
        "partner_uuid": or_null("partner.uuid"),
        "partner_agency_name": or_null("partner.commercial_name"),
        "marketplace_customer_id": or_null("customer_marketplace_id"),
        "marketplace_invoicer_id": "marketplace.id",
        "provider_invoicer_id": or_null("provider_invoicer_id"),
        "customer_company_name": "customer.company_name",
        "invoicer_company_name": "issuer.company_name",
        "creation_date": "created_on",
        "invoicing_date": "invoicing_date",
        "total_amount_without_vat": number("net.amount"),
        "total_amount_of_vat": number("vat.amount"),
        "total_amount_with_vat": number("total.amount"),
        "payins_pdf_file": "pdf_url",
    },
    example={
        "id": "2f7d1c7e-6f0e-4c55-9a59-6d6f3b1a2c11",
        "number": "F-000042",
        "partner_customer": 41,
        "partner_uuid": PARTNER_UUID,
        "partner_agency_name": "Auberge du Lac",
        "marketplace_customer_id": None,
        "marketplace_invoicer_id": 1,
        "provider_invoicer_id": None,
        "customer_company_name": "Auberge du Lac SARL",
        "invoicer_company_name": "Réseau des Cimes SAS",
        "creation_date": "2026-11-01T00:27:01.118240Z",
        "invoicing_date": "2026-11-01",
        "total_amount_without_vat": 103.33,
        "total_amount_of_vat": 20.67,
        "total_amount_with_vat": 124.0,
        "payins_pdf_file": "https://pay.example/documents/invoices/WyIyZjdkMWM3….pdf",
    },
)
QUERY = (
    days_since("invoicing_date__gte", "invoiced_from", "Invoices of this date or later."),
    days_until("invoicing_date__lte", "invoiced_until", "Invoices of this date or earlier."),
    days_between("invoicing_date__range", "invoiced_from", "invoiced_until", "Invoices of these days, both included."),
    exactly("partner_customer", "partner_id", "Invoices for the partner with this id."),
    exactly("partner_uuid", "partner_uuid", "Invoices for the partner with this uuid."),
    exactly("marketplace_customer_id", "customer_marketplace_id", "Invoices for the marketplace with this id."),
    exactly("marketplace_invoicer_id", "marketplace_id", "Invoices that the marketplace with this id has issued."),
    exactly(
        "provider_invoicer_id", "provider_invoicer_id", "Invoices that the service provider with this id has issued."
    ),
)
ROUTES: Sequence[RestRoute] = (
    RestRoute("GET", "/api/invoices/", invoices, INVOICE, ResponseEnvelope.PAGE, query=QUERY),
    RestRoute("GET", "/api/invoices/{id}/", invoice, INVOICE),
    RestRoute("GET", "/api/invoices/{id}/payments/", invoice, PAYMENT, ResponseEnvelope.ARRAY, through="payments"),
)
