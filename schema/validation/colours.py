"""Colours, `#rrggbb`."""

import re
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from schema.validation.characters import line_up_to

COLOUR = re.compile("#[0-9a-f]{6}")


def _colour(value: str) -> str:
    if not COLOUR.fullmatch(value):
        raise PydanticCustomError("colour", "Send a colour as #rrggbb, such as #1f4e5f.")
    return value


def _colour_or_empty(value: str) -> str:
    return _colour(value) if value else value


Colour = Annotated[str, line_up_to(20, to_lower=True), AfterValidator(_colour)]
OptionalColour = Annotated[str, line_up_to(20, to_lower=True), AfterValidator(_colour_or_empty)]
"""A colour; empty for none."""
