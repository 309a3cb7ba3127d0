"""A run of the reconciliation: begun once, carried on by whoever comes next, and repeated without harm."""

import asyncio
import datetime as dt
import random
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import text

from coffret.sandbox import app as sandbox_app
from resolvers.job.registry import SCHEDULES
from resolvers.payment.reconciliation import findings as recording
from resolvers.payment.reconciliation import runs
from resolvers.payment.reconciliation.runs import (
    CHECKS,
    GIVEN_UP_AFTER,
    MOST_TRIES,
    OVERLAP,
    advance_run,
    begin_reconciliation,
    read_run,
)
from schema.reconciliation import ReconciliationRunState
from store.core.clock import clock
from store.ledger.posting import post
from store.providers.errors import ProviderError
from store.reconciliation.comparison import record_differences
from store.reconciliation.rows import ReconciliationRunRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import paid, wallets_agree
from tests.fixtures.payment.reconciliation import (
    findings,
    moved_by_hand,
    open_findings,
    reconciled,
    with_money,
)
from tests.fixtures.shop import Shop

REQUESTED, DONE, FAILED = ReconciliationRunState
MINUTE, DAY = dt.timedelta(minutes=1), dt.timedelta(days=1)
REPORTS = {"path": "/reporting/reports", "method": "POST"}
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "drop"},
    {"kind": "status", "status": 503},
    {"kind": "truncated"},
    {"kind": "html"},
)


class Killed(BaseException):
    """The process dies: nothing that handles errors runs."""


async def fault(shop: Shop, **fault: Any) -> None:
    """Something goes wrong at the provider."""
    answer = await shop.control("POST", "/faults", fault)
    assert answer.status_code in (200, 201), answer.text


async def reports(shop: Shop) -> int:
    """How many reports were requested."""
    count = "SELECT count(*) FROM resource WHERE kind = 'reporting/reports'"
    return await sandbox_app.of(shop.sandbox).run(lambda session: int(session.require_row(count)[0]))


async def carried_on(shop: Shop, id: int, times: int = 1) -> ReconciliationRunRow:
    """The run after some minutes in which the worker has looked at it."""
    for _ in range(times):
        clock.advance(MINUTE)
        await sandbox_app.tick(shop.sandbox)
        await CHECKS.sweep(shop.services)
        await CHECKS.poll(shop.services, id)
    return await read_run(shop.services, id)


# ---- beginning


async def test_one_run_is_under_way(shop: Shop) -> None:
    begun = await asyncio.gather(*(begin_reconciliation(shop.services) for _ in range(8)))
    assert len(set(begun)) == 1
    assert await shop.count("reconciliation_run") == 1


async def test_a_run_that_hangs_is_left_for_the_next(shop: Shop) -> None:
    await shop.control("POST", "/switches", {"reports_are_made": False})
    late = await begin_reconciliation(shop.services)
    assert (await carried_on(shop, late, 3)).state is REQUESTED
    clock.advance(GIVEN_UP_AFTER)
    await shop.control("POST", "/switches", {"reports_are_made": True})
    next_one = await begin_reconciliation(shop.services)
    left = await carried_on(shop, late)
    assert (left.state, left.detail, left.check_on) == (FAILED, "The next one has begun.", None)
    done = await carried_on(shop, next_one, 2)
    assert done.state is DONE
    assert done.since < left.until < done.until


async def test_the_next_run_overlaps_the_last_that_was_done(shop: Shop) -> None:
    first = await reconciled(shop)
    assert first.until - first.since == dt.timedelta(days=30)
    second = await reconciled(shop, after=3 * DAY)
    assert second.since == first.until - OVERLAP
    after_outage = await reconciled(shop, after=500 * DAY)
    assert after_outage.until - after_outage.since == dt.timedelta(days=365)


async def test_the_worker_makes_it_every_night(shop: Shop) -> None:
    assert SCHEDULES["reconcile"].cron == "23 1 * * *"
    await SCHEDULES["reconcile"].run(shop.services)
    assert await SCHEDULES["sweep_reconciliations"].run(shop.services) == 1
    jobs = await shop.services.db.rows(
        text("SELECT convert_from(payload, 'UTF8') AS payload FROM job WHERE kind = 'reconcile'")
    )
    assert [row.payload for row in jobs] == ['{"id":1}']
    assert (await carried_on(shop, 1, 2)).state is DONE
    clock.advance(DAY)
    assert await SCHEDULES["sweep_reconciliations"].run(shop.services) == 0


# ---- reports


