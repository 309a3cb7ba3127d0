# ruff: noqa: S608 - statements are made of the names above
"""What rows repeat of the ledger: each change of a row, or of a journal, is found by the rule that is about it."""

import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy import text

from resolvers.payment.page.process import sync_payin
from resolvers.payment.refunds.refunds import refund_payment
from schema.checkout.checkout import ProductChoice
from schema.payment.input import RefundPayment
from store.core.clock import clock
from store.ledger.verification.run import ProofScope
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import begun, created, fee_rule, paid, paid_at_provider, wallet_uuid
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import DECLINED_CARD, Shop
from tests.store.migrations.revisions import at

PAID = "(SELECT payment_id FROM payment_source WHERE kind = 'gift_card')"
PAYIN, PART = "type = 'payin' AND status = 'ok'", "type = 'refund' AND status = 'ok'"
CARD, GIFT_CARD = "payment_method = 'credit_card'", "payment_method = 'gift_card'"
FORGERIES = {
    "all transfers fewer": ("DELETE FROM transfer", "transfers", "is missing"),
    "a transfer back fewer": ("DELETE FROM transfer WHERE type = 'reversal'", "transfers", "reversal, wallet"),
    "a transfer more": (
        ("INSERT INTO transfer (marketplace_id, partner_id, currency, type, status, transfer_amount, created_on, payment_id,"
        " debited_wallet_id, credited_wallet_id, provider_id, detail) SELECT marketplace_id, partner_id, currency, type, status,"
        " transfer_amount, created_on, payment_id, debited_wallet_id, credited_wallet_id, '', '' FROM transfer"
        " WHERE type = 'payment'"),
        "transfers",
        "a transfer of 3000 was not posted",
    ),
    "the amount of a transfer": ("UPDATE transfer SET transfer_amount = transfer_amount + 1", "transfers", "3100 was not posted"),
    "the status of a transfer": ("UPDATE transfer SET status = 'err' WHERE type = 'payment'", "transfers", "3000 is missing"),
    "the wallet of a transfer": (
        "UPDATE transfer SET credited_wallet_id = debited_wallet_id WHERE type = 'payment'",
        "transfers",
        "is of wallet",
    ),
    "VAT": (
        f"UPDATE payment SET commission_vat_amount = commission_vat_amount + 0.01 WHERE id = {PAID}",
        "payments",
        "420 commission with 71 VAT, not posted",
    ),
    "commission": (
        f"UPDATE payment SET commission_amount = commission_amount + 1, net_amount = net_amount - 1 WHERE id = {PAID}",
        "payments",
        "520 commission",
    ),
    "the amount of a pay-in": (
        f"UPDATE payment_transaction SET transaction_amount = transaction_amount + 1, net_amount = net_amount + 1 WHERE {PAYIN} AND {CARD}",
        "payins",
        "a pay-in of 7100 (bank card)",
    ),
    "the amount of a gift card's pay-in": (
        ("UPDATE payment_transaction SET transaction_amount = transaction_amount + 1, net_amount = net_amount + 1"
        f" WHERE {PAYIN} AND {GIFT_CARD}"),
        "payins",
        "a pay-in of 3100 (gift card",
    ),
    "VAT of a pay-in": (
        f"UPDATE payment_transaction SET commission_vat_amount = 0 WHERE {PAYIN} AND {CARD}", "payins", "with 0 VAT"
    ),
    "the status of a pay-in": (
        f"UPDATE payment_transaction SET status = 'err' WHERE {PAYIN} AND {CARD}", "payins", "posted, and not ok"
    ),
    "a failed pay-in that is paid": ("UPDATE payment_transaction SET status = 'ok' WHERE status = 'err'", "payins", "not posted"),
    "a failed pay-in that is open": (
        "UPDATE payment_transaction SET status = 'ip' WHERE status = 'err'", "payins", "is ip, 40.00"
    ),
    "the amount of a failed pay-in": (
        "UPDATE payment_transaction SET transaction_amount = 39, net_amount = 39 - commission_amount WHERE status = 'err'",
        "payins",
        "is err, 39.00",
    ),
    "a capture fewer": (
        ("DELETE FROM ledger_entry WHERE journal_id IN (SELECT id FROM ledger_journal WHERE kind = 'capture');"
        "DELETE FROM ledger_journal WHERE kind = 'capture'"),
        "captures",
        "3000 not captured",
    ),
    "a source fewer": (
        "DELETE FROM payment_source WHERE kind = 'gift_card'", "captures", "3000 captured, of no source"
    ),
    "the amount of a source": (
        f"UPDATE payment_source SET source_amount = source_amount + CASE kind WHEN 'gift_card' THEN 1 ELSE -1 END WHERE payment_id = {PAID}",
        "captures",
        "3100 not captured",
    ),
    "VAT of a refund": (
        (f"UPDATE payment_transaction SET commission_vat_amount = 0 WHERE {PART} AND {CARD}; UPDATE payment_source SET"
        " commission_vat_back_amount = 0"),
        "refunds",
        "with 0 VAT, not posted",
    ),
    "the status of a refund's part": (
        f"UPDATE payment_transaction SET status = 'ip' WHERE {PART} AND {CARD}; UPDATE refund SET state = 'pending'",
        "refunds",
        "refund_paid",
    ),
    "the amount of a refund": ("UPDATE refund SET refund_amount = refund_amount - 1", "refund_parts", "its parts are 10.00"),
    "the state of a refund": ("UPDATE refund SET state = 'failed'", "refund_parts", "failed; its parts are"),
}  # fmt: skip
ALSO = {
    "a capture fewer": "cards_show_their_balance transfers payins journals_say_what_was_posted balances_are_sums",
    "a source fewer": "payins payment_totals refunds",
}
"""What else such a change breaks: the ledger itself is changed, or what two rules read."""


