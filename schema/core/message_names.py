"""Messages that contain names of input fields or enum members, which each transport renders with its own names."""

import enum
from collections.abc import Callable
from typing import Any, Self, TypeAlias

PublishedName: TypeAlias = "FieldName | enum.Enum"


class FieldName(str):
    """The Python name of an input field."""

    __slots__ = ()


class TemplatedMessage(str):  # noqa: SLOT000 - it carries what it is made of
    """A message with names in it. Its own text uses REST's names, which are the Python names.

    `{…}` is filled with the detail of that name; a sequence is rendered as "a, b or c".
    """

    template: str
    details: dict[str, object]

    def __new__(cls, template: str, /, **details: object) -> Self:
        made = super().__new__(cls, _fill_template(template, details, _python_name))
        made.template, made.details = template, details
        return made

    def render(self, name: Callable[[PublishedName], str]) -> str:
        """The message with the names of another transport."""
        return _fill_template(self.template, self.details, name)


def _python_name(name: PublishedName) -> str:
    return str(name.value) if isinstance(name, enum.Enum) else str(name)


def _fill_template(template: str, details: dict[str, object], name: Callable[[PublishedName], str]) -> str:
    return template.format(**{gap: _render_value(value, name) for gap, value in details.items()})


def _render_value(value: Any, name: Callable[[PublishedName], str]) -> Any:
    if isinstance(value, enum.Enum | FieldName):
        return name(value)
    if isinstance(value, tuple | list):
        *first, last = (str(_render_value(one, name)) for one in value)
        return f"{', '.join(first)} or {last}" if first else last
    return value
