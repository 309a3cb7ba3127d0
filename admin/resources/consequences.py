"""What changes that move money, or that cannot be undone, lead to: told before they are made."""

from collections.abc import Mapping

from funnel.core.messages import N_

LOST = N_("What is left on it is lost for its holder. This cannot be undone.")
LOOK = N_("The audit log records who looks at the code, and when.")
SECRET = N_("The secret of the token is shown once, on the next page. Whoever has it may do all that its user may.")
SPENT = N_("The amount is taken off the balance above.")
CONSEQUENCES: Mapping[str, str] = {
    "validatePayoutRequest": N_("The money is sent to this bank account. This cannot be undone."),
    "approvePayoutAdjustment": N_("The amount is booked, and becomes a part of the partner's next payout."),
    "acceptDispute": N_("The dispute is lost at once, and the money stays with the buyer. This cannot be undone."),
    "cancelGiftCard": LOST,
    "cancelNetworkGiftCard": LOST,
    "cancelNetworkVoucher": LOST,
    "erasePersonalData": N_(
        "Names, addresses, e-mail addresses, telephone numbers and messages are erased. What was sold, paid and invoiced "
        "stays, and gift cards and vouchers can still be used. This cannot be undone."
    ),
    "createToken": SECRET,
    "createUserToken": SECRET,
    "revokeUserToken": N_("The program that uses it, or the browser that is logged in, is refused from then on."),
    "spendGiftCard": SPENT,
    "useNetworkGiftCard": SPENT,
    "revealVoucherCode": LOOK,
    "revealGiftCardCode": LOOK,
    "revealNetworkGiftCardCode": LOOK,
    "revealNetworkVoucherCode": LOOK,
    "deleteWebhookEndpoint": N_("Its messages that wait and its log are deleted too. This cannot be undone."),
}
"""One sentence or two by mutation."""
PATHS: Mapping[str, tuple[str, ...]] = {
    "validatePayoutRequest": ("bankAccount.iban", "bankAccount.bic", "detail"),
    "approvePayoutAdjustment": ("reason", "requestedById"),
    "rejectPayoutAdjustment": ("reason", "requestedById"),
}
"""What is shown of an object before the change, besides what its list shows."""
AMOUNTS: Mapping[str, str] = {
    "approveRefundRequest": "refund.amount",
    "validatePayoutRequest": "amount",
    "approvePayoutAdjustment": "amount",
}
"""Where an object has the amount that a change has moved. The preview of many tells each, and the sums."""
