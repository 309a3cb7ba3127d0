"""Payments and refunds: what is asked of a provider, and what it tells of them."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from store.providers.actions import UserAction
from store.providers.money import MinorAmount


class TransactionKind(StrEnum):
    """Which way money moved."""

    PAYIN = "payin"
    REFUND = "refund"


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
