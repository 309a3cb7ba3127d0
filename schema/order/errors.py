"""What keeps an order from being fulfilled."""

from schema.core.errors import Conflict


class NothingToFulfil(Conflict):
    """Nothing of this order is handed over or sent: it is delivered by e-mail, or from before this was recorded, or all of
    it is refunded.
    """
