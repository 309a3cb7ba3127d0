"""What is chosen of an experience at first."""

from collections.abc import Mapping

from schema.checkout.basket import OfferedOptionCategory, OfferedPrototype, VoucherChoice


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
