"""Refills and their reversals at once, while the marketplace's wallet lacks money: nothing is lost and nothing doubled."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import InsufficientFunds
from schema.ledger import LedgerAccountRole as Role
from schema.payment.input import RefundPayment
from store.ledger.accounts import LedgerAccount
from store.payment.payments import PaymentRow
from store.providers.base import Subject
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, OpenedDispute, balances, dispute_payin, spend
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payment_request import asked, last_try, pay_at_provider, press
from tests.fixtures.payment.refill import market, opened_wallet, refilled
from tests.fixtures.shop import Shop

REFILLS = 12
"""How many are paid at the provider while others are reversed, of 10.00 each."""


async def emptied(shop: Shop, count: int) -> Sequence[tuple[PaymentRow, str]]:
    """Refills of 100.00, each with the id of its pay-in, whose money has left the wallet, as by a payout."""
    wallet = await opened_wallet(shop)
    paid = [(await refilled(shop), (await last_try(shop)).provider_id) for _ in range(count)]
    await spend(shop, LedgerAccount(Role.MARKETPLACE_FUNDS), wallet.id, count * 10000)
    assert await balances(shop) == {}
    return paid


async def paid_but_not_told(shop: Shop) -> str:
    """A refill of 10.00 that the provider has been paid; returns the id of the pay-in."""
    row = await asked(shop, "10.00", invoicing_marketplace_id=shop.partner.marketplace_id)
    await press(shop, row.link_token)
    await pay_at_provider(shop, DISPUTABLE_CARD)
    return (await last_try(shop)).provider_id


async def refunded_elsewhere(shop: Shop, payin: str, minor: int) -> str:
    """Somebody refunds a refill in the provider's dashboard; returns the id of the refund."""
    answer = await shop.control("POST", f"/payins/{payin}/refund", {"amount": minor})
    assert answer.status_code == 200, answer.text
    id: str = answer.json()["Id"]
    return id


def notifications(shop: Shop, subject: Subject, ids: Sequence[str]) -> list[Awaitable[Any]]:
    """The provider notifies of each, twice."""
    return [dispatch_notification(shop.services, subject, id) for id in (*ids, *ids)]


async def at_once(*calls: Awaitable[Any]) -> Counter[str]:
    """What became of calls at the same time: `done`, or the name of the error."""
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return Counter(type(each).__name__ if isinstance(each, BaseException) else "done" for each in ended)


async def journals(shop: Shop) -> Counter[str]:
    """How many journals there are of each kind."""
    rows = await shop.services.db.rows(text("SELECT kind, count(*) AS posted FROM ledger_journal GROUP BY kind"))
    return Counter({row.kind: row.posted for row in rows})


@pytest.mark.parametrize(
    ("minor", "left"),
    [
        (2500, {"wallet": 2000, "marketplace_funds": 2000}),
        (3000, {}),
        (4000, {"wallet": -4000, "funds_shortfall": 4000}),
    ],
)
async def test_refills_make_good_what_refunds_take_at_the_same_time(
    shop: Shop, minor: int, left: dict[str, int]
) -> None:
    """Whichever comes first, a refill makes good what is missing, and a refund takes what is there."""
    refunds = [await refunded_elsewhere(shop, payin, minor) for _, payin in await emptied(shop, 4)]
    payins = [await paid_but_not_told(shop) for _ in range(REFILLS)]
    before = await journals(shop)
    assert (
        await at_once(*notifications(shop, Subject.PAYIN, payins), *notifications(shop, Subject.REFUND, refunds))
    ).keys() == {"done"}
    assert await journals(shop) - before == {"refill": REFILLS, "refund": 4, "refund_paid": 4}
    assert await balances(shop) == left
    assert await broken_rules(shop.services.db) == {}


async def test_refills_refunds_and_disputes_at_once(shop: Shop) -> None:
    """Some are refunded at the provider, some by the marketplace as far as there are funds, and some are disputed and lost."""
    emptied_refills = await emptied(shop, 9)
    refunds = [await refunded_elsewhere(shop, payin, 1500) for _, payin in emptied_refills[:3]]
    wishes = [
        RefundPayment(id=payment.id, amount=Decimal(amount)) for payment, _ in emptied_refills[3:6] for amount in (7, 8)
    ]
    lost = [await dispute_payin(shop, payin, type="NOT_CONTESTABLE", amount=2000) for _, payin in emptied_refills[6:]]
    payins = [await paid_but_not_told(shop) for _ in range(REFILLS)]
    before = await journals(shop)
    ended = await at_once(
        *notifications(shop, Subject.REFUND, refunds),
        *notifications(shop, Subject.PAYIN, payins[:8]),
        *(refund_payment(market(shop), wish) for wish in wishes),
        *(dispute.follow() for dispute in lost),
    )
    assert ended.keys() <= {"done", InsufficientFunds.__name__}
    assert await broken_rules(shop.services.db) == {}
    promised = len(wishes) - ended[InsufficientFunds.__name__]
    settled = await settled_at_once(shop, lost, payins[8:])
    back = 3 + promised
    posted = {"refill": REFILLS, "refund": back, "refund_paid": back, "dispute": 3, "dispute_lost": 3}
    assert await journals(shop) - before == posted
    found, refunded = Counter(await balances(shop)), await shop.one("SELECT sum(refund_amount) * 100 FROM refund")
    assert found["wallet"] == 1000 * REFILLS - refunded - settled
    assert found["wallet"] == found["marketplace_funds"] - found["funds_shortfall"]
    assert not found["marketplace_funds"] or not found["funds_shortfall"]
    assert found["dispute_debt"] == -found["repudiation_wallet"] == 3 * 2000 - settled
    assert not {"funds_held", "refund_due", "in_dispute", "suspense"} & found.keys()
    assert await broken_rules(shop.services.db) == {}


async def settled_at_once(shop: Shop, disputes: Sequence[OpenedDispute], payins: Sequence[str]) -> int:
    """Settle lost disputes and send what is promised while more is paid in; returns what was settled, in cents."""
    ended = await at_once(
        *(dispute.check() for dispute in (*disputes, *disputes)),
        *notifications(shop, Subject.PAYIN, payins),
        *(send_refunds(shop.services) for _ in range(2)),
    )
    assert ended.keys() == {"done"}
    rows = [await dispute.row() for dispute in disputes]
    assert all(row.settled_on is not None for row in rows)
    return int(sum(row.settled_amount for row in rows) * 100)
