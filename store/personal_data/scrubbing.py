"""Takes personal texts out of JSON data."""

import re
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
        self._texts = frozenset(text for text in _fold_texts(texts) if len(text) >= LONG_ENOUGH)
        longest_first = sorted(
            {text for text in _fold_texts(telling) if len(text) >= TELLING_LENGTH}, key=len, reverse=True
        )
        self._telling = [email, *(text for text in longest_first if text != email)][:MOST_NEEDLES]
        self._whole = re.compile("|".join(map(_whole_words, self._telling)))

    @property
    def needles(self) -> Sequence[str]:
        """What records contain, in lower case as it stands in JSON, if they contain a telling text; and some others do."""
        return [orjson.dumps(text).decode()[1:-1].lower() for text in self._telling]

    def is_personal(self, text: str) -> bool:
        """Whether a text is one of them, or contains a telling one that is not a part of another address or number."""
        folded = text.strip().casefold()
        return folded in self._texts or self._whole.search(folded) is not None

    def occur_in(self, value: Any) -> bool:
        """Whether JSON data contain one of them."""
        return bool(self.scrub(value) != value)

    def scrub(self, value: Any, instead: str = "") -> Any:
        """JSON data with something else in the place of these texts."""
        if isinstance(value, str):
            return instead if value and self.is_personal(value) else value
        if isinstance(value, list):
            return [self.scrub(inner, instead) for inner in value]
        if isinstance(value, dict):
            return {key: self.scrub(inner, instead) for key, inner in value.items()}
        return value


def _whole_words(text: str) -> str:
    """A pattern of a text that does not go on before or behind: `n@example.com` is not in `ann@example.com`."""
    return rf"(?<![\w.+%-]){re.escape(text)}(?![\w-]|\.\w)"


def _fold_texts(texts: Iterable[str]) -> Iterable[str]:
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
