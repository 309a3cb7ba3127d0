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
from store.payment.refund_amounts import (
    commission_back,
    divide,
    left_of,
    network_left,
    part_of_share,
    share_left,
)

CENT, NOTHING = Decimal("0.01"), Decimal("0.00")
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
        back, vat = commission_back(payment, source, part * CENT, NOTHING)
        of_partner = source.source_amount - source.refunded_amount - (fee.amount - source.commission_back_amount)
        if back == part * CENT:
            assert (of_partner, part < left) == (CENT, True), "all that is left can always be refunded"
            part = left
            back, vat = commission_back(payment, source, part * CENT, NOTHING)
        assert 0 <= vat <= back < part * CENT
        source.refunded_amount += part * CENT
        source.commission_back_amount += back
        source.commission_vat_back_amount += vat
        left -= part
    assert (source.commission_back_amount, source.commission_vat_back_amount) == (fee.amount, fee.vat)


@given(
    st.integers(1, 100_000),
    st.integers(1, 100_000),
    st.integers(0, 99),
    st.lists(st.tuples(st.sampled_from([True, False, None]), st.integers(1, 100))),
)
def test_refunds_of_two_owners_take_of_each_what_is_its_own(
    own: int, network: int, rate: int, asked: list[tuple[bool | None, int]]
) -> None:
    """In whatever order lines of both, and amounts at the provider, go back: nobody gives back more than it has, and all of the
    commission goes back with the partner's share.
    """
    fee = (own * rate // 100) * CENT if own > 1 else NOTHING
    payment = PaymentRow(
        partner_id=1, book_id=1, currency="EUR", payment_amount=(own + network) * CENT, commission_amount=fee,
        commission_vat_amount=NOTHING, partner_share_amount=own * CENT, is_for_marketplace=True,
    )  # fmt: skip
    source = PaymentSourceRow(
        id=1, partner_id=1, payment_id=uuid4(), kind=PaymentSourceKind.CREDIT_CARD, currency="EUR",
        source_amount=payment.payment_amount, refunded_amount=NOTHING, commission_back_amount=NOTHING,
        commission_vat_back_amount=NOTHING, partner_share_back_amount=NOTHING,
    )  # fmt: skip
    for is_own, part in [*asked, (None, 100)]:
        left = {None: left_of(source), True: share_left(payment, source), False: network_left(payment, source)}[is_own]
        amount = (left * part / 100).quantize(CENT)
        if not amount:
            continue
        of_network = {None: None, True: NOTHING, False: amount}[is_own]
        share = part_of_share(payment, source, amount, of_network)
        if is_own is not None:
            assert share == (amount if is_own else NOTHING)
        back, _ = commission_back(payment, source, amount, share)
        assert NOTHING <= back <= share
        source.refunded_amount += amount
        source.partner_share_back_amount += share
        source.commission_back_amount += back
        assert NOTHING <= share_left(payment, source) <= payment.partner_share_amount
        assert network_left(payment, source) >= NOTHING
    assert (source.commission_back_amount, source.partner_share_back_amount) == (fee, own * CENT)
