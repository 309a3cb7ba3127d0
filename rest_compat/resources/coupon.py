"""The coupon of a purchase."""

from collections.abc import Mapping
from decimal import Decimal

import resolvers.coupon  # noqa: F401 - registers the computed fields
from rest_compat.shapes.keys import ComputedKey, FieldKey, decimal_string, same
from rest_compat.shapes.shape import ResourceShape, Spec
from schema.coupon.coupon import Coupon, CouponTarget, ReceptionMode

FLAG = {"type": "boolean"}
DISCOUNT = ("discount.percentage", "discount.amount.amount", "discount.amount.currency")


def _applies_to_target(target: CouponTarget) -> ComputedKey:
    return ComputedKey(
        ("targets",), lambda targets: target in targets, FLAG, f"True if the coupon applies to: {target.description}"
    )


def _applies_to_reception_mode(mode: ReceptionMode) -> ComputedKey:
    return ComputedKey(
        ("limited_to.reception_modes",),
        lambda modes: not modes or mode in modes,
        FLAG,
        f"True if the coupon applies to this reception mode: {mode.description}",
    )


def _discount(percentage: Decimal | None, amount: Decimal | None, _currency: str) -> str:
    return f"{amount if percentage is None else percentage:.2f}"


def _discount_type(percentage: Decimal | None, _amount: Decimal | None, _currency: str) -> str:
    return "amount" if percentage is None else "percentage"


def _discount_text(percentage: Decimal | None, amount: Decimal | None, currency: str) -> str:
    return f"{amount:.2f} {currency}" if percentage is None else f"{percentage.normalize():f} %"


def discount_text(path: str = "") -> ComputedKey:
    """The discount of a coupon as text; `path` leads to the coupon."""
    paths = tuple(f"{path}{each}" for each in DISCOUNT)
    schema = {"type": "string", "examples": ["10 %"]}
    return ComputedKey(paths, _discount_text, schema, "The discount as text; empty without a coupon.")


COUPON_KEYS: Mapping[str, Spec] = {
    **same("id"),
    "valid": "is_running",
    "discount_text": discount_text(),
    "number_of_usage": "usage_count",
    **same("new_validity_period", "booking_engine_id"),
    "is_activated": "is_active",
    **same("code", "type"),
    "start": FieldKey("starts_on", description="Start of validity; empty: immediately."),
    "end": FieldKey("ends_on", description="End of validity; empty: never."),
    "discount": ComputedKey(
        DISCOUNT,
        _discount,
        {"type": "string", "examples": ["10.00"]},
        "The discount: a percentage or an amount, see `discount_type`.",
    ),
    "discount_type": ComputedKey(
        DISCOUNT,
        _discount_type,
        {"type": "string", "enum": ["percentage", "amount"]},
        "Whether `discount` is a percentage or an amount.",
    ),
    "is_value_increased": "increases_value",
    "is_value_increased_multiple_times": "increases_value_repeatedly",
    "max_usage": "max_usages",
    "voucher_prototypes_ids": "limited_to.voucher_prototype_ids",
    "cnc_offers_ids": "limited_to.click_and_collect_offer_ids",
    "eshop_products_ids": "limited_to.product_ids",
    "experience_offers_ids": "limited_to.experience_offer_ids",
    "workshops_ids": "limited_to.workshop_ids",
    "workshop_categories_ids": "limited_to.workshop_category_ids",
    "events_ids": "limited_to.event_ids",
    "flashsales_offers_ids": "limited_to.flash_sale_offer_ids",
    "payment_amount_condition_minimum": decimal_string("conditions.minimum_payment.amount"),
    "giftcode": "gift_code",
    "email_condition": "conditions.email",
    "price_condition_min_amount": decimal_string("conditions.minimum_basket.amount"),
    "product_condition_min_amount": decimal_string("conditions.minimum_product_price.amount"),
    **{
        f"activate_for_{target.value}": _applies_to_target(target)
        for target in (
            CouponTarget.VOUCHERS,
            CouponTarget.GIFT_CARDS,
            CouponTarget.CLICK_AND_COLLECT,
            CouponTarget.ECOMMERCE,
            CouponTarget.EXPERIENCES,
            CouponTarget.TICKETS_EVENTS,
            CouponTarget.WORKSHOPS,
            CouponTarget.FLASH_SALES,
            CouponTarget.MONEY_POT,
            CouponTarget.NETWORK_GIFT_CARDS,
            CouponTarget.NETWORK_VOUCHERS,
        )
    },
    "offer_delivery_cost_clickandcollect": "free_click_and_collect",
    "print_at_home_reception_mode": _applies_to_reception_mode(ReceptionMode.PRINT_AT_HOME),
    "expedition_reception_mode": _applies_to_reception_mode(ReceptionMode.EXPEDITION),
    "giftee_email_reception_mode": _applies_to_reception_mode(ReceptionMode.GIFTEE_EMAIL),
    "postal_mail_to_beneficiary_reception_mode": _applies_to_reception_mode(ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY),
    "on_site_expedition_mode": _applies_to_reception_mode(ReceptionMode.ON_SITE),
    "partner": "partner.id",
}
COUPON = ResourceShape(
    "Coupon",
    Coupon,
    COUPON_KEYS,
    example={
        "id": 12,
        "valid": True,
        "discount_text": "10 %",
        "number_of_usage": 31,
        "code": "SPRING10",
        "type": "discount",
        "start": "2026-03-01T00:00:00.000000Z",
        "end": "2026-06-30T21:59:59.000000Z",
        "discount": "10.00",
        "discount_type": "percentage",
        "max_usage": 500,
        "voucher_prototypes_ids": [7, 9],
        "payment_amount_condition_minimum": "",
        "partner": 41,
    },
)
