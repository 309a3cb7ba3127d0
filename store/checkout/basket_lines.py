"""One line of a bag: whether it can be had as it was chosen, and what it costs. Pure."""

import uuid
from collections.abc import Sequence

from schema.checkout.basket import (
    BagLine,
    BagProblem,
    ChosenOption,
    GiftCardChoice,
    OfferedCategory,
    OfferedGiftCards,
    VoucherChoice,
)
from schema.core.errors import Problem
from store.catalogue.offers import SoldPrototype
from store.catalogue.prices import Party, nights_of, party_problems, rent_price
from store.coupon.rules import CENT, ZERO

MOST_OF_ONE_OPTION = 99


def party_of(choice: VoucherChoice) -> Party:
    """For whom a voucher is chosen."""
    return Party(choice.adults, choice.children, choice.babies, choice.nights)


def voucher_line(id: uuid.UUID, choice: VoucherChoice, sold: SoldPrototype | None) -> BagLine:
    """A voucher as the shop prices it, or with what is wrong with it."""
    offered = sold.offered if sold else None
    if sold is None or not sold.is_sold:
        return BagLine(id, choice, offered, 0, ZERO, (), ZERO, ZERO, BagProblem.NOT_SOLD)
    if voucher_problems(choice, sold):
        return BagLine(id, choice, offered, 0, ZERO, (), ZERO, ZERO, BagProblem.CHOICE_CHANGED)
    options = chosen_options(choice, sold.offered.categories)
    rent = rent_price(sold.offered, sold.rates, party_of(choice))
    total = rent + sum((option.total for option in options), ZERO)
    return BagLine(id, choice, offered, nights_of(sold.offered, party_of(choice)), rent, options, total, total)


def gift_card_line(id: uuid.UUID, choice: GiftCardChoice, offer: OfferedGiftCards | None) -> BagLine:
    """A gift card, whose price is its value; without an offer none are sold."""
    if offer is None:
        return BagLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BagProblem.NOT_SOLD)
    problem = BagProblem.CHOICE_CHANGED if gift_card_problems(choice, offer) else None
    price = ZERO if problem else choice.value.quantize(CENT)
    return BagLine(id, choice, None, 0, price, (), price, price, problem)


def chosen_options(choice: VoucherChoice, categories: Sequence[OfferedCategory]) -> tuple[ChosenOption, ...]:
    """The options of a choice, in the order they are offered in, priced."""
    offered = [option for category in categories for option in category.options]
    counts = [(option, choice.options.get(option.id, 0)) for option in offered]
    return tuple(ChosenOption(option, count, option.price * count) for option, count in counts if count)


def voucher_problems(choice: VoucherChoice, sold: SoldPrototype) -> Sequence[Problem]:
    """What is wrong with persons, nights and options, by the names of the choice."""
    problems = list(party_problems(sold.offered, sold.rates, party_of(choice)))
    offered = {option.id: option for category in sold.offered.categories for option in category.options}
    for option_id, count in choice.options.items():
        place = ("options", option_id)
        if count and option_id not in offered:
            problems.append(Problem(place, "NOT_OFFERED", "This is not offered here."))
        elif count > 1 and not offered[option_id].countable:
            problems.append(Problem(place, "ONLY_ONCE", "This can be added once."))
        elif not 0 <= count <= MOST_OF_ONE_OPTION:
            problems.append(Problem(place, "OUT_OF_RANGE", f"Choose from 0 to {MOST_OF_ONE_OPTION}."))
    for category in sold.offered.categories:
        number = sum(max(choice.options.get(option.id, 0), 0) for option in category.options)
        place = ("categories", category.id or 0)
        if number < category.minimum:
            problems.append(Problem(place, "TOO_FEW_OPTIONS", f"Choose at least {category.minimum} of these."))
        if category.maximum is not None and number > category.maximum:
            problems.append(Problem(place, "TOO_MANY_OPTIONS", f"Choose at most {category.maximum} of these."))
    return problems


def gift_card_problems(choice: GiftCardChoice, offer: OfferedGiftCards) -> Sequence[Problem]:
    """What is wrong with the value of a gift card."""
    value = choice.value
    if not value.is_finite() or not offer.minimum <= value <= offer.maximum:
        return [Problem(("value",), "OUT_OF_RANGE", f"Choose from {offer.minimum} to {offer.maximum}.")]
    if value != value.quantize(CENT):
        return [Problem(("value",), "NOT_CENTS", "Use at most two decimals.")]
    return []
