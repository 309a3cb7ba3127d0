"""The form of a voucher or gift card: converts form values to a choice and back."""

import datetime as dt
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, TypeVar

from funnel.core.forms import Form, local_time
from resolvers.checkout.buyer import CONTACT_LENGTHS
from resolvers.checkout.default_choice import default_choice
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
from schema.checkout.view import Checkout
from schema.coupon.coupon import ReceptionMode
from schema.validation.numbers import LARGEST_ID

LARGEST_NUMBER = 9999
NUMBER = re.compile(r"[0-9]{1,4}")
ID = re.compile(r"[0-9]{1,10}")
AMOUNT = re.compile(r"[0-9]{1,7}(\.[0-9]{1,2})?")
BUTTON = re.compile(r"(more|less|remove|update|another|card|continue)(?:-([0-9a-z-]{1,40}))?")
SELF, OTHER_VALUE, EMAIL = "self", "other", "giftee-email"
LONGEST_TYPED = 4000
"""Maximum number of characters read of a field. The operation validates the real limit."""
LONGEST_NAME = CONTACT_LENGTHS["first_name"]
GIFTEE = tuple(field.name for field in fields(Giftee))
COUNTED = ("adults", "children", "babies", "nights")

T = TypeVar("T")
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


def reception_value(checkout: Checkout) -> str:
    """The chosen reception as a form value; `each` if lines have different ones."""
    chosen = checkout.reception
    if chosen is None:
        return "each" if checkout.has_several_receptions and checkout.is_delivery_chosen else ""
    return chosen.mode if chosen.delivery_id is None else f"{chosen.mode}-{chosen.delivery_id}"


def is_reception_unchanged(form: Form) -> bool:
    """Whether the list of lines was sent with the way that it was shown with: another tab may have changed one since."""
    before = form.get("reception_before", "") == form.get("reception", "")
    return before and form.get("country_before", "") == form.get("country", "")


def country_of(form: Form) -> str:
    """The chosen destination country: ISO 3166 alpha-2, empty if none."""
    return form.get("country", "")


# ---- vouchers --------------------------------------------------------------------------------------------------------


def read_choice(form: Form, before: BasketChoice, offered: OfferedPrototype | None) -> tuple[BasketChoice, Problems]:
    """What is chosen in a form, with errors. An unreadable number counts as zero. Whom it is for stays as `before`."""
    if isinstance(before, VoucherChoice):
        assert offered is not None, "the form of a voucher has its experience"
        return _read_voucher(form, before, offered)
    if isinstance(before, GiftCardChoice):
        value, problems = read_amount(form)
        return replace(before, value=value, design_id=parse_id(form.get("design", ""))), problems
    quantity, problems = read_number(form, "quantity", 1)
    if isinstance(before, BoxChoice):
        return replace(before, quantity=quantity), problems
    amount, mistyped = read_amount(form)
    design_id = parse_id(form.get("design", ""))
    return replace(before, amount=amount, design_id=design_id, quantity=quantity), (*mistyped, *problems)


def _read_voucher(form: Form, before: VoucherChoice, prototype: OfferedPrototype) -> tuple[VoucherChoice, Problems]:
    usual = default_choice(prototype)
    mistyped: list[tuple[str, str]] = []
    counts: dict[str, int] = {}
    for name, number in (("adults", usual.adults), ("children", 0), ("babies", 0), ("nights", usual.nights)):
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
    values: dict[str, Any] = {**counts, "options": options}
    return replace(before, **values), tuple(mistyped)


def picks_one(category: OfferedOptionCategory) -> bool:
    """True if the options of a category exclude each other."""
    return category.maximum == 1


# ---- gift cards ------------------------------------------------------------------------------------------------------


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
    typed = _gift_values(choice)
    if isinstance(choice, GiftCardChoice):
        return {**typed, "design": str(choice.design_id or ""), **_amount_values(choice.value)}
    if isinstance(choice, NetworkGiftCardChoice | BoxChoice):
        return {**typed, **_network_values(choice)}
    typed |= {name: str(getattr(choice, name)) for name in COUNTED}
    typed |= {f"option-{id}": str(count) for id, count in choice.options.items()}
    for category in categories:
        chosen = [option.id for option in category.options if choice.options.get(option.id)]
        typed[f"category-{category.id}"] = str(chosen[0]) if chosen and picks_one(category) else ""
    return typed


