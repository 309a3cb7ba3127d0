"""Background jobs and their state."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from sqlalchemy import BigInteger
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.resource import SchemaModel


@graphql_enum
class JobState(DescribedEnum):
    """The state of a job. Completed jobs are deleted."""

    QUEUED = "queued", "It waits for a worker, or for its scheduled time."
    RUNNING = "picked", "A worker is running it."
    FAILED = "failed", "It failed permanently and is stored. It can be retried."


@strawberry.pydantic.type(
    description="A background job. It is deleted when it completes; failed jobs are stored for a while."
)
class Job(SchemaModel):
    id: int = id_column("The job's id.", sa_type=BigInteger)
    kind: str = Field(description="The kind of job, such as `settle_attempt`.")
    state: JobState = enum_column(JobState, "The job's state.")
    attempts: int = Field(description="How often it has failed since it was queued or last retried by hand.")
    created_on: dt.datetime = datetime_column("When it was queued.")
    run_after: dt.datetime = datetime_column("The earliest time at which it runs.")
    last_error: str | None = Field(description="The last error, without secrets; null if it has never failed.")
    request_id: str | None = Field(
        description="The id of the request that queued it, as in the header `X-Request-Id` and in the logs; null "
        "if a schedule queued it."
    )
    payload: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        description="The job's parameters, mostly ids; masked like the inputs in the audit log."
    )
