"""Texts of the pages for vouchers, gift cards and network products: receptions, rules and errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from typing import TypeAlias

from funnel.core.messages import ERRORS, FIELD_ERRORS, LINE_PROBLEMS, N_
from resolvers.checkout.giftee import LENGTHS, TEXT_LENGTHS
from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.basket import BasketProblem, OfferedOptionCategory, OfferedPrototype
from schema.checkout.checkout import LineProblem
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.coupon.coupon import ReceptionMode
from schema.network.multi_product_cart import MOST_ALIKE, MOST_PIECES
from schema.validation.postal_codes import example_postal_code
from store.core.localization.formats import Formats


@dataclass(frozen=True, slots=True)
class ReceptionText:
    """The text of a reception, and its icon."""

    text: str
    icon: str


RECEPTION_TEXTS: Mapping[ReceptionMode, ReceptionText] = {
    ReceptionMode.PRINT_AT_HOME: ReceptionText(
        N_("Ready to print as soon as it is paid. You receive it by e-mail, too."),
        "printer",
    ),
    ReceptionMode.GIFTEE_EMAIL: ReceptionText(
        N_("It is sent as soon as it is paid, or at a time of your choice."),
        "mail",
    ),
    ReceptionMode.EXPEDITION: ReceptionText(
        N_("Printed by us, and sent to your address."),
        "truck",
    ),
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: ReceptionText(
        N_("Printed by us, and sent straight to their address."),
        "truck",
    ),
    ReceptionMode.ON_SITE: ReceptionText(
        N_("Printed by us, and kept for you."),
        "shop",
    ),
}

BASKET_PROBLEMS: Mapping[BasketProblem, str] = {
    BasketProblem.NOT_SOLD: N_("This is no longer on sale. Remove it to continue."),
    BasketProblem.CHOICE_CHANGED: N_("What is on offer has changed since you chose. Please choose again."),
    BasketProblem.TOO_MUCH: LINE_PROBLEMS[LineProblem.TOO_MUCH],
    BasketProblem.GIFTEE_EMAIL_MISSING: N_(
        "Tell us the e-mail address of whom it is for, or choose another way to receive it."
    ),
    BasketProblem.GIFTEE_ADDRESS_MISSING: N_(
        "Tell us name and address of whom it is for, or choose another way to receive it."
    ),
}

BASKET_ERRORS = {
    "NUMBER": N_("Enter a whole number."),
    "AMOUNT": N_("Enter an amount like 50 or 49.90."),
    "DATE": N_("Choose a day."),
    "TIME": N_("Choose a time."),
    "TOO_FEW_PERSONS": N_("Choose at least %(least)s people."),
    "TOO_MANY_PERSONS": N_("Choose at most %(most)s people."),
    "CANNOT_BE_ADDED": N_("This is not offered for so many. Choose fewer."),
    "NOTHING_IN_BAG": N_("Choose something to continue."),
    "NOT_OFFERED": N_("This is no longer offered. Choose again."),
    "NOT_CENTS": N_("Use at most two decimals."),
    "TOO_FEW_OPTIONS": N_("Choose more of these."),
    "TOO_MANY_OPTIONS": N_("Choose fewer of these."),
}
ONE_PERSON = N_("Choose at least one person.")
BASKET_FIELD_ERRORS: Mapping[tuple[str, str], str] = {
    ("nights", "OUT_OF_RANGE"): N_("Choose from %(least_nights)s to %(most_nights)s nights."),
    ("adults", "OUT_OF_RANGE"): N_("Choose fewer people."),
    ("children", "OUT_OF_RANGE"): N_("Choose fewer people."),
    ("babies", "OUT_OF_RANGE"): N_("Choose fewer people."),
    ("value", "REQUIRED"): N_("Choose a value."),
    ("other", "REQUIRED"): N_("Enter a value."),
    ("value", "OUT_OF_RANGE"): N_("Choose a value from %(minimum)s to %(maximum)s."),
    ("other", "OUT_OF_RANGE"): N_("Choose a value from %(minimum)s to %(maximum)s."),
    ("quantity", "OUT_OF_RANGE"): N_("Choose from 1 to %(most_alike)s."),
    ("quantity", "TOO_MANY"): N_("An order has at most %(most_pieces)s. Choose fewer."),
    ("send_on", "OUT_OF_RANGE"): N_("Choose a day from today on, within a year."),
    ("send_at", "OUT_OF_RANGE"): N_("Choose a time later than now."),
}
"""More specific texts for some fields."""

LIMITS = LENGTHS | {
    "name": LENGTHS["first_name"],
    "from": TEXT_LENGTHS["from_gifter"],
    "message": TEXT_LENGTHS["message"],
}
"""The maximum length of a form field."""

Offered: TypeAlias = OfferedPrototype | OfferedGiftCards


def basket_error_text(
    place: str, code: str, formats: Formats, currency: str, offered: Offered | None, country: str
) -> tuple[str, dict[str, object]]:
    """The error text of a form field, and the values of its placeholders. `country` is that of the giftee."""
    known = BASKET_ERRORS | {problem.name: text for problem, text in BASKET_PROBLEMS.items()}
    text = (
        BASKET_FIELD_ERRORS.get((place, code))
        or FIELD_ERRORS.get((place, code))
        or known.get(code)
        or ERRORS.get(code)
        or ERRORS["INVALID"]
    )
    details: dict[str, object] = {
        "example": example_postal_code(country),
        "limit": LIMITS.get(place.removeprefix("giftee-"), 0),
        "most_alike": MOST_ALIKE,
        "most_pieces": MOST_PIECES,
    }
    if isinstance(offered, OfferedGiftCards):
        details |= {
            "minimum": formats.money(offered.minimum, currency),
            "maximum": formats.money(offered.maximum, currency),
        }
    if isinstance(offered, OfferedPrototype):
        if code == "TOO_FEW_PERSONS" and offered.min_persons == 1:
            text = ONE_PERSON
        details |= {
            "least": offered.min_persons,
            "most": offered.max_capacity,
            "least_nights": offered.fewest_nights,
            "most_nights": offered.most_nights,
        }
    return text, details


def number_fields_of(prototype: OfferedPrototype) -> Sequence[str]:
    """The number fields that an experience offers: `adults`, `children`, `babies`, `nights`."""
    alone = prototype.max_capacity == 1
    varies = prototype.max_capacity != prototype.min_persons
    shared = varies and prototype.price_scope > 1
    asked = {
        "adults": varies and (prototype.adults_price is not None or prototype.price_scope > prototype.min_persons),
        "children": not alone and (prototype.children_price is not None or shared),
        "babies": not alone and (prototype.baby_price is not None or shared),
        "nights": prototype.type is VoucherPrototypeType.STAY,
    }
    return [name for name, is_asked in asked.items() if is_asked]


def rule_of(texts: NullTranslations, category: OfferedOptionCategory) -> str:
    """The rule of how many options to choose, as text; empty without a rule."""
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
