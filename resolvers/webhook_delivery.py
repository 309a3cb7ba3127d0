"""What the worker does about webhooks: events are put in line, messages are sent, one after another for each endpoint."""

from collections.abc import Iterable

from sqlmodel import select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.context import Services
from store.events import EventRow
from store.jobs import Job, enqueue
from store.webhooks.sorting import sort_events


async def wake(db: AsyncSession, endpoint_ids: Iterable[int]) -> None:
    """Have a worker look at what is in line for these endpoints, once the session's transaction is committed."""
    for endpoint_id in endpoint_ids:
        await enqueue(db, Job.DELIVER_WEBHOOKS, {"id": endpoint_id})


async def sort(services: Services, event_id: int) -> None:
    """Put an event in line for the endpoints that want it, and every event before it."""
    async with services.db.sessions() as db:
        done = (await db.exec(select(EventRow.is_sorted).where(EventRow.id == event_id))).first()
    if done is not False:  # sorted with another, or deleted
        return
    found = 1
    while found:
        async with services.db.sessions() as db, db.begin():
            found, told = await sort_events(db)
            await wake(db, told)


async def deliver(services: Services, endpoint_id: int) -> None:
    """Send an endpoint what is due."""
