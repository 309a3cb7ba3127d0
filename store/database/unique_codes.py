"""Rows with a unique random code."""

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


async def add_with_unique_code(db: AsyncSession, row: HasCode, unique: str) -> None:
    """Insert a row under a random code. `unique` names the constraint that makes codes unique.

    Raises the IntegrityError of any other constraint, and of the last of `MAX_DRAWS` draws.
    """
    for left in reversed(range(MAX_DRAWS)):
        row.code = generate_code()
        row.normal_code = normalize(row.code)
        try:
            async with db.begin_nested():
                db.add(row)
                await db.flush()
        except IntegrityError as error:
            if left == 0 or violated_constraint(error) != unique:
                raise
        else:
            return
