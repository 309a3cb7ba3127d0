"""The codes that a customer enters, coupons and gift cards, and what they do to an order."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class CodeKind(DescribedEnum):
    """The kind of a code that a customer has entered."""

    COUPON = "coupon", "A coupon."
    GIFT_CARD = "gift_card", "A gift card."


class CodeProblem(StrEnum):
    """Why a coupon or gift card has no effect on the current choice."""

    NOT_FOR_THESE = "not_for_these"
    OTHER_DELIVERY = "other_delivery"
    OTHER_EMAIL = "other_email"
    MINIMUM_PRICE = "minimum_price"
    MINIMUM_BASKET = "minimum_basket"
    MINIMUM_PAYMENT = "minimum_payment"
    NOT_COMBINABLE = "not_combinable"
    """It, or a coupon before it, cannot be used with others."""
    NOTHING_LEFT = "nothing_left"
    """The coupons before it already pay for what it applies to."""
    TOO_MUCH = "too_much"
    """It would increase a value beyond the maximum amount."""
    USED_WHOLE = "used_whole"
    """A gift card that cannot be split has more than is left to pay."""
    PAYS_NO_GIFT_CARDS = "pays_no_gift_cards"
    """A gift card does not pay for gift cards, and there is nothing else."""


@dataclass(frozen=True, slots=True)
class AppliedCode:
    """A coupon or gift card in use. `amount` is what it deducts; 0 if it has no effect on the current cart."""

    code: str
    kind: CodeKind
    amount: Decimal
    applies: bool
    added_value: Decimal = Decimal("0.00")
    """The value that a coupon adds to the purchase, instead of reducing its price."""
    free_click_and_collect: bool = False
    """Whether a coupon makes click and collect free."""
    problem: CodeProblem | None = None
    """Why it does not apply."""
    minimum: Decimal | None = None
    """The required minimum, for the `problem`s about a minimum."""
