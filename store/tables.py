"""Every table there is: importing this module fills `metadata`, for migrations and tests."""

from sqlmodel import SQLModel

from store import attempts, audit, coupons, delivery, events, gift_cards, orders, pictures, products, tenancy
from store.mail import rows as mail
from store.webhooks import rows as webhooks

__all__ = [
    "attempts",
    "audit",
    "coupons",
    "delivery",
    "events",
    "gift_cards",
    "mail",
    "metadata",
    "orders",
    "pictures",
    "products",
    "tenancy",
    "webhooks",
]

metadata = SQLModel.metadata
