"""The texts of documents that we write, in eight languages."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from store.core.localization.formats import Formats
from store.core.localization.translations import Texts
from store.document.sheet import SheetLabels

TEXTS = Texts(Path(__file__).with_name("translations"))


@dataclass(frozen=True, slots=True)
class GuestCounts:
    """The number of people and nights of a voucher."""

    adults: int
    children: int
    babies: int
    nights: int


def voucher_labels(language: str, code: str) -> SheetLabels:
    return _labels(language, code, N_("Show this voucher, on paper or on a phone, when you arrive."))


def gift_card_labels(language: str, code: str) -> SheetLabels:
    return _labels(language, code, N_("Type this code when you pay, or show this gift card."))


def network_gift_card_labels(language: str, code: str) -> SheetLabels:
    return _labels(language, code, N_("Show this gift card when you pay, on paper or on a phone."))


def _labels(language: str, code: str, hint: str) -> SheetLabels:
    said = TEXTS.translations(language)
    return SheetLabels(
        included=said.gettext("Included"),
        to=said.gettext("For"),
        sender=said.gettext("From"),
        code=said.gettext("Code"),
        hint=said.gettext(hint),
        qr=said.gettext("QR code of %(code)s") % {"code": code},
    )


def guests_text(language: str, of: GuestCounts) -> str:
    """`2 adults · 1 child · 1 night`; empty if all counts are 0."""
    said = TEXTS.translations(language)
    counted = (
        (of.adults, said.ngettext("%(count)s adult", "%(count)s adults", of.adults)),
        (of.children, said.ngettext("%(count)s child", "%(count)s children", of.children)),
        (of.babies, said.ngettext("%(count)s baby", "%(count)s babies", of.babies)),
        (of.nights, said.ngettext("%(count)s night", "%(count)s nights", of.nights)),
    )
    return " · ".join(text % {"count": count} for count, text in counted if count > 0)


def persons_text(language: str, count: int) -> str:
    """`for 2 persons`."""
    said = TEXTS.translations(language)
    return said.ngettext("for %(count)s person", "for %(count)s people", count) % {"count": count}


def usages_text(language: str, count: int, days: int) -> str:
    """How often a network's voucher can be used, and how many days after the first usage; 0 for any number."""
    said = TEXTS.translations(language)
    text = said.ngettext("It can be used once.", "It can be used %(count)s times.", count) % {"count": count}
    if count < 2 or not days:
        return text
    within = said.ngettext(
        "The last usage is at most %(days)s day after the first.",
        "The last usage is at most %(days)s days after the first.",
        days,
    )
    return f"{text} {within % {'days': days}}"


def validity_text(
    language: str, until: dt.datetime | None, time_zone: str, starts_on: dt.datetime | None = None
) -> str:
    """The sentence about the validity; `starts_on` is None if it has begun with the sale."""
    said, formats = TEXTS.translations(language), Formats(language)
    start = "" if starts_on is None else formats.date(starts_on, time_zone)
    if until is None:
        text = said.gettext("Valid from %(start)s") if start else said.gettext("Valid without a time limit")
        return text % {"start": start}
    text = said.gettext("Valid from %(start)s to %(date)s") if start else said.gettext("Valid until %(date)s")
    return text % {"start": start, "date": formats.date(until, time_zone)}


def translate(language: str, text: str) -> str:
    return TEXTS.translations(language).gettext(text)


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


VOUCHER = N_("Gift voucher")
GIFT_CARD = N_("Gift card")
HOW_TO_BOOK = N_("How to book")
CONDITIONS = N_("Conditions")
HOW_TO_USE = N_("How to use it")
SPENDING = N_(
    "It pays for what you choose in our shop, at once or little by little. What is left stays on it until the last day of its validity."
)
WHERE_TO_USE = N_("Where to use it")
NETWORK_SPENDING = N_(
    "It pays at all partners of %(network)s that accept it, at once or little by little. What is left stays on it until the last day of its validity."
)
NETWORK_SPENDING_AT_ONCE = N_(
    "It pays at one of the partners of %(network)s that accept it. It is used whole, in one payment."
)
NETWORK_VOUCHER_USE = N_(
    "The partners of %(network)s that have an offer for it accept it. Choose one, and book there before you come."
)
WHERE_THEY_ARE_LISTED = N_("All partners with an offer are listed at %(site)s.")
WHERE_IT_IS_TAKEN = N_("The partners of %(network)s that accept it are listed at %(site)s.")
PREVIEW = N_("Preview")
CODE_FOLLOWS = N_("The code is printed here once it is paid.")
USED = N_("Used")
EXPIRED = N_("Expired")
VOUCHER_USED = N_("This voucher has been used.")
VOUCHER_EXPIRED = N_("This voucher has expired.")
REFUNDED = N_("Refunded")
VOUCHER_REFUNDED = N_("This voucher was refunded.")
GIFT_CARD_USED = N_("All of this gift card has been spent.")
GIFT_CARD_EXPIRED = N_("This gift card has expired.")
BALANCE_ON = N_("Balance on %(date)s")
VALID_UNTIL = N_("Valid until")
WITHOUT_END = N_("Without an end")
ABOUT = N_("Description")
TO_PRINT = N_("To print")
