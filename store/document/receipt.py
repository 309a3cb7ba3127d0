"""The content of a receipt, ready for typesetting."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from store.document.printable import printable, printable_exact
from store.document.sheet import ARCHIVED, SheetBrand, TextLine, lines_of


@dataclass(frozen=True, slots=True)
class ReceiptLabels:
    amount: str
    payee: str
    payer: str
    paid_for: str
    paid_with: str
    refunds: str
    note: str


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """An amount with its name; `details` stand below in small letters."""

    name: str
    amount: str
    details: str = ""
    strong: bool = False

    def data(self) -> dict[str, object]:
        return {
            "name": printable(self.name),
            "amount": self.amount,
            "details": printable(self.details),
            "strong": self.strong,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A receipt as its template reads it. Texts are as people wrote them; `data` makes them printable."""

    template: ClassVar[str] = "receipt.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ARCHIVED
    language: str
    title: str
    look: SheetBrand
    words: ReceiptLabels
    overline: str
    amount: str
    paid_on: str
    mark: str = ""
    """The stamp beside the amount; empty unless it is refunded."""
    facts: Sequence[tuple[str, str]]
    """Names and values: the payment's number and others."""
    payee: Sequence[str]
    """The lines of the partner's address and numbers, without its name."""
    payer: Sequence[str]
    description: str = ""
    paid_for: Sequence[ReceiptRow] = field(default_factory=list)
    paid_with: Sequence[ReceiptRow] = field(default_factory=list)
    refunds: Sequence[ReceiptRow] = field(default_factory=list)
    contact: Sequence[str] = field(default_factory=list)

    @property
    def scanned(self) -> str:
        """A receipt has no QR code."""
        return ""

    def data(self) -> dict[str, object]:
        """The data of the template."""
        return {
            "language": self.language,
            "title": printable_exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "amount": self.amount,
            "paid_on": self.paid_on,
            "mark": self.mark,
            "facts": [(name, printable_exact(value)) for name, value in self.facts],
            "payee": _printed_lines(self.payee),
            "payer": _printed_lines(self.payer),
            "description": lines_of(self.description),
            "paid_for": [row.data() for row in self.paid_for],
            "paid_with": [row.data() for row in self.paid_with],
            "refunds": [row.data() for row in self.refunds],
            "contact": [printable_exact(entry) for entry in self.contact],
        }


def _printed_lines(lines: Sequence[str]) -> list[TextLine]:
    return [line for text in lines for line in lines_of(text)]
