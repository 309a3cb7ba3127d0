"""Each rule about payments finds what breaks it."""

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.payment.refunds.refunds import refund_payment
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.ledger import LedgerAccountRole as Role
from schema.payment.input import RefundPayment
from store.core.clock import clock
from store.ledger.accounts import LedgerAccount
from store.ledger.verification.run import ProofScope
from store.payment import postings
from store.payment.payments import PaymentRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import created, fee_rule, paid, wallet_uuid
from tests.fixtures.payment.dispute import spend
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.payment.refill import disputed_refill, market, opened_wallet, refilled, settled_elsewhere
from tests.fixtures.shop import Shop

ACCOUNTS, JOURNALS = "accounts_are_of_their_owner", "journals_are_of_their_owner"
FORGERIES = {
    "backing": "UPDATE ledger_account SET partner_id = NULL WHERE role = 'wallet'",
    ACCOUNTS: "UPDATE ledger_account SET partner_id = NULL WHERE role = 'partner'",
    JOURNALS: "UPDATE payment SET is_for_marketplace = true",
    "payments": "UPDATE payment SET commission_amount = 5, net_amount = 95",
    "payments_stay_in_their_book": "UPDATE payment SET is_for_marketplace = true",
    "payment_sources": "UPDATE payment_source SET refunded_amount = 1",
    "payment_totals": "UPDATE payment SET refunded_amount = 1",
    "refunds": """
        INSERT INTO refund (id, payment_id, partner_id, currency, state, origin, refund_amount, delivery_amount, reason, detail,
            created_on)
        SELECT id, id, partner_id, currency, 'done', 'staff', 1, 0, '', '', created_on FROM payment;
        UPDATE payment_transaction SET type = 'refund', refund_id = payment_id
    """,
}


