"""Converts the names of GraphQL to those of REST."""

import re

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def in_snake_case(text: str) -> str:
    """A name, or a text with its names, in snake case: `funnel_url` for `funnelUrl`."""
    return _HUMP.sub(lambda hump: f"_{hump[1].lower()}", text)
