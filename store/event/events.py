"""Events as rows, written in the transaction of the operation that causes them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any
from uuid import uuid4

import orjson
from sqlalchemy import BigInteger, Index, UniqueConstraint, text
from sqlmodel import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column
from schema.event import EVENT_DATA_KEYS, Event, EventType
from store.core.clock import now
from store.database.driver import fetch
from store.job.jobs import JobKind, enqueue_job


class EventRow(Event, table=True):
    """An event. Ids follow the order of the changes: an event that depends on a committed change has a higher id."""

    __tablename__ = "event"
    __table_args__ = (
        UniqueConstraint("type", "once", name="event_once_key"),
        Index("event_id_list_idx", "partner_id", "id"),
        Index("event_of_marketplace_idx", "marketplace_id", "id"),
        Index("event_subject_idx", "partner_id", "subject"),
        Index("event_unsorted_idx", "id", postgresql_where=text("NOT is_sorted")),
    )
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    marketplace_id: int = Field(foreign_key="marketplace.id")
    occurred_on: dt.datetime = datetime_column("When it happened.", default_factory=now, index=True)
    once: str | None = Field(default=None, max_length=200)
    is_sorted: bool = Field(default=False)
    """True once the deliveries of the event were created."""


INSERT = """
    INSERT INTO event (key, type, partner_id, marketplace_id, occurred_on, subject, data, once, is_sorted)
    SELECT g.key, g.type, g.partner_id, coalesce(g.marketplace_id, p.marketplace_id), $1, g.subject, g.data::jsonb, g.once,
        false
    FROM unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY
        AS g (key, type, partner_id, marketplace_id, subject, data, once, n)
    LEFT JOIN partner p ON p.id = g.partner_id
    ORDER BY n ON CONFLICT ON CONSTRAINT event_once_key DO NOTHING
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to emit. It is about a partner, or without one about a marketplace.

    `data` has the keys of `EVENT_DATA_KEYS` for its type and is JSON already: money as `{"amount": "12.50", "currency":
    "EUR"}`. With `unique_key`, a second event of the same type and key is silently ignored, whoever emits it.
    """

    kind: EventType
    subject: str
    data: Mapping[str, Any]
    _: KW_ONLY
    partner_id: int | None = None
    marketplace_id: int | None = None
    unique_key: str | None = None

    @property
    def columns(self) -> tuple[str, str, int | None, int | None, str, str, str | None]:
        """Its columns, as `INSERT` takes them."""
        if set(self.data) != (keys := set(EVENT_DATA_KEYS[self.kind])):
            raise ValueError(f"The data of {self.kind} has the keys {sorted(keys)}, not {sorted(self.data)}.")
        key, data = f"evt_{uuid4().hex}", orjson.dumps(self.data, default=dict).decode()
        return key, self.kind.value, self.partner_id, self.marketplace_id, self.subject, data, self.unique_key


async def emit(db: AsyncSession, *events: NewEvent) -> None:
    """Emit events in the session's transaction, in their order: a rollback discards them."""
    if not events:
        return
    await db.flush()
    columns = map(list, zip(*(event.columns for event in events), strict=True))
    written = await fetch(db, INSERT, now(), *columns)
    if written:  # the job sorts all earlier events too
        await enqueue_job(db, JobKind.SORT_EVENTS, {"id": written[-1]["id"]})
