"""Texts of the venue page."""

import datetime as dt
from dataclasses import dataclass

from funnel.core import messages
from funnel.core.messages import ERRORS, N_, PUBLIC_ERROR_PAGES, ErrorPage, PageMessage
from resolvers.redemption.codes import RedeemableCard, RedeemableVoucher
from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState

TO_START = N_("Enter a code")
ERROR_PAGES = {
    **PUBLIC_ERROR_PAGES,
    ErrorPage.NOT_FOUND: PageMessage(
        messages.ERROR_PAGES[ErrorPage.NOT_FOUND].title, N_("Go back, and scan or enter a code.")
    ),
}
FORBIDDEN = PageMessage(
    N_("You are not allowed to do this"),
    N_("Your log-in lacks the permission. Whoever manages the log-ins of your company can give it to you."),
)
FIELD_ERRORS = {
    ("username", "REQUIRED"): N_("Enter your user name."),
    ("password", "REQUIRED"): N_("Enter your password."),
    ("username", "WRONG"): N_("User name or password are not right, or they are not for this shop."),
    ("otp", "REQUIRED"): N_("Enter the code."),
    ("otp", "WRONG"): N_("This code is not right, or was used already. Wait for the next one."),
    ("code", "REQUIRED"): messages.FIELD_ERRORS["code", "REQUIRED"],
    ("code", "UNKNOWN"): N_("No voucher or gift card of this shop has this code."),
    ("code", "MISTYPED"): N_("This code has a typing mistake. Compare it with the voucher, character by character."),
    ("amount", "REQUIRED"): N_("Enter an amount."),
    ("amount", "INVALID"): N_("Enter an amount like 12.50."),
    ("amount", "INSUFFICIENT"): N_("There is less left on the card. Nothing was taken."),
    ("starts_on", "REQUIRED"): N_("Enter the first day of the booking."),
    ("starts_on", "DAY"): N_("Enter a date, such as 2030-12-31."),
    ("starts_on", "TOO_MANY_BOOKINGS"): N_("This voucher has as many bookings as it can have. Use it without one."),
    ("ends_on", "DAY"): N_("Enter a date, such as 2030-12-31."),
    ("ends_on", "BEFORE"): N_("The last day cannot be before the first."),
    ("voucher", "CHANGED"): N_(
        "Somebody else has just changed this voucher. Nothing was done: this is how it stands now."
    ),
    ("card", "CHANGED"): N_(
        "Somebody else has just changed this gift card. Nothing was taken: this is how it stands now."
    ),
    ("card", "PAID_OUT"): N_("This cannot be put back any more: it is in a payout."),
    ("voucher", "PAID_OUT"): N_("This cannot be undone any more: it is in a payout."),
    ("offer", "REQUIRED"): N_("Choose what the guest takes."),
    ("offer", "GONE"): N_("This offer is no longer there. Nothing was done: choose another one."),
    ("card", "TOO_LATE"): N_(
        "This cannot be put back any more: it was put back already, or more than 24 hours have gone by."
    ),
}

STATES = {
    VoucherState.DRAFT: N_("Not paid for"),
    VoucherState.PAID: N_("Not used yet"),
    VoucherState.ERROR: N_("Not paid for"),
    VoucherState.USING: N_("Used in part"),
    VoucherState.USED: N_("Used"),
    VoucherState.EXPIRED: N_("Expired"),
}
MOVES = {
    VoucherState.USING: N_("Start using it"),
    VoucherState.USED: N_("Mark as used"),
}
"""Forward state changes."""
UNDOES = {
    VoucherState.PAID: N_("Undo: not used yet"),
    VoucherState.USING: N_("Undo: used in part only"),
}
"""State changes that undo."""
DONE = {
    VoucherState.PAID: N_("It counts as not used again."),
    VoucherState.USING: N_("It is in use now."),
    VoucherState.USED: N_("It is marked as used."),
}
DISPUTED = N_("The buyer's bank disputes the payment. Do not accept it until that is settled.")
CARD_STATES = {
    GiftCardStatus.DRAFT: N_("Not paid for"),
    GiftCardStatus.PAID: N_("Not used yet"),
    GiftCardStatus.USING: N_("Used in part"),
    GiftCardStatus.USED: N_("Used up"),
    GiftCardStatus.EXPIRED: N_("Expired"),
    GiftCardStatus.CANCELLED: N_("Cancelled"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a code: usable or not, and why."""

    good: bool
    title: str
    text: str
    moment: dt.datetime | None = None
    """The value of `%(date)s` in the text."""
    is_exact: bool = False
    """True if the hour is told, too."""
    user: str = ""
    """Who recorded it; empty if that is not told."""


def verdict_of_voucher(subject: RedeemableVoucher) -> Verdict:
    voucher = subject.voucher
    if subject.usable:
        text = (
            N_("Part of it has been used.")
            if voucher.state is VoucherState.USING
            else N_("Nothing of it has been used.")
        )
        return Verdict(True, N_("Can be used"), text)
    text, moment = _why_not(subject)
    if moment is None or moment != voucher.used_on:
        return Verdict(False, N_("Cannot be used"), text, moment)
    last = next((move for move in subject.history if move.after is VoucherState.USED), None)
    return Verdict(False, N_("Cannot be used"), text, moment, is_exact=True, user=last.user if last else "")


def _why_not(subject: RedeemableVoucher) -> tuple[str, dt.datetime | None]:
    voucher = subject.voucher
    if voucher.frozen_on is not None and voucher.state in {VoucherState.PAID, VoucherState.USING}:
        return DISPUTED, None
    if voucher.refunded_on is not None:
        return N_("It was refunded on %(date)s."), voucher.refunded_on
    match voucher.state:
        case VoucherState.USED:
            return N_("It was used on %(date)s."), voucher.used_on
        case VoucherState.ERROR if voucher.activated_on is not None:
            return N_("It was withdrawn."), None
        case VoucherState.DRAFT | VoucherState.ERROR:
            return N_("It has not been paid for."), None
    if voucher.state is VoucherState.EXPIRED or subject.expired:
        return (
            (N_("Its time was over on %(date)s."), voucher.expires_on)
            if voucher.expires_on
            else (N_("Its time is over."), None)
        )
    return (
        (N_("It works from %(date)s on."), voucher.activated_on)
        if voucher.activated_on
        else (N_("It has not been paid for."), None)
    )


def verdict_of_card(subject: RedeemableCard) -> Verdict:
    card = subject.card
    if subject.spendable:
        return Verdict(True, N_("Can be used"), "")
    text, moment = N_("All of it has been spent."), None
    match card.status:
        case GiftCardStatus.PAID | GiftCardStatus.USING if card.frozen_on is not None:
            text = DISPUTED
        case GiftCardStatus.DRAFT:
            text = N_("It has not been paid for.")
        case GiftCardStatus.CANCELLED:
            text = N_("It was cancelled.")
        case _ if subject.expired and card.expires_on:
            text, moment = N_("Its time was over on %(date)s."), card.expires_on
        case GiftCardStatus.EXPIRED:
            text = N_("Its time is over.")
    return Verdict(False, N_("Cannot be used"), text, moment)


def error_text(place: str, code: str) -> str:
    return FIELD_ERRORS.get((place, code)) or ERRORS.get(code) or ERRORS["INVALID"]
