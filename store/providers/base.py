"""The port that every payment provider is reached through. Amounts are integers in the currency's smallest unit.

Three rules make it safe. Every creating call takes a `Key` that the caller mints and stores before the first send, so a
lost answer is looked up, never paid for twice. A notification is a hint to read the object again, never a state. And an
error says what is known: `Transient` means certainly not done, `UnknownOutcome` means ask `resolve`.
"""

import datetime as dt
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from enum import StrEnum
from typing import NewType, Protocol, Self

from store.providers.accounts import (
    Account,
    AccountRequest,
    Blocks,
    Content,
    Destination,
    DestinationRequest,
    Document,
    DocumentType,
    Enrolment,
    IdentityCheck,
)
from store.providers.actions import UserAction

Key = NewType("Key", str)
"""What makes a creating call happen once: a UUID4 as text, stored before the first send and used for that call only."""

_EXPONENTS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI"), 0),
    **dict.fromkeys(("VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
_EXACT = Context(prec=60, traps=[Inexact])
"""Whatever the program's own decimal context rounds to, amounts of money are not rounded here."""


def new_key() -> Key:
    """A key for one creating call."""
    return Key(str(uuid.uuid4()))


def exponent(currency: str) -> int:
    """How many decimals an ISO 4217 currency has: 2 for EUR, 0 for JPY, 3 for KWD."""
    return _EXPONENTS.get(currency, 2)


@dataclass(frozen=True, slots=True)
class MinorAmount:
    """An amount in the smallest unit of its currency: `MinorAmount("EUR", 1260)` is 12.60 €, `("JPY", 12)` is 12 ¥."""

    currency: str
    minor: int

    @classmethod
    def of(cls, amount: Decimal, currency: str) -> Self:
        """From whole units; refuses with ValueError what the currency cannot pay exactly, such as 0.005 €."""
        scaled = amount.scaleb(exponent(currency), _EXACT)
        minor = int(scaled)
        if minor != scaled:
            raise ValueError(f"{amount} {currency} has more decimals than the currency.")
        return cls(currency, minor)

    @property
    def decimal(self) -> Decimal:
        """In whole units, with as many decimals as the currency has: `Decimal("12.60")`."""
        return Decimal(self.minor).scaleb(-exponent(self.currency), _EXACT)

    def __add__(self, other: "MinorAmount") -> "MinorAmount":
        return MinorAmount(self._shared(other), self.minor + other.minor)

    def __sub__(self, other: "MinorAmount") -> "MinorAmount":
        return MinorAmount(self._shared(other), self.minor - other.minor)

    def _shared(self, other: "MinorAmount") -> str:
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} do not add up.")
        return self.currency


class TransactionKind(StrEnum):
    """Which way money moved."""

    PAYIN = "payin"
    REFUND = "refund"


class Subject(StrEnum):
    """What an event is about."""

    PAYIN = "payin"
    REFUND = "refund"
    ACCOUNT = "account"
    """Its status, its enrolment, its level of identification or what is blocked."""
    IDENTITY_CHECK = "identity_check"
    DOCUMENT = "document"
    DESTINATION = "destination"


class TransactionStatus(StrEnum):
    """PENDING is the only one that can change."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class FailureReason(StrEnum):
    """Why a transaction failed, in words that do not depend on the provider."""

    ISSUER_DECLINED = "issuer_declined"
    LIMIT = "limit"
    CARD_INVALID = "card_invalid"
    AUTHENTICATION_FAILED = "authentication_failed"
    CANCELLED_BY_BUYER = "cancelled_by_buyer"
    EXPIRED = "expired"
    VELOCITY = "velocity"
    FRAUD_REFUSED = "fraud_refused"
    """Tell the buyer no more than that the payment was refused."""
    PROVIDER_TECHNICAL = "provider_technical"
    ALREADY_REFUNDED = "already_refunded"
    REFUND_TOO_LATE = "refund_too_late"
    REFUND_OVER_AMOUNT = "refund_over_amount"
    REFUND_OVER_FEE = "refund_over_fee"
    FEE_WALLET_EMPTY = "fee_wallet_empty"
    REFUND_REPEATED = "refund_repeated"
    """The same amount was refunded the same day; the provider takes the second for a mistake."""
    INSUFFICIENT_WALLET = "insufficient_wallet"
    WRONG_OWNER = "wrong_owner"
    AMOUNT = "amount"
    KYC_REQUIRED = "kyc_required"
    CATEGORY = "category"
    TRANSFER_AUTHENTICATION = "transfer_authentication"
    PAYOUT_FAILED = "payout_failed"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether trying anew, perhaps with another card or later, can succeed."""
        return self in _RETRYABLE


_RETRYABLE = frozenset(
    {
        FailureReason.ISSUER_DECLINED,
        FailureReason.LIMIT,
        FailureReason.CARD_INVALID,
        FailureReason.AUTHENTICATION_FAILED,
        FailureReason.CANCELLED_BY_BUYER,
        FailureReason.EXPIRED,
        FailureReason.VELOCITY,
        FailureReason.PROVIDER_TECHNICAL,
        FailureReason.FEE_WALLET_EMPTY,
        FailureReason.INSUFFICIENT_WALLET,
        FailureReason.KYC_REQUIRED,
        FailureReason.TRANSFER_AUTHENTICATION,
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why it failed: our reason, with the provider's own code and text as received."""

    code: str
    message: str
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who pays."""

    first_name: str
    last_name: str
    email: str


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A card payment on the provider's page.

    The buyer pays `amount`; `fee` of it is ours and the rest goes to the wallet. `reference` is our own name for it and
    comes back on the transaction; `return_url` is where the buyer comes back to, whatever the outcome. `language` is one
    of ours (`en`, `fr`, …); `statement` shows on the bank statement, as much of it as the provider allows.
    """

    reference: str
    payer_id: str
    wallet_id: str
    amount: MinorAmount
    fee: MinorAmount
    return_url: str
    language: str = "en"
    statement: str = ""


@dataclass(frozen=True, slots=True)
class RefundRequest:
    """Money back to the buyer of a payment, to the card it came from.

    The buyer gets `amount`; `fee_back` of it is given up by us and the rest leaves the wallet. Both are positive or zero.
    """

    reference: str
    payment_id: str
    payer_id: str
    amount: MinorAmount
    fee_back: MinorAmount


@dataclass(frozen=True, slots=True)
class Transaction:
    """A payment or a refund, as the provider last told it.

    `amount` is what the buyer pays or gets back, `fee` our part of it (positive in both). `parent_id` is the payment of a
    refund; `executed_at` is set once SUCCEEDED, `failure` once FAILED, `action` while a person has something to do.
    """

    id: str
    kind: TransactionKind
    status: TransactionStatus
    amount: MinorAmount
    fee: MinorAmount
    payer_id: str
    created_at: dt.datetime
    reference: str = ""
    executed_at: dt.datetime | None = None
    parent_id: str | None = None
    failure: Failure | None = None
    action: UserAction | None = None


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


class ProviderError(Exception):
    """The provider did not do what was asked. Quote `request_id` to its support."""

    def __init__(self, message: str, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class Declined(ProviderError):
    """The provider made the transaction and it failed at once; nothing moved. `transaction` keeps its id and failure."""

    def __init__(self, transaction: Transaction) -> None:
        failure = transaction.failure
        super().__init__(failure.message if failure else "Declined", code=failure.code if failure else "")
        self.transaction = transaction


class ActionRequired(ProviderError):
    """Nothing is done; somebody must authenticate first, at `action.url`."""

    def __init__(self, message: str, action: UserAction, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.action = action


class InvalidRequest(ProviderError):
    """Nothing is done and the same input fails again. `fields` says what is wrong, by the provider's field names."""

    def __init__(
        self, message: str, fields: Mapping[str, str] | None = None, *, code: str = "", request_id: str = ""
    ) -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.fields = dict(fields or {})


class NotAllowed(ProviderError):
    """Nothing is done: the credentials, the contract or the account forbid it."""


class NotFound(ProviderError):
    """The provider has no such object."""


class Transient(ProviderError):
    """Certainly not done: try again with the same key, after `retry_after` seconds when the provider says so."""

    def __init__(self, message: str, *, retry_after: float | None = None, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.retry_after = retry_after


class UnknownOutcome(ProviderError):
    """It may or may not have been done. Keep `key`, call `resolve` later, and never ask again under another key."""

    def __init__(self, key: Key, *, code: str = "", request_id: str = "") -> None:
        super().__init__(f"The provider has not told the outcome of {key}.", code=code, request_id=request_id)
        self.key = key


class PaymentProvider(Protocol):
    """What a payment provider can do. Every call may raise `NotAllowed`, `Transient` and what it names itself.

    A PENDING transaction with an `action` is a normal answer. `Declined` is raised only when the answer already says
    FAILED; a later failure arrives through `get_transaction`. Creating calls may also raise `InvalidRequest` and
    `UnknownOutcome`. A key may be sent again for a day, not longer: the provider forgets it.
    """

    name: str

    async def create_payer(self, person: Person, reference: str, *, key: Key) -> str:
        """Make somebody known who will pay, and answer their id."""
        ...

    async def create_account(self, request: AccountRequest, *, return_url: str, key: Key) -> Account:
        """Make somebody known who will be paid. The representative authenticates at `action.url`, then comes back to
        `return_url` whatever the outcome; the link has ten minutes.
        """
        ...

    async def update_account(self, account_id: str, request: AccountRequest) -> Account:
        """Tell the provider what has changed. The kind of person cannot change. Raises `InvalidRequest`, `NotFound`."""
        ...

    async def get_account(self, account_id: str) -> Account:
        """An account as it is now, without an `action`. Raises `NotFound`."""
        ...

    async def open_enrolment(self, account_id: str, *, return_url: str, key: Key) -> UserAction:
        """A new session in which the representative authenticates; it has ten minutes. Others stay as they are."""
        ...

    async def get_enrolment(self, account_id: str) -> Enrolment | None:
        """Whether the representative has authenticated; None when that was never asked of them."""
        ...

    async def enrolment_failed(self, account_id: str, since: dt.datetime) -> bool:
        """Whether the provider has told, from that moment on, that a session of the representative failed."""
        ...

    async def get_blocks(self, account_id: str) -> Blocks:
        """What the provider lets neither in nor out."""
        ...

    async def open_identity_check(self, account_id: str, *, return_url: str, key: Key) -> IdentityCheck:
        """A session in which somebody proves an identity; `return_url` has at most 50 characters. It lasts seven days."""
        ...

    async def get_identity_check(self, id: str) -> IdentityCheck:
        """A session as it is now. Raises `NotFound`."""
        ...

    async def list_identity_checks(self, account_id: str) -> Sequence[IdentityCheck]:
        """All sessions of an account, the newest first."""
        ...

    async def create_document(self, account_id: str, type: DocumentType, *, reference: str, key: Key) -> Document:
        """Begin to hand in a document; its files follow by `add_page`."""
        ...

    async def add_page(self, account_id: str, document_id: str, content: Content, *, key: Key) -> None:
        """Add a file to a document: PDF, PNG, JPEG or GIF of 1 kB to 7 MB, at most five. It passes through in pieces."""
        ...

    async def submit_document(self, account_id: str, document_id: str) -> Document:
        """Ask for a document to be examined. A second time changes nothing."""
        ...

    async def get_document(self, id: str) -> Document:
        """A document as it is now. Raises `NotFound`."""
        ...

    async def list_documents(self, account_id: str) -> Sequence[Document]:
        """All documents of an account, the newest first."""
        ...

    async def add_destination(self, request: DestinationRequest, *, return_url: str, key: Key) -> Destination:
        """Register a bank account to pay out to. The representative authenticates for it at `action.url`."""
        ...

    async def get_destination(self, id: str) -> Destination:
        """A bank account as it is now. Raises `NotFound`."""
        ...

    async def list_destinations(self, account_id: str) -> Sequence[Destination]:
        """All bank accounts of an account, the newest first."""
        ...

    async def deactivate_destination(self, id: str) -> Destination:
        """Let nothing more be sent to a bank account; it cannot be taken back."""
        ...

    async def open_wallet(self, owner_id: str, currency: str, label: str, *, key: Key) -> str:
        """Open a wallet in one currency for one owner, and answer its id. `label` has at most 255 characters."""
        ...

    async def get_balance(self, wallet_id: str) -> MinorAmount:
        """What is in a wallet. Raises `ActionRequired` when its owner has to authenticate first, and `NotFound`."""
        ...

    async def create_payment(self, request: PaymentRequest, *, key: Key) -> Transaction:
        """Start a card payment; the buyer pays at `action.url` before `action.expires_at`. Raises `Declined`."""
        ...

    async def refund(self, request: RefundRequest, *, key: Key) -> Transaction:
        """Give money back. SUCCEEDED or PENDING is answered; raises `Declined` when the provider refuses it."""
        ...

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """A transaction as it is now, FAILED ones too. Raises `NotFound`."""
        ...

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """The refunds of a payment, oldest first, whoever made them. A refund has none. Raises `NotFound`."""
        ...

    async def resolve(self, key: Key, *, sent_at: dt.datetime) -> Transaction | str | None:
        """What became of the creating call with this key, first sent at `sent_at`.

        A transaction as it is now (FAILED ones too), or the id of the payer or wallet. None: the provider has no answer
        under this key, so make the same call with the same key again. Raises the refusal that was the answer to the call,
        and `UnknownOutcome` when the provider remembers no keys that old: then only `events_since` or a person can tell.
        """
        ...

    def read_webhook(self, request: InboundWebhook) -> Sequence[EventHint]:
        """What a notification says happened; empty when it is about nothing here. Raises `WebhookRejected`."""
        ...

    async def ensure_webhooks(self, base_url: str) -> None:
        """Have notifications sent under `base_url` (the route that hands them to `read_webhook`); repairs broken ones."""
        ...

    def events_since(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        """Every event from `moment` on, oldest first within a type: the catch-up for lost notifications."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
