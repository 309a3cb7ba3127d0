"""What is found by a code of its own, written under one that nobody has."""

from typing import Protocol

from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.codes import draw, normal
from store.core.constraints import broken

DRAWS = 5
"""How often a code is drawn before a row is given up: of so many codes that even a second draw is hardly ever needed."""


class Coded(Protocol):
    """A row with a code, as it is printed and as it is matched."""

    code: str
    normal_code: str


async def add_with_fresh_code(db: AsyncSession, row: Coded, unique: str) -> None:
    """Put a row into the database under a code drawn for it. `unique` is the constraint that lets nobody else have it."""
    for left in reversed(range(DRAWS)):
        row.code = draw()
        row.normal_code = normal(row.code)
        try:
            async with db.begin_nested():
                db.add(row)
                await db.flush()
        except IntegrityError as error:
            if left == 0 or broken(error) != unique:
                raise
        else:
            return
