"""Result codes of movements and their messages.

A declined payment is a `FAILED` object with a code, not an HTTP error.
"""

SUCCESS = "000000"
INSUFFICIENT_WALLET = "001001"
REPUDIATION_SETTLED = "003012"
AUTHOR_NOT_OWNER = "001002"
MANDATE_NOT_OWNED = "001024"
MANDATE_NOT_CONFIRMED = "001833"
ALREADY_REFUNDED = "001401"
REFUND_TOO_LATE = "001403"
REFUND_TECHNICAL = "001999"
BENEFICIARY_NOT_IDENTIFIED = "002951"
OWNER_NOT_IDENTIFIED = "002999"
REFUND_OVER_AMOUNT = "005403"
REFUND_OVER_FEES = "005404"
FEE_WALLET_EMPTY = "005405"
SAME_REFUND_TODAY = "005407"
PAYIN_DISPUTED = "005408"
TRANSFER_NOT_AUTHENTICATED = "007101"
TRANSFER_AUTHENTICATION_EXPIRED = "007102"
CANCELLED_BY_BUYER = "101002"
CARD_INACTIVE = "101106"
LINK_EXPIRED = "101109"
AUTHENTICATION_FAILED = "101301"
CARD_NUMBER_INVALID = "105202"
CARD_EXPIRY_INVALID = "105203"
CARD_CVC_INVALID = "105204"
CARD_REGISTRATION_REFUSED = "105206"
AUTHENTICATION_EXPIRED = "101304"
PAYOUT_REFUSED_BY_BANK = "121001"
PAYOUT_AUTHOR_NOT_OWNER = "121002"
PAYOUT_INSUFFICIENT_WALLET = "121003"
PAYOUT_ACCOUNT_INACTIVE = "121006"
PAYOUT_ACCOUNT_NOT_OWNED = "121007"
PAYOUT_EXPIRED = "121009"
PAYEE_NOT_VERIFIED = "121030"

MESSAGES = {
    SUCCESS: "Success",
    INSUFFICIENT_WALLET: "Insufficient wallet balance",
    AUTHOR_NOT_OWNER: "The author is not the owner of the wallet",
    MANDATE_NOT_OWNED: "The author is not the owner of the mandate",
    MANDATE_NOT_CONFIRMED: "The status of this mandate does not allow for payments",
    ALREADY_REFUNDED: "The transaction has already been refunded",
    REFUND_TOO_LATE: "The transaction is too old to be refunded",
    REFUND_TECHNICAL: "Generic operation error",
    BENEFICIARY_NOT_IDENTIFIED: "The beneficiary of the funds is not identified: its KYC level has to be REGULAR",
    OWNER_NOT_IDENTIFIED: "Blocked: the KYC level of the user that is debited has to be REGULAR",
    REFUND_OVER_AMOUNT: "The refund is above the amount of the transaction",
    REFUND_OVER_FEES: "The refunded fees are above the fees of the transaction",
    FEE_WALLET_EMPTY: "The balance of the fees wallet is insufficient",
    PAYIN_DISPUTED: "The transaction is disputed and can not be refunded",
    REPUDIATION_SETTLED: "The repudiation is settled already",
    SAME_REFUND_TODAY: "The same amount was already refunded today",
    TRANSFER_NOT_AUTHENTICATED: "The user failed to authenticate",
    TRANSFER_AUTHENTICATION_EXPIRED: "The user did not authenticate in time",
    PAYOUT_REFUSED_BY_BANK: "The bank refused the payout",
    PAYOUT_AUTHOR_NOT_OWNER: "The author is not the owner of the wallet",
    PAYOUT_INSUFFICIENT_WALLET: "Insufficient wallet balance",
    PAYOUT_ACCOUNT_INACTIVE: "The bank account is not active",
    PAYOUT_ACCOUNT_NOT_OWNED: "The author is not the owner of the bank account",
    PAYOUT_EXPIRED: "The payout expired before it was processed",
    PAYEE_NOT_VERIFIED: "Verification of payee failed: the name and the IBAN do not match",
    "121005": "Refused due to the fraud policy",
    "121999": "Generic withdrawal error",
    "008002": "Card reported as lost",
    "008006": "Card reported as stolen",
    "009101": "The provider of the payment did not answer in time",
    "009199": "Technical error at the provider of the payment",
    CANCELLED_BY_BUYER: "The payment was cancelled by the buyer",
    "101101": "Transaction refused by the bank: do not honour",
    "101102": "Transaction refused by the bank: amount limit",
    "101105": "Transaction refused by the bank: the card has expired",
    CARD_INACTIVE: "Transaction refused: the card is not active",
    LINK_EXPIRED: "The payment page has expired",
    AUTHENTICATION_FAILED: "Transaction refused: 3DS authentication failed",
    AUTHENTICATION_EXPIRED: "Transaction refused: 3DS authentication session expired",
    CARD_NUMBER_INVALID: "Invalid card number",
    CARD_EXPIRY_INVALID: "Invalid expiry date",
    CARD_CVC_INVALID: "Invalid security code",
    CARD_REGISTRATION_REFUSED: "The RegistrationData is not that of an accepted card",
    "101399": "Transaction refused: 3DS is not available",
}


def message(code: str | None) -> str | None:
    """The message of a code; None for None."""
    return None if code is None else MESSAGES.get(code, "Failed with a code asked for at the control plane")
