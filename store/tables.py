"""Every table there is: importing this module fills `metadata`, for migrations and tests."""

from typing import Any

from sqlmodel import SQLModel

from store import (
    activations,
    attempts,
    audit,
    bank_accounts,
    catalogue,
    coupons,
    customer_rows,
    delivery,
    events,
    gift_cards,
    job_rows,
    kept_answers,
    kyc,
    media,
    orders,
    pictures,
    products,
    return_signatures,
    shared_clock,
    tenancy,
    vouchers,
)
from store.mail import rows as mail
from store.search import BY_THE_DATABASE, INDEX_SUFFIX
from store.webhooks import rows as webhooks

__all__ = [
    "activations",
    "attempts",
    "audit",
    "bank_accounts",
    "catalogue",
    "coupons",
    "customer_rows",
    "delivery",
    "events",
    "gift_cards",
    "job_rows",
    "kept_answers",
    "kyc",
    "mail",
    "media",
    "metadata",
    "orders",
    "pictures",
    "products",
    "return_signatures",
    "shared_clock",
    "tenancy",
    "vouchers",
    "webhooks",
]

metadata = SQLModel.metadata


def _ours(item: Any, name: Any, kind: Any, _reflected: Any, _compared: Any) -> bool:
    info = getattr(item, "info", {})
    searched = info.get("made_by") == BY_THE_DATABASE["made_by"] or (kind == "index" and name.endswith(INDEX_SUFFIX))
    return info != job_rows.OF_THE_ENGINE and not searched


COMPARED: dict[str, Any] = {
    "include_name": lambda name, kind, _parents: kind != "table" or name in metadata.tables,
    "include_object": _ours,
}
"""What Alembic compares with the database: our tables, and not what the job queue makes for itself, nor what searching
takes, whose expressions it cannot compare."""
