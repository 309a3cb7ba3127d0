"""Of any basket: amounts add up to the cent, VAT is contained, no code and no line takes more than there is."""

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schema.checkout.checkout import ProductChoice
from schema.checkout.codes import CodeKind
from schema.delivery.delivery import DeliveryKind
from store.checkout.pricing.order import PricingInput, price_order
from store.coupon.coupons import CouponRow
from store.coupon.rules import cents
from store.gift_card.gift_cards import UsableCard
from tests.store.checkout.baskets import attribute, card, coupon, mode, sold, variant

CENT = Decimal("0.01")


def money(largest: int) -> st.SearchStrategy[str]:
    return st.integers(0, largest).map(lambda cents: f"{cents // 100}.{cents % 100:02}")


@st.composite
def products(draw: st.DrawFn) -> list[Any]:
    made = []
    for id in range(1, draw(st.integers(1, 4)) + 1):
        stock = st.none() | st.integers(0, 12)
        versions = [variant(10 * id + n, draw(money(20000)), draw(stock)) for n in range(draw(st.integers(0, 2)))]
        made.append(
            sold(
                id,
                draw(money(30000)),
                available=draw(stock),
                vat=draw(st.sampled_from(["0.00", "5.50", "10.00", "20.00"])),
                weight=draw(st.integers(0, 900)),
                variants=versions,
                attributes=[attribute(id, "red", "blue", required=draw(st.booleans()))] * draw(st.integers(0, 1)),
                physical=draw(st.booleans()),
                active=draw(st.sampled_from([True, True, True, False])),
            )
        )
    return made


CHOICES = st.lists(
    st.builds(
        ProductChoice,
        product_id=st.integers(1, 5),
        quantity=st.integers(0, 8),
        variant_id=st.none() | st.sampled_from([10, 11, 20, 21, 30, 40, 99]),
        attribute_values=st.sampled_from([{}, {}, {1: "red"}, {2: "blue"}, {1: "green"}, {7: "red"}]),
    ),
    max_size=7,
)
DELIVERIES = [
    mode(
        DeliveryKind.HOME_DELIVERY, ("FR", 1000, "4.90"), ("FR", None, "9.90"), ("BE", 2000, "12.00"), id=1, vat="20.00"
    ),
    mode(DeliveryKind.CLICK_AND_COLLECT, ("", None, "1.50"), id=2, free_above="60.00", vat="5.50"),
    mode(DeliveryKind.DIGITAL, id=3),
]


@st.composite
def codes(draw: st.DrawFn) -> list[CouponRow | UsableCard]:
    made: list[CouponRow | UsableCard] = []
    for id in range(1, draw(st.integers(0, 3)) + 1):
        percentage = draw(st.booleans())
        discount = draw(st.integers(1, 10000 if percentage else 9000))
        off = f"{discount // 100}.{discount % 100:02}"
        made.append(
            coupon(
                id,
                off,
                amount=None if percentage else off,
                product_ids=draw(st.sampled_from([[], [], [1], [2, 3]])),
                minimum_basket_amount=draw(st.none() | st.just(Decimal("25.00"))),
                minimum_product_price_amount=draw(st.none() | st.just(Decimal("5.00"))),
                free_click_and_collect=draw(st.booleans()),
            )
        )
    made += [card(id, draw(money(20000))) for id in range(1, draw(st.integers(0, 3)) + 1)]
    return list(draw(st.permutations(made)))


@st.composite
def baskets(draw: st.DrawFn) -> PricingInput:
    return PricingInput(
        goods=draw(CHOICES),
        products={p.offered.id: p for p in draw(products())},
        deliveries=DELIVERIES,
        delivery_id=draw(st.sampled_from([None, 1, 2, 3, 9])),
        country=draw(st.sampled_from(["", "FR", "BE", "US"])),
        email="ada@example.com",
        codes=draw(codes()),
        currency="EUR",
    )


@settings(max_examples=100)
@given(baskets())
def test_totals_add_up_to_the_cent(basket: PricingInput) -> None:
    result = price_order(basket)
    totals = result.totals
    delivery = totals.delivery or Decimal(0)
    assert totals.products == sum((line.total for line in result.orderable_lines), Decimal(0))
    assert totals.products - totals.discount + delivery == totals.total == totals.gift_cards + totals.by_card
    amounts = [totals.products, totals.discount, delivery, totals.total, totals.gift_cards, totals.by_card]
    assert all(amount >= 0 for amount in amounts)
    assert all(cents(amount) == amount for amount in amounts)
    assert totals.discount <= totals.products


@settings(max_examples=100)
@given(baskets())
def test_the_vat_is_contained_in_the_total(basket: PricingInput) -> None:
    totals = price_order(basket).totals
    assert sum((part.gross for part in totals.vat), Decimal(0)) == totals.total
    assert len({part.rate for part in totals.vat}) == len(totals.vat)
    for part in totals.vat:
        assert part.net + part.vat == part.gross
        assert 0 <= part.vat < part.gross
        assert abs(part.net * part.rate / 100 - part.vat) <= CENT


@settings(max_examples=100)
@given(baskets())
def test_each_code_is_told_what_it_takes_and_no_more(basket: PricingInput) -> None:
    result = price_order(basket)
    by_kind = {kind: [c for c in result.codes if c.kind is kind] for kind in CodeKind}
    assert [code.code for code in result.codes] == [code.code for code in basket.codes]
    assert sum((c.amount for c in by_kind[CodeKind.COUPON]), Decimal(0)) == result.totals.discount
    assert sum((c.amount for c in by_kind[CodeKind.GIFT_CARD]), Decimal(0)) == result.totals.gift_cards
    remaining = {code.code: code.remaining for code in basket.codes if isinstance(code, UsableCard)}
    assert all(c.amount <= remaining[c.code] for c in by_kind[CodeKind.GIFT_CARD])
    left_over = sum(remaining.values()) - result.totals.gift_cards
    assert result.totals.by_card == 0 or left_over == 0, "a bank card pays only what no gift card can"


@settings(max_examples=100)
@given(baskets())
def test_lines_never_take_more_than_there_is(basket: PricingInput) -> None:
    result = price_order(basket)
    assert [line.choice for line in result.lines] == list(basket.goods or ())
    taken: dict[tuple[int, int | None], int] = {}
    for line in result.orderable_lines:
        assert line.product is not None
        assert line.unit_price is not None
        assert line.total == line.unit_price * line.choice.quantity
        key = (line.choice.product_id, line.choice.variant_id)
        taken[key] = taken.get(key, 0) + line.choice.quantity
        there = line.variant.available if line.variant else line.product.available
        assert there is None or taken[key] <= there
    assert all(line.total == 0 for line in result.lines if line not in result.orderable_lines)
