"""The messages about requests of buyers."""

from collections.abc import Mapping

from funnel.core.messages import N_, PageMessage, Tone
from schema.order.page_requests import Obstacle
from schema.order.refund_request import RefundRequestKind as Kind
from schema.order.refund_request import RefundRequestState as State

OBSTACLES: Mapping[Obstacle, str] = {
    Obstacle.USED: N_("It has been used"),
    Obstacle.EXPIRED: N_("It has expired"),
    Obstacle.REFUNDED: N_("It is refunded or cancelled"),
    Obstacle.REQUESTED: N_("You have asked for it already"),
}
"""Why nothing of a line can be asked for."""
REQUEST_TITLES: Mapping[Kind, str] = {
    Kind.WITHDRAWAL: N_("Your withdrawal of %(date)s, %(time)s"),
    Kind.REFUND: N_("Your request of %(date)s, %(time)s"),
}
REQUEST_STATES: Mapping[State, str] = {
    State.PENDING: N_("Received. It waits for an answer."),
    State.APPROVED: N_("It is approved: you get your money back."),
    State.DECLINED: N_("It is declined."),
    State.CANCELLED: N_("You have taken it back."),
}
CLOSED = PageMessage(
    N_("This is no longer possible here"),
    N_(
        "The period for a withdrawal is over, or nothing of your order is left. If you have a question, please contact "
        "the shop."
    ),
    Tone.INFO,
)
"""What is said in place of a form that there is not."""
BACK_TO_ORDER = N_("Back to your order")
