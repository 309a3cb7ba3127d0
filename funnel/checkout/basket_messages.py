"""What the pages of vouchers and gift cards say of ways to receive them, of rules, and of what is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from funnel.core.messages import ERRORS, FIELD_ERRORS, LINE_PROBLEMS, N_
from resolvers.checkout.giftee import LENGTHS, WRITTEN
from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.basket import BagProblem, OfferedCategory, OfferedGiftCards, OfferedPrototype
from schema.checkout.checkout import LineProblem
from schema.coupon.coupon import ReceptionMode
from store.catalogue.prices import MOST_NIGHTS, fewest_nights
from store.core.localization import Formats


@dataclass(frozen=True, slots=True)
class Way:
    """What is said of a way to receive it, and the icon beside it."""

    text: str
    icon: str


WAYS: Mapping[ReceptionMode, Way] = {
    ReceptionMode.PRINT_AT_HOME: Way(
        N_("Ready to print as soon as it is paid. You receive it by e-mail, too."),
        "printer",
    ),
    ReceptionMode.GIFTEE_EMAIL: Way(
        N_("It is sent as soon as it is paid."),
        "mail",
    ),
    ReceptionMode.EXPEDITION: Way(
        N_("Printed by us, and sent to your address."),
        "truck",
    ),
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: Way(
        N_("Printed by us, and sent straight to their address."),
        "truck",
    ),
    ReceptionMode.ON_SITE: Way(
        N_("Printed by us, and kept for you."),
        "shop",
    ),
}

PROBLEMS: Mapping[BagProblem, str] = {
    BagProblem.NOT_SOLD: N_("This is no longer on sale. Remove it to continue."),
    BagProblem.CHOICE_CHANGED: N_("What is on offer has changed since you chose. Please choose again."),
    BagProblem.TOO_MUCH: LINE_PROBLEMS[LineProblem.TOO_MUCH],
    BagProblem.GIFTEE_EMAIL_MISSING: N_(
        "Tell us the e-mail address of whom it is for, or choose another way to receive it."
    ),
    BagProblem.GIFTEE_ADDRESS_MISSING: N_(
        "Tell us name and address of whom it is for, or choose another way to receive it."
    ),
}

BAG_ERRORS = {
    "NUMBER": N_("Enter a whole number."),
    "AMOUNT": N_("Enter an amount like 50 or 49.90."),
    "TOO_FEW_PERSONS": N_("Choose at least %(least)s persons."),
    "TOO_MANY_PERSONS": N_("Choose at most %(most)s persons."),
    "CANNOT_BE_ADDED": N_("This is not offered for so many. Choose fewer."),
    "NOTHING_IN_BAG": N_("Choose something to continue."),
    "NOT_OFFERED": N_("This is no longer offered. Choose again."),
    "NOT_CENTS": N_("Use at most two decimals."),
    "TOO_FEW_OPTIONS": N_("Choose more of these."),
    "TOO_MANY_OPTIONS": N_("Choose fewer of these."),
}
ONE_PERSON = N_("Choose at least one person.")
PLACE_ERRORS: Mapping[tuple[str, str], str] = {
    ("nights", "OUT_OF_RANGE"): N_("Choose from %(least_nights)s to %(most_nights)s nights."),
    ("adults", "OUT_OF_RANGE"): N_("Choose fewer persons."),
    ("children", "OUT_OF_RANGE"): N_("Choose fewer persons."),
    ("babies", "OUT_OF_RANGE"): N_("Choose fewer persons."),
    ("value", "REQUIRED"): N_("Choose a value."),
    ("other", "REQUIRED"): N_("Enter a value."),
    ("value", "OUT_OF_RANGE"): N_("Choose a value from %(minimum)s to %(maximum)s."),
    ("other", "OUT_OF_RANGE"): N_("Choose a value from %(minimum)s to %(maximum)s."),
}
"""The same, where a field has better words of its own."""


def bag_error(
    place: str, code: str, formats: Formats, currency: str, offered: OfferedPrototype | OfferedGiftCards | None
) -> tuple[str, dict[str, object]]:
    """What to say about a field of the form, and what its placeholders stand for."""
    known = BAG_ERRORS | {problem.name: text for problem, text in PROBLEMS.items()}
    text = (
        PLACE_ERRORS.get((place, code))
        or FIELD_ERRORS.get((place, code))
        or known.get(code)
        or ERRORS.get(code)
        or ERRORS["INVALID"]
    )
    details: dict[str, object] = {"limit": (LENGTHS | WRITTEN).get(place.removeprefix("giftee-"), 0)}
    if isinstance(offered, OfferedGiftCards):
        details |= {
            "minimum": formats.money(offered.minimum, currency),
            "maximum": formats.money(offered.maximum, currency),
        }
    if isinstance(offered, OfferedPrototype):
        if code == "TOO_FEW_PERSONS" and offered.fewest == 1:
            text = ONE_PERSON
        details |= {
            "least": offered.fewest,
            "most": offered.max_capacity,
            "least_nights": fewest_nights(offered),
            "most_nights": MOST_NIGHTS,
        }
    return text, details


def asked_of(prototype: OfferedPrototype) -> Sequence[str]:
    """Which numbers a customer can choose for an experience: `adults`, `children`, `babies`, `nights`."""
    alone = prototype.max_capacity == 1
    varies = prototype.max_capacity != prototype.fewest
    shared = varies and prototype.price_scope > 1
    asked = {
        "adults": varies and (prototype.adults_price is not None or prototype.price_scope > prototype.fewest),
        "children": not alone and (prototype.children_price is not None or shared),
        "babies": not alone and (prototype.baby_price is not None or shared),
        "nights": prototype.type is VoucherPrototypeType.STAY,
    }
    return [name for name, is_asked in asked.items() if is_asked]


def rule_of(texts: NullTranslations, category: OfferedCategory) -> str:
    """How many of a category must and may be chosen, in words; empty where there is no rule."""
    least, most = category.minimum, category.maximum
    if most is None:
        return (
            texts.ngettext("Choose at least one.", "Choose at least %(num)s.", least) % {"num": least} if least else ""
        )
    if least == most:
        return texts.ngettext("Choose one.", "Choose %(num)s.", most) % {"num": most}
    if not least:
        return texts.ngettext("Choose one, or none.", "Choose up to %(num)s.", most) % {"num": most}
    return texts.gettext("Choose %(least)s to %(most)s.") % {"least": least, "most": most}
