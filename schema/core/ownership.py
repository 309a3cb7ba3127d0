"""Whose something is: what inputs say of it, and what leads from it to its owner."""

from typing import Any

from schema.core.resource import relation

FOR_WHOM = "For which partner; a partner's own users may leave it out."
STAYS = "The partner that it belongs to; it cannot be moved."
MARKETPLACE = "The marketplace it is made in; only who sees several has to say."


def of_partner(description: str = "The partner that it belongs to.", *, nullable: bool = False) -> Any:
    """The partner of a row, which every type of a table with `partner_id` leads to; `nullable` where the column is."""
    return relation("schema.partner.partner:Partner", "partner_id", description, nullable=nullable)


def of_marketplace(description: str = "The marketplace that it belongs to.", *, nullable: bool = False) -> Any:
    """The marketplace of a row, which every type of a table with `marketplace_id` leads to; `nullable` where the column is."""
    return relation("schema.partner.partner:Marketplace", "marketplace_id", description, nullable=nullable)
