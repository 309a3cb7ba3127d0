"""Jobs: what is done beside the requests, and where each piece of it stands."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment


@closed_set
class JobState(ClosedSet):
    """Where a job stands. One that is done is there no more."""

    QUEUED = "queued", "It waits for a worker, or for its time."
    RUNNING = "picked", "A worker runs it."
    FAILED = "failed", "It has failed for good, and is kept. It can be run again."


@strawberry.pydantic.type(
    description="A piece of work that is done beside the requests. It is there until it is done; failed ones are kept for a while."
)
class Job(Fields):
    """A piece of work that is done beside the requests."""

    id: int = Field(description="Its id.")
    kind: str = Field(description="What is done: `settle_attempt`.")
    state: JobState = choice(JobState, "Where it stands.")
    attempts: int = Field(description="How often it has failed since it was enqueued, or last run again by hand.")
    created_on: dt.datetime = moment("When it was enqueued.")
    run_after: dt.datetime = moment("It is not run before this time.")
    last_error: str | None = Field(description="Why it failed the last time, without secrets; null: it never did.")
    request_id: str | None = Field(
        description="The request that wanted it, as in the header `X-Request-Id` and in the logs; null: a schedule did."
    )
    payload: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        description="What it is about, mostly ids; masked like the inputs in the audit log."
    )
