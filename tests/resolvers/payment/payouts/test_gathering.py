"""What is gathered when: periods, chosen dates, what is carried over, and many workers at once."""

import asyncio
import datetime as dt
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.payment.creation import update_payment
from resolvers.payment.payouts.gathering import gather_payouts
from resolvers.payment.payouts.payouts import (
    cancel_payout_request,
    create_payout_request,
    payments_of_payouts,
    transactions_of_payouts,
)
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import InvalidTransition
from schema.network.gift_card_input import UseNetworkGiftCard
from schema.partner.parts import PayoutFrequency
from schema.payment.errors import NothingToPayOut
from schema.payment.input import RefundPayment, UpdatePayment
from schema.payment.payout import CancelPayoutRequest, CreatePayoutRequest
from schema.payment.payout import PayoutRequestStatus as Status
from store.core.clock import clock
from store.network.payouts import move_payment
from store.payment.payments import PaymentRow
from store.payout.periods import first_day_of, last_day_after, last_day_before
from store.payout.requests import PayoutRequestRow, lock_items
from tests.fixtures.payment.api_payment import books_balance, created, paid
from tests.fixtures.payment.network_payment import card_of_network, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import MONTH, can_be_paid_out, gathered, payouts, send
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop, open_shop

WEEK, HALF, EVERY_MONTH = PayoutFrequency.WEEK, PayoutFrequency.BIMONTHLY, PayoutFrequency.MONTH


@pytest.mark.parametrize(
    ("frequency", "today", "first", "last"),
    [
        (WEEK, "2026-11-23", "2026-11-16", "2026-11-22"),
        (WEEK, "2026-11-29", "2026-11-16", "2026-11-22"),
        (WEEK, "2026-01-01", "2025-12-22", "2025-12-28"),
        (HALF, "2026-03-15", "2026-02-16", "2026-02-28"),
        (HALF, "2026-03-16", "2026-03-01", "2026-03-15"),
        (HALF, "2026-03-31", "2026-03-01", "2026-03-15"),
        (HALF, "2026-04-01", "2026-03-16", "2026-03-31"),
        (EVERY_MONTH, "2026-03-01", "2026-02-01", "2026-02-28"),
        (EVERY_MONTH, "2028-03-31", "2028-02-01", "2028-02-29"),
        (None, "2026-01-01", "2025-12-01", "2025-12-31"),
    ],
)
def test_periods(frequency: PayoutFrequency | None, today: str, first: str, last: str) -> None:
    ended = last_day_before(frequency, dt.date.fromisoformat(today))
    following = last_day_after(frequency, ended + dt.timedelta(days=1))
    assert last_day_before(frequency, following + dt.timedelta(days=1)) == following
    assert following >= dt.date.fromisoformat(today)
    assert (first_day_of(frequency, ended).isoformat(), ended.isoformat()) == (first, last)


def amounts(rows: Any) -> list[str]:
    return [str(row.payout_amount) for row in rows]


async def at(shop: Shop, moment: str) -> None:
    """Go to a time in UTC. What was gathered before counts from there."""
    clock.advance(dt.datetime.fromisoformat(f"{moment}+00:00") - clock.now())
    await gather_payouts(shop.services)


async def test_what_a_request_contains_is_told_newest_first(shop: Shop) -> None:
    older, newer = await paid(shop, "10.00"), await paid(shop, "20.00")
    id = (await gathered(shop)).id
    payments = (await payments_of_payouts(market(shop), [id]))[id]
    assert [payment.id for payment in payments] == [newer.id, older.id]
    transactions = (await transactions_of_payouts(market(shop), [id]))[id]
    assert [str(transaction.transaction_amount) for transaction in transactions] == ["20.00", "10.00"]


async def test_a_period_ends_at_midnight_of_the_marketplace(shop: Shop) -> None:
    await at(shop, "2030-05-20T10:00")
    await paid(shop, "10.00")
    await at(shop, "2030-05-31T21:59")
    await paid(shop, "20.00")  # on the last minute of May in Paris
    await gather_payouts(shop.services)
    assert amounts(await payouts(shop)) == []
    await at(shop, "2030-05-31T22:01")
    assert amounts(await payouts(shop)) == ["30.00"]
    (may,) = await payouts(shop)
    assert (may.first_day, may.last_day) == (dt.date(2030, 5, 1), dt.date(2030, 5, 31))
    await paid(shop, "40.00")
    await at(shop, "2030-06-30T21:59")
    assert amounts(await payouts(shop)) == ["30.00"]
    await at(shop, "2030-07-02T08:00")
    assert amounts(await payouts(shop)) == ["30.00", "40.00"]
    await gather_payouts(shop.services)
    assert len(await payouts(shop)) == 2
    await books_balance(shop)


