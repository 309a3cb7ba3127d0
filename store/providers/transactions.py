"""Data types for payments, refunds, transfers and payouts."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from schema.payment_method import CardToken, PaymentMethod
from store.providers.actions import UserAction
from store.providers.money import MinorAmount


class TransactionKind(StrEnum):
    PAYIN = "payin"
    REFUND = "refund"
    """Of a pay-in or a transfer, of the repudiation of a won dispute, or of a payout that came back;
    `Transaction.parent_kind` says which."""
    TRANSFER = "transfer"
    """Between two wallets."""
    PAYOUT = "payout"
    """From a wallet to a bank account. It stays SUCCEEDED if its money comes back later: that is a REFUND."""
    REPUDIATION = "repudiation"
    """The money that a buyer's bank took back, from the platform's repudiation wallet."""
    SETTLEMENT = "settlement"
    """From a wallet to the platform's repudiation wallet, after a lost dispute."""


class TransactionStatus(StrEnum):
    """PENDING is the only status that can change."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class FailureReason(StrEnum):
    """Why a transaction failed, or why a payout came back, independent of the provider."""

    ISSUER_DECLINED = "issuer_declined"
    LIMIT = "limit"
    CARD_INVALID = "card_invalid"
    AUTHENTICATION_FAILED = "authentication_failed"
    CANCELLED_BY_BUYER = "cancelled_by_buyer"
    EXPIRED = "expired"
    """The buyer has not paid in time, or the provider has not processed the payout within seven days: another one may
    succeed."""
    VELOCITY = "velocity"
    FRAUD_REFUSED = "fraud_refused"
    """Refused against fraud, or the user is blocked. Tell a buyer only that the payment was refused."""
    PROVIDER_TECHNICAL = "provider_technical"
    """Nothing is wrong with the transaction: another one may succeed later."""
    ALREADY_REFUNDED = "already_refunded"
    REFUND_TOO_LATE = "refund_too_late"
    REFUND_OVER_AMOUNT = "refund_over_amount"
    REFUND_OVER_FEE = "refund_over_fee"
    FEE_WALLET_EMPTY = "fee_wallet_empty"
    REFUND_REPEATED = "refund_repeated"
    """The same amount was refunded on the same day; the provider treats the second refund as a mistake."""
    DISPUTED = "disputed"
    """The payment is disputed and can no longer be refunded."""
    ALREADY_SETTLED = "already_settled"
    INSUFFICIENT_WALLET = "insufficient_wallet"
    WRONG_OWNER = "wrong_owner"
    AMOUNT = "amount"
    KYC_REQUIRED = "kyc_required"
    CATEGORY = "category"
    TRANSFER_AUTHENTICATION = "transfer_authentication"
    BANK_ACCOUNT = "bank_account"
    """The bank account of a payout is wrong, closed, inactive or somebody else's: another one has to be registered."""
    PAYOUT_REFUSED = "payout_refused"
    """The provider or the bank refuses the payout, or has recalled it, such as for a review of its compliance. Only a
    person can find out why, at the provider."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, or why a payout came back: our reason, with the provider's code and text as received."""

    code: str
    message: str
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class Payer:
    first_name: str
    last_name: str
    email: str


@dataclass(frozen=True, slots=True)
class PayinRequest:
    """A payment on the provider's page, on that of the method, or by the `token` of a card, without a page.

    The buyer pays `amount`; `fee` of it is ours and the rest is credited to the wallet. `reference` is our name for the
    payment, and the transaction returns it. The buyer returns to `return_url` whatever the outcome. `language` is one
    of ours (`en`, `fr`, …). `statement` appears on the bank statement, shortened to the provider's limit. The page takes
    nothing but `method`. The methods in BY_TOKEN have a `token`, and no other has: the bank may still ask the buyer to
    confirm on its page.
    """

    reference: str
    payer_id: str
    wallet_id: str
    amount: MinorAmount
    fee: MinorAmount
    return_url: str
    language: str = "en"
    statement: str = ""
    method: PaymentMethod = PaymentMethod.CARD
    token: CardToken | None = None


@dataclass(frozen=True, slots=True)
class CardRefundRequest:
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
class TransferRequest:
    """A transfer between two wallets of one currency.

    The first wallet pays `amount`; `fee` of it is ours and the rest is credited to the second. `author_id` is the owner
    of the first wallet, who may have to authenticate.
    """

    reference: str
    author_id: str
    from_wallet_id: str
    to_wallet_id: str
    amount: MinorAmount
    fee: MinorAmount


@dataclass(frozen=True, slots=True)
class TransferRefundRequest:
    """A refund of a transfer.

    The first wallet gets `amount`; `fee_back` of it comes from our fee and the rest from the second wallet. Both are
    positive or zero. `author_id` is the author of the transfer.
    """

    reference: str
    transfer_id: str
    author_id: str
    amount: MinorAmount
    fee_back: MinorAmount


@dataclass(frozen=True, slots=True)
class PayoutInstruction:
    """A payout from a wallet to a bank account in its currency.

    The wallet pays `amount`; `fee` of it is ours and the rest is credited to the bank account, and must be more than
    nothing. `author_id` is the owner of the wallet and of the bank account `destination_id` (`Destination.id`).
    `reference` is our name for the payout, and the transaction returns it. `statement` appears on the bank statement,
    shortened to the provider's limit.
    """

    reference: str
    author_id: str
    wallet_id: str
    destination_id: str
    amount: MinorAmount
    fee: MinorAmount
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction as last read from the provider.

    `amount` is what the buyer or the debited wallet pays, or gets back of a refund; `fee` is our part of it. Both are
    positive. `payer_id` is its author: the payer of a payment, the owner of the debited wallet of a transfer or payout.
    `parent_id` is what a refund refunds, of the kind `parent_kind`; the repudiation of a settlement; the pay-in of a
    repudiation. The wallets are None where none of ours is involved, or where the provider names none. `executed_at` is
    set once SUCCEEDED, `failure` once FAILED, `action` while a person must act. `return_reason` is set for the refund of
    a payout: why it came back.
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
    parent_kind: TransactionKind | None = None
    debited_wallet_id: str | None = None
    credited_wallet_id: str | None = None
    failure: Failure | None = None
    action: UserAction | None = None
    return_reason: Failure | None = None


class PlatformWallet(StrEnum):
    """The provider's own wallets for the platform, one of each kind and currency."""

    FEES = "fees"
    """Our part of payments, transfers and payouts, until the provider's monthly invoice."""
    REPUDIATION = "repudiation"
    """Negative by what disputes took and settlements have not brought back."""
    DEFAULT = "default"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PlatformBalance:
    """The balance of one of the platform's wallets; it may be some minutes old."""

    wallet: PlatformWallet
    id: str
    balance: MinorAmount
