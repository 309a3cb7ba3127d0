"""Texts in CSV files that people open in a spreadsheet."""

from typing import Final

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins with one of these would be a formula."""


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: such a text begins with an apostrophe."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
