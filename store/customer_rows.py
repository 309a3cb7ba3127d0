"""Customers of a partner, as rows: one for each e-mail address, and one each time for those without."""

import datetime as dt

from sqlalchemy import Index
from sqlmodel import Field

from schema.customer import Customer
from schema.values import moment
from store.clock import now


class CustomerRow(Customer, table=True):
    """A customer. `normal_email` is the address as it is matched: lower case; null where there is none."""

    __tablename__ = "customer"
    __table_args__ = (Index("customer_email_key", "partner_id", "normal_email", unique=True),)
    partner_id: int = Field(foreign_key="partner.id")
    id: int = Field(default=None, primary_key=True)
    normal_email: str | None = Field(default=None, max_length=254)
    created_on: dt.datetime = moment("When it was first heard of.", default_factory=now)
