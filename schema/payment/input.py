"""Inputs that create, change and refund payments."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.payment.payment import Payment, PaymentCustomer, PaymentType, Refund
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import Email
from schema.validation.dates import Moment
from schema.validation.languages import Language
from schema.validation.numbers import AmountRule, MoneyAmount, RowId, WholeNumberRule
from schema.voucher.input import Name

PositiveAmount = Annotated[Decimal, AmountRule(ge=Decimal("0.01"))]
FeeKey = Annotated[str, line_up_to(80)]
MOST_LINES = 200
"""As many as a cart has."""


@graphql_input_for(PaymentCustomer)
class PaymentCustomerInput(SchemaModel):
    """The customer of a payment. Names and address may be empty only if a gift card pays all of it."""

    first_name: Name
    last_name: Name
    email: Email


@graphql_input_for(Payment)
class CreatePayment(SchemaModel):
    """Create a payment that the customer makes on a hosted page."""

    partner_uuid: UUID = Field(description="The uuid of the partner who is paid.")
    customer: PaymentCustomerInput
    amount: PositiveAmount
    discount: MoneyAmount
    product: FeeKey
    type: PaymentType
    origin: FeeKey = ""
    description: Annotated[str, multiline_up_to(500)] = ""
    language: Language | None = Field(
        default=None, description="The language of its page and receipt. Null: that of the customer's browser."
    )
    freeze_payout_date: Moment | None = Field(
        default=None,
        description="Decides about the payout instead of the day of the payment, if the partner may do so.",
    )
    extra_source_wallet_uuid: UUID | None = Field(
        default=None, description="The uuid of the wallet of a gift card that pays a part of the amount."
    )
    extra_source_amount: MoneyAmount | None = Field(
        default=None, description="The part of the amount that is taken from that wallet."
    )


@graphql_input_for(Payment)
class UpdatePayment(SchemaModel):
    """Change the date that decides about the payout of a payment."""

    id: UUID
    freeze_payout_date: Moment | None


@graphql_input_for(Payment)
class CancelPayment(SchemaModel):
    """Cancel a payment that is not paid yet."""

    id: UUID


@graphql_input_for(Refund)
class RefundSplit(SchemaModel):
    """How a refund is divided, instead of in proportion to what is left of each source. Both parts sum to its amount."""

    extra_source_amount: MoneyAmount = Field(
        default=Decimal("0.00"), description="The part that goes back to wallets, such as those of gift cards."
    )
    additional_payin_amount: MoneyAmount = Field(
        default=Decimal("0.00"), description="The part that goes back to the bank card."
    )


@graphql_input_for(Refund)
class RefundPayment(SchemaModel):
    """Refund a payment, in full or in part."""

    id: UUID = Field(description="The id of the payment.")
    amount: PositiveAmount
    split: RefundSplit | None = Field(default=None, description="How it is divided; by default in proportion.")
    reason: Annotated[str, line_up_to(200)] = ""


@graphql_input_for(Refund)
class PreviewRefund(RefundPayment):
    """Ask what a refund would do."""


@graphql_input_for(Refund)
class RefundOrderLine(SchemaModel):
    """A line of an order to refund."""

    id: RowId = Field(description="The id of the line, one of `order.products`.")
    quantity: Annotated[int, WholeNumberRule(ge=1)] | None = Field(
        default=None,
        description="How many of it; by default all that are not refunded yet, or what is still owed for them if all are.",
    )


@graphql_input_for(Refund)
class RefundOrder(SchemaModel):
    """Refund lines of an order, its delivery, or both."""

    id: RowId = Field(description="The id of the order.")
    lines: Annotated[list[RefundOrderLine], Field(max_length=MOST_LINES)] = Field(
        default_factory=list, description="The lines to refund, each once."
    )
    include_delivery: bool = Field(default=False, description="Whether the price of delivery is refunded too.")
    include_used: bool = Field(
        default=False,
        description="Whether a voucher or gift card is refunded that was used, in part or wholly, or has expired.",
    )
    restock: bool = Field(
        default=False, description="Whether refunded products go back into stock; each piece does so once."
    )
    split: RefundSplit | None = Field(default=None, description="How it is divided; by default in proportion.")
    reason: Annotated[str, line_up_to(200)] = ""


@graphql_input_for(Refund)
class PreviewOrderRefund(RefundOrder):
    """Ask what a refund of lines of an order would do."""


@graphql_input_for(Refund)
class RetryRefund(SchemaModel):
    """Send a refund again that needs a person."""

    id: UUID
