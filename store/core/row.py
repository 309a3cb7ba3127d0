"""What many tables have in common: an owner, a currency, and times."""

import datetime as dt

from sqlmodel import Field, SQLModel

from schema.core.columns import datetime_column
from store.core.clock import now

# A row class lists these before the resource that it stores: `class CouponRow(PartnerIndexed, CreatedOn, Coupon,
# table=True)`. The first class that declares a field decides, and only the store knows what time it is.


class PartnerOwned(SQLModel):
    """A row of a partner, in a table whose own indexes begin with `partner_id`."""

    partner_id: int = Field(foreign_key="partner.id")


class PartnerIndexed(PartnerOwned):
    """A row of a partner."""

    partner_id: int = Field(foreign_key="partner.id", index=True)


class MarketplaceIndexed(SQLModel):
    """A row of a marketplace."""

    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)


class InCurrency(SQLModel):
    """A row with amounts, which are all in one currency."""

    currency: str = Field(default="EUR", max_length=3)


class CreatedOn(SQLModel):
    """A row that knows when it was created."""

    created_on: dt.datetime = datetime_column("When it was created.", default_factory=now)


class UpdatedOn(SQLModel):
    """A row that knows when it was last updated."""

    updated_on: dt.datetime = datetime_column(
        "When it was last updated.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )
