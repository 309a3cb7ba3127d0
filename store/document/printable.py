"""Texts of people, as the fonts of documents can print them, and as lines can be broken."""

import re
import unicodedata

from store.document.font_coverage import printable_characters

HOLE = "\N{WHITE SQUARE}"
"""Stands for what no font has, however many characters it is."""
JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}\N{VARIATION SELECTOR-16}")
"""What cannot be seen and does something that is wanted: it joins emoji and letters. What turns lines around is not."""
MARKS = 3
"""Marks above and below one letter; more of them would run over other lines."""
LONGEST_WORD = 24
PIECE = 12
BREAK = "\N{ZERO WIDTH SPACE}"
HYPHEN = "\N{SOFT HYPHEN}"
TIE, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
"""Spaces that hold together what stands on both sides, such as a price and its currency. The narrow one is as good as none in large letters."""
_LONG = re.compile(rf"[^\s\-–—]{{{LONGEST_WORD + 1},}}")
_SPACES = re.compile(rf"[^\S{TIE}]+")
_HOLES = re.compile(rf"{HOLE}(?: ?{HOLE})+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")
"""Letters of Thai, Chinese, Japanese and Korean, whose lines are broken by rules of their own."""
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
"""The letters that tell a language, as far as letters can."""
_TOLD = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}


def printable(text: str) -> str:
    """A text in one line: what cannot be printed stands as a square, very long words can be broken.

    Nothing is left of a text that holds nothing but what cannot be printed: a row of squares says no name.
    """
    return _breakable(exact(text))


def printable_lines(text: str) -> str:
    """A text whose line ends are kept; of empty lines, one at a time."""
    lines = [printable(line) for line in re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", text)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def exact(text: str) -> str:
    """A text that is not broken: a code, an address that is copied."""
    line = _HOLES.sub(HOLE, _SPACES.sub(" ", _characters(text.replace(NARROW, TIE))).strip())
    return line if set(line) - JOINERS - {" ", TIE, HOLE} else ""


def is_rtl(text: str) -> bool:
    """Whether a text is read from right to left, by its first letter that says so."""
    ways = (unicodedata.bidirectional(character) for character in text)
    return next((way for way in ways if way in {"L", "R", "AL"}), "L") != "L"


def language_told(text: str) -> str:
    """The language that a text's letters tell, for breaking lines and reading aloud; empty where most tell none.

    Japanese mixes its own letters with Chinese ones: the few decide.
    """
    counted = {language: len(letters.findall(text)) for language, letters in _TOLD.items()}
    if counted["ja"]:
        counted["ja"] += counted.pop("zh")
    language, most = max(counted.items(), key=lambda pair: pair[1])
    return language if most * 2 > sum(map(str.isalpha, text)) else ""


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
    return "" if unicodedata.combining(character) or _is_variant(character) else HOLE


def _is_variant(character: str) -> bool:
    """Whether it only asks for another form of the character before it, which is readable without."""
    return unicodedata.name(character, "").startswith("VARIATION SELECTOR-")


def _breakable(text: str) -> str:
    return _LONG.sub(lambda found: _pieces(found[0]), text)


def _pieces(word: str) -> str:
    """A long word with places to break it, between letters and digits only: what belongs together stays so.

    A hyphen shows where a word of nothing but letters is broken; in an address or a number it would be taken for one of its own.
    """
    written, since, sign = "", 0, HYPHEN if word.isalpha() else BREAK
    for before, character in zip(" " + word, word, strict=False):
        if since >= PIECE and before.isalnum() and character.isalnum() and not _UNSPACED.match(character):
            written, since = written + sign, 0
        written, since = written + character, since + 1
    return written
