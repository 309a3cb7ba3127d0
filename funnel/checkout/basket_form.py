"""The form of a voucher or gift card: converts form values to a choice and back."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal

from funnel.core.forms import Form
from schema.checkout.basket import (
    BasketChoice,
    BoxChoice,
    GiftCardChoice,
    Giftee,
    NetworkChoice,
    NetworkGiftCardChoice,
    OfferedOptionCategory,
    OfferedPrototype,
    VoucherChoice,
)
from schema.coupon.coupon import ReceptionMode
from schema.validation.numbers import LARGEST_ID

LARGEST_NUMBER = 9999
NUMBER = re.compile(r"[0-9]{1,4}")
ID = re.compile(r"[0-9]{1,10}")
AMOUNT = re.compile(r"[0-9]{1,7}(\.[0-9]{1,2})?")
BUTTON = re.compile(r"(more|less|remove|update|another|continue)(?:-([0-9a-z-]{1,40}))?")
SELF, OTHER_VALUE = "self", "other"
LONGEST_TYPED = 4000
"""Maximum number of characters read of a field. The operation validates the real limit."""
GIFTEE = tuple(field.name for field in fields(Giftee))
COUNTED = ("adults", "children", "babies", "nights")
NAMES_ON_IT = ("to_giftee", "from_gifter")

Problems = tuple[tuple[str, str], ...]
"""Errors as (field id, code)."""


@dataclass(frozen=True, slots=True)
class Button:
    """The pressed button, and the id of its line or field."""

    name: str
    of: str


def pressed_button(form: Form) -> Button:
    """The button that submitted the form; `update` if it is unknown."""
    match = BUTTON.fullmatch(form.get("do", ""))
    return Button(match[1], match[2] or "") if match else Button("update", "")


def apply_quantity_button(form: Form) -> Form:
    """The form after the effect of a `more` or `less` button."""
    button = pressed_button(form)
    if button.name not in {"more", "less"}:
        return form
    number, _ = read_number(form, button.of, 0)
    return {**form, button.of: str(min(max(number + (1 if button.name == "more" else -1), 0), LARGEST_NUMBER))}


def line_id_of(form: Form) -> uuid.UUID | None:
    """The id of the form's line; None without one."""
    return parse_uuid(form.get("line", ""))


def parse_uuid(text: str) -> uuid.UUID | None:
    """None if the text is not a UUID."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def parse_id(text: str) -> int | None:
    """A database id; None if the text is none."""
    return int(text) if ID.fullmatch(text) and int(text) <= LARGEST_ID else None


def reception_of(form: Form) -> tuple[ReceptionMode, int | None] | None:
    """The chosen reception and its delivery mode; None if nothing was chosen."""
    mode, _, delivery = form.get("reception", "").partition("-")
    if mode not in set(ReceptionMode) or (delivery and not ID.fullmatch(delivery)):
        return None
    return ReceptionMode(mode), int(delivery) if delivery else None


def country_of(form: Form) -> str:
    """The chosen destination country: ISO 3166 alpha-2, empty if none."""
    return form.get("country", "")


# ---- vouchers --------------------------------------------------------------------------------------------------------


def default_choice(prototype: OfferedPrototype) -> VoucherChoice:
    """The initial choice of a voucher's form: the number of persons included in the price, and the required options."""
    most = prototype.max_capacity or prototype.price_scope
    adults = max(prototype.min_persons, min(prototype.price_scope, most))
    options: dict[int, int] = {}
    for category in prototype.categories:
        options |= _cheapest_options(category)
    return VoucherChoice(prototype.id, adults=adults, nights=prototype.fewest_nights, options=options)


def _cheapest_options(category: OfferedOptionCategory) -> Mapping[int, int]:
    """The cheapest options that satisfy the category's minimum."""
    cheapest = sorted(category.options, key=lambda option: option.price)
    chosen = {option.id: 1 for option in cheapest[: category.minimum]}
    more = category.minimum - len(chosen)
    countable = next((option.id for option in cheapest if option.countable), None)
    return chosen | {countable: chosen[countable] + more} if more and countable is not None else chosen


