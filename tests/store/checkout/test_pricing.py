"""What a basket costs: every amount exact, every line told what is wrong with it."""

from decimal import Decimal
from typing import Any

import pytest

from schema.checkout.checkout import LineProblem, ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.checkout.pricing.delivery import shipping_rate_for
from store.coupon.coupons import CouponRow
from store.coupon.rules import cents
from store.gift_card.gift_cards import UsableCard
from tests.store.checkout.baskets import attribute, card, coupon, mode, priced, sold, variant

HOME, COLLECT, DIGITAL = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.DIGITAL


# ---- lines

RED = {1: "red"}


@pytest.mark.parametrize(
    ("choice", "product", "problem", "available"),
    [
        (ProductChoice(2, 1), sold(1), LineProblem.NOT_SOLD, None),
        (ProductChoice(1, 1), sold(active=False), LineProblem.INACTIVE, None),
        (ProductChoice(1, 1), sold(available=0), LineProblem.OUT_OF_STOCK, 0),
        (ProductChoice(1, 4), sold(available=3), LineProblem.NOT_ENOUGH_STOCK, 3),
        (ProductChoice(1, 3), sold(available=3), None, None),
        (ProductChoice(1, 9999), sold(available=None), None, None),
        (ProductChoice(1, 0), sold(available=0), None, None),
        (ProductChoice(1, 1), sold(variants=[variant(5)]), LineProblem.VARIANT_REQUIRED, None),
        (ProductChoice(1, 1, 6), sold(variants=[variant(5)]), LineProblem.UNKNOWN_VARIANT, None),
        (ProductChoice(1, 1, 5), sold(), LineProblem.UNKNOWN_VARIANT, None),
        (ProductChoice(1, 1, 5), sold(available=0, variants=[variant(5)]), None, None),
        (ProductChoice(1, 2, 5), sold(variants=[variant(5, available=1)]), LineProblem.NOT_ENOUGH_STOCK, 1),
        (ProductChoice(1, 1, 5), sold(variants=[variant(5, available=0)]), LineProblem.OUT_OF_STOCK, 0),
        (ProductChoice(1, 1), sold(attributes=[attribute(1, "red")]), LineProblem.ATTRIBUTE_REQUIRED, None),
        (
            ProductChoice(1, 1, None, {1: ""}),
            sold(attributes=[attribute(1, "red")]),
            LineProblem.ATTRIBUTE_REQUIRED,
            None,
        ),
        (ProductChoice(1, 1), sold(attributes=[attribute(1, "red", required=False)]), None, None),
        (ProductChoice(1, 1, None, RED), sold(attributes=[attribute(1, "red")]), None, None),
        (
            ProductChoice(1, 1, None, {1: "Red"}),
            sold(attributes=[attribute(1, "red")]),
            LineProblem.UNKNOWN_ATTRIBUTE_VALUE,
            None,
        ),
        (ProductChoice(1, 1, None, {2: "red"}), sold(), LineProblem.UNKNOWN_ATTRIBUTE_VALUE, None),
        (ProductChoice(1, 1, 6, {2: "red"}), sold(active=False), LineProblem.INACTIVE, None),
    ],
)
def test_a_line_is_told_what_is_wrong_with_it(
    choice: ProductChoice, product: Any, problem: LineProblem | None, available: int | None
) -> None:
    other = sold(9, "7.00")
    result = priced([choice, ProductChoice(9, 1)], [product, other])
    line = result.lines[0]
    assert (line.problem, line.available) == (problem, available)
    if problem:
        assert line.total == 0
        assert result.totals.total == Decimal("7.00"), "the rest can be ordered"


def test_a_variant_has_its_own_price() -> None:
    result = priced(
        [ProductChoice(1, 3, 5)], [sold(price="99.00", variants=[variant(4, "12.00"), variant(5, "15.50")])]
    )
    assert result.lines[0].unit_price == Decimal("15.50")
    assert result.totals.total == Decimal("46.50")


def test_lines_of_one_stock_share_it() -> None:
    choices = [ProductChoice(1, 3), ProductChoice(1, 3, None, RED), ProductChoice(1, 2), ProductChoice(1, 1)]
    result = priced(choices, [sold(available=5, attributes=[attribute(1, "red", required=False)])])
    assert [line.problem for line in result.lines] == [
        None,
        LineProblem.NOT_ENOUGH_STOCK,
        None,
        LineProblem.OUT_OF_STOCK,
    ]
    assert [line.available for line in result.lines] == [None, 2, None, 0]
    assert result.totals.total == Decimal("50.00")


def test_variants_of_one_product_have_stocks_of_their_own() -> None:
    product = sold(available=0, variants=[variant(1, available=1), variant(2, available=2), variant(3)])
    result = priced([ProductChoice(1, 1, 1), ProductChoice(1, 2, 2), ProductChoice(1, 50, 3)], [product])
    assert [line.problem for line in result.lines] == [None, None, None]


def test_a_line_of_none_is_shown_and_not_ordered() -> None:
    result = priced([ProductChoice(1, 0)], [sold()])
    assert result.lines[0].problem is None
    assert result.orderable_lines == ()
    assert result.totals.total == 0


