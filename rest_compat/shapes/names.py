"""Names of the graph as REST writes them."""

import re

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def in_snake_case(text: str) -> str:
    """A name, or a text with names, in snake case: `funnel_url` for `funnelUrl`."""
    return _HUMP.sub(lambda hump: f"_{hump[1].lower()}", text)
