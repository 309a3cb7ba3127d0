"""Messages with values in them: each transport renders them with its own names, and the back office in its reader's
language.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

PublishedName: TypeAlias = "FieldName | enum.Enum"
TRANSLATED_DETAILS = frozenset({"missing", "thing", "what"})
"""Names of details that are texts of a message's language, such as "gift card", or several sentences."""
OR = "{first} or {last}"
WORDS = "words"
"""The key of a validation error's context with its message."""


class FieldName(str):
    """The Python name of an input field."""

    __slots__ = ()


def _python_name(name: PublishedName) -> str:
    return str(name.value) if isinstance(name, enum.Enum) else str(name)


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class MessageWording:
    """How a transport words its messages: names of fields and members of enums, and the language of texts."""

    name: Callable[[PublishedName], str]
    translate: Callable[[str], str] = _unchanged
    """The translation of a text that may have `{…}` in it."""

    def word(self, message: str) -> str:
        """The message with these names, in this language."""
        if isinstance(message, TemplatedMessage):
            return message.render(self.name, self.translate)
        return self.translate(message)


class TemplatedMessage(str):  # noqa: SLOT000 - it carries what it is made of
    """A message with names or values in it. Its own text uses REST's names, which are the Python names.

    `{…}` is filled with the detail of that name; a sequence is rendered as "a, b or c".
    """

    template: str
    details: dict[str, object]

    def __new__(cls, template: str, /, **details: object) -> Self:
        made = super().__new__(cls, _fill_template(template, details, _python_name, _unchanged))
        made.template, made.details = template, details
        return made

    def render(self, name: Callable[[PublishedName], str], translate: Callable[[str], str] = _unchanged) -> str:
        """The message with the names of another transport, and in another language."""
        return _fill_template(translate(self.template), self.details, name, translate)


def _fill_template(
    template: str, details: dict[str, object], name: Callable[[PublishedName], str], translate: Callable[[str], str]
) -> str:
    values = {
        gap: _translate_detail(value, translate) if gap in TRANSLATED_DETAILS else _render_value(value, name, translate)
        for gap, value in details.items()
    }
    return template.format(**values)


def _translate_detail(value: Any, translate: Callable[[str], str]) -> str:
    return translate(value) if isinstance(value, str) else " ".join(translate(sentence) for sentence in value)


def _render_value(value: Any, name: Callable[[PublishedName], str], translate: Callable[[str], str]) -> Any:
    if isinstance(value, enum.Enum | FieldName):
        return name(value)
    if isinstance(value, tuple | list):
        *first, last = (str(_render_value(one, name, translate)) for one in value)
        return translate(OR).format(first=", ".join(first), last=last) if first else last
    return value
