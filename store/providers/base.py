"""The port that every payment provider is reached through. Amounts are integers in the currency's smallest unit.

Three rules make it safe. Every creating call takes a `Key` that the caller mints and stores before the first send, so a
lost answer is looked up, never paid for twice. A notification is a hint to read the object again, never a state. And an
error says what is known: `Transient` means certainly not done, `UnknownOutcome` means ask `resolve`.
"""

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from store.providers.errors import (
    ActionRequired,
    Declined,
    InvalidRequest,
    NotAllowed,
    NotFound,
    ProviderError,
    Transient,
    UnknownOutcome,
)
from store.providers.keys import Key, new_key
from store.providers.money import MinorAmount, exponent
from store.providers.payees import PayeeProvider
from store.providers.transactions import (
    Failure,
    FailureReason,
    PaymentRequest,
    Person,
    RefundRequest,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

__all__ = [
    "ActionRequired",
    "Declined",
    "EventHint",
    "Failure",
    "FailureReason",
    "InboundWebhook",
    "InvalidRequest",
    "Key",
    "MinorAmount",
    "NotAllowed",
    "NotFound",
    "PaymentProvider",
    "PaymentRequest",
    "Person",
    "ProviderError",
    "RefundRequest",
    "Subject",
    "Transaction",
    "TransactionKind",
    "TransactionStatus",
    "Transient",
    "UnknownOutcome",
    "WebhookRejected",
    "exponent",
    "new_key",
]


class Subject(StrEnum):
    """What an event is about."""

    PAYIN = "payin"
    REFUND = "refund"
    ACCOUNT = "account"
    """Its status, its enrolment, its level of identification or what is blocked."""
    IDENTITY_CHECK = "identity_check"
    DOCUMENT = "document"
    DESTINATION = "destination"


@dataclass(frozen=True, slots=True)
class InboundWebhook:
    """A notification as it came in. `path` and `query` are as on the wire, header names in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class EventHint:
    """Something happened: read its subject again. Events repeat and come in any order; `dedupe_id` is one event's."""

    dedupe_id: str
    type: str
    subject: Subject
    resource_id: str
    occurred_at: dt.datetime


class WebhookRejected(ValueError):
    """A notification that is forged or cannot be read. Nothing of it may be believed."""


class PaymentProvider(PayeeProvider, Protocol):
    """What a payment provider can do. Every call may raise `NotAllowed`, `Transient` and what it names itself.

    A PENDING transaction with an `action` is a normal answer. `Declined` is raised only when the answer already says
    FAILED; a later failure arrives through `get_transaction`. Creating calls may also raise `InvalidRequest` and
    `UnknownOutcome`.

    The provider forgets keys, and would take an old one for a new call. So creating calls take `sent_at` with the key: the
    moment at which it was stored, before the first send. As long as the key is remembered the same call answers the same
    object, however often it is made. Later nothing is sent any more: the call answers what is still known of it, or raises
    `UnknownOutcome`. A call with the key and the moment that are stored is always safe, and never makes a second object.
    """

    name: str

    async def create_payer(self, person: Person, reference: str, *, key: Key, sent_at: dt.datetime) -> str:
        """Make somebody known who will pay, and answer their id."""
        ...

    async def create_payment(self, request: PaymentRequest, *, key: Key, sent_at: dt.datetime) -> Transaction:
        """Start a card payment; the buyer pays at `action.url` before `action.expires_at`. Raises `Declined`."""
        ...

    async def refund(self, request: RefundRequest, *, key: Key) -> Transaction:
        """Give money back. SUCCEEDED or PENDING is answered; raises `Declined` when the provider refuses it.

        Give back only what `list_children` says is left: that holds for keys of any age.
        """
        ...

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """A transaction as it is now, FAILED ones too. Raises `NotFound`."""
        ...

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """The refunds of a payment, oldest first, whoever made them. A refund has none. Raises `NotFound`."""
        ...

    async def resolve(self, key: Key, *, sent_at: dt.datetime) -> Transaction | str | None:
        """What became of the creating call with this key, first sent at `sent_at`.

        A transaction as it is now (FAILED ones too), or the id of whatever else was made; what has no id (an enrolment, a
        page) is asked about by its own call. None: the provider has no answer under this key, so make the same call with
        the same key again. Raises the refusal that was the answer to the call, and `UnknownOutcome` when the provider
        remembers no keys that old: then only `events_since` or a person can tell.
        """
        ...

    def read_webhook(self, request: InboundWebhook) -> Sequence[EventHint]:
        """What a notification says happened; empty when it is about nothing here. Raises `WebhookRejected`."""
        ...

    async def ensure_webhooks(self, base_url: str) -> None:
        """Have notifications sent under `base_url` (the route that hands them to `read_webhook`); repairs broken ones.

        What the provider refuses to tell of is logged and left out, unless it is everything: then that is raised.
        """
        ...

    def events_since(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        """Every event from `moment` on, oldest first within a type: the catch-up for lost notifications.

        Raises `InvalidRequest` after all others when the provider refuses to list some.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
