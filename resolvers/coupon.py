"""The coupons of a partner."""

from typing import Annotated, Any

from pydantic import AfterValidator

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, currency_of, owner_among, values_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.coupon.coupon import Coupon
from schema.coupon.input import CreateCoupon, UpdateCoupon
from store.core.codes import mistyped, normal
from store.coupon.coupons import CouponRow
from store.coupon.rules import works

SHORTEST_CODE, LONGEST_CODE = 3, 40


@closed_set
class CouponSort(ClosedSet):
    """How to order coupons."""

    NEWEST = "-id", "The newest first."
    CODE = "normal_code", "By code, from A to Z."


@writable_as(Coupon)
class CouponFilter(OfPartner):
    """Which coupons. A code is matched ignoring case, spaces and hyphens."""

    code: Annotated[str | None, Where("normal_code"), AfterValidator(lambda code: code and normal(code))] = None
    is_active: Annotated[bool | None, Where("is_active")] = None


coupons = Listing(Coupon, CouponFilter, CouponSort, Permission.VIEW_CATALOGUE, "The coupons you see, newest first.")


_coupon = ById(CouponRow, "coupon")


coupon = Lookup(Coupon, "id", "coupon", Permission.VIEW_CATALOGUE, "A coupon by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_coupon(call: Call, input: CreateCoupon) -> Coupon:
    """Add a coupon. Its code is matched ignoring case, spaces and hyphens, and is unique among the partner's."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        code = _matched(input.code)
    with findings.of_one():
        row = CouponRow(**values_of(input, skip={"code"}))
        _sensible(row)
    findings.tell()
    row.partner_id, row.currency = partner.id, await currency_of(call, partner)
    row.code, row.normal_code = input.code, code
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_coupon)
async def update_coupon(call: Call, input: UpdateCoupon) -> Coupon:
    """Change a coupon. What has been used stays used."""
    row = await _coupon.find(call, input.id, lock=True)
    apply(row, input)
    _sensible(row)
    await call.db.flush()
    return row


def _matched(code: str) -> str:
    """A code as it is matched: what is left of it must still be one."""
    found = normal(code)
    if mistyped(found):
        raise InvalidInput.at("code", "This looks like the code of a gift card. Add or change a character.")
    if not SHORTEST_CODE <= len(found) <= LONGEST_CODE:
        told = f"Use {SHORTEST_CODE} to {LONGEST_CODE} characters, spaces and hyphens not counted."
        raise InvalidInput.at("code", told, "TOO_LONG" if len(found) > LONGEST_CODE else "INVALID")
    return found


def _sensible(row: CouponRow) -> None:
    """Refuse what no coupon can be, told at the field that was probably meant otherwise."""
    findings = Findings()
    with findings.of_one():
        _has_a_discount(row)
    with findings.of_one():
        if row.starts_on and row.ends_on and row.ends_on <= row.starts_on:
            raise InvalidInput.at("ends_on", "A coupon ends after it starts.")
    with findings.of_one():
        if row.max_usages is not None and row.max_usages < row.usage_count:
            raise InvalidInput.at("max_usages", f"It has been used {row.usage_count} times already.", "OUT_OF_RANGE")
    findings.tell()


def _has_a_discount(row: CouponRow) -> None:
    if (row.discount_percentage is None) is (row.discount_amount is None):
        raise InvalidInput.at("discount", "Send a percentage or an amount.")
    if not (row.discount_percentage or row.discount_amount or row.free_click_and_collect):
        which = "amount" if row.discount_percentage is None else "percentage"
        raise InvalidInput.at(
            ("discount", which), "Send more than 0, unless it makes click and collect free.", "OUT_OF_RANGE"
        )


@derives(Coupon, "is_running")
def _is_running(context: Context, active: bool, starts_on: Any, ends_on: Any, most: int | None, used: int) -> bool:
    return works(active, starts_on, ends_on, most, used, context.services.clock.now())
