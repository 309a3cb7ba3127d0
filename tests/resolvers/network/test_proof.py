"""What the proof finds of forged money of a network."""

from decimal import Decimal

import pytest

from resolvers.network.gift_card_usages import use_network_gift_card
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import LedgerAccount, card_account, network_earnings
from store.ledger.posting import Journal, credit, debit, post
from store.network.postings import BREAKAGE, FUNDS, OWED
from tests.changes import Direct
from tests.fixtures.box import new_box
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network import is_proved, link, network_card
from tests.fixtures.network_voucher import network_voucher
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


async def test_what_was_used_elsewhere_is_counted(tenants: Tenants, card: GiftCardRow) -> None:
    await network_card(tenants, remaining_amount=Decimal("40.00"))
    assert await is_proved(tenants)
    await tenants.execute("UPDATE gift_card SET used_elsewhere_amount = 59 WHERE used_elsewhere_amount = 60")
    assert set(await broken_rules(tenants.services.db)) == {"network_gift_cards_show_what_is_left"}


async def test_less_left_than_was_not_used(tenants: Tenants, card: GiftCardRow) -> None:
    """The balance agrees with the account of the card, but nobody has used the difference."""
    assert not await forge(tenants, card, Kind.VOID, f"{card.id}:part", card_account(card.id), FUNDS) - {
        "cards_show_their_balance"
    }
    await tenants.execute("UPDATE gift_card SET remaining_amount = remaining_amount - 5 WHERE id = :id", id=card.id)
    assert set(await broken_rules(tenants.services.db)) == {"network_gift_cards_show_what_is_left"}


async def test_what_is_not_owed_of_a_card_that_can_be_used(tenants: Tenants, card: GiftCardRow) -> None:
    await forge(tenants, card, Kind.BREAKAGE, f"{card.id}:1", card_account(card.id), BREAKAGE)
    await tenants.execute("UPDATE gift_card SET unowed_amount = 5 WHERE id = :id", id=card.id)
    assert set(await broken_rules(tenants.services.db)) == {"unowed_amounts_follow_the_status"}
    await tenants.execute("UPDATE gift_card SET status = 'exprd' WHERE id = :id", id=card.id)
    assert await is_proved(tenants), "of an expired one it is"


async def test_a_cancelled_card_that_is_owed(tenants: Tenants, card: GiftCardRow) -> None:
    await tenants.execute("UPDATE gift_card SET status = 'cncld' WHERE id = :id", id=card.id)
    assert set(await broken_rules(tenants.services.db)) == {"unowed_amounts_follow_the_status"}


@pytest.mark.parametrize("status", ["draft", "cncld"])
async def test_a_voucher_that_is_owed_and_should_not_be(tenants: Tenants, status: str) -> None:
    await network_voucher(tenants, await new_box(tenants))
    assert await is_proved(tenants)
    await tenants.execute("UPDATE network_voucher SET status = :status", status=status)
    assert set(await broken_rules(tenants.services.db)) == {"unowed_amounts_follow_the_status"}
