"""What the proof finds of forged payments by network gift cards, and of forged refunds to them."""

from decimal import Decimal
from uuid import UUID

import pytest

from resolvers.payment.refunds.refunds import refund_payment
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.payment.input import RefundPayment
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import LedgerAccount, card_account, network_earnings
from store.ledger.posting import Journal, credit, debit, post
from store.payment.payments import PaymentRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import books_balance, paid, wallet_uuid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.shop import Shop

Paid = tuple[GiftCardRow, PaymentRow]


@pytest.fixture
async def by_card(shop: Shop) -> Paid:
    """A payment of 100.00, of which a network's card has paid 30.00 and has 3.00 back."""
    await take_part(shop)
    await take_fees(shop)
    card = await card_of_network(shop)
    wallet = await wallet_uuid(shop, card)
    payment = await paid(shop, extra_source_wallet_uuid=wallet, extra_source_amount="30.00")
    await refund_payment(shop.manager, RefundPayment.model_validate({"id": payment.id, "amount": "10.00"}))
    await books_balance(shop)
    return card, payment


async def broken(shop: Shop) -> set[str]:
    return set(await broken_rules(shop.services.db))


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ("returned_amount = returned_amount + 1", {"gift_card_usages_of_payments", "gift_card_returns"}),
        ("returned_amount = 0, returned_net_amount = 0", {"gift_card_usages_of_payments", "gift_card_returns"}),
        ("returned_net_amount = returned_net_amount - 1", {"gift_card_returns"}),
        ("value_amount = value_amount + 1", {"gift_card_usages", "gift_card_usages_of_payments"}),
        ("commission_amount = commission_amount + 1", {"gift_card_usages"}),
        (
            "payment_id = NULL, returned_amount = 0, returned_net_amount = 0",
            {"captures", "payins", "transfers", "gift_card_returns"},
        ),
        ("gift_card_id = (SELECT min(id) FROM gift_card WHERE partner_id IS NOT NULL)", {"gift_card_usages"}),
    ],
)
async def test_a_usage_that_says_something_else(shop: Shop, by_card: Paid, change: str, rules: set[str]) -> None:
    await shop.gift_card("30.00")
    await shop.execute(f"UPDATE network_gift_card_usage SET {change}")  # noqa: S608 - a test's words
    assert rules <= await broken(shop)


async def test_a_usage_of_another_payment(shop: Shop, by_card: Paid) -> None:
    other = await paid(shop, "50.00")
    await shop.execute("UPDATE network_gift_card_usage SET payment_id = :id", id=other.id)
    assert {"captures", "gift_card_usages_of_payments", "gift_card_returns"} <= await broken(shop)


async def test_a_source_that_no_usage_has_paid(shop: Shop, by_card: Paid) -> None:
    await shop.execute("UPDATE payment_source SET source_amount = source_amount + 1 WHERE kind = 'gift_card'")
    assert {"captures", "gift_card_usages_of_payments"} <= await broken(shop)


async def test_money_of_a_networks_card_in_a_partners_wallet(shop: Shop, by_card: Paid) -> None:
    await shop.execute(
        "UPDATE transfer SET credited_wallet_id = (SELECT wallet_id FROM payment LIMIT 1) WHERE type = 'payment'"
    )
    assert await broken(shop) == {"transfers"}


async def forge(
    shop: Shop, card: GiftCardRow, source: str, debited: LedgerAccount, credited: LedgerAccount
) -> set[str]:
    """Post a reversal by a refund that nothing has caused; the rules that then do not hold."""
    entries = debit(debited, 100), credit(credited, 100)
    forged = Journal(
        book_id=card.book_id,
        partner_id=shop.partner.id,
        kind=Kind.REVERSAL,
        source_kind="refund",
        source_id=source,
        entries=entries,
    )
    async with shop.services.db.sessions() as db, db.begin():
        await post(db, [forged])
    return await broken(shop)


@pytest.mark.parametrize("is_of_refund", [False, True])
async def test_earnings_taken_by_no_refund(shop: Shop, by_card: Paid, is_of_refund: bool) -> None:
    card, _ = by_card
    refund: UUID = await shop.one("SELECT id FROM refund")
    source = f"{refund}:99999" if is_of_refund else "x"
    found = await forge(shop, card, source, network_earnings(shop.partner.id), card_account(card.id))
    assert {"gift_card_returns", "refunds", "cards_show_their_balance"} <= found


async def test_income_taken_by_no_refund(shop: Shop, by_card: Paid) -> None:
    card, _ = by_card
    promotion, commission = LedgerAccount(Role.PROMOTION), LedgerAccount(Role.COMMISSION)
    assert "gift_card_returns" in await forge(shop, card, "x", promotion, commission)


async def test_a_return_to_another_card(shop: Shop, by_card: Paid) -> None:
    card, payment = by_card
    other = await card_of_network(shop, "10.00")
    assert payment.extra_amount == Decimal("30.00")
    await shop.execute("UPDATE payment_source SET gift_card_id = :id WHERE kind = 'gift_card'", id=other.id)
    assert {"captures", "gift_card_usages_of_payments", "refunds"} <= await broken(shop)
    assert card.id != other.id
