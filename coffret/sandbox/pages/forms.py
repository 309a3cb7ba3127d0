"""The card form: its values and its errors."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from coffret.sandbox.payments.cards import (
    BY_NUMBER,
    Card,
    CardBrand,
    CardRefused,
    check_cvc,
    check_expiry,
    tokenise_number,
)


@dataclass(frozen=True, slots=True)
class Filled:
    """The values of the form's fields. A number that is not a test card is never displayed again."""

    number: str = ""
    expiry: str = ""
    cvc: str = ""

    @classmethod
    def by(cls, card: Card, expiry: str) -> "Filled":
        """The values for a test card."""
        return cls(card.spaced_number, expiry, card.cvc)


@dataclass(frozen=True, slots=True)
class CardForm:
    """A submitted form. `problems` maps fields to the names of error texts. If it is empty, `card` is set."""

    card: Card | None
    filled: Filled
    problems: Mapping[str, str]

    @classmethod
    def read(cls, typed: Mapping[str, str], brand: CardBrand, today: dt.date) -> "CardForm":
        """Validate every field, so that all errors are shown at once."""
        problems: dict[str, str] = {}
        card: Card | None = None
        try:
            card = tokenise_number(typed.get("number", ""), brand)
        except CardRefused as refused:
            problems[refused.field] = refused.reason
        shown = card or BY_NUMBER.get("".join(typed.get("number", "").split()))
        expiry, cvc = typed.get("expiry", ""), typed.get("cvc", "")
        try:
            check_expiry(expiry, today)
        except CardRefused as refused:
            problems[refused.field] = refused.reason
        try:
            check_cvc(cvc, security_code_length(brand))
        except CardRefused as refused:
            problems[refused.field] = refused.reason
        filled = Filled(shown.spaced_number, expiry[:7], "") if shown else Filled()
        return cls(card, filled, problems)


def security_code_length(brand: CardBrand) -> int:
    """American Express has four digits, other brands three."""
    return 4 if brand is CardBrand.AMEX else 3
