"""Disputes: the buyer's bank asks about a payment or takes its money back, and the partner contests or accepts that."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.inputs import graphql_input_for
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, relation, relations
from schema.kyc.kyc import KycCheckStatus
from schema.payment.input import PositiveAmount


@graphql_enum
class DisputeState(DescribedEnum):
    """Where a dispute stands."""

    OPEN = "open", "The buyer's bank has opened it; nothing can be done yet."
    NEEDS_RESPONSE = "needs_response", "Contest it before `contestUntil`, or accept the loss."
    UNDER_REVIEW = "under_review", "It is contested; the payment provider or the bank examines the documents."
    WON = "won", "What was contested is the partner's again."
    LOST = "lost", "The buyer keeps the money."
    CANCELLED = "cancelled", "It was withdrawn; nothing is owed."


@graphql_enum
class DisputeKind(DescribedEnum):
    """What a dispute is about."""

    CONTESTABLE = "contestable", "The bank takes the money back; that can be contested."
    NOT_CONTESTABLE = "not_contestable", "The bank takes the money back for good."
    RETRIEVAL = "retrieval", "The bank asks for documents; no money is taken yet."
    UNKNOWN = "unknown", "The payment provider reports a kind that is not known here."


@graphql_enum
class DisputeDocumentKind(DescribedEnum):
    """What a document of a dispute shows."""

    DELIVERY_PROOF = "delivery_proof", "That it was delivered, or used."
    INVOICE = "invoice", "An invoice."
    REFUND_PROOF = "refund_proof", "That it was refunded already."
    USER_CORRESPONDENCE = "user_correspondence", "Letters or messages between the buyer and the partner."
    USER_ACCEPTANCE_PROOF = "user_acceptance_proof", "That the buyer has accepted the terms."
    PRODUCT_REPLACEMENT_PROOF = "product_replacement_proof", "That it was replaced."
    OTHER = "other", "Anything else."


@strawberry.pydantic.type(
    description="A document that contests a dispute. Its file is passed on to the payment provider and not stored here."
)
class DisputeDocument(SchemaModel):
    id: int = id_column("The document's id.")
    kind: DisputeDocumentKind = enum_column(DisputeDocumentKind, "What it shows.", length=40)
    status: KycCheckStatus = enum_column(KycCheckStatus, "The document's status.", default=KycCheckStatus.CREATED)
    media_type: str = Field(max_length=40, description="`application/pdf`, `image/png`, ….")
    size: int = Field(description="The size of its file in bytes.")
    refused_reason: str = Field(
        default="", max_length=300, description="Why the payment provider refused it; empty if it did not."
    )
    created_on: dt.datetime = datetime_column("When it was uploaded.")
    dispute = relation("schema.payment.dispute:Dispute", by="dispute_id", description="The dispute.")
    partner = partner_relation()


@strawberry.pydantic.type(
    description="A dispute of a payment: the buyer's bank asks about it, or takes the money back (a chargeback). While it is "
    "open, the payment's order is disputed, and the vouchers and gift cards of that order cannot be used."
)
class Dispute(SchemaModel):
    id: UUID = Field(default_factory=uuid4, primary_key=True, description="The dispute's id.")
    state: DisputeState = enum_column(DisputeState, "Where it stands.", default=DisputeState.OPEN)
    kind: DisputeKind = enum_column(DisputeKind, "What it is about.")
    dispute_amount: Decimal = money_column()
    amount = money("dispute_amount", description="What the bank disputes.")
    contested_amount: Decimal | None = money_column(default=None, nullable=True)
    contested = money("contested_amount", description="The part that is contested; null if none was.", nullable=True)
    held_amount: Decimal = money_column(default=Decimal("0.00"))
    held = money("held_amount", description="What is kept back of the payee's money until it ends.")
    lost_amount: Decimal = money_column(default=Decimal("0.00"))
    lost = money("lost_amount", description="What is lost of the amount; 0 while it is open.")
    settled_amount: Decimal = money_column(default=Decimal("0.00"))
    settled = money("settled_amount", description="What of the loss was taken from the wallet that was paid to.")
    reason_code: str = Field(
        default="", max_length=60, description="The bank's reason, as the payment provider names it."
    )
    reason_message: str = Field(default="", max_length=300, description="The bank's reason in words; empty if none.")
    status_message: str = Field(
        default="", max_length=300, description="What the payment provider says about its state; empty if nothing."
    )
    result_message: str = Field(
        default="", max_length=300, description="What the payment provider says about its end; empty if nothing."
    )
    detail: str = Field(
        default="", max_length=300, description="What holds up its settlement; empty while nothing does."
    )
    contest_until: dt.datetime | None = datetime_column(
        "Until when it can be contested; then it is lost. Null if it cannot.", default=None, nullable=True
    )
    created_on: dt.datetime = datetime_column("When the bank opened it.")
    closed_on: dt.datetime | None = datetime_column(
        "When it ended; null while it is open.", default=None, nullable=True
    )
    documents = relations(DisputeDocument, by="dispute_id", description="The documents that contest it, oldest first.")
    payment = relation("schema.payment.payment:Payment", by="payment_id", description="The payment.")
    partner = partner_relation()


@graphql_input_for(DisputeDocument)
class PushDisputeDocument(SchemaModel):
    """Add a document that contests a dispute."""

    model_config = {"arbitrary_types_allowed": True}
    dispute_id: UUID = Field(description="The dispute's id.")
    kind: DisputeDocumentKind
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)] = Field(
        description="A PDF, PNG, JPEG or GIF of 1 kB to 7 MB."
    )


@graphql_input_for(Dispute)
class ContestDispute(SchemaModel):
    """Contest a dispute with the documents that were added."""

    id: UUID
    amount: PositiveAmount | None = Field(
        default=None,
        description="The part to contest; all of it if omitted. A dispute that is examined again keeps its part.",
    )


@graphql_input_for(Dispute)
class AcceptDispute(SchemaModel):
    """Accept the loss of a dispute."""

    id: UUID
