"""What managing coupons takes."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.core.ownership import FOR_WHOM
from schema.core.resource import Fields, writable_as
from schema.coupon.coupon import Coupon, CouponConditions, CouponDiscount, CouponScope, CouponTarget, ReceptionMode
from schema.validation.characters import in_one_line, up_to
from schema.validation.numbers import Amount, MoneyAmount, RowId


def _seen(code: str) -> str:
    if in_one_line(code) != code:
        raise PydanticCustomError("code", "A code has nothing that cannot be seen.")
    return code


Code = Annotated[str, Field(min_length=3, max_length=40, pattern=r"^[^/\s](?:[^/]*[^/\s])?$"), AfterValidator(_seen)]
Usages = Annotated[int, Field(ge=1, le=1_000_000_000)]
Percentage = Annotated[Decimal, Amount(ge=Decimal(0), le=Decimal(100))]
NOTHING_OFF = "0 only where it makes click and collect free."
VALIDITY = (
    "The validity that it gives to vouchers and gift cards: months (`18`), a period (`P1Y6M`, `P90D`) or a last day "
    "(`2027-06-30`); empty: the usual one."
)
Validity = Annotated[
    str,
    Field(
        max_length=40,
        pattern=r"^(?:[1-9]\d{0,2}|P(?:\d{1,2}Y(?:\d{1,3}M)?(?:\d{1,4}D)?|\d{1,3}M(?:\d{1,4}D)?|\d{1,4}D)"
        r"|\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))?$",
    ),
]


@writable_as(CouponDiscount)
class CouponDiscountInput(Fields):
    """What a coupon takes off: send one of the two."""

    percentage: Percentage | None = Field(default=None, description=f"Per cent of the price, up to 100. {NOTHING_OFF}")
    amount: MoneyAmount | None = Field(default=None, description=f"An amount in the partner's currency. {NOTHING_OFF}")


@writable_as(CouponScope)
class CouponScopeInput(Fields):
    """What a coupon is limited to. A list that is sent takes the place of the one there is; an empty one does not limit."""

    product_ids: strawberry.Maybe[Annotated[list[RowId], Field(max_length=1000)]]
    voucher_prototype_ids: strawberry.Maybe[Annotated[list[RowId], Field(max_length=1000)]]
    reception_modes: strawberry.Maybe[list[ReceptionMode]]


@writable_as(CouponConditions)
class CouponConditionsInput(Fields):
    """What must be so for a coupon to work; amounts are in the partner's currency. Null takes a condition away."""

    email: strawberry.Maybe[Annotated[str, up_to(254)]]
    minimum_payment: strawberry.Maybe[MoneyAmount | None]
    minimum_basket: strawberry.Maybe[MoneyAmount | None]
    minimum_product_price: strawberry.Maybe[MoneyAmount | None]


@writable_as(Coupon)
class CreateCoupon(Fields):
    """A reduction for whoever knows the code."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    code: Code
    discount: CouponDiscountInput
    type: Annotated[str, up_to(40)] = "discount"
    is_active: bool = True
    starts_on: dt.datetime | None = None
    ends_on: dt.datetime | None = None
    max_usages: Usages | None = None
    targets: list[CouponTarget] = Field(
        default_factory=lambda: [CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT],
        description="What it may be used for; left out: the shop.",
    )
    limited_to: CouponScopeInput | None = None
    conditions: CouponConditionsInput | None = None
    new_validity_period: Validity = Field(default="", description=VALIDITY)
    increases_value: bool = False
    increases_value_repeatedly: bool = False
    free_click_and_collect: bool = False


@writable_as(Coupon)
class UpdateCoupon(Fields):
    """What is left out stays as it is; null clears. The code stays: make a new coupon for a new code."""

    id: int
    discount: strawberry.Maybe[CouponDiscountInput]
    is_active: strawberry.Maybe[bool]
    starts_on: strawberry.Maybe[dt.datetime | None]
    ends_on: strawberry.Maybe[dt.datetime | None]
    max_usages: strawberry.Maybe[Usages | None]
    targets: strawberry.Maybe[list[CouponTarget]]
    limited_to: strawberry.Maybe[CouponScopeInput]
    conditions: strawberry.Maybe[CouponConditionsInput]
    new_validity_period: strawberry.Maybe[Validity] = Field(description=VALIDITY)
    increases_value: strawberry.Maybe[bool]
    increases_value_repeatedly: strawberry.Maybe[bool]
    free_click_and_collect: strawberry.Maybe[bool]
