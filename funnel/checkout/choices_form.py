"""The form of the first step for products: products, delivery and the pressed button."""

import dataclasses
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from funnel.core.forms import Form
from schema.checkout.checkout import OfferedProduct, ProductChoice
from schema.checkout.view import Checkout
from schema.validation.numbers import LARGEST_ID

LARGEST_QUANTITY = 9999
PRODUCT = re.compile(r"line-([0-9]{1,4})-product")
NUMBER = re.compile(r"[0-9]{1,10}")
QUANTITY = re.compile(r"[0-9]{1,4}")
BUTTON = re.compile(r"(update|continue|anyway|remove|more|less|add|another|card|take)(?:-([0-9]{1,10}))?")
REMOVED_GIFT = re.compile(r"remove-([0-9a-f-]{36})")
SHORTEST_ID = 1


@dataclass(frozen=True, slots=True)
class CustomizationForm:
    """The parsed form. `mistyped` are the indexes of lines with an invalid quantity, which counts as zero."""

    items: tuple[ProductChoice, ...]
    delivery_id: int | None
    country: str
    mistyped: tuple[int, ...]
    button: str
    button_of: int
    """The index of the button's line; for `add`, the product id."""
    removed_gift: uuid.UUID | None
    """The voucher or gift card whose button for its removal was pressed."""


def read_customization_form(form: Form) -> CustomizationForm:
    """Parse the form. Fields of other forms are ignored."""
    places = sorted(int(match[1]) for name in form if (match := PRODUCT.fullmatch(name)))
    items: list[ProductChoice] = []
    mistyped: list[int] = []
    for place in places:
        product_id = _parse_id(form[f"line-{place}-product"])
        if product_id is None:
            continue
        quantity = form.get(f"line-{place}-quantity", "").strip()
        if not QUANTITY.fullmatch(quantity):
            mistyped.append(len(items))
            quantity = "0"
        variant_id = _parse_id(form.get(f"line-{place}-variant", ""))
        items.append(
            ProductChoice(product_id, int(quantity), variant_id, _attributes(form, f"line-{place}-attribute-"))
        )
    pressed = BUTTON.fullmatch(form.get("do", ""))
    return CustomizationForm(
        items=tuple(items),
        delivery_id=_parse_id(form.get("delivery", "")),
        country=form.get("country", ""),
        mistyped=tuple(mistyped),
        button=pressed[1] if pressed else "update",
        button_of=int(pressed[2] or 0) if pressed else 0,
        removed_gift=_removed_gift(form.get("do", "")),
    )


def _removed_gift(pressed: str) -> uuid.UUID | None:
    match = REMOVED_GIFT.fullmatch(pressed)
    try:
        return uuid.UUID(match[1]) if match else None
    except ValueError:
        return None


def _parse_id(text: str) -> int | None:
    return int(text) if NUMBER.fullmatch(text) and SHORTEST_ID <= int(text) <= LARGEST_ID else None


def _attributes(form: Form, prefix: str) -> Mapping[int, str]:
    values = {
        _parse_id(name.removeprefix(prefix)): value for name, value in form.items() if name.startswith(prefix) and value
    }
    return {key: value[:200] for key, value in values.items() if key is not None}


def apply_button(form: CustomizationForm, checkout: Checkout) -> tuple[tuple[ProductChoice, ...], str]:
    """The items after the button's effect, and the fragment of the page to return to."""
    items, at = list(form.items), form.button_of
    if form.button == "add":
        return _add_product(items, next((p for p in checkout.offered_products if p.id == at), None))
    if form.button == "remove" and at < len(items):
        del items[at]
        return tuple(items), "products"
    if form.button in {"more", "less"} and at < len(items):
        step = 1 if form.button == "more" else -1
        items[at] = dataclasses.replace(items[at], quantity=min(max(items[at].quantity + step, 0), LARGEST_QUANTITY))
        return tuple(items), f"line-{at}"
    return tuple(items), "products" if form.button == "update" else ""


def _add_product(items: list[ProductChoice], product: OfferedProduct | None) -> tuple[tuple[ProductChoice, ...], str]:
    """Add one of a product: to a line that has it without attributes, else as a new line with an available variant."""
    if product is None:
        return tuple(items), "products"
    there = next((v for v in product.variants if v.available != 0), next(iter(product.variants), None))
    choice = ProductChoice(product.id, 1, there.id if there else None)
    for at, item in enumerate(items):
        if (item.product_id, item.variant_id) == (choice.product_id, choice.variant_id) and not item.attribute_values:
            items[at] = dataclasses.replace(item, quantity=min(item.quantity + 1, LARGEST_QUANTITY))
            return tuple(items), f"line-{at}"
    return (*items, choice), f"line-{len(items)}"


def not_in_cart(checkout: Checkout) -> Sequence[OfferedProduct]:
    """Products of the shop that are not in the cart."""
    chosen = {line.choice.product_id for line in checkout.lines}
    return [product for product in checkout.offered_products if product.id not in chosen]
