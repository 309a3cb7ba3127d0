"""All tables: importing this module fills `metadata`, for migrations and tests."""

from typing import Any

from sqlmodel import SQLModel

from store import bank_account, customer, delivery, idempotency, kyc
from store.activation import activations
from store.audit import entries
from store.catalogue import catalogue
from store.coupon import coupons
from store.database import shared_clock
from store.database.text_search import GENERATED_COLUMN, INDEX_SUFFIX
from store.event import events
from store.gift_card import gift_cards
from store.job import rows as job
from store.mail import rows as mail
from store.media import media, pictures
from store.order import orders, return_signatures
from store.partner import partners
from store.payment import attempts
from store.product import products
from store.voucher import vouchers
from store.webhook import rows as webhook

__all__ = [
    "activations",
    "attempts",
    "bank_account",
    "catalogue",
    "coupons",
    "customer",
    "delivery",
    "entries",
    "events",
    "gift_cards",
    "idempotency",
    "job",
    "kyc",
    "mail",
    "media",
    "metadata",
    "orders",
    "partners",
    "pictures",
    "products",
    "return_signatures",
    "shared_clock",
    "vouchers",
    "webhook",
]

metadata = SQLModel.metadata


def _is_compared(item: Any, name: Any, kind: Any, _reflected: Any, _compared: Any) -> bool:
    info = getattr(item, "info", {})
    searched = info.get("made_by") == GENERATED_COLUMN["made_by"] or (kind == "index" and name.endswith(INDEX_SUFFIX))
    return info != job.ENGINE_TABLE and not searched


COMPARE_OPTIONS: dict[str, Any] = {
    "include_name": lambda name, kind, _parents: kind != "table" or name in metadata.tables,
    "include_object": _is_compared,
}
"""Alembic compares our own tables only. It ignores the job queue's objects, and the columns and indexes of text
search, whose expressions it cannot compare."""
