"""What may stand in a text that people write: what can be seen, what parts words and lines, what joins letters and emoji.

Nothing is refused here. What no keyboard types (control characters, what turns lines around, what is only there not to be
seen) is left out, and a text of which nothing could be seen is empty.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotated_types import GroupedMetadata
from pydantic import BeforeValidator, StringConstraints

_UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What no database and no encoding takes: the null character, and halves of surrogate pairs."""
_FLAG = r"\U0001f3f4[\U000e0020-\U000e007f]+"
"""The flags of England, Scotland and Wales are spelt with letters that are seen nowhere else."""
_VARIANT = r"[\u2e80-\u2fff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\U000e0100-\U000e01ef]"
"""Japanese and Chinese names are written with variants of a character, which a selector behind it tells."""
_LEFT_OUT = re.compile(rf"({_FLAG}|{_VARIANT})|[{_UNSEEN}]")
_OTHER_BREAKS = re.compile(r"[\x0b\x0c\x85\u2028\u2029]")
_BREAKS = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")
_ALONE_UNSEEN = (
    rf"{_UNSEEN}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2800\u3164\ufe00-\ufe0f\uffa0"
)
_NOTHING = re.compile(rf"[\s{_ALONE_UNSEEN}]*")
"""What nothing is seen of where it stands alone: joiners, marks of direction, fillers, blanks of every width."""
_EVERYTHING_UNSEEN = re.compile(f"[{_ALONE_UNSEEN}]")


def in_lines(text: str) -> str:
    """A text with what may stand in it, its line breaks among that; empty where nothing of it could be seen.

    What joins letters and emoji stays, as do marks of direction and places to hyphenate. What is right is answered as it is.
    """
    if _NOTHING.fullmatch(text):
        return ""
    return _LEFT_OUT.sub(lambda found: found[1] or "", _OTHER_BREAKS.sub("\n", text))


def without_unseen(text: str) -> str:
    """A text without what joins or turns its letters and is not seen itself; blanks stay. Not to be shown."""
    return _EVERYTHING_UNSEEN.sub("", text)


def in_one_line(text: str) -> str:
    """The same in one line, with a blank for each run of breaks and tabs, and none at the ends."""
    return in_lines(_BREAKS.sub(" ", text)).strip()


def _line(sent: Any) -> Any:
    return in_one_line(sent) if isinstance(sent, str) else sent


def _lines(sent: Any) -> Any:
    return in_lines(sent).strip() if isinstance(sent, str) else sent


ONE_LINE, LINES = BeforeValidator(_line), BeforeValidator(_lines)
"""Annotate a text in one line or in several, of any length, without blanks at its ends."""


@dataclass(frozen=True)
class _Written(GroupedMetadata):
    """Annotates a text: cleaned first, then measured."""

    longest: int
    shortest: int = 0
    lower: bool = False
    breaks: bool = False

    def __iter__(self) -> Iterator[object]:
        yield from StringConstraints(
            min_length=self.shortest or None, max_length=self.longest, to_lower=self.lower or None
        )
        yield LINES if self.breaks else ONE_LINE


def up_to(longest: int, *, least: int = 0, lower: bool = False) -> GroupedMetadata:
    """Annotates a text in one line, of at most so many characters, `in_one_line`; where `lower`, in lower case."""
    return _Written(longest, least, lower)


def lines_up_to(longest: int, *, least: int = 0) -> GroupedMetadata:
    """Annotates a text in lines, of at most so many characters, without blanks at its ends."""
    return _Written(longest, least, breaks=True)
