"""Conflicts of offers."""

from schema.core.errors import Conflict


class OfferNotAdmitted(Conflict):
    """This box admits no offers of this partner: it is limited to other partners, or the partner does not sell or does not
    take part in the vouchers of its network.
    """
