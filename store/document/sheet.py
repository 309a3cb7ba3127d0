"""The content of a voucher or a gift card, ready for typesetting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from schema.checkout.brand import Brand
from schema.theme import CornerRadius, HeadingFont
from store.document.printable import detect_language, is_rtl, printable, printable_exact, printable_lines
from store.document.rich import TextBlock, plain_text_of

HEADING_FAMILIES: Mapping[HeadingFont, str] = {
    HeadingFont.FRAUNCES: "Fraunces",
    HeadingFont.PLAYFAIR: "Playfair Display",
    HeadingFont.JOST: "Jost",
    HeadingFont.NUNITO: "Nunito",
    HeadingFont.SYSTEM: "Inter",
}
RADII: Mapping[CornerRadius, float] = {
    CornerRadius.NONE: 0,
    CornerRadius.SMALL: 1,
    CornerRadius.MEDIUM: 3,
    CornerRadius.LARGE: 6,
}
"""Millimetres."""
ARCHIVED = ("a-2a", "ua-1")
"""PDF/A-2a for archiving, PDF/UA-1 for screen readers."""


@dataclass(frozen=True, slots=True)
class SheetLabels:
    included: str
    to: str
    sender: str
    code: str
    hint: str
    qr: str


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text, whether it is written from right to left, and the language of its letters, if any."""

    text: str
    rtl: bool
    language: str


def lines_of(text: str) -> list[TextLine]:
    """The printable lines of a text; empty if nothing of it is printable."""
    lines = printable_lines(text)
    return [TextLine(line, is_rtl(line), detect_language(line)) for line in lines.split("\n")] if lines else []


@dataclass(frozen=True, slots=True)
class SmallPrintSection:
    title: str
    blocks: list[TextBlock]


@dataclass(frozen=True, slots=True)
class SheetBrand:
    name: str
    accent: str
    accent_ink: str
    accent_text: str
    heading_font: str
    """The family of headings."""
    radius: float
    """The radius of boxes in millimetres."""
    tint: str
    """The colour of boxes, `#rrggbb`; empty for one derived from the accent. The paper stays white."""

    @classmethod
    def from_brand(cls, brand: Brand) -> "SheetBrand":
        theme = brand.theme
        return cls(
            printable(brand.name),
            brand.accent,
            brand.accent_ink,
            brand.accent_text,
            HEADING_FAMILIES[theme.heading_font],
            RADII[theme.corner_radius],
            theme.page_tint,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A voucher or a gift card as its template reads it. Texts are as people wrote them; `data` makes them printable."""

    template: ClassVar[str] = "sheet.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ARCHIVED
    language: str
    title: str
    look: SheetBrand
    words: SheetLabels
    overline: str
    name: str
    facts: str = ""
    description: str = ""
    included: list[str] = field(default_factory=list)
    to: str = ""
    sender: str = ""
    message: str = ""
    code: str
    scanned: str
    """The text in the QR code."""
    validity: str
    mark: str = ""
    """The stamp in place of the QR code; empty if the voucher or gift card can be used."""
    mark_hint: str = ""
    small_print: list[SmallPrintSection] = field(default_factory=list)
    contact: list[str] = field(default_factory=list)

    def data(self) -> dict[str, object]:
        """The data of the template. Font sizes depend on the length of the texts."""
        name, code = printable(self.name) or self.overline, printable_exact(self.code)
        return {
            "language": self.language,
            "title": printable_exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "name": name,
            "name_size": _size(len(name), (26, 31), (48, 26), (90, 21), smallest=16),
            "facts": self.facts,
            "description": printable(plain_text_of(self.description)),
            "included": [printable(entry) for entry in self.included],
            "to": lines_of(self.to),
            "sender": lines_of(self.sender),
            "message": (message := lines_of(self.message)),
            "message_size": _size(_length(message), (120, 15), (280, 13), (600, 11.5), smallest=10.5),
            "code": code,
            "code_size": _size(len(code), (20, 21), (28, 16), smallest=12),
            "validity": self.validity,
            "mark": self.mark,
            "mark_hint": self.mark_hint,
            "small_print": [part for part in self.small_print if part.blocks],
            "contact": [printable_exact(entry) for entry in self.contact],
        }


def _size(length: int, *steps: tuple[int, float], smallest: float) -> float:
    """The font size in points of the first step that is long enough."""
    return next((size for most, size in steps if length <= most), smallest)


def _length(lines: list[TextLine]) -> int:
    """The space of some lines in characters: a short line counts as 40, about half a full one."""
    return sum(max(len(line.text), 40) for line in lines)
