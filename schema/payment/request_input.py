"""Inputs that create, cancel and send payment requests."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.payment.input import FeeKey, PositiveAmount
from schema.payment.payment import PaymentCustomer
from schema.payment.request import PaymentRequest
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import NotBlank, RequiredEmail
from schema.validation.languages import Language
from schema.validation.numbers import RowId
from schema.voucher.input import Name


@graphql_input_for(PaymentCustomer)
class PaymentRequestCustomer(SchemaModel):
    """The customer of a payment request, who is told by mail."""

    first_name: Annotated[Name, NotBlank]
    last_name: Annotated[Name, NotBlank]
    email: RequiredEmail


@graphql_input_for(PaymentRequest)
class CreatePaymentRequest(SchemaModel):
    """Ask a customer by mail to pay an amount."""

    partner_uuid: UUID = Field(description="The uuid of the partner who asks.")
    amount: PositiveAmount
    customer: PaymentRequestCustomer
    language: Language
    reference: Annotated[str, line_up_to(80)] = ""
    description: Annotated[str, multiline_up_to(1000)] = ""
    origin: FeeKey = ""
    product: FeeKey = ""
    invoicing_marketplace_id: RowId | None = Field(
        default=None,
        description="The id of the partner's marketplace, if the payment refills the marketplace's own wallet instead of "
        "paying the partner.",
    )


@graphql_input_for(PaymentRequest)
class CancelPaymentRequest(SchemaModel):
    """Cancel a payment request that is not paid yet."""

    id: int


@graphql_input_for(PaymentRequest)
class ResendPaymentRequest(SchemaModel):
    """Send the mail of a payment request again."""

    id: int
