"""The messages of holders' pages."""

from collections.abc import Mapping

from funnel.core.messages import N_, PageMessage, Tone
from schema.network.holder import HolderPageState as State

PAUSED = N_("%(network)s can tell you why, and from when on it can be used again.")
SITUATIONS: Mapping[str, Mapping[State, PageMessage]] = {
    "gift_card": {
        State.NOT_BEGUN: PageMessage(
            N_("It begins on %(date)s"), N_("From that day on you can use this gift card."), Tone.INFO, "clock"
        ),
        State.PAUSED: PageMessage(N_("This gift card cannot be used at the moment"), PAUSED),
        State.USED: PageMessage(
            N_("All of this gift card has been spent"), N_("Thank you for using it. Below you see where."), Tone.GOOD
        ),
    },
    "voucher": {
        State.NOT_BEGUN: PageMessage(
            N_("It begins on %(date)s"), N_("From that day on you can use this voucher."), Tone.INFO, "clock"
        ),
        State.PAUSED: PageMessage(N_("This voucher cannot be used at the moment"), PAUSED),
        State.USED: PageMessage(
            N_("This voucher has been used"), N_("We hope you enjoyed it. Below you see where."), Tone.GOOD
        ),
    },
}
"""What is said first, unless it can be used now."""
