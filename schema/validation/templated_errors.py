"""Validation errors whose messages have values in them, and which keep the template of the message."""

from typing import LiteralString

from pydantic_core import PydanticCustomError

TEMPLATE = "template"
"""The key of an error's context with the template."""


def templated_error(kind: LiteralString, template: LiteralString, **details: object) -> PydanticCustomError:
    """A validation error of a type of our own; `{…}` in the template are filled with the details of that name."""
    return PydanticCustomError(kind, template, {**details, TEMPLATE: template})
