"""The coupons of a partner."""

from typing import Annotated, Any

from pydantic import AfterValidator

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, collect_owner, currency_of, values_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.coupon.coupon import Coupon
from schema.coupon.input import CreateCoupon, UpdateCoupon
from store.core.codes import is_mistyped, normalize
from store.coupon.coupons import CouponRow
from store.coupon.rules import is_effective

SHORTEST_CODE, LONGEST_CODE = 3, 40


@graphql_enum
class CouponSort(DescribedEnum):
    """Sort order of coupons."""

    NEWEST = "-id", "The newest first."
    CODE = "normal_code", "By code, from A to Z."


@graphql_input_for(Coupon)
class CouponFilter(OfPartner):
    """Filter for coupons. The code is matched regardless of case, spaces and hyphens."""

    code: Annotated[str | None, Where("normal_code"), AfterValidator(lambda code: code and normalize(code))] = None
    is_active: Annotated[bool | None, Where("is_active")] = None


coupons = Listing(
    Coupon, CouponFilter, CouponSort, Permission.VIEW_CATALOGUE, "The coupons visible to you, newest first."
)


_coupon = ById(CouponRow, "coupon")


coupon = Lookup(Coupon, "id", "coupon", Permission.VIEW_CATALOGUE, "A coupon by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_coupon(call: Call, input: CreateCoupon) -> Coupon:
    """Create a coupon. The code is matched regardless of case, spaces and hyphens, and is unique within the partner."""
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        code = _check_code(input.code)
    with findings.collect():
        row = CouponRow(**values_of(input, skip={"code"}))
        _check_coupon(row)
    findings.raise_problems()
    row.partner_id, row.currency = partner.id, await currency_of(call, partner)
    row.code, row.normal_code = input.code, code
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_coupon)
async def update_coupon(call: Call, input: UpdateCoupon) -> Coupon:
    """Update a coupon. Uses that were already counted stay counted."""
    row = await _coupon.find(call, input.id, lock=True)
    apply(row, input)
    _check_coupon(row)
    await call.db.flush()
    return row


CODE_LENGTH = "Use {least} to {most} characters, spaces and hyphens not counted."


def _check_code(code: str) -> str:
    """Normalize a code. Raises InvalidInput at `code` for a mistyped gift card code or a bad length."""
    normal_code = normalize(code)
    if is_mistyped(normal_code):
        raise InvalidInput.at("code", "This looks like the code of a gift card. Add or change a character.")
    if not SHORTEST_CODE <= len(normal_code) <= LONGEST_CODE:
        message = TemplatedMessage(CODE_LENGTH, least=SHORTEST_CODE, most=LONGEST_CODE)
        raise InvalidInput.at("code", message, "TOO_LONG" if len(normal_code) > LONGEST_CODE else "INVALID")
    return normal_code


def _check_coupon(row: CouponRow) -> None:
    """Raise InvalidInput for an invalid discount, period or maximum number of uses."""
    findings = ProblemCollector()
    with findings.collect():
        _check_discount(row)
    with findings.collect():
        if row.starts_on and row.ends_on and row.ends_on <= row.starts_on:
            raise InvalidInput.at("ends_on", "The end must be after the start.")
    with findings.collect():
        if row.max_usages is not None and row.max_usages < row.usage_count:
            raise InvalidInput.at(
                "max_usages",
                TemplatedMessage("It has been used {count} times already.", count=row.usage_count),
                "OUT_OF_RANGE",
            )
    findings.raise_problems()


def _check_discount(row: CouponRow) -> None:
    if (row.discount_percentage is None) is (row.discount_amount is None):
        raise InvalidInput.at("discount", "Send a percentage or an amount.")
    if not (row.discount_percentage or row.discount_amount or row.free_click_and_collect):
        which = "amount" if row.discount_percentage is None else "percentage"
        raise InvalidInput.at(
            ("discount", which), "Send more than 0, unless the coupon makes click and collect free.", "OUT_OF_RANGE"
        )


@derives(Coupon, "is_running")
def _is_running(context: Context, active: bool, starts_on: Any, ends_on: Any, most: int | None, used: int) -> bool:
    return is_effective(active, starts_on, ends_on, most, used, context.services.clock.now())
