"""What invoices left wrong in installations before they were mended is repaired."""

import pathlib

from tests.fixtures.invoice import stored_invoice
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved
from tests.fixtures.tenants import open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0049"


async def test_accounts_of_the_marketplace_are_of_no_partner_again(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        await stored_invoice(tenants, "a1")
        await at(tenants.services.db, BEFORE, down=True)
        await tenants.execute(
            "UPDATE ledger_account SET partner_id = :id WHERE role IN ('owed_by_marketplace', 'commission')",
            id=tenants.partners["a1"].id,
        )
        assert set(await broken_rules(tenants.services.db)) == {"accounts_are_of_their_owner", "backing"}
        await at(tenants.services.db, "head")
        assert await tenants.one("SELECT count(partner_id) FROM ledger_account WHERE owner_id IS NULL") == 0
        assert await is_proved(tenants)
