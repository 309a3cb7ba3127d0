"""Conflicts of offers."""

from schema.core.errors import Conflict


class OfferChanged(Conflict):
    """This offer has changed since you read it. Read it again."""


class OfferNotAdmitted(Conflict):
    """This box admits no offers of this partner: it is limited to other partners, or the partner does not sell or does not
    take part in the vouchers of its network.
    """
