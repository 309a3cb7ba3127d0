"""Data types for payments and refunds."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from store.providers.actions import UserAction
from store.providers.money import MinorAmount


class TransactionKind(StrEnum):
    PAYIN = "payin"
    REFUND = "refund"


class TransactionStatus(StrEnum):
    """PENDING is the only status that can change."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class FailureReason(StrEnum):
    """Why a transaction failed, independent of the provider."""

    ISSUER_DECLINED = "issuer_declined"
    LIMIT = "limit"
    CARD_INVALID = "card_invalid"
    AUTHENTICATION_FAILED = "authentication_failed"
    CANCELLED_BY_BUYER = "cancelled_by_buyer"
    EXPIRED = "expired"
    VELOCITY = "velocity"
    FRAUD_REFUSED = "fraud_refused"
    """Tell the buyer only that the payment was refused."""
    PROVIDER_TECHNICAL = "provider_technical"
    ALREADY_REFUNDED = "already_refunded"
    REFUND_TOO_LATE = "refund_too_late"
    REFUND_OVER_AMOUNT = "refund_over_amount"
    REFUND_OVER_FEE = "refund_over_fee"
    FEE_WALLET_EMPTY = "fee_wallet_empty"
    REFUND_REPEATED = "refund_repeated"
    """The same amount was refunded on the same day; the provider treats the second refund as a mistake."""
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
    """A failure: our reason, with the provider's code and text as received."""

    code: str
    message: str
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class Payer:
    first_name: str
    last_name: str
    email: str


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A card payment on the provider's page.

    The buyer pays `amount`; `fee` of it is ours and the rest is credited to the wallet. `reference` is our name for the
    payment, and the transaction returns it. The buyer returns to `return_url` whatever the outcome. `language` is one
    of ours (`en`, `fr`, …). `statement` appears on the bank statement, shortened to the provider's limit.
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
    """A refund to the card of a payment.

    The buyer gets `amount`; `fee_back` of it comes from our fee and the rest from the wallet. Both are positive or
    zero.
    """

    reference: str
    payment_id: str
    payer_id: str
    amount: MinorAmount
    fee_back: MinorAmount


@dataclass(frozen=True, slots=True)
class Transaction:
    """A payment or a refund as last read from the provider.

    `amount` is what the buyer pays or gets back, `fee` our part of it, positive in both cases. `parent_id` is the
    payment of a refund. `executed_at` is set once SUCCEEDED, `failure` once FAILED, `action` while a person must act.
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
