"""The queue as a view of PgQueuer's table, so that jobs are listed and read like any other resource."""

from typing import Any

import orjson
from sqlalchemy import Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field

from schema.job import Job
from store.audit.masking import mask

CREATE_VIEW = """
    CREATE OR REPLACE VIEW job AS
    SELECT id, entrypoint AS kind, status::text AS state, attempts, created AS created_on, execute_after AS run_after,
        headers ->> 'error' AS last_error, headers ->> 'request_id' AS request_id, payload
    FROM pgqueuer
"""
"""Created after PgQueuer's tables, which PgQueuer creates itself; no revision contains it."""
ENGINE_TABLE = {"made_by": "PgQueuer"}


class MaskedPayload(TypeDecorator[dict[str, Any]]):
    """The payload of a job, with secrets masked."""

    impl = LargeBinary
    cache_ok = True

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> dict[str, Any]:  # noqa: ARG002
        masked: dict[str, Any] = mask(orjson.loads(value or b"{}"))
        return masked


class JobRow(Job, table=True):
    """A job in the queue; read-only."""

    __tablename__ = "job"
    __table_args__ = ({"info": ENGINE_TABLE},)
    payload: dict[str, Any] = Field(sa_type=MaskedPayload)
