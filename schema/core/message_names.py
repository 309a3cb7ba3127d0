"""Messages that name fields of an input or members of an enum, which each transport calls by its own names."""

import enum
from collections.abc import Callable
from typing import Any, Self, TypeAlias

Name: TypeAlias = "Key | enum.Enum"


class Key(str):
    """The name of a field of an input, as the program has it."""

    __slots__ = ()


class Words(str):  # noqa: SLOT000 - it carries what it is made of
    """A message with names in it. As a text it speaks as REST does, which calls things as the program keeps them.

    `{…}` is filled with what is given by name; of several names all are told, the last after an "or".
    """

    template: str
    details: dict[str, object]

    def __new__(cls, template: str, /, **details: object) -> Self:
        """The words, with their gaps filled."""
        made = super().__new__(cls, _filled(template, details, _kept))
        made.template, made.details = template, details
        return made

    def named(self, name: Callable[[Name], str]) -> str:
        """The same with the names of another transport."""
        return _filled(self.template, self.details, name)


def _kept(name: Name) -> str:
    return str(name.value) if isinstance(name, enum.Enum) else str(name)


def _filled(template: str, details: dict[str, object], name: Callable[[Name], str]) -> str:
    return template.format(**{gap: _said(value, name) for gap, value in details.items()})


def _said(value: Any, name: Callable[[Name], str]) -> Any:
    if isinstance(value, enum.Enum | Key):
        return name(value)
    if isinstance(value, tuple | list):
        *first, last = (str(_said(one, name)) for one in value)
        return f"{', '.join(first)} or {last}" if first else last
    return value
