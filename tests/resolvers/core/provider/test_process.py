"""Durable calls: workers that meet, answers that are lost, late or outdated, and processes that die in between."""

import asyncio
import dataclasses
import datetime as dt
from typing import NoReturn

import pytest
from sqlalchemy import MetaData
from sqlmodel import col, select

from resolvers.core.services import Services
from store.core.clock import clock
from store.core.provider_process import LeasedRow
from store.job.jobs import JobKind, enqueue_job
from store.providers.errors import CallHeldBack, InvalidRequest, TransientError
from tests.fixtures.tenants import Tenants
from tests.resolvers.core.provider.payouts import (
    INTERVALS,
    METADATA,
    PAYOUT,
    Bank,
    PayoutRow,
    PayoutState,
    begin,
    checks_at,
    read,
)

JOBS = "SELECT convert_from(payload, 'UTF8')::json ->> 'id' FROM pgqueuer WHERE entrypoint = 'send_mail' ORDER BY 1"
LOST = TransientError("The connection broke.")


@pytest.fixture
def more_tables() -> MetaData:
    """A table of payouts."""
    return METADATA


@pytest.fixture
def services(tenants: Tenants) -> Services:
    """The services of a process."""
    return tenants.services


@pytest.fixture
def bank() -> Bank:
    """A bank that answers at once."""
    return Bank()


async def test_an_answer_is_recorded(services: Services, bank: Bank) -> None:
    row = await begin(services)
    sent = await PAYOUT.send(services, row, bank.pay_out(row.key))
    assert (sent.state, sent.provider_id) == (PayoutState.SENT, "po_0")
    assert await read(services, row.id) == sent


async def test_many_that_send_one_payout_send_it_once(services: Services, bank: Bank) -> None:
    row = await begin(services)
    await asyncio.gather(*(PAYOUT.send(services, row, bank.pay_out(row.key)) for _ in range(8)))
    stored = await read(services, row.id)
    assert len(bank.movements) == 1
    assert (stored.state, stored.tries) == (PayoutState.SENT, 8)


async def test_nothing_is_locked_while_the_provider_answers(services: Services, bank: Bank) -> None:
    row = await begin(services)
    bank.answers.clear()
    sending = asyncio.create_task(PAYOUT.send(services, row, bank.pay_out(row.key)))
    await bank.called.wait()
    async with services.db.sessions() as db, db.begin():
        free = select(PayoutRow).where(col(PayoutRow.id) == row.id).with_for_update(nowait=True)
        assert (await db.exec(free)).one().state is PayoutState.BEGUN
    bank.answers.set()
    assert (await sending).state is PayoutState.SENT


async def test_a_process_that_dies_before_it_records_is_followed_by_one_that_looks_it_up(
    services: Services, bank: Bank
) -> None:
    async def die(*_: object) -> NoReturn:
        raise asyncio.CancelledError

    row = await begin(services)
    with pytest.raises(asyncio.CancelledError):
        await dataclasses.replace(PAYOUT, record=die).send(services, row, bank.pay_out(row.key))
    assert (await read(services, row.id)).state is PayoutState.BEGUN
    assert await checks_at(bank).sweep(services) == 1
    await checks_at(bank).poll(services, row.id)
    stored = await read(services, row.id)
    assert (stored.state, stored.provider_id, bank.calls) == (PayoutState.SENT, "po_0", 1)


async def test_a_lost_answer_leaves_the_row_and_is_found_when_it_is_sent_again(services: Services, bank: Bank) -> None:
    row, bank.fails = await begin(services), LOST
    with pytest.raises(TransientError):
        await PAYOUT.send(services, row, bank.pay_out(row.key))
    assert await read(services, row.id) == row
    bank.fails = None
    assert (await PAYOUT.send(services, row, bank.pay_out(row.key))).provider_id == "po_0"
    assert (bank.calls, len(bank.movements)) == (2, 1)


async def test_an_answer_that_takes_too_long_is_lost(services: Services, bank: Bank) -> None:
    row = await begin(services)
    bank.answers.clear()
    with pytest.raises(TransientError, match="has not answered within"):
        await PAYOUT.send(services, row, bank.pay_out(row.key), time_limit=dt.timedelta(milliseconds=20))
    assert (await read(services, row.id)).state is PayoutState.BEGUN


async def test_a_refusal_is_recorded_and_raised(services: Services, bank: Bank) -> None:
    row, bank.fails = await begin(services), InvalidRequest("No such account.")
    with pytest.raises(InvalidRequest):
        await PAYOUT.send(services, row, bank.pay_out(row.key))
    assert (await read(services, row.id)).state is PayoutState.REFUSED


async def test_a_refusal_changes_nothing_that_has_gone_on(services: Services, bank: Bank) -> None:
    row = await begin(services)
    await PAYOUT.send(services, row, bank.pay_out(row.key))
    bank.fails = InvalidRequest("Twice.")
    with pytest.raises(InvalidRequest):
        await PAYOUT.send(services, row, bank.pay_out(row.key))
    assert (await read(services, row.id)).state is PayoutState.SENT


