"""Payments that exist get the wallet of their first gift card, and their refund status."""

import pathlib

from tests.fixtures.gift_card import gift_card
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.tenants import Tenants, open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0026"
SEEN = "SELECT id, extra_wallet_id, refund_status, customer_last_name_text FROM payment ORDER BY created_on, id"


async def extra_source(tenants: Tenants, payment: object, wallet_id: int) -> None:
    """Another gift card that has paid a part of a payment."""
    await tenants.execute(
        "INSERT INTO payment_source (payment_id, partner_id, currency, kind, source_amount, refunded_amount, wallet_id, "
        "commission_back_amount, commission_vat_back_amount) "
        "SELECT id, partner_id, currency, 'gift_card', 1, 0, :wallet, 0, 0 FROM payment WHERE id = :id",
        id=payment,
        wallet=wallet_id,
    )


async def test_old_payments_survive_both_ways(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        first, second = [await gift_card(tenants) for _ in range(2)]
        rows = [
            await stored_payment(tenants, refunded=refunded, extra="25.00", card=second, customer_last_name="Ångström")
            for refunded in ("0.00", "10.00", "100.00")
        ]
        plain = await stored_payment(tenants)
        await extra_source(tenants, rows[0].id, first.wallet_id)
        before = await tenants.rows(SEEN)
        await at(tenants.services.db, BEFORE, down=True)
        await at(tenants.services.db, "head")
        assert await tenants.rows(SEEN) == before
        wallet, name = second.wallet_id, "angstrom"
        expected = {
            row.id: (wallet, status, name) for row, status in zip(rows, ("none", "partial", "full"), strict=True)
        }
        assert {row[0]: tuple(row[1:]) for row in before} == expected | {plain.id: (None, "none", "")}
