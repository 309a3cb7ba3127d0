"""Takes personal texts out of JSON data."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import orjson

LONG_ENOUGH = 2
"""Shorter texts, such as an initial, are no reason to change anything elsewhere."""


class PersonalTexts:
    """The texts that were erased of a person: they are erased from records about the person too, whatever their case.

    Only the e-mail address finds records: other people have the same names, towns and messages.
    """

    def __init__(self, email: str, texts: Iterable[str] = ()) -> None:
        self._texts = frozenset(text for text in (email, *map(_fold, texts)) if len(text) >= LONG_ENOUGH)
        self._email = re.compile(_whole_words(email))
        self.needle = in_json(email)
        """What the JSON of a record contains, in lower case, if it has the address; and of some that have a longer one."""

    @property
    def needles(self) -> Sequence[str]:
        """All texts as they stand in JSON, in lower case."""
        return sorted(map(in_json, self._texts))

    def has_email(self, value: Any) -> bool:
        """Whether JSON data contain the address, not as a part of another one."""
        if isinstance(value, str):
            return self._email.search(_fold(value)) is not None
        if isinstance(value, list):
            return any(map(self.has_email, value))
        return isinstance(value, dict) and any(map(self.has_email, value.values()))

    def is_personal(self, text: str) -> bool:
        """Whether a text is one of them, or contains the address."""
        return self.is_own(text) or self.has_email(text)

    def occur_in(self, value: Any) -> bool:
        """Whether JSON data contain one of them."""
        return bool(self.scrub(value) != value)

    def keep(self, value: Any, instead: str) -> Any:
        """JSON data with something else in the place of all texts but these."""
        if isinstance(value, str):
            return value if not value or self.is_own(value) else instead
        if isinstance(value, list):
            return [self.keep(inner, instead) for inner in value]
        if isinstance(value, dict):
            return {key: self.keep(inner, instead) for key, inner in value.items()}
        return value if value is None or isinstance(value, bool) else instead

    def is_own(self, text: str) -> bool:
        """Whether a text is one of them, as a whole."""
        return _fold(text) in self._texts

    def scrub_found(self, value: Any, instead: str = "") -> Any:
        """As `scrub`, of a record that only the address has led to: in a list in which some have the address, the others are
        other people.
        """
        if isinstance(value, list):
            has = [self.has_email(inner) for inner in value]
            return [
                self.scrub_found(inner, instead) if one or not any(has) else inner
                for inner, one in zip(value, has, strict=True)
            ]
        if isinstance(value, dict):
            return {key: self.scrub_found(inner, instead) for key, inner in value.items()}
        return self.scrub(value, instead)

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


def _fold(text: str) -> str:
    """As PostgreSQL's `lower` does."""
    return text.strip().lower()


def in_json(text: str) -> str:
    """A text as it stands in JSON."""
    return orjson.dumps(text).decode()[1:-1]


def mask_fields(value: Any, names: Collection[str], instead: str, but: Collection[str] = ()) -> Any:
    """JSON data in which the texts under these names are replaced, at any depth; what is under the names in `but` stays."""
    if isinstance(value, list):
        return [mask_fields(inner, names, instead, but) for inner in value]
    if not isinstance(value, dict):
        return value
    masked = dict(value)
    for key, inner in value.items():
        if key not in but:
            masked[key] = _masked(inner, instead) if key in names else mask_fields(inner, names, instead, but)
    return masked


def _masked(value: Any, instead: str) -> Any:
    """Everything in a value that is a text, replaced."""
    if isinstance(value, dict):
        return {key: _masked(inner, instead) for key, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, instead) for inner in value]
    return instead if isinstance(value, str) and value else value
