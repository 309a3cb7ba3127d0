"""Refunds of payments that are almost all commission: the provider refunds nothing that is commission alone."""

from decimal import Decimal

import pytest

from resolvers.payment.refunds.refunds import preview_refund, refund_payment
from schema.payment.errors import CommissionOnly
from schema.payment.input import PreviewRefund, RefundPayment
from store.payment.payments import PaymentRow, RefundRow
from tests.fixtures.payment.api_payment import books_balance, fee_rule, paid, wallets_agree
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop


async def refunded(shop: Shop, payment: PaymentRow, amount: str) -> str:
    """The state of a refund that was sent."""
    refund = await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal(amount)))
    assert isinstance(refund, RefundRow)
    await send_refunds(shop.services)
    return str(await shop.one("SELECT state FROM refund WHERE id = :id", id=refund.id))


@pytest.mark.parametrize(
    ("percentage", "fixed", "amount", "commission"),
    [("100", "0", "10.00", "9.99"), ("4", "0.25", "0.31", "0.30"), ("60", "0", "0.02", "0.01")],
)
async def test_all_of_it(shop: Shop, percentage: str, fixed: str, amount: str, commission: str) -> None:
    await fee_rule(shop, percentage, fixed_amount=Decimal(fixed))
    payment = await paid(shop, amount)
    assert payment.commission_amount == Decimal(commission)
    assert await refunded(shop, payment, amount) == "done"
    await books_balance(shop)
    await wallets_agree(shop)


async def test_a_part_of_it_is_refused_if_the_rest_could_not_follow(shop: Shop) -> None:
    await fee_rule(shop, "100")
    payment = await paid(shop, "10.00")
    with pytest.raises(CommissionOnly):
        await preview_refund(shop.manager, PreviewRefund(id=payment.id, amount=Decimal("4.00")))
    with pytest.raises(CommissionOnly):
        await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("4.00")))
    assert await shop.count("refund") == await shop.count("job WHERE kind = 'send_refund'") == 0
    assert await refunded(shop, payment, "10.00") == "done"
    await books_balance(shop)
    await wallets_agree(shop)


@pytest.mark.parametrize(("first", "last"), [("9.99", "0.01"), ("9.98", "0.02"), ("0.01", "9.99")])
async def test_all_of_the_commission_goes_back_in_the_end(shop: Shop, first: str, last: str) -> None:
    await fee_rule(shop, "60", vat_rate=Decimal(0))
    payment = await paid(shop, "10.00")
    assert [await refunded(shop, payment, amount) for amount in (first, last)] == ["done", "done"]
    assert await shop.one("SELECT sum(commission_back_amount) FROM payment_source") == Decimal("6.00")
    await books_balance(shop)
    await wallets_agree(shop)
