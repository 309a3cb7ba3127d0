"""The messages about the fulfilment of an order."""

from collections.abc import Mapping

from funnel.core.messages import N_, PageMessage, Tone
from schema.order.fulfilment import FulfilmentState as State

FULFILMENT_TITLES: Mapping[State, str] = {
    State.TO_PREPARE: N_("We are preparing your order"),
    State.READY_TO_COLLECT: N_("Your order is ready to collect"),
    State.COLLECTED: N_("Collected on %(date)s"),
    State.SENT: N_("Sent on %(date)s"),
    State.DELIVERED: N_("Delivered on %(date)s"),
    State.CANCELLED: N_("Cancelled on %(date)s"),
}
"""What is said first. Those with a date name the day of the state."""
FULFILMENT_STEPS: Mapping[State, str] = {
    State.TO_PREPARE: N_("In preparation"),
    State.READY_TO_COLLECT: N_("Ready to collect"),
    State.COLLECTED: N_("Collected"),
    State.SENT: N_("Sent"),
    State.DELIVERED: N_("Delivered"),
    State.CANCELLED: N_("Order cancelled"),
}
"""The names of the steps."""
CANCELLED_NOTE = PageMessage(
    N_("Your order is cancelled"),
    N_("Nothing of it is sent or handed over. Your payment is shown below, with its refunds."),
    Tone.INFO,
)
"""What is said first about a cancelled order that is not refunded yet."""
