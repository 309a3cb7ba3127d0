"""The table of coupons."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken, CouponUsedUp
from schema.coupon.coupon import Coupon, CouponConditions, CouponDiscount, CouponScope
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, UpdatedOn


class CouponRow(
    PartnerIndexed, InCurrency, CreatedOn, UpdatedOn, CouponDiscount, CouponScope, CouponConditions, Coupon, table=True
):
    """A coupon. `normal_code` is the normalized code used for look-ups."""

    __tablename__ = "coupon"
    __table_args__ = (
        UniqueConstraint("partner_id", "normal_code", name="coupon_code_key"),
        Index("coupon_id_list_idx", "partner_id", "id"),
        Index("coupon_normal_code_list_idx", "partner_id", "normal_code", "id"),
        CheckConstraint("usage_count >= 0 AND (max_usages IS NULL OR usage_count <= max_usages)", name="used_at_most"),
        CheckConstraint("num_nonnulls(discount_percentage, discount_amount) = 1", name="discount_of_one_kind"),
        CheckConstraint("discount_percentage BETWEEN 0 AND 100 OR discount_amount >= 0", name="discount_sensible"),
    )
    normal_code: str = Field(max_length=40)


CONSTRAINT_ERRORS["coupon_code_key"] = lambda: AlreadyTaken("code", what="code")
CONSTRAINT_ERRORS["coupon_used_at_most"] = CouponUsedUp
