"""The messages of the pages of orders."""

from collections.abc import Mapping

from funnel.core.basket_messages import BASKET_ERRORS, BASKET_FIELD_ERRORS
from funnel.core.messages import N_, PageMessage, Tone
from schema.order.order import OrderStatus
from schema.order.page import IssuedState as State

STATUS_NOTES: Mapping[OrderStatus, PageMessage] = {
    OrderStatus.REFUNDED: PageMessage(
        N_("This order is refunded"), N_("All that was paid for it goes back, or has gone back already."), Tone.INFO
    ),
    OrderStatus.DISPUTED: PageMessage(
        N_("Your bank is looking into this payment"),
        N_("Until that is settled, the vouchers and gift cards of this order cannot be used."),
    ),
    OrderStatus.CHARGED_BACK: PageMessage(
        N_("Your bank has taken the payment back"),
        N_("The vouchers and gift cards of this order can no longer be used."),
    ),
}
"""What is said first, unless the order is simply paid."""
ISSUED_NOTES: Mapping[State, str] = {
    State.NOT_BEGUN: N_("It begins on %(date)s"),
    State.PAUSED: N_("It cannot be used at the moment"),
    State.USED: N_("It has been used"),
    State.EXPIRED: N_("It has expired"),
    State.WITHDRAWN: N_("It was refunded or cancelled, and can no longer be used"),
}
"""What is said about a voucher or gift card that cannot be used now."""
GIFT_FIELD_ERRORS: Mapping[tuple[str, str], str] = {
    ("day", "REQUIRED"): BASKET_ERRORS["DATE"],
    ("day", "OUT_OF_RANGE"): BASKET_FIELD_ERRORS["send_on", "OUT_OF_RANGE"],
    ("time", "INVALID"): BASKET_ERRORS["TIME"],
    ("time", "OUT_OF_RANGE"): BASKET_FIELD_ERRORS["send_at", "OUT_OF_RANGE"],
}
"""The texts of errors of a gift that waits for its day, by the field and the code."""