@pytest.mark.parametrize("rule", FORGERIES)
async def test_a_forgery_is_noticed(shop: Shop, rule: str) -> None:
    await fee_rule(shop)
    await paid(shop)
    assert await broken_rules(shop.services.db) == {}
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        for statement in FORGERIES[rule].split(";"):
            await connection.execute(text(statement))
    assert rule in await broken_rules(shop.services.db)


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE order_product SET refunded_quantity = 1, refunded_amount = 20",
        "UPDATE shop_order SET delivery_refunded_amount = delivery_amount",
    ],
)
async def test_lines_of_which_more_was_refunded_than_of_their_payment_are_noticed(shop: Shop, forgery: str) -> None:
    candle = await shop.product("20.00")
    await ordered(shop, ProductChoice(candle.id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    assert await broken_rules(shop.services.db) == {}
    await shop.execute(forgery)
    assert set(await broken_rules(shop.services.db)) == {"order_lines"}


async def test_a_refill_posted_to_the_partner_is_noticed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await opened_wallet(shop)
    post_wrongly(monkeypatch, is_refill=False)
    payment = await refilled(shop)
    broken = await broken_rules(shop.services.db)
    assert set(broken) == {ACCOUNTS, JOURNALS}
    assert f"(wallet {payment.wallet_id}): counted for partner:{shop.partner.id}" in broken[ACCOUNTS][0]
    assert f"of payment {payment.id}): of partner:{shop.partner.id}" in broken[JOURNALS][0]


async def test_a_sale_posted_to_the_marketplace_is_noticed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    post_wrongly(monkeypatch, is_refill=True)
    payment = await paid(shop)
    broken = await broken_rules(shop.services.db)
    assert set(broken) == {ACCOUNTS, JOURNALS}
    assert f"(wallet {payment.wallet_id}): counted for the marketplace" in broken[ACCOUNTS][0]


async def test_a_further_settlement_of_another_owner_is_noticed(shop: Shop) -> None:
    wallet = await opened_wallet(shop)
    await refilled(shop)
    await spend(shop, LedgerAccount(Role.MARKETPLACE_FUNDS), wallet.id, 4000)
    dispute = await disputed_refill(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    await dispute.check()
    await settled_elsewhere(shop, dispute, 4000)
    assert await broken_rules(shop.services.db) == {}
    await forge(shop, "UPDATE ledger_journal SET partner_id = :id WHERE kind = 'settlement'", id=shop.partner.id)
    (found,) = (await broken_rules(shop.services.db))[JOURNALS]
    assert "(settlement of dispute" in found


async def test_a_refund_of_another_owner_is_noticed(shop: Shop) -> None:
    payment = await paid(shop)
    await refund_payment(market(shop), RefundPayment(id=payment.id, amount=Decimal("40.00")))
    await forge(shop, "UPDATE ledger_journal SET partner_id = NULL WHERE kind = 'refund'")
    (found,) = (await broken_rules(shop.services.db))[JOURNALS]
    assert "(refund of refund" in found
    assert found.endswith(": of the marketplace")


async def test_an_account_of_no_wallet_is_noticed(shop: Shop) -> None:
    """No key leads from an account to its wallet, as its owner may be of another kind."""
    payment = await paid(shop)
    await forge(shop, "UPDATE wallet SET id = id + 1000 WHERE id = :id", id=payment.wallet_id)
    (found,) = (await broken_rules(shop.services.db))[ACCOUNTS]
    assert found.endswith(f"(wallet {payment.wallet_id}): there is no such wallet")


async def forge(shop: Shop, statement: str, **parameters: Any) -> None:
    """Change a table as somebody could who may do anything: without triggers and keys."""
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        await connection.execute(text("SET LOCAL session_replication_role = replica"))
        await connection.execute(text(statement), parameters)


def post_wrongly(monkeypatch: pytest.MonkeyPatch, *, is_refill: bool) -> None:
    """A defect: payments are posted as if they were refills, or refills as if they were not."""
    accounts, owner, wallet = postings.owner_accounts, postings.owner_partner_id, postings.wallet_of

    def confused(payment: PaymentRow) -> Any:
        of = {"partner_id": payment.partner_id, "wallet_id": payment.wallet_id, "partner_share_amount": 0}
        return SimpleNamespace(**of, is_for_marketplace=is_refill)

    monkeypatch.setattr(postings, "owner_accounts", lambda payment: accounts(confused(payment)))
    monkeypatch.setattr(postings, "owner_partner_id", lambda payment: owner(confused(payment)))
    monkeypatch.setattr(postings, "wallet_of", lambda payment: wallet(confused(payment)))


@pytest.mark.parametrize("is_refill", [True, False])
async def test_a_period_in_which_no_wallet_moves_can_be_proved(shop: Shop, is_refill: bool) -> None:
    """A promise moves earnings only: the wallet that backs them has moved before."""
    await opened_wallet(shop)
    payment = await (refilled if is_refill else paid)(shop)
    clock.advance(dt.timedelta(days=2))
    await refund_payment(market(shop), RefundPayment(id=payment.id, amount=Decimal("40.00")))
    since = ProofScope(since=clock.now().date())
    assert await broken_rules(shop.services.db, since) == {}


async def test_a_card_of_another_book_is_noticed_since_it_is_refused(shop: Shop) -> None:
    """What happened before an update that refuses it is not told for ever."""
    rule = "payments_stay_in_their_book"
    card = await shop.gift_card("50.00")
    await created(shop, "50.00", extra_source_amount="50.00", extra_source_wallet_uuid=await wallet_uuid(shop, card))
    await opened_wallet(shop, is_live=False)
    await shop.execute("UPDATE gift_card SET book_id = (SELECT id FROM ledger_book WHERE NOT is_live)")
    assert "gift card" in (await broken_rules(shop.services.db))[rule][0]
    await shop.execute("UPDATE ledger_book SET cards_checked_since = now() + interval '1 minute'")
    assert rule not in await broken_rules(shop.services.db)