async def test_reports_that_fail_are_requested_again(shop: Shop) -> None:
    await fault(shop, **REPORTS, kind="failed")
    id = await begin_reconciliation(shop.services)
    failed = await carried_on(shop, id, 2)
    assert (failed.state, failed.tries, failed.provider_id) == (REQUESTED, 1, "")
    assert failed.detail.startswith("009199")
    done = await carried_on(shop, id, 3)
    assert (done.state, done.detail) == (DONE, "")


async def test_a_run_whose_reports_all_fail_has_failed(shop: Shop) -> None:
    await fault(shop, **REPORTS, kind="failed", times=MOST_TRIES)
    id = await begin_reconciliation(shop.services)
    ended = await carried_on(shop, id, 3 * MOST_TRIES)
    assert (ended.state, ended.tries, ended.check_on) == (FAILED, MOST_TRIES, None)
    assert ended.finished_on is not None
    assert (await reconciled(shop)).state is DONE


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", FAULTS)
async def test_a_lost_answer_is_one_report(shop: Shop, kind: dict[str, Any], when: str) -> None:
    await fault(shop, **REPORTS, **kind, when=when)
    id = await begin_reconciliation(shop.services)
    assert (await carried_on(shop, id, 4)).state is DONE
    assert await reports(shop) == 1


async def test_an_outage_of_days_loses_nothing(shop: Shop) -> None:
    await with_money(shop)
    await paid(shop, "30.00")
    await reconciled(shop)
    moved = await moved_by_hand(shop)
    for _ in range(5):
        await shop.control("DELETE", "/faults")
        await fault(shop, path="*", kind="status", status=503, times=1000)
        clock.advance(DAY)
        id = await begin_reconciliation(shop.services)
        assert (await carried_on(shop, id, 3)).state is REQUESTED
    await shop.control("DELETE", "/faults")
    await reconciled(shop)
    assert ("missing_here", moved) in await open_findings(shop)


@pytest.mark.parametrize("kind", FAULTS)
async def test_a_file_that_cannot_be_read_is_read_again(shop: Shop, kind: dict[str, Any]) -> None:
    await paid(shop, "30.00")
    clock.advance(DAY)
    await fault(shop, path="/reporting/downloads/*", **kind)
    id = await begin_reconciliation(shop.services)
    waiting = await carried_on(shop, id, 2)
    assert (waiting.state, await shop.count("provider_movement")) == (REQUESTED, 0)
    done = await carried_on(shop, id, 2)
    assert (done.state, done.movements, await findings(shop)) == (DONE, 1, [])


# ---- kills and crowds


async def killed_before(*_: Any) -> Any:
    raise Killed


async def killed_after_comparing(*compared: Any) -> Any:
    await record_differences(*compared)
    raise Killed


async def killed_after_posting(*posted: Any) -> Any:
    await post(*posted)
    raise Killed


KILLS: tuple[tuple[Any, str, Any], ...] = (
    (runs, "compare_balances", killed_before),
    (runs, "record_comparison", killed_before),
    (recording, "record_differences", killed_before),
    (recording, "record_differences", killed_after_comparing),
    (recording, "post", killed_before),
    (recording, "post", killed_after_posting),
)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_dies_it_is_suspended_once(shop: Shop, seed: int) -> None:
    """Three nights, in which the process dies at any step, answers are lost, and several workers do the same."""
    chance = random.Random(seed)
    await with_money(shop)
    await paid(shop, "30.00")
    moved = [await moved_by_hand(shop, 100 * number) for number in range(1, 4)]
    for _ in range(3):
        clock.advance(DAY)
        id = await begin_reconciliation(shop.services)
        while (await read_run(shop.services, id)).state is REQUESTED:
            with pytest.MonkeyPatch.context() as patch:
                if chance.random() < 0.5:
                    patch.setattr(*chance.choice(KILLS))
                elif chance.random() < 0.3:
                    await fault(shop, path="*", **chance.choice(FAULTS), when=chance.choice(("before", "after")))
                with suppress(Killed, ProviderError, TimeoutError):
                    crowd = chance.choice((1, 1, 5))
                    await asyncio.gather(*(advance_run(shop.services, id) for _ in range(crowd)))
            clock.advance(MINUTE)
            await sandbox_app.tick(shop.sandbox)
        await shop.control("DELETE", "/faults")
    assert sorted(subject for _, subject in await open_findings(shop)) == sorted(moved)
    assert set(await broken_rules(shop.services.db)) == {"suspense_is_empty"}
    journals = "SELECT count(*) FROM ledger_journal WHERE kind = 'unexplained'"
    assert await shop.one(journals) == 2 * len(moved)
    await wallets_agree(shop)
