"""Validation and pricing of lines of network products. Pure functions."""

import uuid
from collections.abc import Sequence

from schema.checkout.basket import BasketLine, BasketProblem, BoxChoice, NetworkChoice, NetworkGiftCardChoice
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.core.errors import Problem
from schema.core.message_names import TemplatedMessage
from schema.network.multi_product_cart import MOST_ALIKE
from store.checkout.basket_lines import design_problems
from store.coupon.rules import CENT, ZERO


def network_card_line(id: uuid.UUID, choice: NetworkGiftCardChoice, offer: OfferedGiftCards | None) -> BasketLine:
    """A line of network gift cards; `offer` is None if the shop sells none."""
    if offer is None:
        return BasketLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BasketProblem.NOT_SOLD)
    design = offer.design(choice.design_id)
    if network_card_problems(choice, offer):
        return BasketLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BasketProblem.CHOICE_CHANGED, design=design)
    price = choice.amount.quantize(CENT)
    total = price * choice.quantity
    return BasketLine(id, choice, None, 0, price, (), total, total, design=design)


def box_line(id: uuid.UUID, choice: BoxChoice, box: OfferedBox | None) -> BasketLine:
    """A line of boxes; `box` is None if the shop does not sell it."""
    if box is None:
        return BasketLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BasketProblem.NOT_SOLD)
    if quantity_problems(choice):
        return BasketLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BasketProblem.CHOICE_CHANGED, box=box)
    total = box.price * choice.quantity
    return BasketLine(id, choice, None, 0, box.price, (), total, total, box=box)


def network_card_problems(choice: NetworkGiftCardChoice, offer: OfferedGiftCards) -> Sequence[Problem]:
    """Problems with the amount, the design and the quantity of network gift cards."""
    problems = list(quantity_problems(choice))
    amount = choice.amount
    if not amount.is_finite() or not offer.minimum <= amount <= offer.maximum:
        problems.append(
            Problem(
                ("amount",),
                "OUT_OF_RANGE",
                TemplatedMessage("Choose from {minimum} to {maximum}.", minimum=offer.minimum, maximum=offer.maximum),
            )
        )
    elif amount != amount.quantize(CENT):
        problems.append(Problem(("amount",), "NOT_CENTS", "Use at most two decimals."))
    return [*problems, *design_problems(choice, offer)]


def quantity_problems(choice: NetworkChoice) -> Sequence[Problem]:
    """Problems with the quantity of a line."""
    if 1 <= choice.quantity <= MOST_ALIKE:
        return []
    return [Problem(("quantity",), "OUT_OF_RANGE", TemplatedMessage("Choose from 1 to {most}.", most=MOST_ALIKE))]
