"""Commission and refunds in currencies with and without decimals."""

from decimal import Decimal
from uuid import uuid4

import pytest

from schema.payment.payment import PaymentSourceKind
from store.payment.fees import FeeRuleRow, commission_by
from store.payment.payments import PaymentSourceRow
from store.payment.refund_amounts import divide


@pytest.mark.parametrize(
    ("currency", "paid", "net", "vat"),
    [("EUR", "1010.00", "35.35", "7.07"), ("JPY", "1010", "35", "7"), ("EUR", "0.14", "0.00", "0.00")],
)
def test_commission_is_rounded_to_what_the_currency_has(currency: str, paid: str, net: str, vat: str) -> None:
    rule = FeeRuleRow(
        marketplace_id=1, percentage=Decimal("3.5"), vat_rate=Decimal(20), fixed_amount=Decimal(0), currency=currency
    )
    fee = commission_by(rule, Decimal(paid))
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
