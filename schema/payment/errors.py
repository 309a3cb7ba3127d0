"""Conflicts of payments, refunds and disputes."""

from schema.core.errors import AppError, Conflict
from schema.core.message_names import FieldName


class PaymentsNotActive(Conflict):
    """Payments of this partner are not active yet."""


class MarketplacePaymentsNotActive(Conflict):
    """This marketplace has no wallet at the payment provider yet: open it with `activateMarketplacePayments`."""


class PlatformUserUnknown(Conflict):
    """The platform's own user at the payment provider is not set: set `COFFRET_MANGOPAY_PLATFORM_USER_ID`."""


class PayoutNotReady(Conflict):
    """{missing}"""

    meaning = "The validation of a payout needs a validated identification and an active bank account of the partner."


class PayoutBlocked(Conflict):
    """The validation of this partner's payouts is blocked."""


class SecondUserRequired(Conflict):
    """Another user than the one who requested this adjustment has to approve or reject it."""


class SecondValidationRequired(Conflict):
    """Two users have to validate a payout request of this amount: another one than the first has to do it."""


class SafeguardLowered(Conflict):
    """Only a user who sees everything can raise or remove an amount from which a second user is needed."""


class NothingToPayOut(Conflict):
    """Nothing is due to this partner."""


class DocumentNotMade(AppError):
    """The document could not be made. It is tried again when it is asked for after ten minutes."""

    status = 503
    is_user_error = False
    retry_after = 600


class PaymentEnded(Conflict):
    """This payment cannot be paid any more: it is paid already, cancelled, or its time is over."""


class PaymentInProgress(Conflict):
    """The customer is paying at this moment. Wait until the outcome is known."""


class PaymentDisputed(Conflict):
    """This payment is or was disputed by the buyer's bank, and cannot be refunded. To give the money back, accept the
    dispute.
    """


class RefundOfTwoOwners(Conflict):
    """This payment is for what is the partner's own and for gift cards or boxes of the network. Refund lines of its order
    with `refundOrder`, or all that is left of it.
    """


class DisputeNotAnswerable(Conflict):
    """This dispute cannot be answered now: it is examined, it has ended, or its time is over."""


class DisputeWithoutDocument(Conflict):
    """A dispute is contested with documents: add one first with `pushDisputeDocument`."""


class NotRefundable(Conflict):
    """Only a payment that is paid can be refunded."""


class AlreadyRefunded(Conflict):
    """This payment has been refunded in full already."""


class NothingToRefund(Conflict):
    """Nothing is left to refund of these lines: nothing was paid for them, or as much has gone back for them already.
    Refund them together with others, or more pieces at once.
    """


class CommissionOnly(Conflict):
    """All of this would be commission, which the provider does not refund alone. Refund all that is left at once."""


class OrderLineRefunded(Conflict):
    """This was refunded already."""


class GoodsUsed(Conflict):
    """This voucher or gift card was used, in part or wholly, or its time is over. To refund it all the same, say so with
    {option}.
    """

    meaning = (
        "The voucher or gift card was used, in part or wholly, or has expired. It is refunded only on explicit wish."
    )

    def __init__(self, *path: str | int) -> None:
        super().__init__(*path, option=FieldName("include_used"))


class VoucherRefunded(Conflict):
    """This voucher was refunded, and cannot be used any more."""


class RefundTooLate(Conflict):
    """What was paid with can no longer be refunded: that is possible for eleven months, with Bancontact for 180 days. Refund
    the customer another way.
    """
