"""Text search: a term anywhere in a text, whatever the case and the accents, with an index of trigrams.

The database generates a normalized copy of each searched text (`search_text`) in a column such as
`voucher.gifter_text`. One index per table holds the trigrams of all these columns, each after the letter of its column:
`gada`, `nspa`. No extension of PostgreSQL is needed. See docs/decisions/search.md.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, Computed, String, Table, Text, and_, func, literal_column
from sqlalchemy.dialects.postgresql import ARRAY

from store.database.statement_cache import Condition

MIN_TERM_LENGTH = 3
"""Shorter terms have no trigrams: they are searched along the list's own index."""
GENERATED_COLUMN = {"made_by": "the database"}
"""Marks generated columns: a revision creates them, and the program never writes them."""
INDEX_SUFFIX = "_search_idx"
TRIGRAM_LETTER = "letter"
_ACCENTS = re.compile("[\u0300-\u036f]")


def declare_searchable(table: Table, texts: Mapping[str, tuple[str, str]]) -> None:
    """Declare the searched texts of a table: column -> the letter of its trigrams, and the SQL that generates it.

    A revision creates the columns and the index over `trigrams_sql_of` the table. Rows do not have them as attributes.
    """
    for name, (letter, expression) in texts.items():
        column = Column(name, Text, Computed(expression, persisted=True), nullable=False)
        column.info = {**GENERATED_COLUMN, TRIGRAM_LETTER: letter}
        table.append_column(column)


def trigrams_sql_of(table: Table) -> str:
    """The SQL of all trigrams of a row, exactly as in the index."""
    own = [column for column in table.c if is_searchable(column)]
    return " || ".join(f"search_grams('{column.info[TRIGRAM_LETTER]}', {table.name}.{column.name})" for column in own)


def is_searchable(column: Column[Any]) -> bool:
    """True if `declare_searchable` declared the column."""
    return TRIGRAM_LETTER in column.info


def contains(column: Column[Any], term: str) -> Condition:
    """The condition that a searched column contains a term."""

    def exactly(tested: Any, pattern: Any) -> ColumnElement[bool]:
        condition: ColumnElement[bool] = tested.like(normalized_sql(pattern), escape="\\")
        return condition

    def along(tested: Any, pattern: Any, searched: Any) -> ColumnElement[bool]:
        letter: ColumnElement[str] = literal_column(f"'{column.info[TRIGRAM_LETTER]}'")
        grams: ColumnElement[Any] = literal_column(f"({trigrams_sql_of(column.table)})", ARRAY(Text))
        return and_(grams.contains(func.search_grams(letter, normalized_sql(searched))), exactly(tested, pattern))

    walked = Condition.on_column(column, "containing", (like_pattern(term),), (String(),), exactly)
    if not _has_trigrams(term):
        return walked
    return Condition.on_column(column, "searched", (like_pattern(term), term), (String(), Text()), along, walked)


def normalized_sql(text: Any) -> ColumnElement[str]:
    """A text as it is searched: in lower case, without accents, with ss for ß and ae for æ."""
    expression: ColumnElement[str] = func.search_text(text)
    return expression


def like_pattern(term: str) -> str:
    """The LIKE pattern for texts that contain a term.

    A term of accents only gets the empty pattern: searched texts have none.
    """
    if term and not _without_accents(term):
        return ""
    escaped = term.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _has_trigrams(term: str) -> bool:
    """True if a term has trigrams: accents have none of their own, and trigrams do not cross lines."""
    term = _without_accents(term)
    return any("\n" not in term[at : at + MIN_TERM_LENGTH] for at in range(len(term) - MIN_TERM_LENGTH + 1))


def _without_accents(term: str) -> str:
    letters = (letter for letter in unicodedata.normalize("NFD", term) if not _ACCENTS.fullmatch(letter))
    return unicodedata.normalize("NFC", "".join(letters))
