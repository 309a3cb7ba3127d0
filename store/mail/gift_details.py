"""What the document of a voucher or gift card says, in short, for the message that brings it."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from store.document import words
from store.document.rich import TextBlock
from store.document.sheet import Sheet

LONGEST_NOTE = 320
"""The longest text of a note, in characters; the document has all of it."""
MOST_INCLUDED = 6


@dataclass(frozen=True, slots=True)
class GiftDetails:
    """What the document says. It is read when the message is sent and stored with no message."""

    code: str
    """Empty for who may not know it."""
    facts: str
    """Whom it is for and for how long, in one line; empty if that is not told."""
    included: Sequence[str]
    notes: Sequence[tuple[str, str]]
    """How to use it and the conditions: titles and texts."""
    contact: Sequence[str]
    """The address, and how to reach the shop, a line each."""


def gift_details_of(sheet: Sheet, *, has_code: bool) -> GiftDetails:
    """The details of a document, with the code for who may know it. A code that can no longer be used is left out."""
    where = words.translate(sheet.language, words.WHERE_TO_USE)  # the message says it in its own words
    return GiftDetails(
        code=sheet.code if has_code and not sheet.mark else "",
        facts=sheet.facts,
        included=sheet.included[:MOST_INCLUDED],
        notes=[(part.title, _short(part.blocks)) for part in sheet.small_print if part.blocks and part.title != where],
        contact=sheet.contact,
    )


def _short(blocks: Sequence[TextBlock]) -> str:
    """The beginning of a text, in one line."""
    whole = " ".join("".join(run.text for run in block.runs).strip() for block in blocks)
    return textwrap.shorten(whole, LONGEST_NOTE, placeholder=" …")
