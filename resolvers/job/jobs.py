"""The job queue as those who run the installation see it, and what they may do about jobs that have failed."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.context import Services
from resolvers.core.listing import Filter, Listing, Lookup, Where
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Fields, closed_set, writable_as
from schema.job import Job, JobState
from store.job import jobs as queue
from store.job.rows import JobRow


@closed_set
class JobSort(ClosedSet):
    """How to order jobs."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@writable_as(Job)
class JobFilter(Filter):
    """Which jobs. Both ends of a period belong to it."""

    state: Annotated[JobState | None, Where("state")] = None
    kind: Annotated[str | None, Where("kind")] = None
    request_id: Annotated[str | None, Where("request_id")] = Field(
        default=None, description="Those that this request wanted, and the jobs that these wanted."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Enqueued at this time or later."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Enqueued at this time or earlier."
    )


@writable_as(Job)
class RetryJob(Fields):
    """A failed job to run again."""

    id: int


@writable_as(Job)
class DiscardJob(Fields):
    """A job that is not to be done any more."""

    id: int


jobs = Listing(
    Job,
    JobFilter,
    JobSort,
    Permission.MANAGE_MASTERADMIN,
    "What is being done beside the requests, and what has failed, newest first.",
)
job = Lookup(Job, "id", "job", Permission.MANAGE_MASTERADMIN, "A job by its id, unless it is done.")


@operation(Permission.MANAGE_MASTERADMIN)
async def retry_job(call: Call, input: RetryJob) -> Job:
    """Run a failed job again, at once, with as many tries as it had. Any other job is refused with `INVALID_TRANSITION`."""
    row = await find(call.db, call.caller, JobRow, "job", lock=True, id=input.id)
    if row.state is not JobState.FAILED:
        raise InvalidTransition(thing="The job", old=row.state.name.lower(), new="queued")
    await queue.requeue(call.db, row.id)
    await call.db.refresh(row)
    return row


@operation(Permission.MANAGE_MASTERADMIN)
async def discard_job(call: Call, input: DiscardJob) -> Job:
    """Delete a job that has failed or that waits; what it was to do is never done. One that runs is refused."""
    row = await find(call.db, call.caller, JobRow, "job", lock=True, id=input.id)
    if row.state is JobState.RUNNING:
        raise InvalidTransition(thing="The job", old="running", new="discarded")
    await queue.discard(call.db, row.id)
    return row


async def prune(services: Services) -> int:
    """Delete failed jobs after `failed_job_days`, and the queue's own log after `job_log_days`. Answers how many rows."""
    now, settings = services.clock.now(), services.settings
    async with services.db.sessions() as db, db.begin():
        return await queue.prune(
            db,
            failed_before=now - dt.timedelta(days=settings.failed_job_days),
            logged_before=now - dt.timedelta(days=settings.job_log_days),
        )
