"""Payout requests: what gathers the payments of a partner, to be paid out."""

from schema.core.columns import DescribedEnum


class PayoutRequestStatus(DescribedEnum):
    """The status of a payout request."""

    TO_BE_VALIDATED = "to be validated", "It has to be validated before it is paid out."
    VALIDATED = "validated", "It is validated, and will be paid out."
    CANCELLED = "cancelled", "It was cancelled; its content goes into the next one."
    PAID = "paid", "It has been paid out."
    FAILED = "failed", "The payout failed; its content goes into the next one."
