"""What the rows of a table hold in a column that a revision adds: the default of the field in the row class."""

import enum
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate.rewriter import Rewriter
from alembic.operations.ops import AddColumnOp, AlterColumnOp, MigrateOperation

from store.tables import ROW_CLASSES

rewriter = Rewriter()
"""Adds a column that is not nullable with a value for old rows. Without one the revision would fail where rows exist, and
pass the tests of an empty database.
"""


@rewriter.rewrites(AddColumnOp)
def fill_old_rows(_context: Any, _revision: Any, op: AddColumnOp) -> list[MigrateOperation]:
    column, value = op.column, _default(op.table_name, op.column.name)
    if column.nullable or column.server_default is not None or value is None:
        return [op]
    literal = "true" if value is True else "false" if value is False else str(value).replace("'", "''")
    column.server_default = sa.DefaultClause(literal)
    drop = AlterColumnOp(
        op.table_name, column.name, existing_type=column.type, existing_nullable=False, modify_server_default=None
    )
    return [op, drop]


def _default(table: str, column: str) -> str | int | Decimal | None:
    """The default of a field; None if it has none, or none that is a plain value."""
    row = next((row for row in ROW_CLASSES if row.__tablename__ == table), None)
    field = None if row is None else row.model_fields.get(column)
    value = None if field is None else field.default
    value = value.value if isinstance(value, enum.Enum) else value
    return value if isinstance(value, str | int | Decimal) else None