# ---- delivery


@pytest.mark.parametrize(
    ("country", "weight", "expected"),
    [
        ("FR", 0, "4.90"),
        ("FR", 500, "4.90"),
        ("FR", 501, "6.90"),
        ("FR", 2000, "6.90"),
        ("FR", 2001, None),
        ("BE", 2001, "20.00"),
        ("US", 1, "30.00"),
        ("US", 10_000, "30.00"),
        ("", 1, "30.00"),
    ],
)
def test_the_tightest_band_of_the_country_counts(country: str, weight: int, expected: str | None) -> None:
    rates = [("FR", 2000, "6.90"), ("FR", 500, "4.90"), ("BE", None, "20.00"), ("BE", 100, "9.00"), ("", None, "30.00")]
    found = shipping_rate_for(mode(HOME, *rates), country, weight)
    assert found == (None if expected is None else Decimal(expected))


def home(weight: int, quantity: int, country: str, **more: Any) -> Any:
    rates = [("FR", 1000, "5.00"), ("FR", 3000, "9.00"), ("BE", None, "12.00")]
    product = sold(price="10.00", weight=weight, **more)
    return priced([ProductChoice(1, quantity)], [product], [mode(HOME, *rates)], delivery_id=1, country=country)


@pytest.mark.parametrize(
    ("quantity", "country", "price", "available"),
    [
        (2, "FR", "5.00", True),
        (3, "FR", "9.00", True),
        (6, "FR", "9.00", True),
        (7, "FR", None, False),
        (7, "BE", "12.00", True),
        (1, "US", None, False),
        (1, "", None, True),
    ],
)
def test_home_delivery_costs_by_country_and_weight(
    quantity: int, country: str, price: str | None, available: bool
) -> None:
    result = home(500, quantity, country)
    option = result.deliveries[0]
    assert option.price == (None if price is None else Decimal(price))
    assert option.is_available is available
    assert option.countries == ("BE", "FR")
    assert result.totals.delivery == option.price
    assert result.totals.total == 10 * quantity + (option.price or 0)


def test_variants_weigh_what_they_weigh() -> None:
    product = sold(weight=400, variants=[variant(5, "10.00")])
    result = priced(
        [ProductChoice(1, 2, 5)],
        [product],
        [mode(HOME, ("", 799, "5.00"), ("", 800, "6.00"))],
        delivery_id=1,
        country="FR",
    )
    assert result.totals.delivery == Decimal("6.00")


def test_what_cannot_be_ordered_weighs_nothing() -> None:
    products = [sold(1, weight=100), sold(2, weight=5000, available=0)]
    result = priced(
        [ProductChoice(1, 1), ProductChoice(2, 1)],
        products,
        [mode(HOME, ("", 100, "5.00"))],
        delivery_id=1,
        country="FR",
    )
    assert result.totals.delivery == Decimal("5.00")


@pytest.mark.parametrize(("quantity", "price"), [(4, "5.00"), (5, "0.00"), (6, "0.00")])
def test_delivery_is_free_from_its_threshold_on(quantity: int, price: str) -> None:
    modes = [mode(HOME, ("FR", None, "5.00"), free_above="50.00")]
    result = priced([ProductChoice(1, quantity)], [sold()], modes, delivery_id=1, country="FR")
    assert result.totals.delivery == Decimal(price)


def test_the_threshold_is_measured_after_coupons_and_before_gift_cards() -> None:
    modes = [mode(HOME, ("FR", None, "5.00"), free_above="50.00")]
    reduced = priced(
        [ProductChoice(1, 5)], [sold()], modes, delivery_id=1, country="FR", codes=[coupon(percentage="10.00")]
    )
    assert (reduced.totals.delivery, reduced.totals.total) == (Decimal("5.00"), Decimal("50.00"))
    paid = priced([ProductChoice(1, 5)], [sold()], modes, delivery_id=1, country="FR", codes=[card(remaining="49.00")])
    assert (paid.totals.delivery, paid.totals.by_card) == (Decimal("0.00"), Decimal("1.00"))


def test_a_threshold_takes_nothing_to_where_it_is_not_delivered() -> None:
    modes = [mode(HOME, ("FR", None, "5.00"), free_above="0.00")]
    result = priced([ProductChoice(1, 5)], [sold()], modes, delivery_id=1, country="US")
    assert result.deliveries[0].is_available is False
    assert result.totals.delivery is None


def test_delivery_to_anywhere_names_no_countries() -> None:
    result = priced(
        [ProductChoice(1, 1)], [sold()], [mode(HOME, ("FR", None, "5.00"), ("", None, "15.00"))], country="US"
    )
    assert result.deliveries[0].countries == ()
    assert result.deliveries[0].price == Decimal("15.00")


@pytest.mark.parametrize(("physical", "available"), [((False, False), True), ((False, True), False), ((True,), False)])
def test_digital_delivery_is_for_what_is_not_physical(physical: tuple[bool, ...], available: bool) -> None:
    products = [sold(id, physical=is_physical) for id, is_physical in enumerate(physical, 1)]
    result = priced([ProductChoice(p.offered.id, 1) for p in products], products, [mode(DIGITAL)], delivery_id=1)
    assert result.deliveries[0].is_available is available
    assert result.totals.delivery == (0 if available else None)


