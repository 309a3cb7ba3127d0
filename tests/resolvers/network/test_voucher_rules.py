"""The proof of the ledger finds whatever is wrong with network vouchers and their usages."""

import pytest

from resolvers.network.voucher_usages import cancel_network_voucher_usage
from tests.changes import Direct
from tests.fixtures.ledger import Ledger, broken_rules, open_ledger
from tests.fixtures.network import set_terms
from tests.fixtures.network_voucher import network_voucher, offered_box, usages_of_voucher, used_voucher
from tests.fixtures.tenants import Tenants

OWED, COUNTED, POSTED = (
    "network_vouchers_show_what_is_owed",
    "network_vouchers_show_their_usages",
    "network_voucher_usages",
)


@pytest.fixture
async def ledger(tenants: Tenants) -> Ledger:
    """A book with a voucher that was used, one whose usage was cancelled, and one that was not used."""
    await set_terms(tenants, product="voucher", commission_rate=10, vat_rate=20, management_fee_amount=1)
    box = await offered_box(tenants, "a1", max_usages=3)
    await used_voucher(tenants, box)
    cancelled = await used_voucher(tenants, box)
    (usage,) = await usages_of_voucher(tenants, cancelled)
    assert (await Direct(tenants).change("a1", cancel_network_voucher_usage, id=usage.id)).done
    await network_voucher(tenants, box)
    return await open_ledger(tenants)


async def test_nothing_is_wrong(ledger: Ledger) -> None:
    assert await broken_rules(ledger.db) == {}


VOUCHER, USAGE = "network_voucher", "network_voucher_usage"


@pytest.mark.parametrize(
    ("table", "change", "rules"),
    [
        (VOUCHER, "unowed_amount = 1", {OWED}),
        (VOUCHER, "used_amount = used_amount - 1", {OWED, COUNTED}),
        (VOUCHER, "usage_count = 2", {COUNTED}),
        (VOUCHER, "first_used_on = now()", {COUNTED}),
        (VOUCHER, "book_id = book_id + 1000", {OWED, POSTED}),
        (USAGE, "net_amount = net_amount - 1", {POSTED}),
        (USAGE, "commission_vat_amount = 0", {POSTED}),
        (USAGE, "fees_paid_by = 'marketplace'", {POSTED}),
        (USAGE, "value_amount = 41", {COUNTED, POSTED}),
        (USAGE, "is_active = false, cancelled_on = now()", {COUNTED, POSTED}),
        (USAGE, "network_voucher_id = network_voucher_id + 1", {COUNTED, POSTED}),
    ],
)
async def test_each_forgery_is_found(ledger: Ledger, table: str, change: str, rules: set[str]) -> None:
    await ledger.forge(f"UPDATE {table} SET {change} WHERE id = (SELECT min(id) FROM {table})")  # noqa: S608 - a test's words
    assert rules <= set(await broken_rules(ledger.db))


@pytest.mark.parametrize(
    "forgery",
    [
        "DELETE FROM network_voucher_usage WHERE is_active",
        "UPDATE network_voucher_usage SET is_active = true, cancelled_on = NULL WHERE NOT is_active",
    ],
)
async def test_rows_that_are_not_as_posted(ledger: Ledger, forgery: str) -> None:
    await ledger.forge(forgery)
    assert {COUNTED, POSTED} <= set(await broken_rules(ledger.db))
