"""Customers: the people who buy from a partner, and who give or receive its vouchers and gift cards."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.field_permission import FieldPermission
from schema.core.money import Money
from schema.core.ownership import partner_relation
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, computed


@strawberry.pydantic.type(description="What a customer has bought.")
class CustomerPurchases(BaseModel):
    order_count: int = PydanticField(description="The number of orders.")
    first_order_on: dt.datetime | None = PydanticField(description="When the first was placed; null without orders.")
    last_order_on: dt.datetime | None = PydanticField(description="When the last was placed; null without orders.")
    spent: list[Money] = PydanticField(
        description="What orders, and payments without an order, come to in each currency, less refunds."
    )


@strawberry.pydantic.type(
    description="A person who buys from a partner, or gives or receives its vouchers or gift cards, identified by e-mail "
    "address."
)
class Customer(SchemaModel):
    id: int = id_column("The customer's id.")
    first_name: str = Field(default="", max_length=80, description="First name, as last given.")
    last_name: str = Field(default="", max_length=80, description="Last name, as last given.")
    email: str = Field(default="", max_length=254, description="E-mail address; empty if unknown.")
    created_on: dt.datetime = datetime_column("When it was created.")
    purchases = computed(
        CustomerPurchases,
        "What the customer has bought. Requires `permissions.view_order`.",
        field_permission=FieldPermission(Permission.VIEW_ORDER, owner_columns=()),
    )
    partner = partner_relation()
