"""Invoices: the fees of a month, as a marketplace charges them to a partner, and what goes back of them."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID, uuid4

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum
from schema.core.derived import derived
from schema.core.money import Money, money, money_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import EmbeddedColumns, SchemaModel, computed, embedded, embedded_type, relation
from schema.payment.payment import Payment


@graphql_enum
class InvoiceKind(DescribedEnum):
    """What an invoice document is."""

    INVOICE = "invoice", "Fees that a partner was charged."
    CREDIT_NOTE = "credit_note", "Fees that go back to a partner. Its amounts are negative."


@graphql_enum
class InvoiceLineKind(DescribedEnum):
    """What a line of an invoice is about."""

    PAYMENTS = "payments", "Commission on payments by bank card."
    USAGES = "usages", "Commission and management fees on usages of the network's gift cards and vouchers."


@graphql_enum
class VatCategory(DescribedEnum):
    """How VAT applies to a line, after the code list UNTDID 5305 of EN 16931."""

    STANDARD = "S", "VAT is charged at the rate of the line."
    REVERSE_CHARGE = "AE", "The buyer owes the VAT: a business in another country of the European Union."
    EXEMPT = "E", "No VAT is charged, for the reason that the marketplace states."
    OUTSIDE = "O", "Not subject to VAT: the marketplace has no VAT number."


@embedded_type("Who issued an invoice, as printed on it.", prefix="issuer_")
class InvoiceIssuer(EmbeddedColumns):
    issuer_company_name: str = Field(default="", max_length=120, description="Legal name.")
    issuer_address_line_1: str = Field(default="", max_length=255, description="Street and number.")
    issuer_postal_code: str = Field(default="", max_length=20, description="Postal code.")
    issuer_city: str = Field(default="", max_length=120, description="Town.")
    issuer_country_code: str = Field(default="", max_length=2, description="The country, ISO 3166 alpha-2.")
    issuer_registration_number: str = Field(default="", max_length=40, description="The company number; empty if none.")
    issuer_vat_id: str = Field(default="", max_length=40, description="The VAT number; empty if none.")
    issuer_exemption_reason: str = Field(
        default="", max_length=200, description="Why no VAT is charged; empty if it is, or if the buyer owes it."
    )


@embedded_type("Whom an invoice is for, as printed on it.", prefix="customer_")
class InvoiceCustomer(EmbeddedColumns):
    customer_company_name: str = Field(default="", max_length=120, description="Legal name.")
    customer_address_line_1: str = Field(default="", max_length=255, description="Street and number.")
    customer_address_line_2: str = Field(default="", max_length=255, description="Second line of the address.")
    customer_postal_code: str = Field(default="", max_length=20, description="Postal code.")
    customer_city: str = Field(default="", max_length=120, description="Town.")
    customer_country_code: str = Field(default="", max_length=2, description="The country, ISO 3166 alpha-2.")
    customer_registration_number: str = Field(
        default="", max_length=40, description="The company number; empty if none."
    )
    customer_vat_id: str = Field(default="", max_length=40, description="The VAT number; empty if none.")


@strawberry.pydantic.type(description="A line of an invoice: the fees of one kind with one rate of VAT.")
class InvoiceLine(BaseModel):
    position: int = PydanticField(description="Its position, from 1.")
    kind: InvoiceLineKind = PydanticField(description="What it is about.")
    count: int = PydanticField(description="How many payments, usages or refunds it sums up.")
    vat_category: VatCategory = PydanticField(description="How VAT applies.")
    vat_rate: Decimal = PydanticField(description="The VAT in percent; 0 if none is charged.")
    net: Money = PydanticField(description="Without VAT; negative on credit notes.")
    vat: Money = PydanticField(description="The VAT.")
    total: Money = PydanticField(description="With VAT.")
    credited: Money = PydanticField(
        description="What later credit notes gave back of it, VAT included: those that correct it, and those about refunds "
        "and cancelled usages, less what failed refunds charged again."
    )


@strawberry.pydantic.type(description="The VAT of an invoice at one rate.")
class InvoiceVat(BaseModel):
    category: VatCategory = PydanticField(description="How VAT applies.")
    rate: Decimal = PydanticField(description="The VAT in percent.")
    net: Money = PydanticField(description="The amount that it applies to.")
    vat: Money = PydanticField(description="The VAT.")


@strawberry.pydantic.type(description="An invoice or credit note of a marketplace. Its amounts never change.")
class Invoice(SchemaModel):
    id: UUID = Field(default_factory=uuid4, primary_key=True, description="The invoice's id.")
    number: str = Field(max_length=30, description="Its number. The numbers of a marketplace have no gaps.")
    kind: InvoiceKind = enum_column(InvoiceKind, "Whether it charges fees or gives them back.")
    invoicing_date: dt.date = Field(description="The date on it, in the marketplace's time zone.")
    first_day: dt.date = Field(description="The first day of its period.")
    last_day: dt.date = Field(description="The last day of its period.")
    created_on: dt.datetime = datetime_column("When it was created.")
    net_amount: Decimal = money_column()
    net = money("net_amount", description="The sum without VAT; negative on credit notes.")
    vat_amount: Decimal = money_column()
    vat = money("vat_amount", description="The VAT.")
    total_amount: Decimal = money_column()
    total = money(
        "total_amount", description="The sum with VAT. It was paid when the fees were taken: nothing is left to pay."
    )
    reason: str = Field(
        default="", max_length=300, description="Why a credit note corrects an invoice; empty on others."
    )
    issuer = embedded(InvoiceIssuer, "Who issued it.")
    customer = embedded(InvoiceCustomer, "Whom it is for.")
    customer_marketplace_id: int | None = Field(
        default=None, description="The id of the marketplace that it is for; null if it is for a partner."
    )
    provider_invoicer_id: int | None = Field(
        default=None, description="The id of the service provider that issued it; null if a marketplace did."
    )
    corrects = relation(
        "schema.invoice.invoice:Invoice",
        "corrects_id",
        "The invoice that a credit note corrects; null on others.",
        nullable=True,
    )
    lines = computed(list[InvoiceLine], "Its lines, in their order.")
    vat_breakdown = computed(list[InvoiceVat], "Its VAT by rate.")
    payments = computed(Payment, "The payments whose fees are in it, newest first.", many=True)
    pdf_url = derived(
        str, ("id",), "The address of the Factur-X document (PDF/A-3 with EN 16931 XML), for an hour, with all fees."
    )
    partner = partner_relation("The partner that it is for; null if it is for a marketplace.", nullable=True)
    marketplace = marketplace_relation("The marketplace that issued it.")


@strawberry.pydantic.type(description="A fee, as the ledger has it.")
class Fee(BaseModel):
    journal_id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = PydanticField(
        description="The id of its journal in the ledger."
    )
    kind: InvoiceLineKind = PydanticField(description="What it is for.")
    source_kind: str = PydanticField(description="What caused it, such as `payment`.")
    source_id: str = PydanticField(description="The id of what caused it.")
    effective_on: dt.date = PydanticField(description="The accounting date.")
    amount: Money = PydanticField(description="The fee, VAT included; negative if it went back.")
    vat: Money = PydanticField(description="The VAT in it.")
    vat_rate: Decimal = PydanticField(description="The VAT in percent.")
    invoice_number: str | None = PydanticField(description="The number of its invoice; null before it is issued.")