async def test_a_refused_look_up_refuses_nothing(services: Services, bank: Bank) -> None:
    row, bank.fails = await begin(services), InvalidRequest("Not now.")
    with pytest.raises(InvalidRequest):
        await PAYOUT.look_up(services, row, bank.read(row.key))
    assert (await read(services, row.id)).state is PayoutState.BEGUN


async def test_a_hint_that_comes_during_a_call_is_not_lost_to_an_outdated_answer(
    services: Services, bank: Bank
) -> None:
    row = await begin(services)
    bank.answers.clear()
    slow = asyncio.create_task(PAYOUT.send(services, row, bank.pay_out(row.key)))
    await bank.called.wait()  # its answer is fixed: sent
    bank.finish(row.key)
    bank.answers.set()
    hinted, _ = await asyncio.gather(checks_at(bank).poll(services, row.id), slow)
    assert hinted is None
    stored = await read(services, row.id)
    assert (stored.state, stored.check_on) == (PayoutState.DONE, None)
    await PAYOUT.save(services, row, dataclasses.replace(bank.movements[row.key], state=PayoutState.SENT))
    assert (await read(services, row.id)).state is PayoutState.DONE


async def test_workers_that_sweep_at_once_check_each_row_once(services: Services, bank: Bank, tenants: Tenants) -> None:
    rows = [await begin(services) for _ in range(12)]
    checks = dataclasses.replace(checks_at(bank), batch=5)
    swept = 0
    while swept < len(rows):
        found = sum(await asyncio.gather(*(checks.sweep(services) for _ in range(4))))
        assert found, "a row was passed over"
        swept += found
    assert swept == len(rows)
    assert [row[0] for row in await tenants.rows(JOBS)] == sorted(str(row.id) for row in rows)
    assert await checks.sweep(services) == 0
    clock.advance(dt.timedelta(seconds=30))
    assert await checks.sweep(services) == 5, "each is due again, although its check has not run"
    assert len(await tenants.rows(JOBS)) == len(rows), "one that waits is not enqueued twice"


async def test_a_row_that_is_being_changed_is_swept_later(services: Services, bank: Bank) -> None:
    row = await begin(services)
    async with services.db.sessions() as db, db.begin():
        await PAYOUT.lock(db, row)
        assert await checks_at(bank).sweep(services) == 0
    assert await checks_at(bank).sweep(services) == 1


async def test_a_check_that_is_swept_away_with_its_transaction_is_due_again(
    services: Services, bank: Bank, tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> NoReturn:
        raise ConnectionError

    await begin(services)
    with monkeypatch.context() as broken:
        broken.setattr("resolvers.core.provider.process.enqueue_job", fail)
        with pytest.raises(ConnectionError):
            await checks_at(bank).sweep(services)
    assert await tenants.rows(JOBS) == []
    assert await checks_at(bank).sweep(services) == 1


async def test_a_provider_that_cannot_tell_is_asked_again(services: Services, bank: Bank) -> None:
    row, bank.fails = await begin(services), LOST
    untold: list[object] = []

    async def unanswered(_: Services, id: object) -> None:
        untold.append(id)

    await checks_at(bank).poll(services, row.id)
    await dataclasses.replace(checks_at(bank), unanswered=unanswered).poll(services, row.id)
    assert untold == [row.id]
    assert await read(services, row.id) == row


async def test_a_check_that_is_held_back_is_left_to_the_worker(services: Services, bank: Bank) -> None:
    row, bank.fails = await begin(services), CallHeldBack("sweep", 60)
    untold: list[object] = []

    async def unanswered(_: Services, id: object) -> None:
        untold.append(id)

    with pytest.raises(CallHeldBack):
        await dataclasses.replace(checks_at(bank), unanswered=unanswered).poll(services, row.id)
    assert untold == [row.id]


async def test_what_is_due_before_the_next_sweep_can_be_on_time_is_swept_now(services: Services, bank: Bank) -> None:
    await begin(services)
    assert await checks_at(bank).sweep(services) == 1, "now, and in half a minute again"
    clock.advance(dt.timedelta(seconds=10))
    assert await checks_at(bank).sweep(services) == 0
    clock.advance(dt.timedelta(seconds=8))
    assert await checks_at(bank).sweep(services) == 1


async def test_a_hint_beside_a_waiting_check_is_one_job(services: Services, bank: Bank, tenants: Tenants) -> None:
    row = await begin(services)
    await checks_at(bank).sweep(services)
    async with services.db.sessions() as db, db.begin():
        await enqueue_job(db, JobKind.SEND_MAIL, {"id": row.id}, unique_key=str(row.id))
    assert len(await tenants.rows(JOBS)) == 1


@pytest.mark.parametrize(
    ("minutes", "seconds"), [(0, 30), (2.9, 30), (3, 300), (59, 300), (60, 86_400), (9999, 86_400)]
)
def test_pauses_grow_with_age(minutes: float, seconds: int) -> None:
    since = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    now = since + dt.timedelta(minutes=minutes)
    assert INTERVALS.after(since, now) - now == dt.timedelta(seconds=seconds)


def test_a_lease_expires() -> None:
    now = clock.now()
    assert not LeasedRow().is_leased(now)
    leased = LeasedRow(busy_until=now + dt.timedelta(seconds=25))
    assert leased.is_leased(now)
    assert not leased.is_leased(now + dt.timedelta(seconds=25))
