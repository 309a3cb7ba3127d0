"""Refills: paid into the marketplace's own wallet, refunded and disputed; all of it is the marketplace's money."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.disputes.disputes import accept_dispute, contest_dispute
from resolvers.payment.disputes.documents import push_dispute_document
from resolvers.payment.payments import payment_journal
from resolvers.payment.refunds.refunds import preview_refund, refund_payment, retry_refund
from schema.core.errors import InsufficientBalance, MarketplaceOnly
from schema.ledger import LedgerAccountRole as Role
from schema.payment.dispute import AcceptDispute, ContestDispute, DisputeState, PushDisputeDocument
from schema.payment.errors import MarketplacePaymentsNotActive
from schema.payment.input import PreviewRefund, RefundPayment, RetryRefund
from schema.payment.page import PaymentPageState
from store.ledger.accounts import LedgerAccount
from store.payment.payments import PaymentRow
from store.providers.base import Subject
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import books_balance, fee_rule, paid, reread, wallets_agree
from tests.fixtures.payment.dispute import KIND, balances, books_are_right, spend, upload
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payment_request import asked, come_back, last_try, pay_at_provider, press
from tests.fixtures.payment.refill import disputed_refill, market, opened_wallet, refilled, settled_elsewhere
from tests.fixtures.shop import DECLINED_CARD, Shop

CHANGED = """
    SELECT (SELECT count(*) FROM payment_request), (SELECT count(*) FROM payment), (SELECT count(*) FROM refund),
        (SELECT count(*) FROM ledger_journal), (SELECT count(*) FROM mail), (SELECT count(*) FROM dispute_document),
        (SELECT string_agg(state, ',') FROM dispute)
"""


async def changed(shop: Shop) -> Any:
    """What a refused request must leave as it is."""
    return await shop.services.db.rows(text(CHANGED))


async def all_agree(shop: Shop) -> None:
    """Our books are right, the sandbox's are, and both say the same of each wallet."""
    await books_are_right(shop)
    await books_balance(shop)
    await wallets_agree(shop)


async def refund(shop: Shop, payment: PaymentRow, amount: str) -> None:
    await refund_payment(market(shop), RefundPayment(id=payment.id, amount=Decimal(amount)))
    await send_refunds(shop.services)


async def test_without_a_wallet_a_refill_is_refused(shop: Shop) -> None:
    await opened_wallet(shop, is_live=False)  # the wallet of test money is another one
    before = await changed(shop)
    with pytest.raises(MarketplacePaymentsNotActive) as refusal:
        await asked(shop, invoicing_marketplace_id=shop.partner.marketplace_id)
    assert (refusal.value.status, refusal.value.code()) == (409, "MARKETPLACE_PAYMENTS_NOT_ACTIVE")
    assert await changed(shop) == before


async def test_a_refill_goes_to_the_marketplace_without_commission(shop: Shop) -> None:
    await fee_rule(shop)
    wallet = await opened_wallet(shop)
    payment = await refilled(shop, "500.00")
    assert (payment.is_refill, payment.wallet_id, payment.commission_amount) == (True, wallet.id, Decimal("0.00"))
    assert await balances(shop) == {"wallet": 50000, "marketplace_funds": 50000}
    await all_agree(shop)


async def test_test_money_goes_to_the_test_wallet(shop: Shop) -> None:
    await opened_wallet(shop)
    test = await opened_wallet(shop, is_live=False)
    await shop.execute("UPDATE partner SET status = 't'")
    payment = await refilled(shop)
    assert (payment.wallet_id, payment.book_id) == (test.id, test.book_id)
    await all_agree(shop)


