"""What keeps an order from being fulfilled, a request about one from being made, and a present from being changed."""

from schema.core.errors import Conflict


class NothingToFulfil(Conflict):
    """Nothing of this order is handed over or sent: it is delivered by e-mail, or from before this was recorded, or all of
    it is refunded.
    """


class GiftNotWaiting(Conflict):
    """This present does not wait for its day: it is sent, or being sent, or can no longer be used."""


class RefundRequested(Conflict):
    """A request about this is open already. Wait for its answer."""


class WithdrawalClosed(Conflict):
    """The period for a withdrawal is over, and this shop takes no requests for refunds. Please contact the shop."""


class AlreadySent(Conflict):
    """This order is on its way, or has arrived: its recipient and its address can no longer be changed."""


class BuyerErased(Conflict):
    """The personal data of this order were erased. They cannot be entered again."""
