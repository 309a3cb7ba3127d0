"""The electronic invoice: XML after EN 16931 (UN/CEFACT CII), and the PDF that carries it, as Factur-X.

The keys are the business terms of EN 16931, such as BT-1 for the number.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from schema.invoice.invoice import InvoiceKind, VatCategory
from schema.validation.vat import vat_number
from store.invoice.invoices import InvoiceLineRow, InvoiceRow, lines_by_rate

LEVEL = "en16931"
INVOICE, CREDIT_NOTE = "380", "381"
"""UNTDID 1001: kinds of documents."""
CLEARING = "97"
"""UNTDID 4461: payment by clearing between partners."""
PIECES = "C62"
"""UN/ECE recommendation 20: one, without a unit."""
SIREN, SIRET = "0002", "0009"
"""ISO 6523: registers of company numbers."""
FEES_FILE = "fees.csv"
REVERSE_CHARGE_CODE = "VATEX-EU-AE"


def invoice_xml(
    invoice: InvoiceRow,
    lines: Sequence[InvoiceLineRow],
    names: Mapping[int, str],
    notes: Sequence[str],
    preceding: Sequence[tuple[str, dt.date]],
) -> bytes:
    """The XML of an invoice, checked against its schema. `names` are those of the lines by their position, `preceding` the
    numbers and dates of the invoices that a credit note is about.
    """
    from facturx.generate_xml import generate_cii_xml  # processes that make none do without its libraries

    data = invoice_data(invoice, lines, names, notes, preceding)
    return bytes(generate_cii_xml(data, level=LEVEL, check_xsd=True, check_schematron=False))


def attach_xml(pdf: bytes, xml: bytes, fees: bytes, invoice: InvoiceRow, title: str) -> bytes:
    """The PDF/A-3 with its XML and the list of fees attached, and the metadata that Factur-X asks for."""
    from facturx import generate_from_binary

    metadata = {"author": invoice.issuer_company_name, "keywords": "Factur-X", "title": title, "subject": title}
    return bytes(
        generate_from_binary(
            pdf,
            xml,
            flavor="factur-x",
            level=LEVEL,
            check_xsd=False,
            check_schematron=False,
            pdf_metadata=metadata,
            lang=invoice.language,
            afrelationship="alternative",
            attachments={FEES_FILE: {"filedata": fees, "afrelationship": "supplement", "description": title}}
            if fees
            else {},
        )
    )


def invoice_data(
    invoice: InvoiceRow,
    lines: Sequence[InvoiceLineRow],
    names: Mapping[int, str],
    notes: Sequence[str],
    preceding: Sequence[tuple[str, dt.date]],
) -> dict[str, Any]:
    """An invoice by the business terms of EN 16931. Amounts are positive, also on credit notes."""
    is_outside = any(line.vat_category is VatCategory.OUTSIDE for line in lines)
    net, vat, total = (_positive(each) for each in (invoice.net_amount, invoice.vat_amount, invoice.total_amount))
    return {
        "BT-1": invoice.number,
        "BT-2": invoice.invoicing_date,
        "BT-3": INVOICE if invoice.kind is InvoiceKind.INVOICE else CREDIT_NOTE,
        "BT-5": invoice.currency,
        "BG-1": [{"BT-22": note} for note in notes],
        "BG-3": [{"BT-25": number, "BT-26": date} for number, date in preceding],
        "BG-4": _party(invoice, "issuer", is_outside=is_outside),
        "BG-7": _party(invoice, "customer", is_outside=is_outside),
        "BT-72": invoice.last_day,
        "BT-73": invoice.first_day,
        "BT-74": invoice.last_day,
        "BT-81": CLEARING,
        "BG-23": [_vat(invoice, own) for own in lines_by_rate(lines)],
        "BG-25": [_line(line, names[line.position]) for line in lines],
        "BT-106": net,
        "BT-109": net,
        "BT-110": vat,
        "BT-112": total,
        "BT-113": total,
        "BT-115": "0",
    }


def _positive(amount: Decimal) -> str:
    return str(abs(amount))


def _party(invoice: InvoiceRow, role: str, *, is_outside: bool) -> dict[str, Any]:
    """A party. VAT numbers stand on no invoice that is not subject to VAT."""

    def of(name: str) -> str:
        return str(getattr(invoice, f"{role}_{name}", ""))

    country, number = of("country_code"), "".join(of("registration_number").split())
    scheme = {9: SIREN, 14: SIRET}.get(len(number)) if country == "FR" and number.isdigit() else None
    party = {
        "name": of("company_name"),
        "addr_l1": of("address_line_1"),
        "addr_l2": of("address_line_2"),
        "postcode": of("postal_code"),
        "city": of("city"),
        "country_code": country,
        "legal_identifier": number,
        "legal_identifier_schemeid": scheme,
        "vat_identifier": "" if is_outside else vat_number(of("vat_id")),
    }
    return {name: value for name, value in party.items() if value}


def _vat(invoice: InvoiceRow, lines: Sequence[InvoiceLineRow]) -> dict[str, Any]:
    category = lines[0].vat_category
    data: dict[str, Any] = {
        "BT-116": _positive(sum((line.net_amount for line in lines), Decimal(0))),
        "BT-117": _positive(sum((line.vat_amount for line in lines), Decimal(0))),
        "BT-118": category.value,
    }
    if category is not VatCategory.OUTSIDE:
        data["BT-119"] = str(lines[0].vat_rate)
    if category is VatCategory.REVERSE_CHARGE:
        data["BT-121"] = REVERSE_CHARGE_CODE
    elif category is not VatCategory.STANDARD:
        data["BT-120"] = invoice.issuer_exemption_reason
    return data


def _line(line: InvoiceLineRow, name: str) -> dict[str, Any]:
    net = _positive(line.net_amount)
    data = {
        "BT-126": str(line.position),
        "BT-129": "1",
        "BT-130": PIECES,
        "BT-131": net,
        "BT-146": net,
        "BT-151": line.vat_category.value,
        "BT-153": name,
    }
    return data if line.vat_category is VatCategory.OUTSIDE else {**data, "BT-152": str(line.vat_rate)}
