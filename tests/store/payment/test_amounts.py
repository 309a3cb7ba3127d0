"""Commission and refunds in currencies with and without decimals."""

from decimal import Decimal
from itertools import chain, repeat
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema.payment.payment import PaymentSourceKind
from store.payment.fees import FeeRuleRow, commission_by
from store.payment.payments import PaymentRow, PaymentSourceRow
from store.payment.refund_amounts import commission_back, divide

CENT = Decimal("0.01")
SHARES = st.lists(st.integers(1, 100), max_size=30)
"""How many percent of what is left each refund takes; the last one takes the rest."""


@pytest.mark.parametrize(
    ("currency", "paid", "net", "vat"),
    [("EUR", "1010.00", "35.35", "7.07"), ("JPY", "1010", "35", "7"), ("EUR", "0.14", "0.00", "0.00")],
)
def test_commission_is_rounded_to_what_the_currency_has(currency: str, paid: str, net: str, vat: str) -> None:
    rule = FeeRuleRow(
        marketplace_id=1, percentage=Decimal("3.5"), vat_rate=Decimal(20), fixed_amount=Decimal(0), currency=currency
    )
    fee = commission_by([(rule, Decimal(paid))], Decimal(paid))
    assert (fee.amount - fee.vat, fee.vat) == (Decimal(net), Decimal(vat))


@pytest.mark.parametrize(("currency", "card", "gift_card"), [("EUR", "66.67", "33.33"), ("JPY", "67", "33")])
def test_a_refund_is_divided_as_the_currency_allows(currency: str, card: str, gift_card: str) -> None:
    sources = [
        PaymentSourceRow(
            id=number, partner_id=1, payment_id=uuid4(), kind=kind,
            source_amount=Decimal(amount), refunded_amount=Decimal(0), currency=currency,
        )
        for number, (kind, amount) in enumerate(
            [(PaymentSourceKind.GIFT_CARD, 100), (PaymentSourceKind.CREDIT_CARD, 200)], start=1
        )
    ]  # fmt: skip
    assert divide(sources, Decimal(100)) == {1: Decimal(gift_card), 2: Decimal(card)}


@pytest.mark.parametrize("cents", [True, False])
@settings(max_examples=200)
@given(data=st.data(), shares=SHARES)
def test_every_refund_takes_something_from_the_partner(cents: bool, data: st.DataObject, shares: list[int]) -> None:
    """However a payment is refunded in parts, the provider refunds nothing that is commission alone; all goes back."""
    amount = data.draw(st.integers(1, 30 if cents else 100_000))
    fee_rule = FeeRuleRow(
        marketplace_id=1, percentage=Decimal(data.draw(st.integers(0, 100))), vat_rate=Decimal(20),
        fixed_amount=Decimal(data.draw(st.integers(0, 50))) / 100, currency="EUR",
    )  # fmt: skip
    fee = commission_by([(fee_rule, amount * CENT)], amount * CENT)
    assert 0 <= fee.vat <= fee.amount <= (amount - 1) * CENT
    payment = PaymentRow(
        partner_id=1, book_id=1, currency="EUR", payment_amount=amount * CENT, commission_amount=fee.amount,
        commission_vat_amount=fee.vat,
    )  # fmt: skip
    source = PaymentSourceRow(
        id=1, partner_id=1, payment_id=uuid4(), kind=PaymentSourceKind.CREDIT_CARD, currency="EUR",
        source_amount=payment.payment_amount, refunded_amount=Decimal(0), commission_back_amount=Decimal(0),
        commission_vat_back_amount=Decimal(0),
    )  # fmt: skip
    left, taken = amount, chain(shares, repeat(100))
    while left:
        part = max(1, left * next(taken) // 100)
        back, vat = commission_back(payment, source, part * CENT)
        of_partner = source.source_amount - source.refunded_amount - (fee.amount - source.commission_back_amount)
        if back == part * CENT:
            assert (of_partner, part < left) == (CENT, True), "all that is left can always be refunded"
            part = left
            back, vat = commission_back(payment, source, part * CENT)
        assert 0 <= vat <= back < part * CENT
        source.refunded_amount += part * CENT
        source.commission_back_amount += back
        source.commission_vat_back_amount += vat
        left -= part
    assert (source.commission_back_amount, source.commission_vat_back_amount) == (fee.amount, fee.vat)
