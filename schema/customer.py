"""Customers: the people who give or receive a partner's vouchers and gift cards."""

import datetime as dt

import strawberry
from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel


@strawberry.pydantic.type(
    description="A person who gives or receives a partner's vouchers or gift cards, identified by e-mail address."
)
class Customer(SchemaModel):
    id: int = id_column("The customer's id.")
    first_name: str = Field(default="", max_length=80, description="First name, as last given.")
    last_name: str = Field(default="", max_length=80, description="Last name, as last given.")
    email: str = Field(default="", max_length=254, description="E-mail address; empty if unknown.")
    created_on: dt.datetime = datetime_column("When it was created.")
    partner = partner_relation()
