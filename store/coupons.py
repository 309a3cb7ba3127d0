"""Coupons, as rows."""

import datetime as dt

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field

from schema.coupon import Coupon
from schema.errors import CONSTRAINTS, AlreadyTaken, CouponUsedUp
from schema.values import moment
from store.clock import now


class CouponRow(Coupon, table=True):
    """A coupon. `normal_code` is the code as it is matched."""

    __tablename__ = "coupon"
    __table_args__ = (
        UniqueConstraint("partner_id", "normal_code", name="coupon_code_key"),
        CheckConstraint(
            "number_of_usage >= 0 AND (max_usage IS NULL OR number_of_usage <= max_usage)", name="used_at_most"
        ),
        CheckConstraint("discount >= 0 AND (discount_type = 'amount' OR discount <= 100)", name="discount_sensible"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    normal_code: str = Field(max_length=40)
    created_on: dt.datetime = moment("When it was made.", default_factory=now)
    updated_on: dt.datetime = moment("When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now})


CONSTRAINTS["coupon_code_key"] = lambda: AlreadyTaken("code", what="code")
CONSTRAINTS["coupon_used_at_most"] = CouponUsedUp
