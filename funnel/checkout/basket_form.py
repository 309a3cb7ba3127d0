"""The form of a voucher or gift card: what it says, and what it says of one that is in the bag already."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal

from funnel.core.forms import Form
from schema.checkout.basket import BagChoice, GiftCardChoice, Giftee, OfferedCategory, OfferedPrototype, VoucherChoice
from schema.coupon.coupon import ReceptionMode
from schema.validation.numbers import LARGEST_ID
from store.catalogue.prices import fewest_nights

MOST = 9999
NUMBER = re.compile(r"[0-9]{1,4}")
ID = re.compile(r"[0-9]{1,10}")
AMOUNT = re.compile(r"[0-9]{1,7}(\.[0-9]{1,2})?")
BUTTON = re.compile(r"(more|less|remove|update|another|continue)(?:-([0-9a-z-]{1,40}))?")
SELF, OTHER_VALUE = "self", "other"
LONGEST_TYPED = 4000
"""Of a field that is read; what fits is for the operation to say."""
GIFTEE = tuple(field.name for field in fields(Giftee))
COUNTED = ("adults", "children", "babies", "nights")
NAMES_ON_IT = ("to_giftee", "from_gifter")

Problems = tuple[tuple[str, str], ...]
"""What is wrong: the id of a field and a code."""


@dataclass(frozen=True, slots=True)
class Button:
    """The button that was pressed, and what it belongs to."""

    name: str
    of: str


def pressed(form: Form) -> Button:
    """Which button sent a form; the one that changes nothing where it is none of ours."""
    found = BUTTON.fullmatch(form.get("do", ""))
    return Button(found[1], found[2] or "") if found else Button("update", "")


def stepped(form: Form) -> Form:
    """The form after a button for one more or one less has done its work."""
    button = pressed(form)
    if button.name not in {"more", "less"}:
        return form
    number, _ = _number(form, button.of, 0)
    return {**form, button.of: str(min(max(number + (1 if button.name == "more" else -1), 0), MOST))}


def line_of(form: Form) -> uuid.UUID | None:
    """The line that a form is about; None where it is about none."""
    return uuid_of(form.get("line", ""))


def uuid_of(given: str) -> uuid.UUID | None:
    """The id of a line; None for what is none."""
    try:
        return uuid.UUID(given)
    except ValueError:
        return None


def id_of(given: str) -> int | None:
    """An id of the database; None for what can be none."""
    return int(given) if ID.fullmatch(given) and int(given) <= LARGEST_ID else None


def reception_of(form: Form) -> tuple[ReceptionMode, int | None] | None:
    """How it is to be received, with the delivery mode; None where nothing was chosen."""
    mode, _, delivery = form.get("reception", "").partition("-")
    if mode not in set(ReceptionMode) or (delivery and not ID.fullmatch(delivery)):
        return None
    return ReceptionMode(mode), int(delivery) if delivery else None


def country_of(form: Form) -> str:
    """The country that it is sent to, as it was chosen: ISO 3166 alpha-2."""
    return form.get("country", "")


# ---- vouchers ----------------------------------------------------------------------------------------------------------


def first_choice(prototype: OfferedPrototype) -> VoucherChoice:
    """A voucher as its form begins: for as many as its price is for, with the least that must be chosen."""
    most = prototype.max_capacity or prototype.price_scope
    adults = max(prototype.fewest, min(prototype.price_scope, most))
    options: dict[int, int] = {}
    for category in prototype.categories:
        options |= _least(category)
    return VoucherChoice(prototype.id, adults=adults, nights=fewest_nights(prototype), options=options)


def _least(category: OfferedCategory) -> Mapping[int, int]:
    """What costs least of a category that something must be chosen of."""
    cheapest = sorted(category.options, key=lambda option: option.price)
    chosen = {option.id: 1 for option in cheapest[: category.minimum]}
    more = category.minimum - len(chosen)
    countable = next((option.id for option in cheapest if option.countable), None)
    return chosen | {countable: chosen[countable] + more} if more and countable is not None else chosen


def read_voucher(form: Form, prototype: OfferedPrototype) -> tuple[VoucherChoice, Problems]:
    """A voucher as it was typed, and what could not be read of it: that counts as nothing."""
    before = first_choice(prototype)
    mistyped: list[tuple[str, str]] = []
    counts: dict[str, int] = {}
    for name, number in (("adults", before.adults), ("children", 0), ("babies", 0), ("nights", before.nights)):
        counts[name], wrong = _number(form, name, number)
        mistyped += wrong
    options: dict[int, int] = {}
    for category in prototype.categories:
        if picks_one(category):
            chosen = form.get(f"category-{category.id}", "")
            options |= {option.id: 1 for option in category.options if chosen == str(option.id)}
            continue
        for option in category.options:
            number, wrong = _number(form, f"option-{option.id}", 0)
            mistyped += wrong
            if number:
                options[option.id] = number
    own, giftee, message = _personal(form)
    to_giftee, from_gifter = (form.get(name, "")[:LONGEST_TYPED] for name in NAMES_ON_IT)
    choice = VoucherChoice(
        prototype.id,
        **counts,
        options=options,
        self_gifted=own,
        giftee=giftee,
        to_giftee=to_giftee,
        from_gifter=from_gifter,
        message=message,
    )
    return choice, tuple(mistyped)


def picks_one(category: OfferedCategory) -> bool:
    """Whether the options of a category exclude each other."""
    return category.maximum == 1


# ---- gift cards --------------------------------------------------------------------------------------------------------


def read_gift_card(form: Form) -> tuple[GiftCardChoice, Problems]:
    """A gift card as it was typed, and what could not be read of it."""
    chosen = form.get("value", "")
    typed = form.get("other", "") if chosen in {"", OTHER_VALUE} else chosen
    plain = "".join(c for c in typed if not c.isspace() and c not in "€'").replace(",", ".")
    good = AMOUNT.fullmatch(plain) is not None
    value = Decimal(plain) if good else Decimal(0)
    missing = "REQUIRED" if not plain else "AMOUNT"
    place = "other" if chosen == OTHER_VALUE else "value"
    own, giftee, message = _personal(form)
    return GiftCardChoice(value, own, giftee, message=message), () if good else ((place, missing),)


# ---- what both have ----------------------------------------------------------------------------------------------------


def typed_as(choice: BagChoice, categories: tuple[OfferedCategory, ...] = ()) -> Mapping[str, str]:
    """What the fields of a form hold for a choice: the other way round."""
    typed = {"for": SELF if choice.self_gifted else "gift", "message": choice.message}
    typed |= {f"giftee-{name}": getattr(choice.giftee, name) for name in GIFTEE}
    if isinstance(choice, GiftCardChoice):
        return typed | {"value": str(choice.value), "other": str(choice.value) if choice.value else ""}
    typed |= {name: getattr(choice, name) for name in NAMES_ON_IT}
    typed |= {name: str(getattr(choice, name)) for name in COUNTED}
    typed |= {f"option-{id}": str(count) for id, count in choice.options.items()}
    for category in categories:
        chosen = [option.id for option in category.options if choice.options.get(option.id)]
        typed[f"category-{category.id}"] = str(chosen[0]) if chosen and picks_one(category) else ""
    return typed


def _personal(form: Form) -> tuple[bool, Giftee, str]:
    """Whether it is for the buyer, whom it is for otherwise, and what is written on it."""
    own = form.get("for", "") == SELF
    giftee = Giftee(**{name: form.get(f"giftee-{name}", "")[:LONGEST_TYPED] for name in GIFTEE})
    return own, Giftee() if own else giftee, form.get("message", "")[:LONGEST_TYPED]


def _number(form: Form, name: str, otherwise: int) -> tuple[int, Problems]:
    typed = form.get(name, "").strip() or str(otherwise)
    return (int(typed), ()) if NUMBER.fullmatch(typed) else (0, ((name, "NUMBER"),))
