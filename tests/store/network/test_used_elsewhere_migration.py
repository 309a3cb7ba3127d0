"""What was used elsewhere of networks' gift cards that were there before it had a column is worked out."""

import pathlib
from decimal import Decimal

from resolvers.network.gift_card_usages import use_network_gift_card
from schema.gift_card.gift_card import GiftCardStatus
from tests.changes import Direct
from tests.fixtures.network import is_proved, link, network_card
from tests.fixtures.tenants import open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0039"
ELSEWHERE = "SELECT id, used_elsewhere_amount::text FROM gift_card ORDER BY id"


async def test_what_was_used_elsewhere_survives_both_ways(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        await link(tenants, "a1")
        imported = await network_card(tenants, remaining_amount=Decimal("70.00"))
        used = {"code": imported.code, "value": "30.00", "partner_id": tenants.partners["a1"].id}
        assert (await Direct(tenants).change("market a", use_network_gift_card, **used)).done
        await network_card(tenants, remaining_amount=Decimal("20.00"), status=GiftCardStatus.CANCELLED)
        await network_card(tenants, status=GiftCardStatus.DRAFT)
        before = await tenants.rows(ELSEWHERE)
        assert [row[1] for row in before[-3:]] == ["30.00", "80.00", "0.00"]
        await at(tenants.services.db, BEFORE, down=True)
        await at(tenants.services.db, "head")
        assert await tenants.rows(ELSEWHERE) == before
        assert await is_proved(tenants)
