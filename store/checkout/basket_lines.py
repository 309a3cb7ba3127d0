"""Validation and pricing of one basket line. Pure functions."""

import datetime as dt
import uuid
from collections.abc import Sequence

from schema.checkout.basket import (
    BasketLine,
    BasketProblem,
    Gift,
    GiftCardChoice,
    NetworkGiftCardChoice,
    OfferedOptionCategory,
    PricedOption,
    VoucherChoice,
)
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.core.errors import Problem
from schema.core.message_names import TemplatedMessage
from store.catalogue.offers import ShopPrototype
from store.catalogue.prices import Party, nights_of, party_problems, rent_price
from store.coupon.rules import CENT, ZERO

MAX_OPTION_COUNT = 99
LATEST_SENDING = dt.timedelta(days=365)
"""How far in the future a gift can be sent."""


def party_of(choice: VoucherChoice) -> Party:
    return Party(choice.adults, choice.children, choice.babies, choice.nights)


def voucher_line(id: uuid.UUID, choice: VoucherChoice, offer: ShopPrototype | None) -> BasketLine:
    """A priced voucher line; without a price, and with a problem, if it cannot be ordered."""
    offered = offer.offered if offer else None
    if offer is None or not offer.is_on_sale:
        return BasketLine(id, choice, offered, 0, ZERO, (), ZERO, ZERO, BasketProblem.NOT_SOLD)
    if voucher_problems(choice, offer):
        return BasketLine(id, choice, offered, 0, ZERO, (), ZERO, ZERO, BasketProblem.CHOICE_CHANGED)
    options = chosen_options(choice, offer.offered.categories)
    rent = rent_price(offer.offered, offer.rates, party_of(choice))
    total = rent + sum((option.total for option in options), ZERO)
    return BasketLine(id, choice, offered, nights_of(offer.offered, party_of(choice)), rent, options, total, total)


def gift_card_line(id: uuid.UUID, choice: GiftCardChoice, offer: OfferedGiftCards | None) -> BasketLine:
    """A gift card line; its price is its value. `offer` is None if the partner sells no gift cards."""
    if offer is None:
        return BasketLine(id, choice, None, 0, ZERO, (), ZERO, ZERO, BasketProblem.NOT_SOLD)
    problem = BasketProblem.CHOICE_CHANGED if gift_card_problems(choice, offer) else None
    price = ZERO if problem else choice.value.quantize(CENT)
    return BasketLine(id, choice, None, 0, price, (), price, price, problem, design=offer.design(choice.design_id))


def sending_problems(choice: Gift, now: dt.datetime) -> Sequence[Problem]:
    """Problems with the time of sending. `now` is in the marketplace's time zone. The morning of today may be over: the
    gift is then sent at once.
    """
    day, today = choice.send_on, now.date()
    if day is None:
        return []
    if not today <= day <= today + LATEST_SENDING:
        return [
            Problem(
                ("send_on",),
                "OUT_OF_RANGE",
                TemplatedMessage("Choose a day within {days} days.", days=LATEST_SENDING.days),
            )
        ]
    if day == today and choice.send_at is not None and choice.send_at <= now.time():
        return [Problem(("send_at",), "OUT_OF_RANGE", "Choose a time later than now.")]
    return []


def chosen_options(choice: VoucherChoice, categories: Sequence[OfferedOptionCategory]) -> tuple[PricedOption, ...]:
    """The chosen options with their prices, in the order in which they are offered."""
    offered = [option for category in categories for option in category.options]
    counts = [(option, choice.options.get(option.id, 0)) for option in offered]
    return tuple(PricedOption(option, count, option.price * count) for option, count in counts if count)


def voucher_problems(choice: VoucherChoice, offer: ShopPrototype) -> Sequence[Problem]:
    """Problems with persons, nights and options, located by the field names of the choice."""
    problems = list(party_problems(offer.offered, offer.rates, party_of(choice)))
    offered = {option.id: option for category in offer.offered.categories for option in category.options}
    for option_id, count in choice.options.items():
        place = ("options", option_id)
        if count and option_id not in offered:
            problems.append(Problem(place, "NOT_OFFERED", "This is not offered here."))
        elif count > 1 and not offered[option_id].countable:
            problems.append(Problem(place, "ONLY_ONCE", "This can be added once."))
        elif not 0 <= count <= MAX_OPTION_COUNT:
            problems.append(
                Problem(place, "OUT_OF_RANGE", TemplatedMessage("Choose from 0 to {most}.", most=MAX_OPTION_COUNT))
            )
    for category in offer.offered.categories:
        number = sum(max(choice.options.get(option.id, 0), 0) for option in category.options)
        place = ("categories", category.id or 0)
        if number < category.minimum:
            problems.append(
                Problem(
                    place,
                    "TOO_FEW_OPTIONS",
                    TemplatedMessage("Choose at least {minimum} of these.", minimum=category.minimum),
                )
            )
        if category.maximum is not None and number > category.maximum:
            problems.append(
                Problem(
                    place,
                    "TOO_MANY_OPTIONS",
                    TemplatedMessage("Choose at most {maximum} of these.", maximum=category.maximum),
                )
            )
    return problems


def gift_card_problems(choice: GiftCardChoice, offer: OfferedGiftCards) -> Sequence[Problem]:
    """Problems with the value of a gift card (out of range, or more than two decimals) and with its design."""
    problems: list[Problem] = []
    value = choice.value
    if not value.is_finite() or not offer.minimum <= value <= offer.maximum:
        problems.append(
            Problem(
                ("value",),
                "OUT_OF_RANGE",
                TemplatedMessage("Choose from {minimum} to {maximum}.", minimum=offer.minimum, maximum=offer.maximum),
            )
        )
    elif value != value.quantize(CENT):
        problems.append(Problem(("value",), "NOT_CENTS", "Use at most two decimals."))
    return [*problems, *design_problems(choice, offer)]


def design_problems(choice: GiftCardChoice | NetworkGiftCardChoice, offer: OfferedGiftCards) -> Sequence[Problem]:
    """The problem with a design that is not offered. None at all is no problem."""
    if choice.design_id is None or offer.design(choice.design_id) is not None:
        return []
    return [Problem(("design_id",), "NOT_OFFERED", "This is not offered here.")]
