"""When a coupon works, and what it takes off each line."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema.checkout.codes import CodeProblem
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.coupon.coupons import CouponRow
from store.coupon.rules import (
    GOODS,
    RECEPTION_MODES,
    CouponContext,
    DiscountableLine,
    Reduction,
    UnmetCondition,
    apply_coupons,
    is_running,
)
from tests.store.checkout.baskets import coupon, line

HOME, COLLECT, DIGITAL = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.DIGITAL
NOW = dt.datetime(2030, 6, 1, 12, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)


def reduced(
    *coupons: CouponRow,
    lines: Any = None,
    kind: DeliveryKind | None = None,
    email: str = "ada@example.com",
    collecting_costs: bool = True,
) -> Reduction:
    """The reduction of goods that are delivered in this way."""
    goods = [
        DiscountableLine(
            each.choice.product_id,
            each.unit_price or Decimal(0),
            each.total,
            GOODS,
            RECEPTION_MODES[kind] if kind else None,
        )
        for each in ([line()] if lines is None else lines)
    ]
    collected = None if kind is None else kind is COLLECT
    return apply_coupons(goods, coupons, CouponContext(email, collected, collecting_costs))


def off(*coupons: CouponRow, **more: Any) -> Decimal:
    return reduced(*coupons, **more).total


@pytest.mark.parametrize("alone", [1, 2])
def test_a_coupon_that_is_not_to_be_combined_applies_alone(alone: int) -> None:
    first, second = (coupon(id, amount="2.00", is_combinable=id != alone) for id in (1, 2))
    assert off(first) == off(second) == Decimal("2.00")
    both = reduced(first, second)
    assert (both.by_coupon, both.unmet) == ({1: Decimal("2.00")}, {2: UnmetCondition(CodeProblem.NOT_COMBINABLE)})
    idle = coupon(3, amount="2.00", minimum_basket_amount=Decimal(100))
    assert off(idle, coupon(4, amount="2.00", is_combinable=False)) == Decimal("2.00"), "beside one without effect"


# ---- whether it can be used at all


@pytest.mark.parametrize(
    ("fields", "running"),
    [
        ({}, True),
        ({"is_active": False}, False),
        ({"starts_on": NOW}, True),
        ({"starts_on": NOW + SECOND}, False),
        ({"ends_on": NOW + SECOND}, True),
        ({"ends_on": NOW}, False),
        ({"max_usages": 3, "usage_count": 2}, True),
        ({"max_usages": 3, "usage_count": 3}, False),
        ({"max_usages": None, "usage_count": 10_000}, True),
        ({"targets": [CouponTarget.ECOMMERCE]}, True),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, True),
        ({"targets": [CouponTarget.VOUCHERS, CouponTarget.MONEY_POT]}, False),
        ({"targets": []}, False),
    ],
)
def test_a_coupon_runs(fields: dict[str, Any], running: bool) -> None:
    assert is_running(coupon(**fields), NOW, GOODS) is running


def test_ones_own_use_does_not_use_a_coupon_up() -> None:
    last = coupon(max_usages=3, usage_count=3)
    assert not is_running(last, NOW, GOODS)
    assert is_running(last, NOW, GOODS, own_uses=1)


# ---- conditions of the basket


@pytest.mark.parametrize(
    ("fields", "kind", "works"),
    [
        ({"targets": [CouponTarget.ECOMMERCE]}, HOME, True),
        ({"targets": [CouponTarget.ECOMMERCE]}, COLLECT, True),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, COLLECT, True),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, HOME, False),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, DIGITAL, False),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, None, True),
        ({"reception_modes": [ReceptionMode.ON_SITE]}, COLLECT, True),
        ({"reception_modes": [ReceptionMode.ON_SITE]}, HOME, False),
        ({"reception_modes": [ReceptionMode.ON_SITE]}, None, True),
        ({"reception_modes": [ReceptionMode.EXPEDITION]}, HOME, True),
        ({"reception_modes": [ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY]}, HOME, True),
        ({"reception_modes": [ReceptionMode.GIFTEE_EMAIL]}, DIGITAL, True),
        ({"reception_modes": [ReceptionMode.PRINT_AT_HOME]}, DIGITAL, True),
        ({"reception_modes": [ReceptionMode.PRINT_AT_HOME, ReceptionMode.ON_SITE]}, HOME, False),
    ],
)
def test_the_way_of_delivery_decides(fields: dict[str, Any], kind: DeliveryKind | None, works: bool) -> None:
    result = reduced(coupon(**fields), kind=kind)
    assert (result.total > 0) is works
    assert (1 in result.by_coupon) is works


@pytest.mark.parametrize("name", ["minimum_basket_amount", "minimum_payment_amount"])
def test_the_basket_must_be_worth_the_minimum(name: str) -> None:
    lines = [line(1, "20.00", 2), line(2, "10.00")]
    least: dict[str, Any] = {name: Decimal("50.00")}
    assert off(coupon(**least), lines=lines) == Decimal("5.00")
    least[name] += Decimal("0.01")
    assert off(coupon(**least), lines=lines) == 0


def test_of_two_minimums_the_higher_counts() -> None:
    both = coupon(minimum_basket_amount=Decimal(5), minimum_payment_amount=Decimal(11))
    assert off(both) == 0


def test_the_minimum_is_measured_before_other_coupons() -> None:
    first, second = coupon(1, "50.00"), coupon(2, amount="1.00", minimum_basket_amount=Decimal("10.00"))
    assert off(first, second) == Decimal("6.00")


def test_the_least_to_pay_is_measured_after_the_coupons_before_it() -> None:
    lines = [line(1, "20.00", 2), line(2, "10.00")]
    half, least = coupon(1, "50.00"), coupon(2, amount="5.00", minimum_payment_amount=Decimal("30.00"))
    assert off(least, lines=lines) == Decimal("5.00")
    first = reduced(least, half, lines=lines)
    assert first.total == Decimal("27.50"), "when its turn comes 50.00 are left to pay"
    second = reduced(half, least, lines=lines)
    assert second.total == Decimal("25.00"), "when its turn comes 25.00 are left to pay"
    assert second.unmet == {2: UnmetCondition(CodeProblem.MINIMUM_PAYMENT, Decimal("30.00"))}
    exactly = coupon(2, amount="5.00", minimum_payment_amount=Decimal("25.00"))
    assert off(half, exactly, lines=lines) == Decimal("30.00")


@pytest.mark.parametrize(
    ("fields", "kind", "problem", "least"),
    [
        ({"product_ids": [7]}, None, CodeProblem.NOT_FOR_THESE, None),
        ({"increases_value": True}, None, CodeProblem.NOT_FOR_THESE, None),
        ({"targets": [CouponTarget.CLICK_AND_COLLECT]}, HOME, CodeProblem.OTHER_DELIVERY, None),
        ({"reception_modes": [ReceptionMode.ON_SITE]}, DIGITAL, CodeProblem.OTHER_DELIVERY, None),
        ({"email_condition": "@work.example"}, None, CodeProblem.OTHER_EMAIL, None),
        ({"minimum_product_price_amount": Decimal(11)}, None, CodeProblem.MINIMUM_PRICE, 11),
        ({"minimum_basket_amount": Decimal(80)}, None, CodeProblem.MINIMUM_BASKET, 80),
        ({"minimum_payment_amount": Decimal(80)}, None, CodeProblem.MINIMUM_PAYMENT, 80),
        (
            {"minimum_payment_amount": Decimal(90), "minimum_basket_amount": Decimal(80)},
            None,
            CodeProblem.MINIMUM_BASKET,
            80,
        ),
        ({"discount_percentage": Decimal(0), "free_click_and_collect": True}, HOME, CodeProblem.OTHER_DELIVERY, None),
    ],
)
def test_a_coupon_that_does_nothing_says_why(
    fields: dict[str, Any], kind: DeliveryKind | None, problem: CodeProblem, least: int | None
) -> None:
    result = reduced(coupon(**fields), kind=kind)
    assert result.total == 0
    assert not result.by_coupon
    assert result.unmet == {1: UnmetCondition(problem, None if least is None else Decimal(least))}


def test_a_coupon_after_one_that_takes_everything_has_nothing_left() -> None:
    result = reduced(coupon(1, "100.00"), coupon(2, "10.00"))
    assert result.unmet == {2: UnmetCondition(CodeProblem.NOTHING_LEFT)}
    assert reduced(coupon(), lines=[]).unmet == {1: UnmetCondition(CodeProblem.NOTHING_LEFT)}


@pytest.mark.parametrize(
    "discount", [{"discount_percentage": Decimal(0)}, {"discount_percentage": None, "discount_amount": Decimal(0)}]
)
@pytest.mark.parametrize("kind", [None, COLLECT])
def test_a_coupon_may_do_nothing_but_make_collecting_free(kind: DeliveryKind | None, discount: dict[str, Any]) -> None:
    result = reduced(coupon(free_click_and_collect=True, **discount), kind=kind)
    assert result.by_coupon == {1: Decimal(0)}
    assert result.free_collection_coupons == frozenset({1})
    assert not result.unmet


@pytest.mark.parametrize(
    ("condition", "email", "works"),
    [
        ("", "ada@example.com", True),
        ("ada@example.com", "ada@example.com", True),
        ("Ada@Example.com", "aDa@example.COM", True),
        ("ada@example.com", "bob@example.com", False),
        ("ada@example.com", "xada@example.com", False),
        ("@example.com", "bob@EXAMPLE.com", True),
        ("@example.com", "bob@notexample.com", False),
        ("@example.com", "bob@example.com.evil", False),
        ("@example.com", "", True),
    ],
)
def test_the_address_decides_once_it_is_known(condition: str, email: str, works: bool) -> None:
    assert (off(coupon(email_condition=condition), email=email) > 0) is works


def test_it_reduces_only_its_products() -> None:
    lines = [line(1, "10.00"), line(2, "30.00"), line(3, "50.00")]
    result = reduced(coupon(product_ids=[2, 9]), lines=lines)
    assert result.by_line == (Decimal(0), Decimal("3.00"), Decimal(0))


def test_it_reduces_only_products_dear_enough() -> None:
    lines = [line(1, "10.00", 5), line(2, "30.00")]
    result = reduced(coupon(minimum_product_price_amount=Decimal("30.00")), lines=lines)
    assert result.by_line == (Decimal(0), Decimal("3.00"))


@pytest.mark.parametrize(
    "fields", [{"product_ids": [7]}, {"minimum_product_price_amount": Decimal(11)}, {"increases_value": True}]
)
def test_a_coupon_with_nothing_to_reduce_is_not_used(fields: dict[str, Any]) -> None:
    result = reduced(coupon(free_click_and_collect=True, **fields), kind=COLLECT)
    assert (result.total, result.by_line) == (Decimal(0), (Decimal(0),))
    assert not result.by_coupon
    assert not result.free_collection_coupons
    assert result.coupons == ((),)


# ---- free collection


@pytest.mark.parametrize(("kind", "free"), [(COLLECT, True), (None, True), (HOME, False), (DIGITAL, False)])
def test_collection_becomes_free(kind: DeliveryKind | None, free: bool) -> None:
    result = reduced(coupon(free_click_and_collect=True), kind=kind)
    assert bool(result.free_collection_coupons) is free
    assert result.total == Decimal("1.00")


@pytest.mark.parametrize(("discount", "works"), [(Decimal(0), False), (Decimal(10), True)])
def test_where_collecting_is_free_already_a_coupon_does_not_make_it_so(discount: Decimal, *, works: bool) -> None:
    one = coupon(free_click_and_collect=True, discount_percentage=discount)
    result = reduced(one, kind=COLLECT, collecting_costs=False)
    assert result.free_collection_coupons == frozenset()
    assert (result.unmet == {}) is works
    if not works:
        assert result.unmet[one.id].problem is CodeProblem.NOTHING_LEFT, "it is not used up"


def test_a_coupon_whose_conditions_fail_frees_nothing() -> None:
    one = coupon(free_click_and_collect=True, minimum_basket_amount=Decimal(11))
    assert reduced(one, kind=COLLECT).free_collection_coupons == frozenset()


def test_a_coupon_that_finds_nothing_left_is_not_used_up_unless_it_frees_collection() -> None:
    whole = coupon(1, "100.00")
    assert reduced(whole, coupon(2), kind=COLLECT).by_coupon == {1: Decimal("10.00")}
    frees = coupon(2, free_click_and_collect=True)
    assert reduced(whole, frees, kind=COLLECT).by_coupon == {1: Decimal("10.00"), 2: Decimal("0.00")}
    assert reduced(whole, frees, kind=HOME).by_coupon == {1: Decimal("10.00")}


@pytest.mark.parametrize("kind", [COLLECT, None])
def test_a_second_coupon_that_only_makes_collecting_free_is_not_used_up(kind: DeliveryKind | None) -> None:
    first, second = (coupon(id, "0.00", free_click_and_collect=True) for id in (1, 2))
    result = reduced(first, second, kind=kind)
    assert (result.by_coupon, result.free_collection_coupons) == ({1: Decimal("0.00")}, frozenset({1}))
    assert result.unmet == {2: UnmetCondition(CodeProblem.NOTHING_LEFT)}
    tenth = coupon(3, free_click_and_collect=True)
    assert reduced(first, tenth, kind=kind).by_coupon == {1: Decimal("0.00"), 3: Decimal("1.00")}


# ---- several coupons, and how they are spread


def test_each_coupon_takes_from_what_the_one_before_left() -> None:
    lines = [line(1, "100.00")]
    ten, twenty = coupon(1, "10.00"), coupon(2, amount="20.00")
    assert reduced(ten, twenty, lines=lines).by_coupon == {1: Decimal("10.00"), 2: Decimal("20.00")}
    assert reduced(twenty, ten, lines=lines).by_coupon == {2: Decimal("20.00"), 1: Decimal("8.00")}


def test_an_amount_never_takes_more_than_there_is() -> None:
    result = reduced(coupon(1, amount="500.00"), coupon(2, amount="5.00"), lines=[line(1, "12.34"), line(2, "0.66")])
    assert result.by_line == (Decimal("12.34"), Decimal("0.66"))
    assert result.by_coupon == {1: Decimal("13.00")}


def test_an_amount_is_spread_in_proportion_with_no_cent_lost() -> None:
    result = reduced(coupon(1, amount="10.00"), lines=[line(1, "10.00"), line(2, "10.00"), line(3, "10.00")])
    assert sorted(result.by_line) == [Decimal("3.33"), Decimal("3.33"), Decimal("3.34")]


@pytest.mark.parametrize(
    ("price", "percent", "taken"),
    [("0.05", "10.00", "0.01"), ("0.04", "10.00", "0.00"), ("9.99", "33.33", "3.33"), ("0.01", "100.00", "0.01")],
)
def test_a_percentage_is_rounded_half_up(price: str, percent: str, taken: str) -> None:
    assert off(coupon(percentage=percent), lines=[line(1, price)]) == Decimal(taken)


CENTS = st.integers(0, 40_000).map(lambda n: f"{n // 100}.{n % 100:02}")
LINES = st.lists(st.tuples(st.integers(1, 4), CENTS, st.integers(1, 7)), min_size=1, max_size=7)
COUPONS = st.lists(st.tuples(st.integers(1, 10_000), st.booleans(), st.sets(st.integers(1, 4), max_size=2)), max_size=5)


@settings(max_examples=100)
@given(LINES, COUPONS)
def test_what_is_taken_is_whole_cents_within_each_line(rows: list[Any], discounts: list[Any]) -> None:
    lines = [line(*row) for row in rows]
    coupons = [
        coupon(id, off, amount=off if is_amount else None, product_ids=sorted(only))
        for id, (n, is_amount, only) in enumerate(discounts, 1)
        for off in (f"{n // 100}.{n % 100:02}",)
    ]
    result = reduced(*coupons, lines=lines)
    assert sum(result.by_line, Decimal(0)) == result.total == sum(result.by_coupon.values(), Decimal(0))
    for one, taken in zip(lines, result.by_line, strict=True):
        assert 0 <= taken <= one.total
        assert taken == taken.quantize(Decimal("0.01"))
    worth = {c.id: sum((ln.total for ln in lines if _reduces(c, ln.choice.product_id)), Decimal(0)) for c in coupons}
    for one_coupon in coupons:
        taken = result.by_coupon.get(one_coupon.id, Decimal(0))
        if one_coupon.discount_amount is not None:
            assert taken <= one_coupon.discount_amount
        else:
            assert one_coupon.discount_percentage is not None
            assert taken <= worth[one_coupon.id] * one_coupon.discount_percentage / 100 + Decimal("0.005")


def _reduces(one: CouponRow, product_id: int) -> bool:
    return not one.product_ids or product_id in one.product_ids


@settings(max_examples=200)
@given(LINES, st.integers(1, 50_000))
def test_one_amount_takes_exactly_what_it_can(rows: list[Any], amount: int) -> None:
    lines = [line(*row) for row in rows]
    discount = Decimal(amount) / 100
    worth = sum((one.total for one in lines), Decimal(0))
    assert off(coupon(1, amount=str(discount)), lines=lines) == min(discount, worth)
