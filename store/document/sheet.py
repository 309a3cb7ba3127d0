"""What a document shows, ready to be set: every word in its language, every picture as bytes or where they are."""

from dataclasses import dataclass, field

from schema.checkout.checkout import Brand
from store.document.printable import exact, is_rtl, language_told, printable, printable_lines
from store.document.rich import Block, words_of


@dataclass(frozen=True, slots=True)
class Words:
    """The captions of a sheet."""

    included: str
    to: str
    sender: str
    code: str
    hint: str
    qr: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of somebody's words, whether it is read from right to left, and the language that its letters tell, if any."""

    text: str
    rtl: bool
    language: str


def lines_of(text: str) -> list[Line]:
    """Somebody's words as they can be printed; none where nothing of them can."""
    lines = printable_lines(text)
    return [Line(line, is_rtl(line), language_told(line)) for line in lines.split("\n")] if lines else []


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the small print."""

    title: str
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Look:
    """A shop's name and colours."""

    name: str
    accent: str
    accent_ink: str
    accent_text: str

    @classmethod
    def of(cls, brand: Brand) -> "Look":
        """The look of a brand."""
        return cls(printable(brand.name), brand.accent, brand.accent_ink, brand.accent_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A document, as the template reads it. Texts are as people wrote them; `data` makes them printable."""

    language: str
    title: str
    look: Look
    words: Words
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
    """What the QR code says."""
    validity: str
    mark: str = ""
    """What is stamped on it instead of the QR code; empty: nothing, it can be used."""
    mark_hint: str = ""
    small_print: list[Part] = field(default_factory=list)
    contact: list[str] = field(default_factory=list)

    def data(self) -> dict[str, object]:
        """What the template shows. Sizes follow the length of what is written."""
        name, code = printable(self.name) or self.overline, exact(self.code)
        return {
            "language": self.language,
            "title": exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "name": name,
            "name_size": _size(len(name), (26, 31), (48, 26), (90, 21), smallest=16),
            "facts": self.facts,
            "description": printable(words_of(self.description)),
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
            "contact": [exact(entry) for entry in self.contact],
        }


def _size(length: int, *steps: tuple[int, float], smallest: float) -> float:
    """A size in points: of the first step that is long enough."""
    return next((size for most, size in steps if length <= most), smallest)


def _length(lines: list[Line]) -> int:
    """How many characters wide and high it is: a line that is ended early takes as much room as half a full one."""
    return sum(max(len(line.text), 40) for line in lines)
