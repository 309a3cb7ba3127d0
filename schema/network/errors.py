"""Conflicts of network gift cards and network vouchers."""

from schema.core.errors import Conflict


class NotUsable(Conflict):
    """This cannot be used: its status is {status}."""

    meaning = "A gift card or voucher of a network is unpaid, used up, expired or cancelled."


class Deactivated(Conflict):
    """This cannot be used: its network has deactivated it."""


class NotYetValid(Conflict):
    """This cannot be used before {starts_on}."""

    meaning = "The validity of a gift card or voucher of a network has not begun."


class Expired(Conflict):
    """This has expired and cannot be used. Its network can extend it."""


class PartnerNotLinked(Conflict):
    """This partner does not take part in these products of its network: set `networkLinks`, over REST
    `link_to_ngc_settings` or `link_to_nv_settings`.
    """


class NoUsageLeft(Conflict):
    """This voucher has no usage left."""


class TooLongAfterFirstUsage(Conflict):
    """This voucher could be used until {last_day} because of its first usage, and no longer."""

    meaning = "The days in which a voucher can be used after its first usage are over."


class PartnerWithoutOffer(Conflict):
    """This partner does not accept this voucher: the box does not admit the partner, or the partner has no accepted, active
    offer for it.
    """


class NotSplittable(Conflict):
    """This gift card is used whole: send its remaining value."""


class LiveMoneyRefused(Conflict):
    """Test partners accept test gift cards and vouchers only: what they earn is never paid out."""


class UsageOfPayment(Conflict):
    """This usage is a part of a payment: refund the payment."""


class UsageInPayout(Conflict):
    """This usage is in a payout and cannot be cancelled."""
