"""The job queue for operators: list, retry, discard and clean-up."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.lists.filters import Filter, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidTransition
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.job import Job, JobState
from store.job import jobs as queue
from store.job.rows import JobRow


@graphql_enum
class JobSort(DescribedEnum):
    """Sort order of jobs."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@graphql_input_for(Job)
class JobFilter(Filter):
    """Filter for jobs. Periods include both ends."""

    state: Annotated[JobState | None, Where("state")] = None
    kind: Annotated[str | None, Where("kind")] = None
    request_id: Annotated[str | None, Where("request_id")] = Field(
        default=None, description="Only jobs enqueued by the request with this id, directly or through other jobs."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only jobs enqueued at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only jobs enqueued at or before this time."
    )


@graphql_input_for(Job)
class RetryJob(SchemaModel):
    """Run a failed job again."""

    id: int


@graphql_input_for(Job)
class DiscardJob(SchemaModel):
    """Discard a job, so that it never runs."""

    id: int


jobs = Listing(
    Job,
    JobFilter,
    JobSort,
    Permission.MANAGE_MASTERADMIN,
    "The background jobs that wait, run or have failed, newest first.",
)
job = Lookup(Job, "id", "job", Permission.MANAGE_MASTERADMIN, "A job by its id. Completed jobs are deleted.")


@operation(Permission.MANAGE_MASTERADMIN)
async def retry_job(call: Call, input: RetryJob) -> Job:
    """Run a failed job again at once, with its full number of retries. A job that has not failed is refused with
    `INVALID_TRANSITION`.
    """
    row = await find_visible(call.db, call.caller, JobRow, "job", lock=True, id=input.id)
    if row.state is not JobState.FAILED:
        raise InvalidTransition(thing="The job", old=row.state.name.lower(), new="queued")
    await queue.requeue_job(call.db, row.id)
    await call.db.refresh(row)
    return row


@operation(Permission.MANAGE_MASTERADMIN)
async def discard_job(call: Call, input: DiscardJob) -> Job:
    """Delete a job that has failed or is waiting; its work is never done. A running job is refused with
    `INVALID_TRANSITION`.
    """
    row = await find_visible(call.db, call.caller, JobRow, "job", lock=True, id=input.id)
    if row.state is JobState.RUNNING:
        raise InvalidTransition(thing="The job", old="running", new="discarded")
    await queue.discard_job(call.db, row.id)
    return row


async def prune(services: Services) -> int:
    """Delete failed jobs after `failed_job_days`, and the queue's log after `job_log_days`; returns their number."""
    now, settings = services.clock.now(), services.settings
    async with services.db.sessions() as db, db.begin():
        return await queue.prune_jobs(
            db,
            failed_before=now - dt.timedelta(days=settings.failed_job_days),
            logged_before=now - dt.timedelta(days=settings.job_log_days),
        )
