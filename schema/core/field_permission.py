"""Field-level permissions."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldPermission:
    """Limits a field to callers who have a permission and may see the row's owner, whichever relation leads to the
    row.
    """

    permission: str
    owner_columns: tuple[()] | tuple[str] | tuple[str, str] = ("partner_id", "marketplace_id")
    """The columns of the row's partner and of that partner's marketplace. One column: that of a marketplace, and no partner
    sees the field. Empty: any caller who reaches the row.
    """

    def owner_of(self, row: Any) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in self.owner_columns)