async def refunded_to_both(shop: Shop) -> None:
    """A payment by gift card and bank card, a part of which went back to both, and one that was declined."""
    await fee_rule(shop)
    card = await shop.gift_card("50.00")
    payment = await paid(shop, extra_source_amount="30.00", extra_source_wallet_uuid=await wallet_uuid(shop, card))
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("10.00")))
    await send_refunds(shop.services)
    payin = await begun(shop, await created(shop, "40.00"))
    await paid_at_provider(shop, payin, DECLINED_CARD)
    await sync_payin(shop.services, payin.id)
    assert await broken_rules(shop.services.db) == {}


async def forge(shop: Shop, statements: str) -> None:
    """Change rows as somebody could who may do anything."""
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        await connection.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in statements.split(";"):
            await connection.execute(text(statement))


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_difference_is_found_by_its_rule(shop: Shop, name: str) -> None:
    await refunded_to_both(shop)
    statements, rule, offender = FORGERIES[name]
    await forge(shop, statements)
    broken = await broken_rules(shop.services.db)
    assert rule in broken, broken
    assert any(offender in found for found in broken[rule]), broken[rule]
    others = set(broken) - {rule}
    assert others == set() if name not in ALSO else others & set(ALSO[name].split()), broken


async def test_a_payment_that_has_moved_in_a_period_is_proved(shop: Shop) -> None:
    """It was created before, and its money has moved since."""
    payment = await created(shop)
    clock.advance(dt.timedelta(days=40))
    today = ProofScope(since=clock.now().date())
    assert await broken_rules(shop.services.db, today) == {}
    await forge(shop, "UPDATE payment SET status = 'ok'")
    assert await broken_rules(shop.services.db, today) == {}, "nothing has moved"
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE payment SET modified_on = :now"), {"now": clock.now()})
    (found,) = (await broken_rules(shop.services.db, today))["payments"]
    assert str(payment.id) in found


async def test_payments_of_the_checkout_from_before_the_ledger_are_whole(shop: Shop) -> None:
    """The update that made them payments has posted them, and written their transfers."""
    candle, card = await shop.product("100.00"), await shop.gift_card("80.00")
    await ordered(shop, ProductChoice(candle.id, 1), codes=[card.code])
    await ordered(shop, ProductChoice(candle.id, 1))
    assert await broken_rules(shop.services.db) == {}
    await at(shop.services.db, "0024", down=True)
    await at(shop.services.db, "head")
    assert await shop.one("SELECT count(*) FROM payment") == 2
    assert await shop.one("SELECT count(*) FROM transfer") == 1
    assert await broken_rules(shop.services.db) == {}
    await at(shop.services.db, "0021", down=True)
    await at(shop.services.db, "head")
    assert await broken_rules(shop.services.db) == {}
