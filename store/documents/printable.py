"""Texts of people, as the fonts of documents can print them, and as lines can be broken."""

import re
import unicodedata

from store.documents.glyphs import printable_characters

HOLE = "\N{WHITE SQUARE}"
"""Stands for what no font has."""
JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}\N{VARIATION SELECTOR-16}")
"""What cannot be seen and does something that is wanted: it joins emoji and letters. What turns lines around is not."""
MARKS = 3
"""Marks above and below one letter; more of them would run over other lines."""
LONGEST_WORD = 24
PIECE = 12
BREAK = "\N{ZERO WIDTH SPACE}"
_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def printable(text: str) -> str:
    """A text in one line: what cannot be printed stands as a square, very long words can be broken."""
    return _breakable(exact(text))


def printable_lines(text: str) -> str:
    """A text whose line ends are kept; of empty lines, one at a time."""
    lines = [printable(line) for line in re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", text)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def exact(text: str) -> str:
    """A text that is not broken: a code, an address that is copied."""
    line = " ".join(_characters(text).split())
    return line if set(line) - JOINERS - {" "} else ""


def is_rtl(text: str) -> bool:
    """Whether a text is read from right to left, by its first letter that says so."""
    ways = (unicodedata.bidirectional(character) for character in text)
    return next((way for way in ways if way in {"L", "R", "AL"}), "L") != "L"


def _characters(text: str) -> str:
    written: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", text):
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MARKS:
            written.append(_printed(character))
    return "".join(written)


def _printed(character: str) -> str:
    """A character as it is printed: itself, something simpler that means the same, a space, a square, or nothing."""
    if character in JOINERS:
        return character
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cf" | "Cs" | "Co" | "Cn":
            return ""
    fonts = printable_characters()
    if ord(character) in fonts:
        return character
    simpler = unicodedata.normalize("NFKD", character)
    if all(ord(part) in fonts for part in simpler):
        return simpler
    return "" if unicodedata.combining(character) else HOLE


def _breakable(text: str) -> str:
    return _LONG.sub(lambda found: _pieces(found[0]), text)


def _pieces(word: str) -> str:
    """A long word with places to break it, between letters and digits only: what belongs together stays so."""
    written, since = "", 0
    for before, character in zip(" " + word, word, strict=False):
        if since >= PIECE and before.isalnum() and character.isalnum():
            written, since = written + BREAK, 0
        written, since = written + character, since + 1
    return written
