"""The test cards, and the outcome of each. The hosted page accepts no other numbers."""

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from coffret.sandbox.payments.results import AUTHENTICATION_FAILED, SUCCESS

CHALLENGE_CODE = "000000"
"""The code that confirms a payment on the bank's page."""
FURTHEST_YEARS = 20


class CardBrand(StrEnum):
    CB_VISA_MASTERCARD = "CB_VISA_MASTERCARD"
    AMEX = "AMEX"
    MAESTRO = "MAESTRO"
    BCMC = "BCMC"


class Trouble(StrEnum):
    """A disturbance of the buyer's page, independent of the payment's result."""

    NONE = "none"
    ANSWER_LOST = "answer_lost"
    REQUEST_LOST = "request_lost"
    BAD_GATEWAY = "bad_gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One test card.

    `text` names its description. `result` is the result code of its payment after a passed challenge.
    """

    number: str
    text: str
    group: str
    brands: tuple[CardBrand, ...] = (CardBrand.CB_VISA_MASTERCARD,)
    result: str = SUCCESS
    challenge: bool = False
    silent: bool = False
    """The bank never answers the challenge."""
    settles_after: int = 0
    """Seconds until the result is known. The buyer returns to the shop earlier."""
    trouble: Trouble = Trouble.NONE
    refused_with: str = ""
    """The error code with which the tokeniser refuses the card."""
    refund_result: str = SUCCESS
    disputable: bool = False
    """Its bank can dispute the payment, by the control plane."""

    @property
    def spaced_number(self) -> str:
        """The number with spaces, as printed on a card."""
        if CardBrand.AMEX in self.brands:
            return f"{self.number[:4]} {self.number[4:10]} {self.number[10:]}"
        return " ".join(self.number[start : start + 4] for start in range(0, len(self.number), 4))

    @property
    def alias(self) -> str:
        """The number as the provider masks it: `497010XXXXXX1119`."""
        return f"{self.number[:6]}{'X' * (len(self.number) - 10)}{self.number[-4:]}"

    @property
    def fingerprint(self) -> str:
        """The same for every registration and payment of this number."""
        return hashlib.sha256(self.number.encode()).hexdigest()[:32]

    @property
    def network(self) -> str:
        """The card's network: VISA, MASTERCARD or AMEX."""
        return {"3": "AMEX", "4": "VISA"}.get(self.number[0], "MASTERCARD")

    @property
    def cvc(self) -> str:
        """A security code of the right length. Every code of that length is accepted."""
        return "1234" if CardBrand.AMEX in self.brands else "123"


CARDS = (
    Card(number="4970107111111119", text="card_success", group="succeeds"),
    Card(number="4970105181818183", text="card_challenge", group="challenge", challenge=True),
    Card(
        number="5033951000000004",
        text="card_challenge",
        group="challenge",
        challenge=True,
        brands=(CardBrand.MAESTRO, CardBrand.BCMC),
    ),
    Card(number="375989111111119", text="card_challenge", group="challenge", challenge=True, brands=(CardBrand.AMEX,)),
    Card(number="4970109000000106", text="card_do_not_honour", group="declined", result="101101"),
    Card(number="4970109000000205", text="card_limit", group="declined", result="101102"),
    Card(number="4970109000000304", text="card_expired", group="declined", result="101105"),
    Card(number="4970109000000403", text="card_lost", group="declined", result="008002"),
    Card(
        number="4970109000000502",
        text="card_challenge_fails",
        group="challenge",
        result=AUTHENTICATION_FAILED,
        challenge=True,
    ),
    Card(number="4970109000000601", text="card_silent", group="challenge", challenge=True, silent=True),
    Card(number="4970109000000700", text="card_no_3ds", group="declined", result="101399"),
    Card(number="4970109000000809", text="card_answer_lost", group="trouble", trouble=Trouble.ANSWER_LOST),
    Card(number="4970109000000908", text="card_request_lost", group="trouble", trouble=Trouble.REQUEST_LOST),
    Card(number="4970109000001005", text="card_bad_gateway", group="trouble", trouble=Trouble.BAD_GATEWAY),
    Card(number="4970109000001104", text="card_late", group="trouble", settles_after=30),
    Card(number="4970109000001203", text="card_refund_fails", group="succeeds", refund_result="001999"),
    Card(number="4970109000001302", text="card_timeout", group="declined", result="009101"),
    Card(number="4970109000001401", text="card_refused", group="declined", refused_with="02625"),
    Card(number="4970109000001500", text="card_dispute", group="succeeds", disputable=True),
)
GROUPS = ("succeeds", "challenge", "declined", "trouble")
BY_NUMBER = {card.number: card for card in CARDS}


class CardRefused(Exception):
    """The tokeniser refuses the input. `field` is `number`, `expiry` or `cvc`; `reason` names the text."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def tokenise_number(text: str, brand: CardBrand) -> Card:
    """The test card with this number.

    Raises CardRefused for other numbers, which are not stored, and for other brands.
    """
    number = re.sub(r"[\s-]", "", text)
    if not number:
        raise CardRefused("number", "number_missing")
    card = BY_NUMBER.get(number)
    if card is None:
        raise CardRefused("number", "number_unknown")
    if brand not in card.brands:
        raise CardRefused("number", "number_brand")
    if card.refused_with:
        raise CardRefused("number", "number_refused")
    return card


def check_expiry(text: str, today: dt.date) -> None:
    """Raise CardRefused unless the text is a current or future month, such as 12/27."""
    match = re.fullmatch(r"(0[1-9]|1[0-2])\s*/?\s*(?:20)?(\d\d)", text.strip())
    if match is None:
        raise CardRefused("expiry", "expiry_invalid")
    month, year = int(match[1]), 2000 + int(match[2])
    if not (today.year, today.month) <= (year, month) <= (today.year + FURTHEST_YEARS, 12):
        raise CardRefused("expiry", "expiry_past")


def check_cvc(text: str, length: int) -> None:
    """Raise CardRefused unless the text has exactly `length` digits."""
    if not re.fullmatch(rf"[0-9]{{{length}}}", text.strip()):
        raise CardRefused("cvc", "cvc_invalid")


def cards_by_group(brand: CardBrand) -> list[tuple[str, list[Card]]]:
    """The cards of a brand, by group."""
    grouped = [(group, [card for card in CARDS if card.group == group and brand in card.brands]) for group in GROUPS]
    return [(group, cards) for group, cards in grouped if cards]
