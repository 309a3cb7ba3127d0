"""Searching texts that people type: anywhere in a text, whatever the case and the accents, along an index of trigrams.

What is searched of a row is kept without either (`search_text`) in columns that the database makes by itself (`voucher.gifter_text`), and one
index of a table holds the trigrams of all of them, each behind the letter of its column: `gada`, `nspa`. It takes what every
PostgreSQL has. See docs/decisions/search.md.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, Computed, String, Table, Text, and_, func, literal_column
from sqlalchemy.dialects.postgresql import ARRAY

from store.database.statement_cache import Condition

SHORTEST = 3
"""Of shorter terms there are no trigrams: they are looked for along the list's own index."""
BY_THE_DATABASE = {"made_by": "the database"}
"""Marks what the database makes: it is made by a revision, and never written."""
INDEX_SUFFIX = "_search_idx"
LETTER = "letter"
_ACCENTS = re.compile("[\u0300-\u036f]")


def searched(kept: Table, texts: Mapping[str, tuple[str, str]]) -> None:
    """Declare what is searched of a table: column -> the letter of its trigrams, and the SQL that makes it.

    A revision makes the columns and the index over `grams_of` the table. Rows do not have them as attributes.
    """
    for name, (letter, made) in texts.items():
        column = Column(name, Text, Computed(made, persisted=True), nullable=False)
        column.info = {**BY_THE_DATABASE, LETTER: letter}
        kept.append_column(column)


def grams_of(kept: Table) -> str:
    """The SQL of all trigrams of a row, as the index has it."""
    own = [column for column in kept.c if is_searched(column)]
    return " || ".join(f"search_grams('{column.info[LETTER]}', {kept.name}.{column.name})" for column in own)


def is_searched(column: Column[Any]) -> bool:
    """Whether a column was declared to be searched."""
    return LETTER in column.info


def containing(column: Column[Any], term: str) -> Condition:
    """Whether a searched column contains a term."""

    def exactly(tested: Any, pattern: Any) -> ColumnElement[bool]:
        found: ColumnElement[bool] = tested.like(plain(pattern), escape="\\")
        return found

    def along(tested: Any, pattern: Any, searched: Any) -> ColumnElement[bool]:
        letter: ColumnElement[str] = literal_column(f"'{column.info[LETTER]}'")
        grams: ColumnElement[Any] = literal_column(f"({grams_of(column.table)})", ARRAY(Text))
        return and_(grams.contains(func.search_grams(letter, plain(searched))), exactly(tested, pattern))

    walked = Condition.on(column, "containing", (somewhere(term),), (String(),), exactly)
    if not _has_grams(term):
        return walked
    return Condition.on(column, "searched", (somewhere(term), term), (String(), Text()), along, walked)


def plain(text: Any) -> ColumnElement[str]:
    """A text as it is searched: in lower case, without accents, with ss for ß and ae for æ."""
    found: ColumnElement[str] = func.search_text(text)
    return found


def somewhere(term: str) -> str:
    """The pattern of texts that hold this; of nothing but accents, which are in no text that is searched, that of none."""
    if term and not _bare(term):
        return ""
    escaped = term.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _has_grams(term: str) -> bool:
    """Whether a term has trigrams: accents have none of their own, and trigrams do not cross lines."""
    term = _bare(term)
    return any("\n" not in term[at : at + SHORTEST] for at in range(len(term) - SHORTEST + 1))


def _bare(term: str) -> str:
    letters = (letter for letter in unicodedata.normalize("NFD", term) if not _ACCENTS.fullmatch(letter))
    return unicodedata.normalize("NFC", "".join(letters))
