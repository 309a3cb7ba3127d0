"""The port of all payment providers. Amounts are integers in the currency's smallest unit.

Three rules make it safe. First, every creating call takes an `IdempotencyKey` that the caller creates and stores before
the first request, so that a lost response is looked up and never paid twice. Second, a notification is only a hint to
read the object again. Third, errors report what is known: `TransientError` means certainly not done, `UnknownOutcome`
means ask `resolve`.
"""

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from store.providers.disputes import DisputeProvider
from store.providers.keys import IdempotencyKey
from store.providers.payees import PayeeProvider
from store.providers.reports import ReportProvider
from store.providers.transactions import (
    CardRefundRequest,
    Payer,
    PayinRequest,
    PayoutInstruction,
    PlatformBalance,
    Transaction,
    TransactionKind,
    TransferRefundRequest,
    TransferRequest,
)


class Subject(StrEnum):
    """The kind of object that an event is about."""

    PAYIN = "payin"
    REFUND = "refund"
    """Of a pay-in or a transfer, of the repudiation of a won dispute, or of a payout that came back."""
    TRANSFER = "transfer"
    PAYOUT = "payout"
    DISPUTE = "dispute"
    DISPUTE_DOCUMENT = "dispute_document"
    REPUDIATION = "repudiation"
    SETTLEMENT = "settlement"
    ACCOUNT = "account"
    """Its status, its enrolment, its identification level, when that must be renewed, or its blocks."""
    IDENTITY_CHECK = "identity_check"
    OWNER_CHECK = "owner_check"
    """Of one owner of a business."""
    DOCUMENT = "document"
    DESTINATION = "destination"


@dataclass(frozen=True, slots=True)
class InboundWebhook:
    """A notification as received. `path` and `query` are as on the wire, header names in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class EventHint:
    """A hint to read the subject again. Events repeat and arrive in any order; `dedupe_id` identifies one event."""

    dedupe_id: str
    type: str
    subject: Subject
    resource_id: str
    occurred_at: dt.datetime


class WebhookRejected(ValueError):
    """A notification that is forged or cannot be parsed. Ignore its content."""


class PaymentProvider(PayeeProvider, DisputeProvider, ReportProvider, Protocol):
    """The operations of a payment provider.

    Every call may raise `NotAllowed`, `TransientError` and the errors that it names. Creating calls may also raise
    `InvalidRequest` and `UnknownOutcome`.

    A PENDING transaction with an `action` is a normal result. `Declined` is raised only if the response already reports
    FAILED; `get_transaction` returns later failures.

    The provider forgets keys after a while, and would then treat an old key as a new call. Creating calls therefore
    take `sent_at`, the time at which the key was stored, before the first request. While the provider remembers the
    key, the same call returns the same object however often it is repeated. After that nothing is sent any more: the
    call returns what the provider still knows of it, or raises `UnknownOutcome`. Repeating a call with the stored key
    and time is always safe and never creates a second object.
    """

    name: str

    async def create_payer(self, payer: Payer, reference: str, *, key: IdempotencyKey, sent_at: dt.datetime) -> str:
        """Create a payer and return the id."""
        ...

    async def create_payment(self, request: PayinRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """Start a payment. The buyer pays at `action.url` before `action.expires_at`; by the token of a card it may have
        SUCCEEDED at once, or be PENDING without an action. Raises `Declined`, and `PayerRefused` if the payer is the
        cause of a refusal.
        """
        ...

    async def refund(self, request: CardRefundRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """Refund a payment or a part of it. Returns a SUCCEEDED or PENDING transaction; raises `Declined` if the
        provider refuses it, such as the same amount twice on one day (REFUND_REPEATED).
        """
        ...

    async def transfer(
        self, request: TransferRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """Move money between two wallets. Raises `Declined`.

        The provider may require that the owner of the first wallet authenticates: the transfer is then PENDING, and its
        `action` leads there for ten minutes, and back to `return_url`. It FAILS with TRANSFER_AUTHENTICATION if they do
        not.
        """
        ...

    async def refund_transfer(
        self, request: TransferRefundRequest, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """Move a transfer or a part of it back. Nobody authenticates. Raises `Declined`."""
        ...

    async def pay_out(self, request: PayoutInstruction, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """Pay money of a wallet out to a bank account. Nobody authenticates: that was done for the bank account.

        The payout is PENDING while the provider examines it, for up to seven days, and its amount has left the wallet.
        One that FAILS later gives all of it back, including our fee. Raises `Declined` if it fails at once.

        A bank may send the money back days after the payout has SUCCEEDED. The payout does not change then: its
        `list_children` has a refund, reported by `Subject.REFUND`, with the `return_reason`. The wallet gets the
        refund's `amount`, of which `fee` comes from our fee.
        """
        ...

    async def platform_balances(self) -> Sequence[PlatformBalance]:
        """The balances of the platform's own wallets, in all currencies. `get_balance` reads those of other wallets."""
        ...

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """The current transaction, also if it has FAILED. Raises `ProviderNotFound`."""
        ...

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """The refunds of a payment, a transfer, a payout or a repudiation, oldest first, whoever created them.

        Empty for a refund and a settlement. Raises `ProviderNotFound`.
        """
        ...

    async def resolve(self, key: IdempotencyKey, *, sent_at: dt.datetime) -> Transaction | str | None:
        """The outcome of the creating call with this key, first sent at `sent_at`.

        Returns the current transaction (also if it has FAILED) or the id of another created object. Objects without an
        id (an enrolment, a document page) have calls of their own. None means that the provider has no response for
        this key: repeat the call with the same key. Raises the refusal if the call was refused, and `UnknownOutcome` if
        the provider no longer remembers keys of that age: then only `events_since` or a person can find out.
        """
        ...

    def read_webhook(self, request: InboundWebhook) -> Sequence[EventHint]:
        """The events of a notification; empty if it does not concern us. Raises `WebhookRejected`."""
        ...

    async def ensure_webhooks(self, base_url: str) -> None:
        """Register for notifications below `base_url` (the route that calls `read_webhook`); repair broken
        registrations.

        Event types that the provider refuses are logged and skipped. If it refuses all of them, the error is raised.
        """
        ...

    def events_since(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        """All events since `moment`, oldest first within a type, to catch up on lost notifications.

        Raises `InvalidRequest`, after all other events, if the provider refuses to list some types.
        """
        ...

    async def aclose(self) -> None: ...
