"""Pricing of goods. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from schema.checkout.checkout import (
    FIXABLE_PROBLEMS,
    CheckoutLine,
    LineProblem,
    OfferedProduct,
    OfferedVariant,
    ProductChoice,
)
from schema.validation.numbers import LARGEST_AMOUNT
from store.checkout.offers import ShopProduct

ZERO = Decimal("0.00")


def price_lines(choices: Sequence[ProductChoice], products: Mapping[int, ShopProduct]) -> tuple[CheckoutLine, ...]:
    """The lines with the shop's prices or a problem each. Lines of the same product and variant share its stock."""
    taken: dict[tuple[int, int | None], int] = {}
    lines = [_price_line(choice, products.get(choice.product_id), taken) for choice in choices]
    fitting = lines_within_limit([line.total for line in lines])
    return tuple(
        line if fits else replace(line, total=ZERO, problem=LineProblem.TOO_MUCH)
        for line, fits in zip(lines, fitting, strict=True)
    )


def lines_within_limit(totals: Sequence[Decimal], worth: Decimal = ZERO) -> list[bool]:
    """For each line, True if the order has room for it, beside what is `worth` so much. Lines are accepted in order up to the
    largest order amount.
    """
    fitting = []
    for total in totals:
        fitting.append(worth + total <= LARGEST_AMOUNT)
        worth += total if fitting[-1] else ZERO
    return fitting


def _price_line(
    choice: ProductChoice, sold: ShopProduct | None, taken: dict[tuple[int, int | None], int]
) -> CheckoutLine:
    if sold is None:
        return CheckoutLine(choice, None, None, None, ZERO, LineProblem.NOT_SOLD)
    product = sold.offered
    variant = next((v for v in product.variants if v.id == choice.variant_id), None)
    problem = None if sold.is_active else LineProblem.INACTIVE
    problem = problem or _variant_problem(product, variant, choice) or _attribute_problem(product, choice)
    unit_price = variant.price if variant else product.price
    if problem is not None:
        return CheckoutLine(
            choice, product, variant, unit_price if problem in FIXABLE_PROBLEMS else None, ZERO, problem
        )
    stock = variant.available if variant else product.available
    key = (product.id, variant.id if variant else None)
    left = None if stock is None else stock - taken.get(key, 0)
    if left is not None and left < choice.quantity:
        short = LineProblem.OUT_OF_STOCK if left <= 0 else LineProblem.NOT_ENOUGH_STOCK
        return CheckoutLine(choice, product, variant, unit_price, ZERO, short, max(left, 0))
    taken[key] = taken.get(key, 0) + choice.quantity
    return CheckoutLine(choice, product, variant, unit_price, unit_price * choice.quantity)


def _variant_problem(
    product: OfferedProduct, variant: OfferedVariant | None, choice: ProductChoice
) -> LineProblem | None:
    if choice.variant_id is not None and variant is None:
        return LineProblem.UNKNOWN_VARIANT
    if product.variants and variant is None:
        return LineProblem.VARIANT_REQUIRED
    return None


def _attribute_problem(product: OfferedProduct, choice: ProductChoice) -> LineProblem | None:
    known = {attribute.id: attribute for attribute in product.attributes}
    for key, value in choice.attribute_values.items():
        if key not in known or (value and value not in {v.value for v in known[key].values}):
            return LineProblem.UNKNOWN_ATTRIBUTE_VALUE
    if any(a.is_required and not choice.attribute_values.get(a.id) for a in product.attributes):
        return LineProblem.ATTRIBUTE_REQUIRED
    return None


def weight_of(lines: Sequence[CheckoutLine], products: Mapping[int, ShopProduct]) -> int:
    """The total weight in grams."""
    total = 0
    for line in lines:
        sold = products[line.choice.product_id]
        each = sold.variant_weights[line.variant.id] if line.variant else sold.weight
        total += each * line.choice.quantity
    return total


def is_orderable(line: CheckoutLine) -> bool:
    return line.problem is None and line.choice.quantity > 0
