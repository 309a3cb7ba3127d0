"""The data of events about invoices: each key with its meaning, and an example."""

from collections.abc import Mapping
from typing import Any

INVOICE_EVENT_KEYS: Mapping[str, Mapping[str, str]] = {
    "invoice.issued": {
        "id": "The invoice's id.",
        "number": "Its number.",
        "kind": "`invoice` or `credit_note`.",
        "corrects": "The id of the invoice that a credit note corrects; null on others.",
        "invoicing_date": "The date on it.",
        "first_day": "The first day of its period.",
        "last_day": "The last day of its period.",
        "net": "The sum without VAT; negative on credit notes.",
        "vat": "The VAT.",
        "total": "The sum with VAT.",
    }
}
INVOICE_EVENT_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "invoice.issued": {
        "id": "2f7d1c7e-6f0e-4c55-9a59-6d6f3b1a2c11",
        "number": "F-000042",
        "kind": "invoice",
        "corrects": None,
        "invoicing_date": "2026-11-01",
        "first_day": "2026-10-01",
        "last_day": "2026-10-31",
        "net": {"amount": "103.33", "currency": "EUR"},
        "vat": {"amount": "20.67", "currency": "EUR"},
        "total": {"amount": "124.00", "currency": "EUR"},
    }
}
