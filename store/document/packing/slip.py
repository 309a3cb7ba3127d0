"""The content of a packing slip, ready for typesetting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from store.document.printable import printable, printable_exact
from store.document.sheet import ARCHIVED, SheetBrand, TextLine, lines_of


@dataclass(frozen=True, slots=True)
class PackingLabels:
    recipient: str
    item: str
    quantity: str
    packed: str
    message: str


@dataclass(frozen=True, slots=True)
class PackedLine:
    """What goes into a parcel: its name, its options, and how many of it."""

    name: str
    details: Sequence[str]
    quantity: int

    def data(self) -> dict[str, object]:
        return {
            "name": printable(self.name),
            "details": [text for text in map(printable, self.details) if text],
            "quantity": str(self.quantity),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """What goes to one address, or is handed over. It has a sheet of its own."""

    name: str
    """Which of several parcels it is; empty for the only one."""
    recipient: Sequence[str]
    lines: Sequence[PackedLine]
    pieces: str

    def data(self) -> dict[str, object]:
        return {
            "name": self.name,
            "recipient": [line for text in self.recipient for line in lines_of(text)],
            "lines": [line.data() for line in self.lines],
            "pieces": self.pieces,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingSlip:
    """A packing slip as its template reads it: without prices, as it may lie in a present."""

    template: ClassVar[str] = "packing/slip.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ARCHIVED
    language: str
    title: str
    look: SheetBrand
    words: PackingLabels
    overline: str
    facts: Sequence[tuple[str, str]]
    parcels: Sequence[Parcel]
    message: str
    contact: Sequence[str]

    @property
    def scanned(self) -> str:
        """A packing slip has no QR code."""
        return ""

    def data(self) -> dict[str, object]:
        """The data of the template."""
        message: list[TextLine] = lines_of(self.message)
        return {
            "language": self.language,
            "title": printable_exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "facts": [(name, text) for name, value in self.facts if (text := printable(value))],
            "parcels": [parcel.data() for parcel in self.parcels],
            "message": message,
            "contact": [printable_exact(entry) for entry in self.contact],
        }
