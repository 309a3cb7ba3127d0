"""What invoices left wrong in installations before they were mended is repaired."""

import pathlib
from decimal import Decimal

import pytest

from tests.fixtures.invoice import stored_invoice
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved
from tests.fixtures.payment.api_payment import fee_rule, paid, reread
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0049"


async def test_accounts_of_the_marketplace_are_of_no_partner_again(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        await stored_invoice(tenants, "a1")
        await tenants.execute(
            "UPDATE ledger_account SET partner_id = :id WHERE role IN ('owed_by_marketplace', 'commission')",
            id=tenants.partners["a1"].id,
        )
        assert set(await broken_rules(tenants.services.db)) == {"accounts_are_of_their_owner", "backing"}
        await at(tenants.services.db, BEFORE, down=True)
        await at(tenants.services.db, "head")
        assert await tenants.one("SELECT count(partner_id) FROM ledger_account WHERE owner_id IS NULL") == 0
        assert await is_proved(tenants)


async def test_the_vat_of_payments_is_what_they_were_charged(shop: Shop) -> None:
    """Of one with no stored rate that of its rule; of one whose rule has changed what the amounts say."""
    await fee_rule(shop, "10.00")
    without, older, right = [await paid(shop, "120.00") for _ in range(3)]
    await at(shop.services.db, "0051", down=True)
    update = "UPDATE payment SET {what} WHERE id = :id"
    await shop.execute(update.format(what="commission_vat_rate = 0"), id=without.id)
    changed = "commission_vat_amount = 1.31"  # 10 % of 13.09
    await shop.execute(update.format(what=changed), id=older.id)
    await at(shop.services.db, "head")
    rates = {
        row.id: str(row.commission_vat_rate)
        for row in [await reread(shop, each.id) for each in (without, older, right)]
    }
    assert rates == {without.id: "20.00", older.id: "10.00", right.id: "20.00"}


@pytest.mark.parametrize(
    ("partner", "marketplace", "is_reverse_charge"),
    [
        ("DE811907980", "FR40303265045", True),
        ("FR83404833048", "FR40303265045", False),
        ("GB123456789", "FR40303265045", False),
        ("", "FR40303265045", False),
        ("DE811907980", "", False),
    ],
)
async def test_what_was_charged_abroad_without_vat_is_reverse_charge(
    shop: Shop, partner: str, marketplace: str, *, is_reverse_charge: bool
) -> None:
    await fee_rule(shop, "10.00", vat_rate=Decimal(0))
    free, with_vat = await paid(shop, "100.00"), await paid(shop, "100.00")
    await shop.execute("UPDATE partner SET vat_id = :id", id=partner)
    await shop.execute("UPDATE marketplace SET invoicer_vat_id = :id", id=marketplace)
    await at(shop.services.db, "0051", down=True)
    await shop.execute(
        "UPDATE payment SET commission_vat_amount = 1, commission_vat_rate = 20 WHERE id = :id", id=with_vat.id
    )
    await at(shop.services.db, "head")
    assert (await reread(shop, free.id)).is_reverse_charge is is_reverse_charge
    assert (await reread(shop, with_vat.id)).is_reverse_charge is False
