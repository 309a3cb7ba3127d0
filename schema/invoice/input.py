"""Inputs of invoices."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input, graphql_input_for
from schema.core.resource import SchemaModel
from schema.invoice.invoice import Invoice
from schema.validation.characters import line_up_to
from schema.validation.numbers import MoneyAmount, WholeNumberRule


@graphql_input
class CreditedLine(SchemaModel):
    """What a credit note gives back of a line."""

    position: Annotated[int, WholeNumberRule(ge=1)] = Field(description="The position of the line on the invoice.")
    amount: MoneyAmount = Field(description="What goes back, VAT included: at most what is left of the line.")


@graphql_input_for(Invoice)
class CreateCreditNote(SchemaModel):
    """Correct an invoice by a credit note."""

    invoice_id: UUID = Field(description="The id of the invoice to correct.")
    reason: Annotated[str, line_up_to(300, min_length=1)]
    lines: list[CreditedLine] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="What goes back; null for all that is left of the invoice.",
    )


@graphql_input
class IssuePartnerInvoices(SchemaModel):
    """Issue what is to be invoiced to a partner until the end of last month."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
