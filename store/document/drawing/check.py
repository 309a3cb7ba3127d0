"""Checks a drawing (SVG) of a stranger before it is drawn: it must be small, whole, and refer to nothing outside itself."""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from schema.core.message_names import TemplatedMessage
from store.media.images import InvalidPicture

MAX_BYTES = 1_000_000
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
MAX_RATIO = 20
"""How many times longer than the other a side may be."""
NAMESPACE = "http://www.w3.org/2000/svg"
MAX_NAMESPACE = 1_000
"""The most characters of a namespace. The parser writes it before each name."""
EMBEDDED = re.compile(r"\s*data:image/(png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
"""A picture within the drawing. It may not be a drawing itself."""
ENCODINGS = frozenset({None, "utf-8", "us-ascii", "ascii"})
MAX_LENGTH = 32
"""The most characters of a length."""
LENGTH = re.compile(r"\s*((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in)?\s*")
UNITS = {"": 1, "px": 1, "pt": 4 / 3, "pc": 16, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96}
"""CSS pixels of a unit."""
SHORTEST, LONGEST = 1e-6, 1e6
"""The range of a side in CSS pixels."""


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
        raise InvalidPicture(
            TemplatedMessage("This SVG is too large: at most {most} kB.", most=f"{MAX_BYTES // 1000:,}")
        )
    reader = _SvgReader()
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.XmlDeclHandler = reader.check_encoding
    parser.StartDoctypeDeclHandler = reader.check_document_type
    parser.StartNamespaceDeclHandler = reader.check_namespace
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(content, True)
    except InvalidPicture:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise InvalidPicture(TemplatedMessage("This SVG is damaged: {error}.", error=str(error)[:200])) from error
    if reader.size is None:
        raise InvalidPicture("This SVG has no size: give it a `viewBox`, or a width and a height.")
    width, height = reader.size.width, reader.size.height
    if not SHORTEST <= min(width, height) <= max(width, height) <= LONGEST:
        raise InvalidPicture("This SVG is too large or too small: give it a width and a height of some hundred pixels.")
    if max(width, height) > MAX_RATIO * min(width, height):
        raise InvalidPicture(
            TemplatedMessage(
                "This SVG is too narrow: a side may be at most {most} times as long as the other.", most=MAX_RATIO
            )
        )
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
            for attribute, value in attributes.items():
                if attribute.rpartition(" ")[2] == "href":  # the renderer knows it in several namespaces
                    _check_reference(value)

    def end(self, _name: str) -> None:
        self.depth -= 1

    def check_encoding(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if (encoding and encoding.lower()) not in ENCODINGS:
            raise InvalidPicture("This SVG is in another encoding than UTF-8: save it as UTF-8.")

    def check_document_type(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        """Refuse declarations within the file: entities and defaults of attributes make much of a small file."""
        if has_subset:
            raise InvalidPicture("This SVG declares entities or attributes: save it as plain SVG.")

    def check_namespace(self, _prefix: str | None, uri: str | None) -> None:
        if len(uri or "") > MAX_NAMESPACE:
            raise InvalidPicture("This SVG has a namespace that is too long: save it as plain SVG.")


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
    found = LENGTH.fullmatch(length) if len(length) <= MAX_LENGTH else None
    return float(found[1]) * UNITS[found[2] or ""] if found else 0.0