def test_digital_delivery_is_not_kept_off_by_a_line_that_is_left_out() -> None:
    products = [sold(1, physical=False), sold(2, available=0)]
    result = priced([ProductChoice(1, 1), ProductChoice(2, 1)], products, [mode(DIGITAL)], delivery_id=1)
    assert result.deliveries[0].is_available


def test_a_mode_without_rates_costs_nothing() -> None:
    for kind in (HOME, COLLECT):
        result = priced([ProductChoice(1, 1)], [sold()], [mode(kind)], delivery_id=1)
        assert (result.totals.delivery, result.deliveries[0].is_available) == (Decimal(0), True)


def test_an_unknown_mode_is_no_delivery() -> None:
    result = priced([ProductChoice(1, 1)], [sold()], [mode(COLLECT)], delivery_id=7)
    assert result.totals.delivery is None
    assert result.totals.total == Decimal("10.00")


# ---- VAT and cover


def test_vat_is_told_rate_by_rate_with_delivery_and_discount() -> None:
    products = [sold(1, "100.00", vat="20.00"), sold(2, "50.00", vat="5.50")]
    result = priced(
        [ProductChoice(1, 1), ProductChoice(2, 1)],
        products,
        [mode(HOME, ("FR", None, "12.00"), vat="20.00")],
        delivery_id=1,
        country="FR",
        codes=[coupon(percentage="10.00")],
    )
    assert [(v.rate, v.gross, v.vat, v.net) for v in result.totals.vat] == [
        (Decimal("5.50"), Decimal("45.00"), Decimal("2.35"), Decimal("42.65")),
        (Decimal("20.00"), Decimal("102.00"), Decimal("17.00"), Decimal("85.00")),
    ]


def test_vat_is_rounded_half_up() -> None:
    (part,) = priced([ProductChoice(1, 1)], [sold(price="0.03", vat="20.00")]).totals.vat
    assert part.vat == Decimal("0.01")  # 0.005


def test_gift_cards_pay_in_the_order_they_were_given() -> None:
    codes = [card(1, "4.00"), card(2, "50.00"), card(3, "50.00")]
    result = priced([ProductChoice(1, 1)], [sold()], codes=codes)
    assert [(c.amount, c.applies) for c in result.codes] == [
        (Decimal("4.00"), True),
        (Decimal("6.00"), True),
        (Decimal("0.00"), True),
    ]
    assert (result.totals.gift_cards, result.totals.by_card) == (Decimal("10.00"), Decimal("0.00"))


def test_gift_cards_pay_for_delivery_too() -> None:
    modes = [mode(HOME, ("FR", None, "5.00"))]
    result = priced(
        [ProductChoice(1, 1)], [sold()], modes, delivery_id=1, country="FR", codes=[card(remaining="15.00")]
    )
    assert result.totals.by_card == 0


def test_coupons_come_before_gift_cards_wherever_they_were_typed() -> None:
    typed: list[CouponRow | UsableCard] = [card(1, "5.00"), coupon(percentage="50.00")]
    for order in (typed, typed[::-1]):
        totals = priced([ProductChoice(1, 1)], [sold()], codes=order).totals
        assert (totals.discount, totals.gift_cards, totals.by_card) == (Decimal("5.00"), Decimal("5.00"), Decimal(0))


def test_nothing_costs_nothing() -> None:
    totals = priced([], [], codes=[card(), coupon()]).totals
    assert (totals.total, totals.by_card, totals.vat) == (Decimal(0), Decimal(0), ())


@pytest.mark.parametrize(("value", "rounded"), [("0.005", "0.01"), ("0.0049", "0.00"), ("2.675", "2.68")])
def test_cents_are_rounded_half_up(value: str, rounded: str) -> None:
    assert cents(Decimal(value)) == Decimal(rounded)


def test_more_than_an_amount_can_be_is_no_order() -> None:
    """Each line on its own, lines together, and what brings them: nothing is left that no column could keep."""
    products = [sold(1, "9999999999.99"), sold(2, "5000000000.00"), sold(3, "1.00")]
    lines = [ProductChoice(1, 2), ProductChoice(2, 1), ProductChoice(2, 1), ProductChoice(3, 9999), ProductChoice(1, 1)]
    carriers = [mode(HOME, ("FR", None, "4999990001.00")), mode(COLLECT, ("", None, "4999990001.00"), id=2)]
    result = priced(lines, products, carriers, delivery_id=1, country="FR")
    much = LineProblem.TOO_MUCH
    assert [line.problem for line in result.lines] == [much, None, much, None, much]
    assert [option.is_available for option in result.deliveries] == [False, False]
    assert (result.totals.total, result.totals.delivery) == (Decimal("5000009999.00"), None)
    dearest = [mode(COLLECT, ("", None, "4999990000.99"))]
    assert priced(lines, products, dearest, delivery_id=1).totals.total == LARGEST_AMOUNT
