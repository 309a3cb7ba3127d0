"""Takes personal texts out of JSON data."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import orjson

LONG_ENOUGH = 2
"""Shorter texts, such as an initial, are no reason to change anything elsewhere."""
TELLING_LENGTH = 6
"""Shorter texts find no records; they are erased only from records that were found."""
MOST_NEEDLES = 50


class PersonalTexts:
    """The texts that were erased of a person: they are erased elsewhere too, whatever their case.

    `telling` are those that find records: no name, and no place, which other people share.
    """

    def __init__(self, email: str, texts: Iterable[str] = (), telling: Iterable[str] = ()) -> None:
        self._texts = frozenset(text for text in _folded(texts) if len(text) >= LONG_ENOUGH)
        longest_first = sorted(
            {text for text in _folded(telling) if len(text) >= TELLING_LENGTH}, key=len, reverse=True
        )
        self._telling = [email, *(text for text in longest_first if text != email)][:MOST_NEEDLES]

    @property
    def needles(self) -> Sequence[str]:
        """The texts that find records, in lower case, as they stand in JSON."""
        return [orjson.dumps(text).decode()[1:-1].lower() for text in self._telling]

    def is_personal(self, text: str) -> bool:
        """Whether a text is one of them, or contains one that is telling."""
        folded = text.strip().casefold()
        return folded in self._texts or any(text in folded for text in self._telling)

    def scrub(self, value: Any, instead: str = "") -> Any:
        """JSON data with something else in the place of these texts."""
        if isinstance(value, str):
            return instead if value and self.is_personal(value) else value
        if isinstance(value, list):
            return [self.scrub(inner, instead) for inner in value]
        if isinstance(value, dict):
            return {key: self.scrub(inner, instead) for key, inner in value.items()}
        return value


def _folded(texts: Iterable[str]) -> Iterable[str]:
    return (text.strip().casefold() for text in texts)


def mask_fields(value: Any, names: Collection[str], instead: str) -> Any:
    """JSON data in which the texts under these names are replaced, at any depth."""
    if isinstance(value, dict):
        return {
            key: _masked(inner, instead) if key in names else mask_fields(inner, names, instead)
            for key, inner in value.items()
        }
    return [mask_fields(inner, names, instead) for inner in value] if isinstance(value, list) else value


def _masked(value: Any, instead: str) -> Any:
    """Everything in a value that is a text, replaced."""
    if isinstance(value, dict):
        return {key: _masked(inner, instead) for key, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, instead) for inner in value]
    return instead if isinstance(value, str) and value else value
