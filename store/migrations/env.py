"""The environment that Alembic runs. `store.migrations.alembic_runs` passes the connection; there is no ini file."""

from typing import Any, Literal

import sqlalchemy as sa
from alembic import context
from sqlmodel.sql.sqltypes import AutoString

from schema.core.text import TextColumn
from store.migrations.tables import COMPARE_OPTIONS
from store.tables import metadata


def plain(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Render plain database types in revisions, so that they still run after our own types have moved."""
    if kind == "type":
        if isinstance(item, TextColumn):
            return "postgresql.JSONB()"
        if isinstance(item, AutoString | sa.Enum):
            return f"sa.String({item.length or ''})"
        if isinstance(item, sa.ARRAY) and isinstance(item.item_type, sa.Enum):
            return f"postgresql.ARRAY(sa.String({item.item_type.length}))"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_item=plain,
    transaction_per_migration=True,  # the locks of one revision are free before the next one waits for its own
    **COMPARE_OPTIONS,
)
with context.begin_transaction():
    context.run_migrations()
