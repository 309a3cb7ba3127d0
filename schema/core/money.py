"""Amounts of money with their currency."""

from decimal import Decimal
from typing import Any

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.columns import amount_column
from schema.core.field_source import EmbeddedValue
from schema.core.resource import embedded


@strawberry.pydantic.type(description="An exact amount in one currency.")
class Money(BaseModel):
    amount: Decimal = Field(description="The amount in units of the currency, with two decimals: `12.50`.")
    currency: str = Field(description="ISO 4217 currency code.")


def money_column(**options: Any) -> Any:
    """The column of an amount. It is not published itself: `money`, on the next line, publishes it with its currency."""
    return amount_column(exclude=True, **options)


def money_value(amount: str, currency: str = "currency") -> EmbeddedValue:
    """Embed two columns as one `Money`; null if the amount is null."""
    return EmbeddedValue(Money, {"amount": amount, "currency": currency}, unless_null=amount)


def money(amount: str, currency: str = "currency", description: str = "", *, nullable: bool = False) -> Any:
    """Publish two columns as one `Money`; with `nullable`, null if the amount is null."""
    return embedded(money_value(amount, currency), description, nullable=nullable)
