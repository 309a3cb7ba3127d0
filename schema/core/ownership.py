"""The owner of an object: descriptions for inputs, and relations to partner and marketplace."""

from typing import Any

from schema.core.resource import relation

PARTNER_DESCRIPTION = "The uuid of the partner; a partner's own users may omit it."
FIXED_PARTNER_DESCRIPTION = "The uuid of the partner it belongs to; it cannot be changed."
MARKETPLACE_DESCRIPTION = "The uuid of the marketplace; required only if you can see several marketplaces."


def partner_relation(description: str = "The partner it belongs to.", *, nullable: bool = False) -> Any:
    """The relation from a row with `partner_id` to its partner; set `nullable` if the column is nullable."""
    return relation("schema.partner.partner:Partner", "partner_id", description, nullable=nullable)


def marketplace_relation(description: str = "The marketplace it belongs to.", *, nullable: bool = False) -> Any:
    """The relation from a row with `marketplace_id` to its marketplace; set `nullable` if the column is nullable."""
    return relation("schema.partner.partner:Marketplace", "marketplace_id", description, nullable=nullable)
