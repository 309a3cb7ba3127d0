"""The messages of the payment page."""

from collections.abc import Mapping

from funnel.core.messages import N_, NOTICES, REFUSALS, PageMessage, Tone
from schema.checkout.checkout import CheckoutNotice
from schema.payment.page import PaymentPageState as State

DECLINED = NOTICES[CheckoutNotice.PAYMENT_DECLINED]
FAILED = PageMessage(
    N_("The payment did not go through"),
    N_("Something went wrong at the payment service, and nothing was charged. Please try again."),
)
FAILURES: Mapping[str, PageMessage] = {
    "authentication_failed": NOTICES[CheckoutNotice.PAYMENT_NOT_CONFIRMED],
    "cancelled_by_buyer": PageMessage(
        N_("You left before paying"), N_("Nothing was charged. You can pay whenever you are ready."), Tone.INFO
    ),
    "card_invalid": NOTICES[CheckoutNotice.CARD_NOT_VALID],
    "expired": PageMessage(N_("The time to pay ran out"), N_("Nothing was charged. You can try again."), Tone.INFO),
    "limit": NOTICES[CheckoutNotice.PAYMENT_OVER_LIMIT],
    "provider_technical": FAILED,
    "unknown": FAILED,
}
"""Why the last try failed, by reason; for any other reason it was declined."""
START_FAILURES: Mapping[str, PageMessage] = {
    **{code: REFUSALS[code] for code in ("PAYMENTS_NOT_ACTIVE", "PROVIDER_FAILED", "PROVIDER_TIMED_OUT")},
    "PARTNER_INACTIVE": REFUSALS["PAYMENTS_NOT_ACTIVE"],
}
"""Why the button could not begin a payment, by error code."""
MESSAGES: Mapping[State, PageMessage] = {
    State.PAID: PageMessage(N_("Thank you, it is paid"), N_("%(shop)s has received your payment."), Tone.GOOD, "check"),
    State.REFUNDED: PageMessage(
        N_("This payment is refunded"), N_("The whole amount goes back to you, usually within a few days."), Tone.INFO
    ),
    State.EXPIRED: PageMessage(
        N_("This link has expired"),
        N_("It can no longer be used to pay, and nothing was charged. If you still want to pay, ask %(shop)s."),
        Tone.INFO,
        "clock",
    ),
    State.CANCELLED: PageMessage(
        N_("This payment was cancelled"),
        N_("There is nothing to pay here any more, and nothing was charged. If this is a surprise, ask %(shop)s."),
        Tone.INFO,
    ),
    State.UNAVAILABLE: PageMessage(
        N_("This cannot be paid at the moment"),
        N_("%(shop)s does not take payments for now, and nothing was charged. Please try again later, or ask there."),
        Tone.INFO,
        "clock",
    ),
}
"""The message of each state in which there is nothing to press."""
