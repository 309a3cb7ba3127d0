"""What managing coupons takes."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.coupon import CouponTarget, DiscountType, ReceptionMode
from schema.numbers import MoneyAmount, PositiveAmount
from schema.values import Fields, writable

Code = Annotated[str, Field(min_length=3, max_length=40, pattern=r"^[^/\s](?:[^/]*[^/\s])?$")]
Usage = Annotated[int, Field(ge=1, le=1_000_000_000)]


@writable
class CreateCoupon(Fields):
    """A reduction for whoever knows the code."""

    partner_uuid: UUID | None = None
    code: Code
    discount: PositiveAmount
    discount_type: DiscountType
    type: str = Field(default="discount", max_length=40)
    is_activated: bool = True
    starts_on: dt.datetime | None = None
    ends_on: dt.datetime | None = None
    max_usage: Usage | None = None
    targets: list[CouponTarget] = Field(
        default_factory=lambda: [CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT]
    )
    reception_modes: list[ReceptionMode] = Field(default_factory=list)
    eshop_products_ids: list[int] = Field(default_factory=list, max_length=1000)
    payment_amount_condition_minimum: MoneyAmount | None = None
    price_condition_min_amount: MoneyAmount | None = None
    product_condition_min_amount: MoneyAmount | None = None
    email_condition: str = Field(default="", max_length=254)
    offer_delivery_cost_clickandcollect: bool = False


@writable
class UpdateCoupon(Fields):
    """What is left out stays as it is; null clears. The code stays: make a new coupon for a new code."""

    id: int
    discount: strawberry.Maybe[PositiveAmount]
    is_activated: strawberry.Maybe[bool]
    starts_on: strawberry.Maybe[dt.datetime | None]
    ends_on: strawberry.Maybe[dt.datetime | None]
    max_usage: strawberry.Maybe[Usage | None]
    targets: strawberry.Maybe[list[CouponTarget]]
    reception_modes: strawberry.Maybe[list[ReceptionMode]]
    eshop_products_ids: strawberry.Maybe[list[int]]
    payment_amount_condition_minimum: strawberry.Maybe[MoneyAmount | None]
    price_condition_min_amount: strawberry.Maybe[MoneyAmount | None]
    product_condition_min_amount: strawberry.Maybe[MoneyAmount | None]
    email_condition: strawberry.Maybe[Annotated[str, Field(max_length=254)]]
    offer_delivery_cost_clickandcollect: strawberry.Maybe[bool]
