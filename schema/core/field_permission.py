"""Field-level permissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

NOBODY: Final = "nobody"
ANYBODY: Final = "anybody"


@dataclass(frozen=True)
class FieldPermission:
    """Limits a field to callers who have a permission and may see the row's owner, whichever relation leads to the
    row.
    """

    permission: str | None
    """None: the field needs no permission of its own. REST then shows it through relations too: null where hidden."""
    owner_columns: tuple[()] | tuple[str, str] = ("partner_id", "marketplace_id")
    """The columns of the row's partner and of that partner's marketplace. Empty: any caller who reaches the row. Instead of
    the partner's, NOBODY: no user of a partner. Instead of the marketplace's, ANYBODY: each user of a marketplace who
    reaches the row.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The owner columns that the row has."""
        return tuple(name for name in self.owner_columns if name not in (NOBODY, ANYBODY))

    def owner_of(self, row: Any) -> tuple[Any, ...]:
        return self.owner([getattr(row, name) for name in self.columns])

    def owner(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The owner out of the values of `columns`."""
        left = iter(values)
        return tuple(name if name in (NOBODY, ANYBODY) else next(left) for name in self.owner_columns)
