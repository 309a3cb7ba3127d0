"""What stands in the way of a line or an order of vouchers and gift cards, at the fields of its form."""

from collections.abc import Sequence
from uuid import UUID

from funnel.checkout.basket_form import EMAIL, Problems
from schema.checkout.basket import BasketProblem
from schema.checkout.checkout import CheckoutKind
from schema.checkout.view import Checkout
from schema.core.errors import InvalidInput

CHANGE = "CHANGE"
"""The error code of a line that must be corrected in its own form."""
DELIVERY_MISSING = ("delivery", "DELIVERY_REQUIRED")
FIELDS = {
    BasketProblem.GIFTEE_EMAIL_MISSING: EMAIL,
    BasketProblem.GIFTEE_ADDRESS_MISSING: "giftee-address_line_1",
}
"""The form field where a line's problem can be corrected."""
FIELD_OF = {"reception": "delivery", "amount": "value", "design_id": "design", "from_gifter": "from"}
"""The form field of a field of the choice, where their names differ."""


def problem_fields(error: InvalidInput) -> Problems:
    """The errors of an operation as (field id, code), the first of each field."""
    fields: dict[str, str] = {}
    for problem in error.problems:
        fields.setdefault(_field_id(problem.path), problem.code)
    return tuple(fields.items())


def _field_id(path: Sequence[object]) -> str:
    within = {"options": "option", "categories": "category", "giftee": "giftee"}
    first = str(path[0]) if path else ""
    if first == "giftee" and path[-1] in {"first_name", "last_name"}:
        return "giftee-name"
    if first in FIELD_OF:
        return FIELD_OF[first]
    return f"{within[first]}-{path[1]}" if first in within and len(path) > 1 else first


def missing_of(checkout: Checkout, open_line: UUID | None) -> Problems:
    """Why the next step is not available: (field id, code). Of a cart, why the open line is not complete."""
    if checkout.key.kind is CheckoutKind.CART:
        lines = [line for line in checkout.basket_lines if line.id == open_line]
        problems = [line.problem for line in lines if line.problem in FIELDS]
        unchosen = [DELIVERY_MISSING for line in lines if line.reception is None]
        return tuple([(FIELDS[problem], problem.name) for problem in problems if problem] + unchosen)
    missing = [
        (FIELDS[line.problem], line.problem.name)
        if line.id == open_line and line.problem in FIELDS
        else (f"line-{at}", CHANGE)
        for at, line in enumerate(checkout.basket_lines)
        if line.problem is not None
    ]
    if not checkout.basket_lines:
        missing.append(("lines", "NOTHING_IN_BAG"))
    elif not checkout.is_delivery_chosen:
        missing.append(DELIVERY_MISSING)
    return tuple(missing)
