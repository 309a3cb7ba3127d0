"""What Alembic compares: our own tables, and of them what it can compare."""

from typing import Any

from store.database.text_search import GENERATED_COLUMN, INDEX_SUFFIX
from store.database.views import VIEW
from store.job.rows import ENGINE_TABLE
from store.tables import metadata


def _is_compared(item: Any, name: Any, kind: Any, _reflected: Any, _compared: Any) -> bool:
    info = getattr(item, "info", {})
    searched = info.get("made_by") == GENERATED_COLUMN["made_by"] or (kind == "index" and name.endswith(INDEX_SUFFIX))
    return info not in (ENGINE_TABLE, VIEW) and not searched


COMPARE_OPTIONS: dict[str, Any] = {
    "include_name": lambda name, kind, _parents: kind != "table" or name in metadata.tables,
    "include_object": _is_compared,
}
"""Alembic compares our own tables only. It ignores the job queue's objects, views, and the columns and indexes of text
search, whose expressions it cannot compare."""
