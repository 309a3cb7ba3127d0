"""What goes back for a line, and how it is limited."""

from decimal import Decimal
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.order.orders import OrderProductRow, OrderRow
from store.order.refunds import LineRefund, OrderRefund, amount_of, left_of_line, limited_to

CENTS = st.integers(0, 100_000).map(lambda cents: Decimal(cents).scaleb(-2))


def line(quantity: int, total: Decimal, discount: Decimal, currency: str = "EUR") -> OrderProductRow:
    """A line of which nothing was refunded."""
    return OrderProductRow(
        quantity=quantity,
        total_amount=total,
        discount_amount=min(discount, total),
        currency=currency,
        name=Text(en="Candle"),
        partner_id=1,
        order_id=1,
        refunded_quantity=0,
        refunded_amount=Decimal("0.00"),
        unit_price_amount=total / quantity,
        vat_rate=Decimal(0),
    )


@given(st.integers(1, 30), CENTS, CENTS, st.data())
def test_any_way_to_refund_a_line_gives_back_what_was_paid(
    quantity: int, total: Decimal, discount: Decimal, data: st.DataObject
) -> None:
    row = line(quantity, total, discount)
    while left := left_of_line(row):
        pieces = data.draw(st.integers(1, left))
        amount = amount_of(row, pieces)
        assert amount >= 0
        row.refunded_quantity += pieces
        row.refunded_amount += amount
        assert row.refunded_amount <= row.total_amount - row.discount_amount
    assert row.refunded_amount == row.total_amount - row.discount_amount


def test_a_currency_without_cents_has_none() -> None:
    assert amount_of(line(3, Decimal("1000.00"), Decimal("0.00"), "JPY"), 1) == 333


def test_too_much_is_taken_off_the_end() -> None:
    order = OrderRow(
        partner_id=1,
        number=1,
        cart_id=uuid4(),
        attempt_id=uuid4(),
        delivery_kind=DeliveryKind.HOME_DELIVERY,
        delivery_name=Text(),
    )
    lines = [LineRefund(line(1, Decimal(10), Decimal(0)), 1, Decimal("10.00")) for _ in range(2)]
    refund = OrderRefund(order, lines, Decimal("5.00"))
    for left, expected in (("25", "10 10 5"), ("22", "10 10 2"), ("15", "10 5 0"), ("3", "3 0 0"), ("40", "10 10 5")):
        limited = limited_to(refund, Decimal(left))
        amounts = [*(each.amount for each in limited.lines), limited.delivery]
        assert amounts == [Decimal(amount) for amount in expected.split()]
        assert limited.amount == sum(amounts)
