"""Partners that were there before much was known of them survive the migration, both ways."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy import text

from store.database.db import Database
from tests.store.migrations.revisions import at

INSERT = """
INSERT INTO marketplace (uuid, name, domain, currency, time_zone) VALUES (gen_random_uuid(), 'M', '', 'EUR', 'UTC');
INSERT INTO partner (uuid, source_id, status, name, commercial_name, short_name, site_domain, agency_email, agency_phone,
  website, accent_colour, language, payments_active, marketplace_id, logo_url, hq_country, return_hosts,
  return_with_order_number, provider_user_id, provider_wallet_id, last_order_number, created_on)
SELECT gen_random_uuid(), n::text, 'a', '', 'Shop', 'shop', n || '.localhost', '', '', '', '#000000', 'en', true, 1, '', c,
  '[]', false, 'u', 'w', 0, now() FROM (VALUES (1, 'FR'), (2, '')) AS given (n, c)
"""


@pytest.fixture
async def empty(postgres: str) -> AsyncIterator[Database]:
    """A database without tables."""
    connection = await asyncpg.connect(postgres)
    await connection.execute("DROP DATABASE IF EXISTS test_partner_migration WITH (FORCE)")
    await connection.execute("CREATE DATABASE test_partner_migration")
    head, _, tail = postgres.partition("?")
    db = Database(head.rsplit("/", 1)[0] + "/test_partner_migration" + (f"?{tail}" if tail else ""))
    yield db
    await db.aclose()
    await connection.execute("DROP DATABASE test_partner_migration WITH (FORCE)")
    await connection.close()


async def test_partners_survive_both_ways(empty: Database) -> None:
    await at(empty, "0006")
    async with empty.engine.begin() as connection:
        for statement in INSERT.split(";"):
            await connection.execute(text(statement))
    await at(empty, "0007")
    kept = (
        "SELECT hq_country, hq_country_code, iban, tags, company_type, referrer, freeze_payout FROM partner ORDER BY id"
    )
    assert [tuple(row) for row in await empty.rows(text(kept))] == [
        ("FR", "FR", "", [], None, None, False),
        ("", "", "", [], None, None, False),
    ]
    async with empty.engine.begin() as connection:
        await connection.execute(text("UPDATE partner SET hq_country = 'Frankreich' WHERE id = 1"))
    await at(empty, "0006", down=True)
    assert [tuple(row) for row in await empty.rows(text("SELECT hq_country FROM partner ORDER BY id"))] == [
        ("FR",),
        ("",),
    ]
    await at(empty, "head")
    offers = "SELECT gift_card_offer_enabled, gift_card_offer_suggested::text, gift_card_offer_minimum::text, "
    offers += "gift_card_offer_maximum::text, gift_card_offer_validity_months FROM partner"
    of_all = (True, "{25.00,50.00,75.00,100.00,150.00,200.00}", "10.00", "1000.00", 12)
    assert [tuple(row) for row in await empty.rows(text(offers))] == [of_all] * 2
    await at(empty, "0015", down=True)
    await at(empty, "head")
    assert [tuple(row) for row in await empty.rows(text(offers))] == [of_all] * 2
