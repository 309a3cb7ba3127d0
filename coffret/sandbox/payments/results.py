"""Result codes of movements and their messages.

A declined payment is a `FAILED` object with a code, not an HTTP error.
"""

SUCCESS = "000000"
INSUFFICIENT_WALLET = "001001"
REPUDIATION_SETTLED = "003012"
ALREADY_REFUNDED = "001401"
REFUND_TOO_LATE = "001403"
REFUND_TECHNICAL = "001999"
BENEFICIARY_NOT_IDENTIFIED = "002951"
REFUND_OVER_AMOUNT = "005403"
REFUND_OVER_FEES = "005404"
FEE_WALLET_EMPTY = "005405"
SAME_REFUND_TODAY = "005407"
PAYIN_DISPUTED = "005408"
CANCELLED_BY_BUYER = "101002"
LINK_EXPIRED = "101109"
AUTHENTICATION_FAILED = "101301"
AUTHENTICATION_EXPIRED = "101304"

MESSAGES = {
    SUCCESS: "Success",
    INSUFFICIENT_WALLET: "Insufficient wallet balance",
    ALREADY_REFUNDED: "The transaction has already been refunded",
    REFUND_TOO_LATE: "The transaction is too old to be refunded",
    REFUND_TECHNICAL: "Generic operation error",
    BENEFICIARY_NOT_IDENTIFIED: "The beneficiary of the funds is not identified: its KYC level has to be REGULAR",
    REFUND_OVER_AMOUNT: "The refund is above the amount of the transaction",
    REFUND_OVER_FEES: "The refunded fees are above the fees of the transaction",
    FEE_WALLET_EMPTY: "The balance of the fees wallet is insufficient",
    PAYIN_DISPUTED: "The transaction is disputed and can not be refunded",
    REPUDIATION_SETTLED: "The repudiation is settled already",
    SAME_REFUND_TODAY: "The same amount was already refunded today",
    "008002": "Card reported as lost",
    "008006": "Card reported as stolen",
    "009101": "The provider of the payment did not answer in time",
    "009199": "Technical error at the provider of the payment",
    CANCELLED_BY_BUYER: "The payment was cancelled by the buyer",
    "101101": "Transaction refused by the bank: do not honour",
    "101102": "Transaction refused by the bank: amount limit",
    "101105": "Transaction refused by the bank: the card has expired",
    LINK_EXPIRED: "The payment page has expired",
    AUTHENTICATION_FAILED: "Transaction refused: 3DS authentication failed",
    AUTHENTICATION_EXPIRED: "Transaction refused: 3DS authentication session expired",
    "101399": "Transaction refused: 3DS is not available",
}


def message(code: str | None) -> str | None:
    """The message of a code; None for None."""
    return None if code is None else MESSAGES.get(code, "Failed with a code asked for at the control plane")
