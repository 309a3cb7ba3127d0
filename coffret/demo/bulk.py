"""Copies many rows at once. The caller runs it in a transaction."""

from collections.abc import Iterable, Mapping
from typing import Any

import asyncpg
from pydantic_core import PydanticUndefined
from sqlmodel import SQLModel

IDS = "SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2::int)"
Row = Mapping[str, Any]


async def next_ids(db: asyncpg.Connection, table: str, count: int) -> list[int]:
    return [row[0] for row in await db.fetch(IDS, table, count)]


async def copy_rows(db: asyncpg.Connection, kind: type[SQLModel], rows: Iterable[Row]) -> None:
    """Copy rows, with their column defaults. Raises KeyError for a missing column without a default."""
    table = SQLModel.metadata.tables[str(kind.__tablename__)]
    names = [column.name for column in table.c if column.computed is None]
    fields = kind.model_fields
    usual = {
        name: fields[name].default for name in names if name in fields and fields[name].default is not PydanticUndefined
    }
    records = [tuple(map({**usual, **row}.__getitem__, names)) for row in rows]
    await db.copy_records_to_table(table.name, records=records, columns=names)


def columns_of(row: SQLModel) -> Row:
    """What a row has in its columns, for `copy_rows`."""
    table = SQLModel.metadata.tables[str(row.__tablename__)]
    return {column.name: getattr(row, column.name) for column in table.c if column.computed is None}