async def test_two_tries_at_once_pay_one_refill_once(shop: Shop) -> None:
    await opened_wallet(shop)
    row = await asked(shop, "100.00", invoicing_marketplace_id=shop.partner.marketplace_id)
    urls = await asyncio.gather(*[press(shop, row.link_token) for _ in range(8)])
    assert len(set(urls)) == 1
    await pay_at_provider(shop, DECLINED_CARD)
    assert (await come_back(shop, row.link_token)).state is PaymentPageState.DECLINED
    await asyncio.gather(*[press(shop, row.link_token) for _ in range(8)])
    await pay_at_provider(shop)
    payin = (await last_try(shop)).provider_id
    seen, *_ = await asyncio.gather(
        *[come_back(shop, row.link_token) for _ in range(4)],
        *[dispatch_notification(shop.services, Subject.PAYIN, payin) for _ in range(4)],
    )
    assert seen is not None
    assert seen.state is PaymentPageState.PAID
    assert (await shop.count("payment"), await shop.count("payment_transaction")) == (1, 2)
    assert await balances(shop) == {"wallet": 10000, "marketplace_funds": 10000}
    await all_agree(shop)


async def test_only_the_marketplace_refunds_it(shop: Shop) -> None:
    await opened_wallet(shop)
    payment = await refilled(shop)
    before = await changed(shop)
    with pytest.raises(MarketplaceOnly):
        await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("40.00")))
    with pytest.raises(MarketplaceOnly):
        await preview_refund(shop.manager, PreviewRefund(id=payment.id, amount=Decimal("40.00")))
    assert await changed(shop) == before
    await refund(shop, payment, "40.00")
    assert await balances(shop) == {"wallet": 6000, "marketplace_funds": 6000}
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("40.00")
    with pytest.raises(MarketplaceOnly):
        await retry_refund(shop.manager, RetryRefund(id=await shop.one("SELECT id FROM refund")))
    await all_agree(shop)


async def test_a_refund_at_the_provider_is_the_marketplaces(shop: Shop) -> None:
    await opened_wallet(shop)
    payment = await refilled(shop)
    payin = (await last_try(shop)).provider_id
    answer = await shop.control("POST", f"/payins/{payin}/refund", {"amount": 2500})
    assert answer.status_code == 200, answer.text
    await dispatch_notification(shop.services, Subject.REFUND, answer.json()["Id"])
    assert (await reread(shop, payment.id)).refunded_amount == Decimal("25.00")
    assert await balances(shop) == {"wallet": 7500, "marketplace_funds": 7500}
    await all_agree(shop)


async def test_a_won_dispute_gives_the_marketplace_its_funds_back(shop: Shop) -> None:
    await opened_wallet(shop)
    await paid(shop)
    before = await balances(shop)
    payment = await refilled(shop)
    await refund(shop, payment, "40.00")
    dispute = await disputed_refill(shop, amount=6000)
    row = await dispute.follow()
    assert (row.state, row.held_amount) == (DisputeState.NEEDS_RESPONSE, Decimal("60.00"))
    during = await balances(shop)
    assert (during["funds_held"], during["in_dispute"], during["repudiation_wallet"]) == (6000, 6000, -6000)
    assert "marketplace_funds" not in during
    assert during["partner"] == before["partner"]
    await books_are_right(shop)
    await dispute.contest("60.00")
    await dispute.decide("win")
    assert (await dispute.follow()).state is DisputeState.WON
    after = await balances(shop)
    assert after == {**before, "wallet": before["wallet"] + 6000, "marketplace_funds": 6000}
    await all_agree(shop)


async def test_a_lost_dispute_is_settled_out_of_the_marketplaces_wallet(shop: Shop) -> None:
    await opened_wallet(shop)
    await paid(shop)
    before = await balances(shop)
    payment = await refilled(shop)
    await refund(shop, payment, "40.00")
    dispute = await disputed_refill(shop, amount=6000, type="NOT_CONTESTABLE")
    assert (await dispute.follow()).state is DisputeState.LOST
    row = await dispute.check()
    assert (row.settled_amount, row.held_amount, row.lost_amount) == (Decimal(60), Decimal(0), Decimal(60))
    assert await balances(shop) == before
    owners = "SELECT count(*) FROM ledger_journal WHERE source_kind = 'dispute' AND partner_id IS NOT NULL"
    assert await shop.one(owners) == 0
    await all_agree(shop)


