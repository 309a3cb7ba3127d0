"""Inputs that create and update coupons."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.coupon.coupon import Coupon, CouponConditions, CouponDiscount, CouponScope, CouponTarget, ReceptionMode
from schema.validation.characters import clean_line, line_up_to
from schema.validation.contact import email_address
from schema.validation.numbers import AmountRule, MoneyAmount, RowId


def _require_visible(code: str) -> str:
    if clean_line(code) != code:
        raise PydanticCustomError("code", "A code has nothing that cannot be seen.")
    return code


Code = Annotated[
    str, Field(min_length=3, max_length=40, pattern=r"^[^/\s](?:[^/]*[^/\s])?$"), AfterValidator(_require_visible)
]


def _address_or_domain(text: str) -> str:
    """Raise unless it is an e-mail address, or a domain as `@example.com`; empty: anybody."""
    if text:
        try:
            email_address(f"any{text}" if text.startswith("@") else text)
        except ValueError:
            raise PydanticCustomError("email", "Send an e-mail address, or a domain as `@example.com`.") from None
    return text


Usages = Annotated[int, Field(ge=1, le=1_000_000_000)]
Percentage = Annotated[Decimal, AmountRule(ge=Decimal(0), le=Decimal(100))]
ZERO_DISCOUNT_DESCRIPTION = "0 is allowed only if it makes click and collect free."
VALIDITY_DESCRIPTION = (
    "The validity it gives to vouchers and gift cards: months (`18`), a period (`P1Y6M`, `P90D`) "
    "or a last day (`2027-06-30`); empty for the usual one."
)
Validity = Annotated[
    str,
    Field(
        max_length=40,
        pattern=r"^(?:[1-9]\d{0,2}|P(?:\d{1,2}Y(?:\d{1,3}M)?(?:\d{1,4}D)?|\d{1,3}M(?:\d{1,4}D)?|\d{1,4}D)"
        r"|\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))?$",
    ),
]


@graphql_input_for(CouponDiscount)
class CouponDiscountInput(SchemaModel):
    """The discount of a coupon: send either a percentage or an amount."""

    percentage: Percentage | None = Field(
        default=None, description=f"Percentage of the price, up to 100. {ZERO_DISCOUNT_DESCRIPTION}"
    )
    amount: MoneyAmount | None = Field(
        default=None, description=f"An amount in the partner's currency. {ZERO_DISCOUNT_DESCRIPTION}"
    )


@graphql_input_for(CouponScope)
class CouponScopeInput(SchemaModel):
    """What a coupon is limited to. A list that is sent replaces the current one; an empty list sets no limit."""

    product_ids: strawberry.Maybe[Annotated[list[RowId], Field(max_length=1000)]]
    voucher_prototype_ids: strawberry.Maybe[Annotated[list[RowId], Field(max_length=1000)]]
    reception_modes: strawberry.Maybe[list[ReceptionMode]]


@graphql_input_for(CouponConditions)
class CouponConditionsInput(SchemaModel):
    """The conditions for using a coupon; amounts are in the partner's currency. Null removes a condition."""

    email: strawberry.Maybe[Annotated[str, line_up_to(254), AfterValidator(_address_or_domain)]]
    minimum_payment: strawberry.Maybe[MoneyAmount | None]
    minimum_basket: strawberry.Maybe[MoneyAmount | None]
    minimum_product_price: strawberry.Maybe[MoneyAmount | None]


@graphql_input_for(Coupon)
class CreateCoupon(SchemaModel):
    """Create a coupon."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    code: Code
    discount: CouponDiscountInput
    type: Annotated[str, line_up_to(40)] = "discount"
    is_active: bool = True
    starts_on: dt.datetime | None = None
    ends_on: dt.datetime | None = None
    max_usages: Usages | None = None
    targets: list[CouponTarget] = Field(
        default_factory=lambda: [CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT],
        description="What it can be used for; the shop if omitted.",
    )
    limited_to: CouponScopeInput | None = None
    conditions: CouponConditionsInput | None = None
    new_validity_period: Validity = Field(default="", description=VALIDITY_DESCRIPTION)
    increases_value: bool = False
    increases_value_repeatedly: bool = False
    free_click_and_collect: bool = False
    is_combinable: bool = True


@update_input_of(CreateCoupon, without={"partner_uuid", "code", "type"})
class UpdateCoupon(SchemaModel):
    """Update a coupon. Omitted fields stay unchanged; null clears. The code cannot be changed: create a new coupon
    instead.
    """

    id: int
    targets: strawberry.Maybe[list[CouponTarget]]
