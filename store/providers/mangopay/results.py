"""Maps the provider's result codes, and its reasons for returns and refusals, to the port's reasons."""

from collections.abc import Iterator, Mapping

from store.providers.accounts import RefusalReason
from store.providers.transactions import FailureReason as Reason


def _codes(*ranges: tuple[int, int] | int) -> Iterator[str]:
    for entry in ranges:
        first, last = (entry, entry) if isinstance(entry, int) else entry
        yield from (f"{code:06d}" for code in range(first, last + 1))


_MEANINGS: Mapping[Reason, Iterator[str]] = {
    Reason.ISSUER_DECLINED: _codes(101101, 101103, 101199),
    Reason.LIMIT: _codes(101102, 101104, 101112, 101115),
    Reason.CARD_INVALID: _codes(101105, 101106, 101410, (105101, 105104), (105202, 105206)),
    Reason.AUTHENTICATION_FAILED: _codes((101301, 101304), 101399),
    Reason.CANCELLED_BY_BUYER: _codes(1031, 101002),
    # 001030 and 001032: the buyer never opened the form, or left it. Normal while open; an expired page once FAILED.
    Reason.EXPIRED: _codes(1030, (1032, 1034), 101001, 101109, 121009),
    Reason.VELOCITY: _codes(101111, 101113, 101116, 101118, 8505),
    Reason.FRAUD_REFUSED: _codes((8001, 8007), (8500, 8504), (8506, 8700), 8999, 121005),
    # 121008 and 130011 are about instant payouts, which the adapter does not request: a standard one may succeed.
    Reason.PROVIDER_TECHNICAL: _codes(9101, 9103, 9199, 9499, 9999, 1999, 121008, 121999, 130006, 130011),
    Reason.ALREADY_REFUNDED: _codes(1401),
    Reason.REFUND_TOO_LATE: _codes(1403),
    Reason.REFUND_OVER_AMOUNT: _codes(5403),
    Reason.REFUND_OVER_FEE: _codes(5404),
    Reason.FEE_WALLET_EMPTY: _codes(5405),
    Reason.REFUND_REPEATED: _codes(5407),
    Reason.DISPUTED: _codes(5408),
    Reason.ALREADY_SETTLED: _codes(3012),
    Reason.INSUFFICIENT_WALLET: _codes(1001, 121003),
    Reason.WRONG_OWNER: _codes(1002, 121002, 121007),
    Reason.AMOUNT: _codes((1011, 1014)),
    Reason.CATEGORY: _codes(2701),
    Reason.KYC_REQUIRED: _codes(2704, 2951, (2996, 2999)),
    Reason.TRANSFER_AUTHENTICATION: _codes(7101, 7102),
    Reason.BANK_ACCOUNT: _codes(121006, 121012, 121018, 121019, 121030),
    Reason.PAYOUT_REFUSED: _codes(121001, 121004, 121010),
}
_REASONS = {code: reason for reason, codes in _MEANINGS.items() for code in codes}


def failure_reason(code: str) -> Reason:
    """The reason for a result code; UNKNOWN for an unknown one."""
    if code in _REASONS:
        return _REASONS[code]
    return Reason.FRAUD_REFUSED if code.startswith("008") else Reason.UNKNOWN


_RETURNS: Mapping[str, Reason] = {
    **dict.fromkeys(
        (
            "BANKACCOUNT_INCORRECT",
            "BANKACCOUNT_HAS_BEEN_CLOSED",
            "OWNER_DO_NOT_MATCH_BANKACCOUNT",
            "OWNER_DOT_NOT_MATCH_BANKACCOUNT",  # the provider writes it in both ways
            "WITHDRAWAL_IMPOSSIBLE_ON_SAVINGS_ACCOUNTS",
            "AC06_BLOCKED_BANKACCOUNT",
            "AG01_FORBIDDEN_TRANSACTION",
            "BE04_BENEFICIARY_ADDRESS_MISSING",
            "CNOR_INVALID_BIC",
            "RC01_INVALIDE_BIC",
            "RR03_BENEFICIARY_NAME_OR_ADDRESS_MISSING",
        ),
        Reason.BANK_ACCOUNT,
    ),
    **dict.fromkeys(
        (
            "INITIALIZED_BY_CLIENT",
            "INITIALIZED_BY_MANGOPAY",
            "AM05_DUPLICATE_PAYMENT",
            "FOCR_RECALLED",
            "MD07_BENEFICIARY_IS_DECEASED",
            "MS02_BENEFICIARY_ORDER",
            "MS03_NOT_SPECIFIED",
            "RR01_REGULATORY_REASON",
            "RR02_REGULATORY_REASON",
            "RR04_REGULATORY_REASON",
        ),
        Reason.PAYOUT_REFUSED,
    ),
    **dict.fromkeys(
        (
            "AG02_INVALID_BANK_OPERATION",
            "DNOR_DEBTOR_BANK_NOT_REGISTERED",
            "ED05_SETTLEMENT_FAILED",
            "ERIN_REMITTANCE_INFO_NOT_SUPPORTED",
            "FF01_INVALID_FILE_FORMAT",
            "TM01_CUT_OFF_TIME",
        ),
        Reason.PROVIDER_TECHNICAL,
    ),
}


def return_reason(code: str) -> Reason:
    """The reason for which a payout came back; UNKNOWN for an unknown code, and for `OTHER`."""
    return _RETURNS.get(code, Reason.UNKNOWN)


_REFUSALS: Mapping[str, RefusalReason] = {
    "DOCUMENT_UNREADABLE": RefusalReason.UNREADABLE,
    "DOCUMENT_NOT_ACCEPTED": RefusalReason.NOT_ACCEPTED,
    "DOCUMENT_HAS_EXPIRED": RefusalReason.HAS_EXPIRED,
    "DOCUMENT_INCOMPLETE": RefusalReason.INCOMPLETE,
    "DOCUMENT_MISSING": RefusalReason.MISSING,
    "DOCUMENT_DO_NOT_MATCH_USER_DATA": RefusalReason.USER_DATA_MISMATCH,
    "DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA": RefusalReason.ACCOUNT_DATA_MISMATCH,
    "DOCUMENT_FALSIFIED": RefusalReason.FALSIFIED,
    "UNDERAGE_PERSON": RefusalReason.UNDERAGE,
    "SPECIFIC_CASE": RefusalReason.SPECIFIC_CASE,
    "FACE_MATCH_FAIL": RefusalReason.FACE_MISMATCH,
}


def refusal_reason(code: str) -> RefusalReason:
    """The reason for a refusal code; UNKNOWN for an unknown one."""
    return _REFUSALS.get(code, RefusalReason.UNKNOWN)
