"""Each rule about payments finds what breaks it."""

import pytest
from sqlalchemy import text

from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from tests.fixtures.api_payment import fee_rule, paid
from tests.fixtures.ledger import broken_rules
from tests.fixtures.order_refund import ordered
from tests.fixtures.shop import Shop

FORGERIES = {
    "backing": "UPDATE ledger_account SET partner_id = NULL WHERE role = 'wallet'",
    "payments": "UPDATE payment SET commission_amount = 5, net_amount = 95",
    "payments_stay_in_their_book": "UPDATE payment SET is_refill = true",
    "payment_sources": "UPDATE payment_source SET refunded_amount = 1",
    "payment_totals": "UPDATE payment SET refunded_amount = 1",
    "refunds": """
        INSERT INTO refund (id, payment_id, partner_id, currency, state, origin, refund_amount, delivery_amount, reason, detail,
            created_on)
        SELECT id, id, partner_id, currency, 'done', 'staff', 1, 0, '', '', created_on FROM payment;
        UPDATE payment_transaction SET type = 'refund', refund_id = payment_id
    """,
}


@pytest.mark.parametrize("rule", FORGERIES)
async def test_a_forgery_is_noticed(shop: Shop, rule: str) -> None:
    await fee_rule(shop)
    await paid(shop)
    assert await broken_rules(shop.services.db) == {}
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        for statement in FORGERIES[rule].split(";"):
            await connection.execute(text(statement))
    assert rule in await broken_rules(shop.services.db)


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE order_product SET refunded_quantity = 1, refunded_amount = 20",
        "UPDATE shop_order SET delivery_refunded_amount = delivery_amount",
    ],
)
async def test_lines_of_which_more_was_refunded_than_of_their_payment_are_noticed(shop: Shop, forgery: str) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    assert await broken_rules(shop.services.db) == {}
    await shop.execute(forgery)
    assert set(await broken_rules(shop.services.db)) == {"order_lines"}
