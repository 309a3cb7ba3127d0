"""Locks usages with what was used."""

from typing import Any, TypeVar

from sqlmodel import select
from sqlmodel.ext.asyncio.session import AsyncSession

G = TypeVar("G")
U = TypeVar("U")


async def lock_usage_of(db: AsyncSession, goods: type[G], usages: type[U], by: Any, id: int) -> tuple[G, U]:
    """What was used, whose id usages have in the column `by`, and a usage, both locked and read again: the usage last, as
    everywhere.
    """
    tables: tuple[Any, Any] = goods, usages
    used = select(by).where(tables[1].id == id).scalar_subquery()
    return await _locked(db, goods, tables[0].id == used), await _locked(db, usages, tables[1].id == id)


async def _locked(db: AsyncSession, table: type[G], condition: Any) -> G:
    query = select(table).where(condition).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()
