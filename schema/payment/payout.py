"""Payout requests: what gathers the earnings of a partner, to be paid out."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.inputs import graphql_input, graphql_input_for
from schema.core.money import Money, money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import EmbeddedColumns, SchemaModel, computed, embedded, embedded_type, relation
from schema.ledger import LedgerJournalKind
from schema.payment.payment import Payment, PaymentTransaction
from schema.payment.transfer import Transfer


@graphql_enum
class PayoutRequestStatus(DescribedEnum):
    """The status of a payout request."""

    TO_BE_VALIDATED = "to be validated", "It has to be validated before it is paid out."
    VALIDATED = "validated", "It is validated, and will be paid out."
    CANCELLED = "cancelled", "It was cancelled; its content goes into the next one."
    PAID = "paid", "It has been paid out."
    FAILED = "failed", "The payout failed, or came back from the bank; its content goes into the next one."


@graphql_enum
class PayoutLineReason(DescribedEnum):
    """Why a line is in a payout request."""

    IN_PERIOD = "in_period", "It happened in the period of the payout request."
    DATE_CHOSEN = "date_chosen", "A payout date in the period was chosen for it: `freezePayoutDate`."
    CARRIED_OVER = "carried_over", "Its day is in an earlier period, whose payout request did not pay it out."
    TAKEN_BACK = "taken_back", "It takes earnings back, which counts at once."


@graphql_enum
class PayoutSection(DescribedEnum):
    """What a line of a payout request is about."""

    PAYMENTS = "payments", "A payment."
    USAGES = "usages", "A usage of a gift card or voucher of the network."
    REFUNDS = "refunds", "A refund or a cancelled usage, or a refund that has failed."
    OTHER = "other", "Anything else, such as an adjustment, a dispute, or a debt that is recovered."


@graphql_enum
class PayoutDocumentState(DescribedEnum):
    """Whether a document of a payout request can be read."""

    PENDING = "pending", "It is being made."
    READY = "ready", "It is made."
    FAILED = "failed", "It could not be made. It is tried again when it is asked for after ten minutes."


@embedded_type("The bank account that a payout goes to.", prefix="bank_account_")
class PayoutDestination(EmbeddedColumns):
    bank_account_iban: str = Field(default="", max_length=34, description="IBAN, without spaces; empty if unknown.")
    bank_account_bic: str = Field(default="", max_length=11, description="BIC of the bank; empty if unknown.")


@strawberry.pydantic.type(description="What the validation of a partner's payout requests needs.")
class PayoutReadiness(BaseModel):
    kyc_validated: bool = Field(description="Whether the payment provider has identified the partner.")
    bank_account_active: bool = Field(description="Whether the partner's IBAN is registered, confirmed and active.")
    validation_blocked: bool = Field(description="Whether the validation of the partner's payouts is blocked.")


@strawberry.pydantic.type(description="A document of a payout request.")
class PayoutDocument(BaseModel):
    state: PayoutDocumentState = Field(description="Whether it can be read.")
    lines: int = Field(description="How many lines of the payout request it is made of.")
    lines_done: int = Field(description="How many of them are done.")
    url: str | None = Field(description="Its address, for an hour; null until it is ready.")


@strawberry.pydantic.type(description="A payout request that contains a payment or a line, or has contained it.")
class PayoutReference(BaseModel):
    id: int = Field(description="The payout request's id.")
    status: PayoutRequestStatus = Field(description="Its status.")
    created_on: dt.datetime = Field(description="When it was created.")
    validated_on: dt.datetime | None = Field(description="When it was validated; null before.")


@strawberry.type(description="A line of a payout request: what one business event changed of the earnings.")
class PayoutLine:
    journal_id: strawberry.ID = strawberry.field(description="The id of the event's journal in the ledger.")
    section: PayoutSection = strawberry.field(description="What it is about.")
    kind: LedgerJournalKind = strawberry.field(description="The business event.")
    source_kind: str = strawberry.field(description="What caused it, such as `payment`.")
    source_id: str = strawberry.field(description="The id of what caused it.")
    payment_id: strawberry.Private[UUID | None]
    payment = relation(
        Payment, "payment_id", "The payment that it is about; null if none.", nullable=True, field=strawberry.field
    )
    customer: str = strawberry.field(description="The customer of the payment; empty if none.")
    details: str = strawberry.field(
        description="The product, the reservation, or the reason of an adjustment; empty if none."
    )
    code_end: str = strawberry.field(description="The last characters of the gift card or voucher; empty if none.")
    gross: Money = strawberry.field(
        description="What was sold or given back, fees included; of a refund that the earnings did not cover, the part that they did."
    )
    fees: Money = strawberry.field(description="What was kept of it: commission and management fees, VAT included.")
    vat: Money = strawberry.field(description="The VAT in the fees.")
    amount: Money = strawberry.field(
        description="What is paid out of it: `gross` less `fees`. Negative if it took earnings back."
    )
    network: Money = strawberry.field(description="The part of the amount that was earned in the network.")
    payable_on: dt.date = strawberry.field(
        description="The day that decides about its payout, in the marketplace's time zone."
    )
    recorded_on: dt.datetime = strawberry.field(description="When it happened.")
    reason: PayoutLineReason = strawberry.field(description="Why it is in this payout request.")
    former: list[PayoutReference] = strawberry.field(
        description="The payout requests that it was in before, which were cancelled or have failed, oldest first."
    )
    moved_to: PayoutReference | None = strawberry.field(
        description="The payout request that it is in now, if this one was cancelled or has failed; null if in none."
    )


@strawberry.pydantic.type(description="The sums of the lines of a section of a payout request.")
class PayoutSectionSums(BaseModel):
    section: PayoutSection = Field(description="What the lines are about.")
    lines: int = Field(description="How many there are.")
    gross: Money = Field(description="What was sold or given back, fees included.")
    fees: Money = Field(description="What was kept of it, VAT included.")
    vat: Money = Field(description="The VAT in the fees.")
    amount: Money = Field(description="What is paid out of it.")


@strawberry.pydantic.type(description="What a partner has earned in a period, to be paid out.")
class PayoutRequest(SchemaModel):
    id: int = id_column("The payout request's id.")
    status: PayoutRequestStatus = enum_column(
        PayoutRequestStatus, "Its status.", default=PayoutRequestStatus.TO_BE_VALIDATED, length=20
    )
    payout_amount: Decimal = money_column()
    amount = money("payout_amount", description="What is paid out: the sum of its lines, which `payoutExplain` lists.")
    first_day: dt.date = Field(description="The first day of its period, in the marketplace's time zone.")
    last_day: dt.date = Field(description="The last day of its period: what counts later goes into the next one.")
    created_on: dt.datetime = datetime_column("When it was created.")
    validated_on: dt.datetime | None = datetime_column(
        "When it was validated; null before.", default=None, nullable=True
    )
    first_validated_by_id: int | None = Field(
        default=None,
        foreign_key="app_user.id",
        description="The id of the first of two users who validate it (`secondValidationFrom` of the `payoutSettings`); null if "
        "none has, or one is enough.",
    )
    first_validated_on: dt.datetime | None = datetime_column(
        "When the first of two users validated it; null if none has.", default=None, nullable=True
    )
    validated_by_id: int | None = Field(
        default=None,
        foreign_key="app_user.id",
        description="The id of the user who validated it, of two the second; null before, and if it was validated automatically.",
    )
    paid_on: dt.datetime | None = datetime_column("When it was paid out; null before.", default=None, nullable=True)
    returned_on: dt.datetime | None = datetime_column(
        "When the bank sent the money back; null if it did not.", default=None, nullable=True
    )
    detail: str = Field(
        default="", max_length=300, description="What holds it up, or why it failed; empty if nothing does."
    )
    waiting_since: dt.datetime | None = datetime_column(
        "Since when it waits for a refill of the marketplace's wallet; null if it does not.",
        default=None,
        nullable=True,
    )
    confirmation_url: str | None = Field(
        default=None,
        description="Where the marketplace's legal representative confirms the transfer before it; null if that is not needed.",
    )
    bank_account = embedded(PayoutDestination, "The bank account that it goes to.")
    readiness = computed(PayoutReadiness, "What its validation needs.")
    payments = computed(Payment, "The payments that it pays out, newest first.", many=True)
    transactions = computed(
        PaymentTransaction, "The pay-ins of its payments, and the refunds that it takes back, newest first.", many=True
    )
    transfers = computed(Transfer, "The transfers between wallets that were made for it, newest first.", many=True)
    pdf = computed(PayoutDocument, "Its statement as PDF; null before `generatePayoutPdf`.")
    xlsx = computed(PayoutDocument, "Its spreadsheet (.xlsx); null before `generatePayoutXls`.")
    pdf_url = derived(
        str | None,
        ("id", "pdf_made_on"),
        "The address of its statement as PDF, for an hour; null until it was made once.",
    )
    xlsx_url = derived(
        str | None,
        ("id", "xlsx_made_on"),
        "The address of its spreadsheet (.xlsx), for an hour; null until it was made once.",
    )
    partner = partner_relation("The partner that is paid.")


@graphql_input_for(PayoutRequest)
class ValidatePayoutRequest(SchemaModel):
    """Have a payout request paid out."""

    id: int


@graphql_input_for(PayoutRequest)
class GeneratePayoutPdf(SchemaModel):
    """Make the statement of a payout request as PDF."""

    id: int


@graphql_input_for(PayoutRequest)
class GeneratePayoutXls(SchemaModel):
    """Make the spreadsheet of a payout request."""

    id: int


@graphql_input_for(PayoutRequest)
class CancelPayoutRequest(SchemaModel):
    """Cancel a payout request that is not validated yet."""

    id: int


@graphql_input
class CreatePayoutRequest(SchemaModel):
    """Gather what is due to a partner now, outside its periods."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
