"""The coupon that something was bought with."""

from collections.abc import Mapping
from decimal import Decimal

import resolvers.coupon  # noqa: F401 - whether a coupon is running
from rest_compat.shapes.keys import Key, Spec, Worked, decimal_string
from rest_compat.shapes.shape import Shape
from schema.coupon.coupon import Coupon, CouponTarget, ReceptionMode

FLAG = {"type": "boolean"}
DISCOUNT = ("discount.percentage", "discount.amount.amount", "discount.amount.currency")


def _activated(target: CouponTarget) -> Worked:
    return Worked(
        ("targets",), lambda targets: target in targets, FLAG, f"Whether it works on this: {target.description}"
    )


def _received(mode: ReceptionMode) -> Worked:
    return Worked(
        ("limited_to.reception_modes",),
        lambda modes: not modes or mode in modes,
        FLAG,
        f"Whether it works where what is bought is received so: {mode.description}",
    )


def _discount(percentage: Decimal | None, amount: Decimal | None, _currency: str) -> str:
    return f"{amount if percentage is None else percentage:.2f}"


def _discount_type(percentage: Decimal | None, _amount: Decimal | None, _currency: str) -> str:
    return "amount" if percentage is None else "percentage"


def _discount_text(percentage: Decimal | None, amount: Decimal | None, currency: str) -> str:
    return f"{amount:.2f} {currency}" if percentage is None else f"{percentage.normalize():f} %"


def discount_text(path: str = "") -> Worked:
    """What a coupon takes off, in words; `path` leads to the coupon."""
    paths = tuple(f"{path}{each}" for each in DISCOUNT)
    schema = {"type": "string", "examples": ["10 %"]}
    return Worked(paths, _discount_text, schema, "What it takes off, in words; empty without a coupon.")


COUPON_KEYS: Mapping[str, Spec] = {
    "id": "id",
    "valid": "is_running",
    "discount_text": discount_text(),
    "number_of_usage": "usage_count",
    "new_validity_period": "new_validity_period",
    "booking_engine_id": "booking_engine_id",
    "is_activated": "is_active",
    "code": "code",
    "type": "type",
    "start": Key("starts_on", description="When it begins to work; empty: at once."),
    "end": Key("ends_on", description="When it stops working; empty: never."),
    "discount": Worked(
        DISCOUNT, _discount, {"type": "string", "examples": ["10.00"]}, "What it takes off: per cent, or an amount."
    ),
    "discount_type": Worked(
        DISCOUNT,
        _discount_type,
        {"type": "string", "enum": ["percentage", "amount"]},
        "Which of the two `discount` is.",
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
        f"activate_for_{target.value}": _activated(target)
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
    "print_at_home_reception_mode": _received(ReceptionMode.PRINT_AT_HOME),
    "expedition_reception_mode": _received(ReceptionMode.EXPEDITION),
    "giftee_email_reception_mode": _received(ReceptionMode.GIFTEE_EMAIL),
    "postal_mail_to_beneficiary_reception_mode": _received(ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY),
    "on_site_expedition_mode": _received(ReceptionMode.ON_SITE),
    "partner": "partner.id",
}
COUPON = Shape(
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
