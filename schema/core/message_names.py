"""Messages with values in them: each transport renders them with its own names, and the back office in its reader's
language.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
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


@dataclass(frozen=True, slots=True)
class MessageAmount:
    """An amount of money in a message."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


def _python_name(name: PublishedName) -> str:
    return str(name.value) if isinstance(name, enum.Enum) else str(name)


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class MessageWording:
    """How a transport words its messages: names of fields and members of enums, amounts, and the language of texts."""

    name: Callable[[PublishedName], str]
    translate: Callable[[str], str] = _unchanged
    """The translation of a text that may have `{…}` in it."""
    money: Callable[[MessageAmount], str] = str

    def word(self, message: str) -> str:
        """The message with these names, in this language."""
        if isinstance(message, TemplatedMessage):
            return message.render(self)
        return self.translate(message)


class TemplatedMessage(str):  # noqa: SLOT000 - it carries what it is made of
    """A message with names or values in it. Its own text uses REST's names, which are the Python names.

    `{…}` is filled with the detail of that name; a sequence is rendered as "a, b or c".
    """

    template: str
    details: dict[str, object]

    def __new__(cls, template: str, /, **details: object) -> Self:
        made = super().__new__(cls, _fill_template(template, details, MessageWording(_python_name)))
        made.template, made.details = template, details
        return made

    def render(self, wording: MessageWording) -> str:
        """The message as another transport words it."""
        return _fill_template(wording.translate(self.template), self.details, wording)


def _fill_template(template: str, details: dict[str, object], wording: MessageWording) -> str:
    values = {
        gap: _translate_detail(value, wording.translate) if gap in TRANSLATED_DETAILS else _render_value(value, wording)
        for gap, value in details.items()
    }
    return template.format(**values)


def _translate_detail(value: Any, translate: Callable[[str], str]) -> str:
    return translate(value) if isinstance(value, str) else " ".join(translate(sentence) for sentence in value)


def _render_value(value: Any, wording: MessageWording) -> Any:
    if isinstance(value, enum.Enum | FieldName):
        return wording.name(value)
    if isinstance(value, MessageAmount):
        return wording.money(value)
    if isinstance(value, tuple | list):
        *first, last = (str(_render_value(one, wording)) for one in value)
        return wording.translate(OR).format(first=", ".join(first), last=last) if first else last
    return value
