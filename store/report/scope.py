"""Whose figures a report has."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReportScope:
    """The partners of a report: one, those of a marketplace, or all.

    Of several partners those in test mode are left out, so that their money is never added to real money.
    """

    partner_id: int | None = None
    marketplace_id: int | None = None

    @property
    def partners(self) -> str:
        """The condition of the partners, as SQL with the parameters `values`."""
        if self.partner_id is not None:
            return "p.id = :partner_id"
        of_marketplace = " AND p.marketplace_id = :marketplace_id" if self.marketplace_id is not None else ""
        return f"p.status <> 't'{of_marketplace}"

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of `partners`."""
        if self.partner_id is not None:
            return {"partner_id": self.partner_id}
        return {} if self.marketplace_id is None else {"marketplace_id": self.marketplace_id}
