"""Jobs and schedules call the provider as work that can wait, and a held back call is no failure of a job."""

import asyncio

from prometheus_client import REGISTRY

from resolvers.core.services import Services
from resolvers.job.registry import HANDLERS, JobHandler, Payload, ScheduledTask
from store.job.jobs import JobKind
from store.providers.call_budget import CallClass, call_class
from store.providers.errors import CallHeldBack
from tests.resolvers.job.workers import AT_ONCE, Queued, queued

__all__ = ["queued"]
EACH_SECOND = "* * * * * *"


async def test_a_job_whose_call_is_held_back_runs_again_without_having_failed(queued: Queued) -> None:
    def failures() -> float:
        return REGISTRY.get_sample_value("coffret_job_failures_total", {"kind": "drop_cart"}) or 0

    classes: list[CallClass] = []

    async def held_back_twice(_: Services, __: Payload) -> None:
        classes.append(call_class())
        if len(classes) < 3:
            raise CallHeldBack(call_class(), 0.01)

    before = failures()
    queued.does(held_back_twice, AT_ONCE)
    await queued.put({})
    async with queued.workers():
        await queued.until_empty()
    assert classes == [CallClass.SWEEP] * 3
    assert failures() == before


async def test_a_kind_of_job_has_a_class(queued: Queued) -> None:
    classes: list[CallClass] = []

    async def look(_: Services, __: Payload) -> None:
        classes.append(call_class())

    queued.sets(HANDLERS={JobKind.DROP_CART: JobHandler(look, AT_ONCE, CallClass.PAYOUT)})
    await queued.put({})
    async with queued.workers():
        await queued.until_empty()
    assert classes == [CallClass.PAYOUT]
    assert call_class() is CallClass.CUSTOMER


async def test_a_schedule_can_wait(queued: Queued) -> None:
    classes: asyncio.Queue[CallClass] = asyncio.Queue()

    async def look(_: Services) -> None:
        classes.put_nowait(call_class())

    queued.schedules(often=ScheduledTask(EACH_SECOND, look))
    async with queued.workers():
        async with asyncio.timeout(60):
            assert await classes.get() is CallClass.SWEEP


def test_what_the_provider_has_notified_is_more_urgent_than_checks() -> None:
    assert HANDLERS[JobKind.PROVIDER_HINT].calls is CallClass.PAYOUT
    assert HANDLERS[JobKind.SETTLE_ATTEMPT].calls is CallClass.SWEEP