async def test_what_the_wallet_lacks_the_marketplace_owes(shop: Shop) -> None:
    """Money has left the wallet, as by a payout. What somebody settles by hand after that is missing in the wallet."""
    wallet = await opened_wallet(shop)
    await refilled(shop)
    await spend(shop, LedgerAccount(Role.MARKETPLACE_FUNDS), wallet.id, 4000)
    dispute = await disputed_refill(shop, type="NOT_CONTESTABLE")
    assert (await dispute.follow()).held_amount == Decimal("60.00")
    assert (await dispute.check()).settled_amount == Decimal("60.00")
    assert await balances(shop) == {"dispute_debt": 4000, "repudiation_wallet": -4000}
    assert await broken_rules(shop.services.db) == {}
    await settled_elsewhere(shop, dispute, 4000)
    assert (await dispute.row()).settled_amount == Decimal("100.00")
    assert await balances(shop) == {"wallet": -4000, "funds_shortfall": 4000}
    assert await broken_rules(shop.services.db) == {}


async def test_a_refill_makes_good_what_is_missing_first(shop: Shop) -> None:
    """Funds that the wallet does not hold cannot be promised."""
    wallet = await opened_wallet(shop)
    await refilled(shop)
    payin = (await last_try(shop)).provider_id
    await spend(shop, LedgerAccount(Role.MARKETPLACE_FUNDS), wallet.id, 4000)
    answer = await shop.control("POST", f"/payins/{payin}/refund", {"amount": 8000})
    await dispatch_notification(shop.services, Subject.REFUND, answer.json()["Id"])
    assert await balances(shop) == {"wallet": -2000, "funds_shortfall": 2000}
    await refilled(shop, "15.00")
    assert await balances(shop) == {"wallet": -500, "funds_shortfall": 500}
    last = await refilled(shop)
    assert await balances(shop) == {"wallet": 9500, "marketplace_funds": 9500}
    with pytest.raises(InsufficientBalance):
        await refund_payment(market(shop), RefundPayment(id=last.id, amount=Decimal("100.00")))
    assert await broken_rules(shop.services.db) == {}


async def test_a_partner_does_not_answer_a_dispute_of_a_refill(shop: Shop) -> None:
    await opened_wallet(shop)
    await refilled(shop)
    dispute = await disputed_refill(shop)
    row = await dispute.follow()
    before = await changed(shop)
    document = PushDisputeDocument(dispute_id=row.id, kind=KIND, file=upload())
    inputs: list[tuple[Any, Any]] = [
        (push_dispute_document, document),
        (contest_dispute, ContestDispute(id=row.id)),
        (accept_dispute, AcceptDispute(id=row.id)),
    ]
    for operation, input in inputs:
        with pytest.raises(MarketplaceOnly):
            await operation(shop.manager, input)
    assert await changed(shop) == before
    await push_dispute_document(market(shop), PushDisputeDocument(dispute_id=row.id, kind=KIND, file=upload()))
    assert (await accept_dispute(market(shop), AcceptDispute(id=row.id))).state is DisputeState.LOST
    await dispute.check()
    await all_agree(shop)


async def test_its_journals_are_the_marketplaces(shop: Shop) -> None:
    """Their entries tell the balance of the marketplace's funds, which a partner does not see."""
    await opened_wallet(shop)
    payment, own = await refilled(shop), await paid(shop)
    ids = [payment.id, own.id]
    seen = await payment_journal(shop.manager, ids)
    assert [len(seen[id]) for id in ids] == [0, 1]
    seen = await payment_journal(market(shop), ids)
    assert [len(seen[id]) for id in ids] == [1, 1]
