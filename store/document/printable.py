"""Texts that people typed, adapted to the fonts of documents and to line breaking."""

import re
import unicodedata

from store.document.font_coverage import printable_characters

PLACEHOLDER = "\N{WHITE SQUARE}"
"""Replaces a run of characters that no font has."""
JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}\N{VARIATION SELECTOR-16}")
"""Invisible characters that are printed as they are, since they join emoji and letters. Marks of direction are
removed."""
MAX_COMBINING_MARKS = 3
"""Maximum number of combining marks on one letter; more would run over other lines."""
LONGEST_WORD = 24
PIECE_LENGTH = 12
BREAK = "\N{ZERO WIDTH SPACE}"
HYPHEN = "\N{SOFT HYPHEN}"
NO_BREAK_SPACE, NARROW_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
"""Spaces without a line break, such as between a price and its currency. The narrow one is almost invisible in large
letters."""
_LONG = re.compile(rf"[^\s\-–—]{{{LONGEST_WORD + 1},}}")
_SPACES = re.compile(rf"[^\S{NO_BREAK_SPACE}]+")
_PLACEHOLDERS = re.compile(rf"{PLACEHOLDER}(?: ?{PLACEHOLDER})+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")
"""Letters of Thai, Chinese, Japanese and Korean, which have their own rules for line breaks."""
_SCRIPTS = {
    "ar": "\u0600-\u06ff\u0750-\u077f",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "ja": "\u3040-\u30ff",
    "ko": "\u1100-\u11ff\uac00-\ud7ff",
    "th": "\u0e00-\u0e7f",
    "zh": "\u3400-\u9fff\uf900-\ufaff",
}
"""The letters that identify a language, as far as letters can."""
_SCRIPT_PATTERNS = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}


def printable(text: str) -> str:
    """A text in one line: unprintable characters become a square, and very long words can be broken.

    The result is empty if nothing is printable: a row of squares is no name.
    """
    return _breakable(printable_exact(text))


def printable_lines(text: str) -> str:
    """A text with its line ends; several empty lines become one."""
    lines = [printable(line) for line in re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", text)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def printable_exact(text: str) -> str:
    """A text without additional line breaks: a code, or an address that is copied."""
    line = _PLACEHOLDERS.sub(
        PLACEHOLDER, _SPACES.sub(" ", _characters(text.replace(NARROW_NO_BREAK_SPACE, NO_BREAK_SPACE))).strip()
    )
    return line if set(line) - JOINERS - {" ", NO_BREAK_SPACE, PLACEHOLDER} else ""


def is_rtl(text: str) -> bool:
    """True if the first letter with a direction is written from right to left."""
    ways = (unicodedata.bidirectional(character) for character in text)
    return next((way for way in ways if way in {"L", "R", "AL"}), "L") != "L"


def detect_language(text: str) -> str:
    """The language that most letters of a text belong to, for line breaks and reading aloud; empty if there is none.

    Japanese mixes its own letters with Chinese ones, so a single Japanese letter makes the text Japanese.
    """
    counted = {language: len(letters.findall(text)) for language, letters in _SCRIPT_PATTERNS.items()}
    if counted["ja"]:
        counted["ja"] += counted.pop("zh")
    language, most = max(counted.items(), key=lambda pair: pair[1])
    return language if most * 2 > sum(map(str.isalpha, text)) else ""


def _characters(text: str) -> str:
    written: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", text):
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_COMBINING_MARKS:
            written.append(_printable_character(character))
    return "".join(written)


def _printable_character(character: str) -> str:
    """A character as it is printed: itself, an equivalent simpler form, a space, a square, or nothing."""
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
    return "" if unicodedata.combining(character) or _is_variant(character) else PLACEHOLDER


def _is_variant(character: str) -> bool:
    """True for a character that only selects another form of the character before it, which is readable without."""
    return unicodedata.name(character, "").startswith("VARIATION SELECTOR-")


def _breakable(text: str) -> str:
    return _LONG.sub(lambda found: _pieces(found[0]), text)


def _pieces(word: str) -> str:
    """A long word with possible breaks between letters and digits only.

    A break in a word of letters shows a hyphen. In an address or a number, readers would take a hyphen for part of it.
    """
    written, since, sign = "", 0, HYPHEN if word.isalpha() else BREAK
    for before, character in zip(" " + word, word, strict=False):
        if since >= PIECE_LENGTH and before.isalnum() and character.isalnum() and not _UNSPACED.match(character):
            written, since = written + sign, 0
        written, since = written + character, since + 1
    return written
