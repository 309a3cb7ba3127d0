"""Each rule about payouts finds what breaks it."""

import pytest
from sqlalchemy import text

from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import paid
from tests.fixtures.payment.payout import can_be_paid_out, send, validated
from tests.fixtures.shop import Shop

FORGERIES = {
    "payout_requests_are_sums": [
        "UPDATE payable_item SET payout_request_id = NULL",
        "UPDATE payable_item SET partner_id = partner_id + 1",
        "UPDATE payout_request SET status = 'cancelled', validated_on = NULL, paid_on = NULL",
    ],
    "payouts": [
        "UPDATE payout_request SET payout_amount = payout_amount + 1",
        "UPDATE payout_request SET paid_on = NULL, status = 'validated'",
        "UPDATE payout_request SET recovered_amount = 1",
        "UPDATE payout_request SET network_amount = 1",
        "UPDATE payout_request SET status = 'failed', paid_on = NULL",
    ],
}


@pytest.mark.parametrize(("rule", "forgery"), [(rule, each) for rule, some in FORGERIES.items() for each in some])
async def test_a_forgery_is_noticed(shop: Shop, rule: str, forgery: str) -> None:
    await can_be_paid_out(shop)
    await paid(shop)
    await send(shop, await validated(shop))
    assert await broken_rules(shop.services.db) == {}
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text(forgery))
    assert rule in await broken_rules(shop.services.db)
