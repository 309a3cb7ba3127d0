"""The table of coupons."""

from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, Numeric, UniqueConstraint
from sqlmodel import Field

from schema.core.columns import amount_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken, CouponUsedUp
from schema.coupon.coupon import Coupon, ReceptionMode, enum_list_column, id_list_column
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, UpdatedOn


class CouponRow(PartnerIndexed, InCurrency, CreatedOn, UpdatedOn, Coupon, table=True):
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
    discount_percentage: Decimal | None = Field(default=None, sa_type=Numeric(5, 2))
    discount_amount: Decimal | None = amount_column(default=None, nullable=True)
    email_condition: str = Field(default="", max_length=254)
    minimum_payment_amount: Decimal | None = amount_column(default=None, nullable=True)
    minimum_basket_amount: Decimal | None = amount_column(default=None, nullable=True)
    minimum_product_price_amount: Decimal | None = amount_column(default=None, nullable=True)
    product_ids: list[int] = id_list_column()
    voucher_prototype_ids: list[int] = id_list_column()
    click_and_collect_offer_ids: list[int] = id_list_column()
    experience_offer_ids: list[int] = id_list_column()
    workshop_ids: list[int] = id_list_column()
    workshop_category_ids: list[int] = id_list_column()
    event_ids: list[int] = id_list_column()
    flash_sale_offer_ids: list[int] = id_list_column()
    reception_modes: list[ReceptionMode] = enum_list_column(ReceptionMode)


CONSTRAINT_ERRORS["coupon_code_key"] = lambda: AlreadyTaken("code", what="code")
CONSTRAINT_ERRORS["coupon_used_at_most"] = CouponUsedUp
