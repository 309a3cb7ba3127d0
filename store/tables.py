"""Every table there is: importing this module fills `metadata`, for migrations and tests."""

from sqlmodel import SQLModel

from store import attempts, coupons, delivery, gift_cards, orders, pictures, products, tenancy
from store.mail import rows as mail

__all__ = [
    "attempts",
    "coupons",
    "delivery",
    "gift_cards",
    "mail",
    "metadata",
    "orders",
    "pictures",
    "products",
    "tenancy",
]

metadata = SQLModel.metadata
