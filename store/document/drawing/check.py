"""Checks a drawing (SVG) of a stranger before it is drawn: it must be small, whole, and refer to nothing outside itself."""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from store.media.images import InvalidPicture

MAX_BYTES = 1_000_000
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
MAX_RATIO = 20
"""How many times longer than the other a side may be."""
NAMESPACE = "http://www.w3.org/2000/svg"
REFERENCES = frozenset({"href", "http://www.w3.org/1999/xlink href"})
EMBEDDED = re.compile(r"\s*data:image/(png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
"""A picture within the drawing. It may not be a drawing itself."""
LENGTH = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*")
UNITS = {"": 1, "px": 1, "pt": 4 / 3, "pc": 16, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96}
"""CSS pixels of a unit."""


@dataclass(frozen=True, slots=True)
class DrawingSize:
    """The size of a drawing in CSS pixels. Only the ratio means something."""

    width: float
    height: float


def check_drawing(content: bytes) -> DrawingSize:
    """The size of a drawing. Raises InvalidPicture if it is no whole SVG, too large, or refers to something outside.

    Scripts and animations stay in it: who draws it executes nothing.
    """
    if len(content) > MAX_BYTES:
        raise InvalidPicture(f"This SVG is too large: at most {MAX_BYTES // 1000:,} kB.")
    reader = _SvgReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.EntityDeclHandler = reader.refuse_entity
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InvalidPicture(f"This SVG is damaged: {error}.") from error
    if reader.size is None:
        raise InvalidPicture("This SVG has no size: give it a `viewBox`, or a width and a height.")
    width, height = reader.size.width, reader.size.height
    if max(width, height) > MAX_RATIO * min(width, height):
        raise InvalidPicture(f"This SVG is too narrow: a side may be at most {MAX_RATIO} times as long as the other.")
    return reader.size


@dataclass(slots=True)
class _SvgReader:
    """What is found while a drawing is read."""

    size: DrawingSize | None = None
    depth: int = 0
    elements: int = field(default=0)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        if self.elements == 0:
            if (namespace, local) != (NAMESPACE, "svg"):
                raise InvalidPicture("This file is no SVG: its first element is no `svg` of the SVG namespace.")
            self.size = _size_of(attributes)
        self.elements += 1
        self.depth += 1
        if self.elements > MAX_ELEMENTS or self.depth > MAX_DEPTH:
            raise InvalidPicture("This SVG is too complex: simplify it.")
        if local != "a":
            for reference in REFERENCES & attributes.keys():
                _check_reference(attributes[reference])

    def end(self, _name: str) -> None:
        self.depth -= 1

    def refuse_entity(self, *_declared: object) -> None:
        raise InvalidPicture("This SVG declares entities: save it as plain SVG.")


def _check_reference(target: str) -> None:
    if not target.strip().startswith("#") and not EMBEDDED.match(target):
        raise InvalidPicture("This SVG refers to another file: embed it, or remove it.")


def _size_of(attributes: dict[str, str]) -> DrawingSize | None:
    """The size that an `svg` element has; None if it has none."""
    sides = [_pixels(attributes.get(name, "")) for name in ("width", "height")]
    if not all(sides):
        numbers = attributes.get("viewBox", "").replace(",", " ").split()
        sides = [_pixels(number) for number in numbers[2:]] if len(numbers) == 4 else []
    return DrawingSize(*sides) if len(sides) == 2 and all(sides) else None


def _pixels(length: str) -> float:
    """A length in CSS pixels; 0 if it is none, or relative to something."""
    found = LENGTH.fullmatch(length)
    return float(found[1]) * UNITS[found[2] or ""] if found else 0.0