async def test_months_without_a_worker_are_one_payout(shop: Shop) -> None:
    await at(shop, "2030-05-20T10:00")
    for _ in range(3):
        await paid(shop, "10.00")
        clock.advance(MONTH)
    await gather_payouts(shop.services)
    (row,) = await payouts(shop)
    assert (str(row.payout_amount), row.first_day, row.last_day) == (
        "30.00",
        dt.date(2030, 5, 20),
        dt.date(2030, 7, 31),
    )


async def test_a_chosen_date_decides(shop: Shop) -> None:
    """It waits for its date; it leaves an open payout request when it is moved, and a validated one is final."""
    await shop.execute("UPDATE partner SET freeze_payout = true")
    await at(shop, "2030-05-20T10:00")
    frozen = await paid(shop, "10.00", freeze_payout_date="2030-06-15T12:00:00Z")
    other = await paid(shop, "20.00")
    await at(shop, "2030-06-01T10:00")
    (may,) = await payouts(shop)
    assert amounts([may]) == ["20.00"]
    move = UpdatePayment.model_validate({"id": other.id, "freeze_payout_date": "2030-07-15T12:00:00Z"})
    await update_payment(shop.manager, move)
    assert [(row.status, str(row.payout_amount)) for row in await payouts(shop)] == [(Status.CANCELLED, "0.00")]
    await at(shop, "2030-07-01T10:00")
    assert amounts(await payouts(shop)) == ["0.00", "10.00"]
    await at(shop, "2030-08-01T10:00")
    assert amounts(await payouts(shop)) == ["0.00", "10.00", "20.00"]
    lines = "SELECT j.source_id FROM payable_item i JOIN ledger_journal j ON j.id = i.journal_id WHERE payout_request_id = :id"
    assert await shop.one(lines, id=(await payouts(shop))[1].id) == str(frozen.id)
    await books_balance(shop)


async def test_what_is_taken_back_counts_at_once_and_is_carried_over(shop: Shop) -> None:
    """A refund in June of what was paid out for May is more than June has brought: it waits for July."""
    await can_be_paid_out(shop)
    await at(shop, "2030-05-20T10:00")
    may = await paid(shop, "50.00")
    await paid(shop, "8.00", freeze_payout_date=None)
    await at(shop, "2030-06-01T10:00")
    (first,) = await payouts(shop)
    await cancel_payout_request(market(shop), CancelPayoutRequest(id=first.id))
    await refund_payment(shop.manager, RefundPayment(id=may.id, amount=Decimal("50.00")))
    await send_refunds(shop.services)
    await paid(shop, "5.00")
    await at(shop, "2030-07-01T10:00")
    assert amounts(await payouts(shop)) == ["58.00", "13.00"]
    await books_balance(shop)


async def test_what_is_validated_automatically(shop: Shop) -> None:
    await can_be_paid_out(shop, auto_validate_payout=True)
    await paid(shop, "10.00")
    first = await gathered(shop)
    assert first.status is Status.VALIDATED
    await send(shop, first)
    await paid(shop, "20.00")
    await shop.execute("UPDATE partner SET block_payout_validation = true")
    blocked = await gathered(shop)
    assert (blocked.status, str(blocked.payout_amount)) == (Status.TO_BE_VALIDATED, "20.00")
    await shop.execute("UPDATE partner SET block_payout_validation = false")
    await shop.execute("UPDATE bank_account SET status = 'deactivated'")
    await gather_payouts(shop.services)
    (_, waiting) = await payouts(shop)
    assert (waiting.status, waiting.detail) == (
        Status.TO_BE_VALIDATED,
        "The partner has no active bank account: register its IBAN with `registerBankAccount`.",
    )
    await shop.execute("UPDATE bank_account SET status = 'active'")
    await gather_payouts(shop.services)
    assert [(row.status, row.detail) for row in await payouts(shop)] == [(Status.PAID, ""), (Status.VALIDATED, "")]
    await books_balance(shop)


async def test_many_workers_gather_each_partner_once(shop: Shop) -> None:
    shops = [shop, *[await open_shop(shop.services, shop.sandbox, f"shop{n}.localhost") for n in range(4)]]
    for each in shops:
        await paid(each, "10.00")
    clock.advance(MONTH)
    counts = await asyncio.gather(*(gather_payouts(shop.services) for _ in range(8)))
    assert sum(counts) == 5
    rows = await payouts(shop)
    assert {row.partner_id for row in rows} == {each.partner.id for each in shops}
    assert amounts(rows) == ["10.00"] * 5
    assert await shop.one("SELECT count(*) FROM payable_item WHERE payout_request_id IS NULL") == 0
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payout_request.created'") == 5
    await books_balance(shop)


