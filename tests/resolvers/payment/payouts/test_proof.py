"""Each rule about payouts finds what breaks it."""

import pytest
from sqlalchemy import text

from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import paid
from tests.fixtures.payment.payout import can_be_paid_out, send, validated
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.payment.payouts.test_adjustments import adjusted

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

ADJUSTMENTS = (
    "UPDATE payout_adjustment SET adjustment_amount = adjustment_amount + 1",
    "UPDATE payout_adjustment SET partner_id = (SELECT max(id) FROM partner)",
    "UPDATE payout_adjustment SET status = 'pending', booked_on = NULL",
    "DELETE FROM payout_adjustment",
)


@pytest.mark.parametrize("amount", ["25.00", "-25.00"])
@pytest.mark.parametrize("forgery", ADJUSTMENTS)
async def test_a_forged_adjustment_is_noticed(tenants: Tenants, forgery: str, amount: str) -> None:
    await adjusted(tenants, amount)
    assert await broken_rules(tenants.services.db) == {}
    await tenants.execute(forgery)
    assert "payout_adjustments" in await broken_rules(tenants.services.db)


@pytest.mark.parametrize(("rule", "forgery"), [(rule, each) for rule, some in FORGERIES.items() for each in some])
async def test_a_forgery_is_noticed(shop: Shop, rule: str, forgery: str) -> None:
    await can_be_paid_out(shop)
    await paid(shop)
    await send(shop, await validated(shop))
    assert await broken_rules(shop.services.db) == {}
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text(forgery))
    assert rule in await broken_rules(shop.services.db)
