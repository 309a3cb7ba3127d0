"""The people that a partner's vouchers and gift cards are from and for."""

import datetime as dt

import strawberry
from sqlmodel import Field

from schema.core.ownership import of_partner
from schema.core.resource import Fields, moment


@strawberry.pydantic.type(description="Somebody who gives or gets what a partner sells, known by e-mail address.")
class Customer(Fields):
    """Somebody who gives or gets what a partner sells."""

    id: int = Field(description="Its id.")
    first_name: str = Field(default="", max_length=80, description="First name, as given last.")
    last_name: str = Field(default="", max_length=80, description="Last name, as given last.")
    email: str = Field(default="", max_length=254, description="E-mail address; empty: not known.")
    created_on: dt.datetime = moment("When it was first heard of.")
    partner = of_partner()