def read_voucher(form: Form, prototype: OfferedPrototype) -> tuple[VoucherChoice, Problems]:
    """The voucher of a form, with errors. An unreadable value counts as zero."""
    before = default_choice(prototype)
    mistyped: list[tuple[str, str]] = []
    counts: dict[str, int] = {}
    for name, number in (("adults", before.adults), ("children", 0), ("babies", 0), ("nights", before.nights)):
        counts[name], wrong = read_number(form, name, number)
        mistyped += wrong
    options: dict[int, int] = {}
    for category in prototype.categories:
        if picks_one(category):
            chosen = form.get(f"category-{category.id}", "")
            options |= {option.id: 1 for option in category.options if chosen == str(option.id)}
            continue
        for option in category.options:
            number, wrong = read_number(form, f"option-{option.id}", 0)
            mistyped += wrong
            if number:
                options[option.id] = number
    own, giftee, message = read_giftee(form)
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


def picks_one(category: OfferedOptionCategory) -> bool:
    """True if the options of a category exclude each other."""
    return category.maximum == 1


# ---- gift cards ------------------------------------------------------------------------------------------------------


def read_gift_card(form: Form) -> tuple[GiftCardChoice, Problems]:
    """The gift card of a form, with errors."""
    value, problems = read_amount(form)
    own, giftee, message = read_giftee(form)
    return GiftCardChoice(value, own, giftee, message=message), problems


def read_amount(form: Form) -> tuple[Decimal, Problems]:
    """The value of a gift card: one of those suggested, or another. An unreadable one counts as zero."""
    chosen = form.get("value", "")
    typed = form.get("other", "") if chosen in {"", OTHER_VALUE} else chosen
    plain = "".join(c for c in typed if not c.isspace() and c not in "€'").replace(",", ".")
    good = AMOUNT.fullmatch(plain) is not None
    missing = "REQUIRED" if not plain else "AMOUNT"
    place = "other" if chosen == OTHER_VALUE else "value"
    return Decimal(plain) if good else Decimal(0), () if good else ((place, missing),)


# ---- all ------------------------------------------------------------------------------------------------------------


def form_values_of(choice: BasketChoice, categories: tuple[OfferedOptionCategory, ...] = ()) -> Mapping[str, str]:
    """The form values of a choice."""
    typed = {"for": SELF if choice.self_gifted else "gift", "message": choice.message}
    typed |= {f"giftee-{name}": getattr(choice.giftee, name) for name in GIFTEE}
    if isinstance(choice, GiftCardChoice):
        return {**typed, **_amount_values(choice.value)}
    if isinstance(choice, NetworkGiftCardChoice | BoxChoice):
        return {**typed, **_network_values(choice)}
    typed |= {name: getattr(choice, name) for name in NAMES_ON_IT}
    typed |= {name: str(getattr(choice, name)) for name in COUNTED}
    typed |= {f"option-{id}": str(count) for id, count in choice.options.items()}
    for category in categories:
        chosen = [option.id for option in category.options if choice.options.get(option.id)]
        typed[f"category-{category.id}"] = str(chosen[0]) if chosen and picks_one(category) else ""
    return typed


def _network_values(choice: NetworkChoice) -> Mapping[str, str]:
    typed = {"quantity": str(choice.quantity), "send_on": choice.send_on.isoformat() if choice.send_on else ""}
    if isinstance(choice, BoxChoice):
        return typed
    return {**typed, "design": str(choice.design_id or ""), **_amount_values(choice.amount)}


def _amount_values(amount: Decimal) -> Mapping[str, str]:
    return {"value": str(amount), "other": str(amount) if amount else ""}


def read_giftee(form: Form) -> tuple[bool, Giftee, str]:
    """Returns (true if it is for the buyer, the giftee, the message)."""
    own = form.get("for", "") == SELF
    giftee = Giftee(**{name: form.get(f"giftee-{name}", "")[:LONGEST_TYPED] for name in GIFTEE})
    return own, Giftee() if own else giftee, form.get("message", "")[:LONGEST_TYPED]


def read_number(form: Form, name: str, otherwise: int) -> tuple[int, Problems]:
    """The number of a field, with an error if it is none."""
    typed = form.get(name, "").strip() or str(otherwise)
    return (int(typed), ()) if NUMBER.fullmatch(typed) else (0, ((name, "NUMBER"),))
