"""The card form: what was typed, what is wrong with it."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from coffret.sandbox.cards import BY_NUMBER, Brand, Card, CardRefused, check_cvc, check_expiry, tokenise_number


@dataclass(frozen=True, slots=True)
class Filled:
    """What the form shows in its fields. A number that is no test card is never shown again."""

    number: str = ""
    expiry: str = ""
    cvc: str = ""

    @classmethod
    def by(cls, card: Card, expiry: str) -> "Filled":
        """Filled in with a test card."""
        return cls(card.spaced, expiry, card.cvc)


@dataclass(frozen=True, slots=True)
class CardForm:
    """A submitted form. `problems` names the text of what is wrong with each field; without any, `card` is the card."""

    card: Card | None
    filled: Filled
    problems: Mapping[str, str]

    @classmethod
    def read(cls, typed: Mapping[str, str], brand: Brand, today: dt.date) -> "CardForm":
        """Check every field, so that all problems are told at once."""
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
        filled = Filled(shown.spaced, expiry[:7], "") if shown else Filled()
        return cls(card, filled, problems)


def security_code_length(brand: Brand) -> int:
    """American Express prints four digits, the others three."""
    return 4 if brand is Brand.AMEX else 3
