"""What the proof finds of forged money of a network."""

import pytest

from resolvers.network.gift_card_usages import use_network_gift_card
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import LedgerAccount, card_account, network_earnings
from store.ledger.posting import Journal, credit, debit, post
from store.network.postings import BREAKAGE, FUNDS, OWED
from tests.changes import Direct
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved, link, network_card
from tests.fixtures.tenants import Tenants


@pytest.fixture
async def card(tenants: Tenants) -> GiftCardRow:
    """A card that was used at a1."""
    await link(tenants, "a1")
    row = await network_card(tenants)
    used = {"code": row.code, "value": "30.00", "partner_id": tenants.partners["a1"].id}
    assert (await Direct(tenants).change("market a", use_network_gift_card, **used)).done
    assert await is_proved(tenants)
    return row


async def forge(
    tenants: Tenants, card: GiftCardRow, kind: Kind, source: str, debited: LedgerAccount, credited: LedgerAccount
) -> set[str]:
    """Post a journal that nothing has caused; the rules that then do not hold."""
    entries = debit(debited, 500), credit(credited, 500)
    forged = Journal(book_id=card.book_id, kind=kind, source_kind="gift_card", source_id=source, entries=entries)
    async with tenants.services.db.sessions() as db, db.begin():
        await post(db, [forged])
    return set(await broken_rules(tenants.services.db))


async def test_earnings_without_a_usage(tenants: Tenants, card: GiftCardRow) -> None:
    partner = network_earnings(tenants.partners["a1"].id)
    assert "network_earnings_are_of_usages" in await forge(tenants, card, Kind.ISSUE, "x", OWED, partner)
    assert "network_earnings_are_of_usages" in await forge(tenants, card, Kind.BREAKAGE, "y", partner, BREAKAGE)


async def test_funds_and_debt_of_no_card(tenants: Tenants, card: GiftCardRow) -> None:
    assert "network_liabilities_move_alone" in await forge(tenants, card, Kind.ISSUE, "4711", OWED, FUNDS)


async def test_another_card_than_the_one_that_is_named(tenants: Tenants, card: GiftCardRow) -> None:
    other = await network_card(tenants)
    found = await forge(tenants, card, Kind.VOID, str(card.id), card_account(other.id), FUNDS)
    assert {"network_liabilities_move_alone", "cards_show_their_balance"} <= found


async def test_a_usage_that_pays_more_than_it_says(tenants: Tenants, card: GiftCardRow) -> None:
    await tenants.execute("UPDATE network_gift_card_usage SET net_amount = net_amount - 1")
    assert set(await broken_rules(tenants.services.db)) == {"gift_card_usages"}


async def test_income_that_was_never_earned(tenants: Tenants, card: GiftCardRow) -> None:
    promotion, commission = LedgerAccount(Role.PROMOTION), LedgerAccount(Role.COMMISSION)
    found = await forge(tenants, card, Kind.ISSUE, f"{card.id}:again", promotion, commission)
    assert "network_liabilities_move_alone" in found
