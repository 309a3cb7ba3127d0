"""Disputed payments (chargebacks): the data types, and the part of the port for them."""

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from store.providers.accounts import CheckStatus, Content, Refusal
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import Transaction


class DisputeType(StrEnum):
    """What can be done about a dispute."""

    CONTESTABLE = "contestable"
    NOT_CONTESTABLE = "not_contestable"
    """Closed and lost as soon as it is created."""
    RETRIEVAL = "retrieval"
    """The bank asks for documents; no money is taken yet."""
    UNKNOWN = "unknown"


class DisputeStatus(StrEnum):
    """Where a dispute stands. Only CLOSED is final."""

    CREATED = "created"
    PENDING_CLIENT_ACTION = "pending_client_action"
    """Contest it before `ProviderDispute.contest_until`, or accept the loss."""
    SUBMITTED = "submitted"
    """Contested; the provider examines the documents."""
    PENDING_BANK_ACTION = "pending_bank_action"
    """The buyer's bank examines the documents."""
    REOPENED_PENDING_CLIENT_ACTION = "reopened_pending_client_action"
    """The provider asks for more documents; contest it again."""
    CLOSED = "closed"
    UNKNOWN = "unknown"
    """The provider reports a status that we do not know. The dispute counts as open."""


AWAITING_US = frozenset({DisputeStatus.PENDING_CLIENT_ACTION, DisputeStatus.REOPENED_PENDING_CLIENT_ACTION})
"""The statuses in which a dispute can be contested or given up."""


class DisputeOutcome(StrEnum):
    """How a dispute ended for the platform."""

    OPEN = "open"
    WON = "won"
    """The provider returns the disputed money to the platform."""
    LOST = "lost"
    """The platform owes the disputed money: settle it from the wallet that the payment credited."""
    VOID = "void"
    """Cancelled: nothing is owed."""
    UNKNOWN = "unknown"
    """Closed with a result that we do not know, or none: ask the provider."""


class DisputeDocumentType(StrEnum):
    """The type of a document that contests a dispute."""

    DELIVERY_PROOF = "delivery_proof"
    INVOICE = "invoice"
    REFUND_PROOF = "refund_proof"
    USER_CORRESPONDENCE = "user_correspondence"
    USER_ACCEPTANCE_PROOF = "user_acceptance_proof"
    PRODUCT_REPLACEMENT_PROOF = "product_replacement_proof"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ProviderDispute:
    """A dispute of a pay-in as last read from the provider.

    `disputed` is what the buyer's bank takes back, at most the pay-in's amount; `contested` what the platform contests
    of it. `contest_until` is when it closes as lost if nothing is done. `repudiation_id` names the transaction that took
    the money from the platform's repudiation wallet; None while no money is taken. The codes and messages are the
    provider's, empty if it reports none: why the buyer's bank disputes, what the provider says of the status, and the
    result.
    """

    id: str
    payin_id: str
    type: DisputeType
    status: DisputeStatus
    outcome: DisputeOutcome
    disputed: MinorAmount
    created_at: dt.datetime
    contested: MinorAmount | None = None
    contest_until: dt.datetime | None = None
    closed_at: dt.datetime | None = None
    repudiation_id: str | None = None
    reason_code: str = ""
    reason_message: str = ""
    status_message: str = ""
    result_code: str = ""
    result_message: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class ProviderDisputeDocument:
    """A document that contests a dispute. Its files are stored by the provider alone."""

    id: str
    dispute_id: str
    type: DisputeDocumentType | None
    """None for a type that we do not know."""
    status: CheckStatus
    created_at: dt.datetime
    processed_at: dt.datetime | None = None
    refusals: Sequence[Refusal] = ()
    reference: str = ""


@dataclass(frozen=True, slots=True)
class SettlementRequest:
    """Settles a lost dispute: `amount` moves from the wallet that its pay-in credited to the repudiation wallet.

    `author_id` is the author of the repudiation (its `payer_id`). `amount` is at most what the pay-in credited to the
    wallet, and at most what the repudiation took less what was settled before.
    """

    reference: str
    repudiation_id: str
    author_id: str
    amount: MinorAmount


class DisputeProvider(Protocol):
    """The operations for disputes. The rules of `PaymentProvider` apply.

    A dispute is opened by the buyer's bank; `Subject.DISPUTE` tells of each change. The money that it took is
    `get_transaction(TransactionKind.REPUDIATION, dispute.repudiation_id)`; after a won dispute its `list_children` has
    the refund that returns it. To contest a dispute: create documents, add their pages, submit each, then
    `contest_dispute`.
    """

    async def get_dispute(self, id: str) -> ProviderDispute:
        """The current dispute. Raises `ProviderNotFound`."""
        ...

    def list_disputes(self, since: dt.datetime) -> AsyncIterator[ProviderDispute]:
        """The disputes created since a moment, oldest first."""
        ...

    async def list_payment_disputes(self, payment_id: str) -> Sequence[ProviderDispute]:
        """The disputes of a pay-in, oldest first. Raises `ProviderNotFound`."""
        ...

    async def create_dispute_document(
        self, dispute_id: str, type: DisputeDocumentType, *, reference: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> ProviderDisputeDocument:
        """Create a document; `add_dispute_page` adds its files. `reference` is our name for it.

        Raises `InvalidRequest` unless the dispute awaits our action.
        """
        ...

    async def add_dispute_page(
        self, dispute_id: str, document_id: str, content: Content, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> None:
        """Add a file to a document, under the conditions of `add_page`."""
        ...

    async def submit_dispute_document(self, dispute_id: str, document_id: str) -> ProviderDisputeDocument:
        """Submit a document for examination. Repeating it changes nothing."""
        ...

    async def get_dispute_document(self, id: str) -> ProviderDisputeDocument:
        """The current document. Raises `ProviderNotFound`."""
        ...

    async def list_dispute_documents(self, dispute_id: str) -> Sequence[ProviderDisputeDocument]:
        """The documents of a dispute, oldest first."""
        ...

    async def contest_dispute(self, id: str, amount: MinorAmount) -> ProviderDispute:
        """Contest `amount` of a dispute with the submitted documents. Repeating it changes nothing.

        A reopened dispute keeps the amount that was contested first. Raises `InvalidRequest` if it no longer awaits our
        action, and `ProviderNotFound`.
        """
        ...

    async def close_dispute(self, id: str) -> ProviderDispute:
        """Accept the loss of a dispute that awaits our action. Repeating it changes nothing."""
        ...

    async def settle_dispute(
        self, request: SettlementRequest, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """Settle a closed, lost dispute from the wallet that its pay-in credited. Raises `Declined`, such as with
        INSUFFICIENT_WALLET.
        """
        ...
