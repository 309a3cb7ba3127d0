"""Cleans user text: keeps visible characters, word and line separators, and the joiners of letters and emoji.

It never raises. It removes what cannot be typed (control characters, direction overrides, invisible characters); a text
without visible characters becomes empty.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotated_types import GroupedMetadata
from pydantic import BeforeValidator, StringConstraints

_INVISIBLE = (
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FLAG = r"\U0001f3f4[\U000e0020-\U000e007f]+"
"""The flags of England, Scotland and Wales use tag characters that are invisible elsewhere."""
_VARIANT = r"[\u2e80-\u2fff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\U000e0100-\U000e01ef]"
"""Japanese and Chinese names use variants of a character, marked by a variation selector after it."""
_REMOVED = re.compile(rf"({_FLAG}|{_VARIANT})|[{_INVISIBLE}]")
_UNUSUAL_BREAKS = re.compile(r"[\x0b\x0c\x85\u2028\u2029]")
_BREAKS = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")
_INVISIBLE_ALONE = (
    rf"{_INVISIBLE}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2800\u3164\ufe00-\ufe0f\uffa0"
)
_BLANK = re.compile(rf"[\s{_INVISIBLE_ALONE}]*")
"""Characters that are invisible on their own: joiners, direction marks, fillers, spaces of every width."""
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE_ALONE}]")


def clean_text(text: str) -> str:
    """A cleaned text of several lines; empty if it has no visible character.

    Joiners of letters and emoji, direction marks and soft hyphens stay. A clean text is returned unchanged.
    """
    if _BLANK.fullmatch(text):
        return ""
    return _REMOVED.sub(lambda found: found[1] or "", _UNUSUAL_BREAKS.sub("\n", text))


def strip_invisible(text: str) -> str:
    """The text without joiners, direction marks and other invisible characters; spaces stay. For comparison, not for
    display.
    """
    return _ANY_INVISIBLE.sub("", text)


def clean_line(text: str) -> str:
    """A cleaned text in one line: a space for each run of breaks and tabs, and none at the ends."""
    return clean_text(_BREAKS.sub(" ", text)).strip()


def _clean_if_line(value: Any) -> Any:
    return clean_line(value) if isinstance(value, str) else value


def _clean_if_text(value: Any) -> Any:
    return clean_text(value).strip() if isinstance(value, str) else value


ONE_LINE, MULTILINE = BeforeValidator(_clean_if_line), BeforeValidator(_clean_if_text)
"""Annotate a text in one line or in several, of any length, stripped."""


@dataclass(frozen=True)
class _TextRule(GroupedMetadata):
    """Annotates a text that is cleaned before its length is checked."""

    max_length: int
    min_length: int = 0
    to_lower: bool = False
    multiline: bool = False

    def __iter__(self) -> Iterator[object]:
        yield from StringConstraints(
            min_length=self.min_length or None, max_length=self.max_length, to_lower=self.to_lower or None
        )
        yield MULTILINE if self.multiline else ONE_LINE


def line_up_to(longest: int, *, min_length: int = 0, to_lower: bool = False) -> GroupedMetadata:
    """Annotates a text in one line with a maximum length, cleaned as by `ONE_LINE`; with `to_lower`, in lower case."""
    return _TextRule(longest, min_length, to_lower)


def multiline_up_to(longest: int, *, min_length: int = 0) -> GroupedMetadata:
    """Annotates a text of several lines with a maximum length, stripped."""
    return _TextRule(longest, min_length, multiline=True)
