"""Events as rows, written in the transaction of the operation that causes them."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import BigInteger, Index, UniqueConstraint, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column
from schema.event import EVENT_DATA_KEYS, Event, EventType
from store.core.clock import now
from store.job.jobs import JobKind, enqueue_job
from store.partner.partners import PartnerRow


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


async def emit_event(
    db: AsyncSession,
    kind: EventType,
    *,
    partner_id: int | None = None,
    marketplace_id: int | None = None,
    subject: str,
    data: Mapping[str, Any],
    unique_key: str | None = None,
) -> None:
    """Emit an event in the session's transaction: a rollback discards it. It is about a partner, or without one about a
    marketplace.

    `data` has the keys of `EVENT_DATA_KEYS` for its type and is JSON already: money as `{"amount": "12.50", "currency":
    "EUR"}`. With `unique_key`, a second event of the same type and key is silently ignored, whoever emits it.
    """
    if set(data) != set(EVENT_DATA_KEYS[kind]):
        raise ValueError(f"The data of {kind} has the keys {sorted(EVENT_DATA_KEYS[kind])}, not {sorted(data)}.")
    of_partner = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == partner_id).scalar_subquery()
    event = insert(EventRow).values(
        key=f"evt_{uuid4().hex}",
        type=kind,
        partner_id=partner_id,
        marketplace_id=of_partner if marketplace_id is None else marketplace_id,
        occurred_on=now(),
        subject=subject,
        data=dict(data),
        once=unique_key,
        is_sorted=False,
    )
    unless_told = event.on_conflict_do_nothing(constraint="event_once_key")
    written = (await db.exec(unless_told.returning(col(EventRow.id)))).first()
    if written is not None:
        await enqueue_job(db, JobKind.SORT_EVENTS, {"id": written[0]})