async def test_gathering_while_selling_loses_nothing(shop: Shop) -> None:
    await take_part(shop)
    card = await card_of_network(shop)

    async def sell() -> None:
        used = {"code": card.code, "value": "10.00", "partner_id": shop.partner.id}
        for _ in range(5):
            await use_network_gift_card(shop.manager, UseNetworkGiftCard.model_validate(used))

    async def gather() -> None:
        for _ in range(10):
            with suppress(NothingToPayOut):
                await create_payout_request(market(shop), CreatePayoutRequest(partner_uuid=shop.partner.uuid))

    await asyncio.gather(sell(), sell(), gather(), gather())
    await gather()
    rows: list[PayoutRequestRow] = list(await payouts(shop))
    assert sum((row.payout_amount for row in rows), Decimal(0)) == Decimal("100.00")
    await books_balance(shop)


async def test_gathering_waits_for_a_date_that_is_moved(shop: Shop) -> None:
    """Both move payable items, in no order of their own: only one transaction does at a time."""
    await shop.execute("UPDATE partner SET freeze_payout = true")
    payment, db = await paid(shop, "10.00"), shop.services.db
    async with db.sessions() as session, session.begin():
        row = await session.get_one(PaymentRow, payment.id)
        row.freeze_payout_date = clock.now() + MONTH * 3
        await lock_items(session, [shop.partner.id])
        gathering = asyncio.create_task(create_payout_request(market(shop), of_partner(shop)))
        await waiting_for_items(shop)
        await move_payment(session, row)
    with pytest.raises(NothingToPayOut):
        await gathering
    await books_balance(shop)


async def waiting_for_items(shop: Shop) -> None:
    """Until another transaction waits."""
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    while not await shop.one(waits):
        await asyncio.sleep(0.01)


def of_partner(shop: Shop) -> CreatePayoutRequest:
    return CreatePayoutRequest(partner_uuid=shop.partner.uuid)


async def test_dates_move_while_payouts_are_gathered(shop: Shop) -> None:
    """Of payments in open requests, with refunds that lower them, and cancelled requests: no deadlock, nothing lost."""
    await shop.execute("UPDATE partner SET freeze_payout = true")
    ids = [(await paid(shop, f"{n}.00")).id for n in range(20, 28)]

    async def move(id: Any) -> None:
        for month in (1, 3, 1):
            date = (clock.now() + MONTH * month).isoformat()
            await update_payment(shop.manager, UpdatePayment.model_validate({"id": id, "freeze_payout_date": date}))
            back = {"id": id, "freeze_payout_date": clock.now().isoformat()}
            await update_payment(shop.manager, UpdatePayment.model_validate(back))

    async def gather() -> None:
        for _ in range(6):
            with suppress(NothingToPayOut, InvalidTransition):
                made: Any = await create_payout_request(market(shop), of_partner(shop))
                await cancel_payout_request(market(shop), CancelPayoutRequest(id=made.id))

    async def refund(id: Any) -> None:
        await refund_payment(shop.manager, RefundPayment.model_validate({"id": id, "amount": "5.00"}))

    await asyncio.gather(*map(move, ids), *(gather() for _ in range(3)), *map(refund, ids[:4]))
    open_sum = sum(
        (row.payout_amount for row in await payouts(shop) if row.status is Status.TO_BE_VALIDATED), Decimal(0)
    )
    due = await shop.one("SELECT coalesce(sum(own_amount), 0) FROM payable_item WHERE payout_request_id IS NULL")
    assert open_sum * 100 + due == 100 * (sum(range(20, 28)) - 4 * 5)
    await books_balance(shop)


async def test_test_money_is_gathered_by_itself(shop: Shop) -> None:
    await paid(shop, "10.00")
    await shop.execute("UPDATE partner SET status = 't'")
    await created(shop, "5.00")
    assert await shop.count("ledger_book") == 2
    clock.advance(MONTH)
    await gather_payouts(shop.services)
    assert await payouts(shop) == []  # it is a test partner now: what it has earned before waits
    await shop.execute("UPDATE partner SET status = 'a'")
    await gather_payouts(shop.services)
    assert amounts(await payouts(shop)) == ["10.00"]
