"""What not everybody may see who reaches a row."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Guard:
    """Who is shown a value, however it is reached: callers with a permission, of rows that are theirs to see."""

    permission: str
    owner: tuple[()] | tuple[str, str] = ("partner_id", "marketplace_id")
    """The columns that name whose row it is: the partner, and the partner's marketplace. None: whoever reaches it sees it."""

    def owner_of(self, row: Any) -> tuple[Any, ...]:
        """Whose a row is."""
        return tuple(getattr(row, name) for name in self.owner)