def _network_values(choice: NetworkChoice) -> Mapping[str, str]:
    typed = {"quantity": str(choice.quantity)}
    if isinstance(choice, BoxChoice):
        return typed
    return {**typed, "design": str(choice.design_id or ""), **_amount_values(choice.amount)}


def _amount_values(amount: Decimal) -> Mapping[str, str]:
    return {"value": str(amount), "other": str(amount) if amount else ""}


def _gift_values(choice: BasketChoice) -> dict[str, str]:
    giftee = choice.giftee
    typed = {"for": SELF if choice.self_gifted else "gift", "message": choice.message, "from": choice.from_gifter}
    typed |= {f"giftee-{name}": getattr(giftee, name) for name in GIFTEE}
    typed["giftee-name"] = f"{giftee.first_name} {giftee.last_name}".strip()
    typed["send_on"] = choice.send_on.isoformat() if choice.send_on else ""
    typed["send_at"] = choice.send_at.isoformat("minutes") if choice.send_at else ""
    return typed


def read_gift(form: Form, before: BasketChoice) -> tuple[BasketChoice, Problems]:
    """The choice with whom it is for, with what words, and when it is sent; with errors."""
    message = form.get("message", "")[:LONGEST_TYPED]
    if form.get("for", "") == SELF:
        nobody: dict[str, Any] = {"giftee": Giftee(), "from_gifter": "", "send_on": None, "send_at": None}
        return replace(before, self_gifted=True, message=message, **nobody), ()
    asked = _asked_of_giftee(form)
    typed = {name: form.get(f"giftee-{name}", "")[:LONGEST_TYPED] if name in asked else "" for name in GIFTEE}
    typed["first_name"], typed["last_name"] = _names_of(form.get("giftee-name", "")[:LONGEST_TYPED])
    day, time, wrong = _read_sending(form)
    choice = replace(
        before,
        self_gifted=False,
        giftee=Giftee(**typed),
        from_gifter=form.get("from", "")[:LONGEST_TYPED],
        message=message,
        send_on=day,
        send_at=time and time.replace(tzinfo=None),
    )
    return choice, wrong


def _names_of(name: str) -> tuple[str, str]:
    """A name as it is printed, as first and last name: the first word, or as many as fit, and the rest."""
    words = name.split()
    whole = " ".join(words)
    if len(words) < 2 or len(whole) - len(words[0]) - 1 <= LONGEST_NAME:
        return (words[0] if words else ""), whole[len(words[0]) + 1 :] if words else ""
    cut = max(whole.rfind(" ", 0, LONGEST_NAME + 1), len(words[0]))
    return whole[:cut], whole[cut + 1 :]


def _asked_of_giftee(form: Form) -> frozenset[str]:
    """The fields of the giftee that the page asks for: they depend on how it is received."""
    match reception_of(form):
        case (ReceptionMode.GIFTEE_EMAIL, _):
            return frozenset({"email"})
        case (ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY, _):
            return frozenset(GIFTEE) - {"email"}
        case (_, _):
            return frozenset()
        case _:
            return frozenset(GIFTEE)


def _read_sending(form: Form) -> tuple[dt.date | None, dt.time | None, Problems]:
    """When it is e-mailed to the giftee, with errors. It is ignored unless it is received in this way."""
    reception = reception_of(form)
    if reception is not None and reception[0] is not ReceptionMode.GIFTEE_EMAIL:
        return None, None, ()
    day, wrong_day = _read_moment(form, "send_on", "DATE", dt.date.fromisoformat)
    time, wrong_time = _read_moment(form, "send_at", "TIME", local_time)
    if time is not None and day is None and not wrong_day:
        wrong_day = (("send_on", "DATE"),)
    return day, time, (*wrong_day, *wrong_time)


def _read_moment(form: Form, name: str, code: str, read: Callable[[str], T]) -> tuple[T | None, Problems]:
    """A day or a time; None for an empty field."""
    typed = form.get(name, "").strip()
    try:
        return read(typed) if typed else None, ()
    except ValueError:
        return None, ((name, code),)


def read_number(form: Form, name: str, otherwise: int) -> tuple[int, Problems]:
    """The number of a field, with an error if it is none."""
    typed = form.get(name, "").strip() or str(otherwise)
    return (int(typed), ()) if NUMBER.fullmatch(typed) else (0, ((name, "NUMBER"),))
