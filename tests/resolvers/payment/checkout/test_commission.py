"""The commission of a checkout: told to the provider, kept with the payment, and posted in the ledger."""

from decimal import Decimal
from typing import Any

from sqlalchemy import text

from resolvers.payment.checkout import payment
from schema.checkout.checkout import PaymentAttemptStatus, ProductChoice
from store.payment.fees import FeeRuleRow
from tests.fixtures.shop import Shop

ENTRIES = """
    SELECT a.role, e.amount * a.side FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
    JOIN ledger_account a ON a.id = e.account_id WHERE j.source_kind = 'payment' ORDER BY e.line
"""


async def add_rule(shop: Shop, **values: Any) -> FeeRuleRow:
    """A fee rule of the shop's marketplace."""
    return await shop.add(FeeRuleRow(marketplace_id=shop.partner.marketplace_id, **values))


async def buy(shop: Shop, price: str, *codes: str) -> None:
    """Buy a candle, and pay by card what the codes leave."""
    candle = await shop.product(price)
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=codes)
    started = await shop.start(key, seen)
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED


async def fees_wallet(shop: Shop) -> int:
    """What lies in the provider's wallet of fees."""
    checked = (await shop.control("GET", "/ledger/check")).json()
    assert checked["balanced"]
    return sum(each["balance"] for each in checked["accounts"] if each["account"] == "fees")


async def test_fees_go_to_the_fees_wallet_and_into_the_ledger(shop: Shop) -> None:
    await add_rule(shop, percentage=Decimal("1.00"))
    of_shop = await add_rule(
        shop, product="products", origin="shop", percentage=Decimal("4.00"), fixed_amount=Decimal("0.17"), vat_rate=Decimal("20.00")
    )  # fmt: skip
    await buy(shop, "100.00")
    assert await fees_wallet(shop) == 500
    row = await shop.services.db.rows(
        text("SELECT commission_amount, commission_vat_amount, net_amount, fee_rule_id, card_amount FROM payment")
    )
    assert row == [(Decimal("5.00"), Decimal("0.83"), Decimal("95.00"), of_shop.id, Decimal("100.00"))]
    assert await shop.services.db.rows(text(ENTRIES)) == [
        ("wallet", 9500),
        ("fees_wallet", 500),
        ("partner", 9500),
        ("commission", 417),
        ("vat_on_commission", 83),
    ]


async def test_commission_is_of_what_comes_by_card(shop: Shop) -> None:
    await add_rule(shop, percentage=Decimal("10.00"))
    card = await shop.gift_card("80.00")
    await buy(shop, "100.00", card.code)
    assert await fees_wallet(shop) == 200
    assert await shop.one("SELECT net_amount FROM payment") == Decimal("98.00")
    paid = text("SELECT payment_method, commission_amount FROM payment_transaction ORDER BY payment_method")
    assert await shop.services.db.rows(paid) == [("credit_card", Decimal("2.00")), ("gift_card", Decimal("0.00"))]


async def test_without_a_rule_there_is_no_commission(shop: Shop) -> None:
    await add_rule(shop, percentage=Decimal("10.00"), is_active=False)
    await add_rule(shop, product="vouchers", percentage=Decimal("10.00"))
    await buy(shop, "100.00")
    assert await fees_wallet(shop) == 0
    assert await shop.one("SELECT commission_amount FROM payment") == 0
    assert await shop.services.db.rows(text(ENTRIES)) == [("wallet", 10000), ("partner", 10000)]
