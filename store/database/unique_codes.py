"""Rows with a unique random code."""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.codes import generate_code, normalize
from store.database.db import violated_constraint

MAX_DRAWS = 5
"""Maximum number of codes drawn for one row. Even a second one is hardly ever needed."""


class HasCode(Protocol):
    """A row with a code, as it is printed and as it is compared."""

    code: str
    normal_code: str


async def add_with_unique_codes(db: AsyncSession, rows: Sequence[HasCode], unique: str) -> None:
    """Insert rows in their order, those without a code under a random one. `unique` names the constraint that makes codes
    unique.

    Raises the IntegrityError of any other constraint, of a code that a row had, and of the last of `MAX_DRAWS` draws.
    """
    without = [row for row in rows if not row.code]
    for left in reversed(range(MAX_DRAWS if without else 1)):
        for row in without:
            row.code = generate_code()
            row.normal_code = normalize(row.code)
        try:
            async with db.begin_nested():
                db.add_all(rows)
                await db.flush()
        except IntegrityError as error:
            if left == 0 or violated_constraint(error) != unique:
                raise
        else:
            return
