"""The form of the first step: which products, how they are delivered, and which button was pressed."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from funnel.core.forms import Form
from schema.checkout.checkout import Checkout, Choice, OfferedProduct
from schema.validation.numbers import LARGEST_ID

MOST = 9999
PRODUCT = re.compile(r"line-([0-9]{1,4})-product")
NUMBER = re.compile(r"[0-9]{1,10}")
QUANTITY = re.compile(r"[0-9]{1,4}")
BUTTON = re.compile(r"(update|continue|anyway|remove|more|less|add)(?:-([0-9]{1,10}))?")
SHORTEST_ID = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the form says. `mistyped` are the lines whose quantity is no number: they count as none until put right."""

    items: tuple[Choice, ...]
    delivery_id: int | None
    country: str
    mistyped: tuple[int, ...]
    button: str
    button_of: int
    """The line, or for `add` the product, that the button belongs to."""


def read_choices(form: Form) -> Wanted:
    """Read the form. What could only come from another form is left out."""
    places = sorted(int(found[1]) for name in form if (found := PRODUCT.fullmatch(name)))
    items: list[Choice] = []
    mistyped: list[int] = []
    for place in places:
        product_id = _id(form[f"line-{place}-product"])
        if product_id is None:
            continue
        quantity = form.get(f"line-{place}-quantity", "").strip()
        if not QUANTITY.fullmatch(quantity):
            mistyped.append(len(items))
            quantity = "0"
        variant_id = _id(form.get(f"line-{place}-variant", ""))
        items.append(Choice(product_id, int(quantity), variant_id, _attributes(form, f"line-{place}-attribute-")))
    pressed = BUTTON.fullmatch(form.get("do", ""))
    return Wanted(
        items=tuple(items),
        delivery_id=_id(form.get("delivery", "")),
        country=form.get("country", ""),
        mistyped=tuple(mistyped),
        button=pressed[1] if pressed else "update",
        button_of=int(pressed[2] or 0) if pressed else 0,
    )


def _id(given: str) -> int | None:
    return int(given) if NUMBER.fullmatch(given) and SHORTEST_ID <= int(given) <= LARGEST_ID else None


def _attributes(form: Form, prefix: str) -> Mapping[int, str]:
    given = {_id(name.removeprefix(prefix)): value for name, value in form.items() if name.startswith(prefix) and value}
    return {key: value[:200] for key, value in given.items() if key is not None}


def pressed(wanted: Wanted, checkout: Checkout) -> tuple[tuple[Choice, ...], str]:
    """The items after the button has done its work, and the place on the page to go back to."""
    items, at = list(wanted.items), wanted.button_of
    if wanted.button == "add":
        return _added(items, next((p for p in checkout.offered if p.id == at), None))
    if wanted.button == "remove" and at < len(items):
        del items[at]
        return tuple(items), "products"
    if wanted.button in {"more", "less"} and at < len(items):
        step = 1 if wanted.button == "more" else -1
        items[at] = dataclasses.replace(items[at], quantity=min(max(items[at].quantity + step, 0), MOST))
        return tuple(items), f"line-{at}"
    return tuple(items), "products" if wanted.button == "update" else ""


def _added(items: list[Choice], product: OfferedProduct | None) -> tuple[tuple[Choice, ...], str]:
    """One more of a product: on the line that has it already, else on a new one, with a variant that is there."""
    if product is None:
        return tuple(items), "products"
    there = next((v for v in product.variants if v.available != 0), next(iter(product.variants), None))
    wanted = Choice(product.id, 1, there.id if there else None)
    for at, item in enumerate(items):
        if (item.product_id, item.variant_id) == (wanted.product_id, wanted.variant_id) and not item.attribute_values:
            items[at] = dataclasses.replace(item, quantity=min(item.quantity + 1, MOST))
            return tuple(items), f"line-{at}"
    return (*items, wanted), f"line-{len(items)}"


def not_in_cart(checkout: Checkout) -> Sequence[OfferedProduct]:
    """What else the shop offers."""
    chosen = {line.choice.product_id for line in checkout.lines}
    return [product for product in checkout.offered if product.id not in chosen]
