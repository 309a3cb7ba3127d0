"""The coupons of a partner."""

import enum
from decimal import Decimal
from typing import Annotated, Any

import strawberry
from pydantic import AfterValidator

from resolvers.changes import apply, given_id, owner_of, values_of
from resolvers.listing import Filter, Listing, Lookup, Where
from resolvers.operation import Call, operation
from resolvers.tenancy import find
from schema.coupon import Coupon, DiscountType
from schema.coupon_input import CreateCoupon, UpdateCoupon
from schema.errors import InvalidInput
from schema.permission import Permission
from schema.values import writable
from store.codes import normal
from store.coupons import CouponRow

SHORTEST_CODE, LONGEST_CODE = 3, 40


@strawberry.enum(description="How to order coupons.")
class CouponOrder(enum.StrEnum):
    """How to order coupons."""

    NEWEST = "-id"
    CODE = "normal_code"


@writable
class CouponFilter(Filter):
    """Which coupons. A code is matched ignoring case, spaces and hyphens."""

    code: Annotated[str | None, Where("normal_code"), AfterValidator(lambda code: code and normal(code))] = None
    is_activated: Annotated[bool | None, Where("is_activated")] = None


coupons = Listing(Coupon, CouponFilter, CouponOrder, Permission.VIEW_CATALOGUE, "The coupons you see, newest first.")


async def _coupon(call: Call, given: Any, *, lock: bool = False) -> CouponRow:
    return await find(call.db, call.caller, CouponRow, "coupon", lock=lock, id=given_id(given))


coupon = Lookup(Coupon, "id", "coupon", Permission.VIEW_CATALOGUE, "A coupon by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_coupon(call: Call, input: CreateCoupon) -> Coupon:
    """Add a coupon. Its code is matched ignoring case, spaces and hyphens, and is unique among the partner's."""
    partner = await owner_of(call, input.partner_uuid)
    row = CouponRow(partner_id=partner.id, normal_code=_matched(input.code), **values_of(input))
    _sensible(row)
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_coupon)
async def update_coupon(call: Call, input: UpdateCoupon) -> Coupon:
    """Change a coupon. What has been used stays used."""
    row = await _coupon(call, {"id": input.id}, lock=True)
    apply(row, input)
    _sensible(row)
    await call.db.flush()
    return row


def _matched(code: str) -> str:
    """A code as it is matched: what is left of it must still be one."""
    found = normal(code)
    if not SHORTEST_CODE <= len(found) <= LONGEST_CODE:
        raise InvalidInput.at(
            "code", f"Use {SHORTEST_CODE} to {LONGEST_CODE} characters, spaces and hyphens not counted."
        )
    return found


def _sensible(row: CouponRow) -> None:
    """Refuse what no coupon can be, told at the field that was probably meant otherwise."""
    if row.discount_type is DiscountType.PERCENTAGE and row.discount > Decimal(100):
        raise InvalidInput.at("discount", "A percentage is at most 100.")
    if row.starts_on and row.ends_on and row.ends_on <= row.starts_on:
        raise InvalidInput.at("ends_on", "A coupon ends after it starts.")
    if row.max_usage is not None and row.max_usage < row.number_of_usage:
        raise InvalidInput.at("max_usage", f"It has been used {row.number_of_usage} times already.")
