"""The queue as it is read: a view of PgQueuer's table, so that lists and look-ups of jobs are those of any resource."""

from typing import Any

import orjson
from sqlalchemy import BigInteger, Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field

from schema.job import Job
from store.audit.masking import masked

VIEW = """
    CREATE OR REPLACE VIEW job AS
    SELECT id, entrypoint AS kind, status::text AS state, attempts, created AS created_on, execute_after AS run_after,
        headers ->> 'error' AS last_error, headers ->> 'request_id' AS request_id, payload
    FROM pgqueuer
"""
"""Made after PgQueuer's tables, which are its own to make: no revision knows it."""
OF_THE_ENGINE = {"made_by": "PgQueuer"}


class MaskedPayload(TypeDecorator[dict[str, Any]]):
    """What a job was given, as it may be shown."""

    impl = LargeBinary
    cache_ok = True

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> dict[str, Any]:  # noqa: ARG002
        """From the database."""
        found: dict[str, Any] = masked(orjson.loads(value or b"{}"))
        return found


class JobRow(Job, table=True):
    """A job in the queue, to be read only."""

    __tablename__ = "job"
    __table_args__ = ({"info": OF_THE_ENGINE},)
    id: int = Field(primary_key=True, sa_type=BigInteger)
    payload: dict[str, Any] = Field(sa_type=MaskedPayload)
