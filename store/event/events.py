"""Events, as rows: written by the operation that makes them happen, in its transaction."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import BigInteger, Index, UniqueConstraint, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.resource import moment
from schema.event import DATA, Event, EventType
from store.core.clock import now
from store.job.jobs import Job, enqueue
from store.partner.partners import PartnerRow


class EventRow(Event, table=True):
    """An event. Ids follow the order in which things were done: what depends on a committed change has a higher one."""

    __tablename__ = "event"
    __table_args__ = (
        UniqueConstraint("type", "once", name="event_once_key"),
        Index("event_id_list_idx", "partner_id", "id"),
        Index("event_of_marketplace_idx", "marketplace_id", "id"),
        Index("event_subject_idx", "partner_id", "subject"),
        Index("event_unsorted_idx", "id", postgresql_where=text("NOT is_sorted")),
    )
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    partner_id: int = Field(foreign_key="partner.id")
    marketplace_id: int = Field(foreign_key="marketplace.id")
    occurred_on: dt.datetime = moment("When it happened.", default_factory=now, index=True)
    once: str | None = Field(default=None, max_length=200)
    is_sorted: bool = Field(default=False)
    """Whether it is known which endpoints are to be told."""


async def emit(
    db: AsyncSession,
    kind: EventType,
    *,
    partner_id: int,
    subject: str,
    data: Mapping[str, Any],
    once: str | None = None,
) -> None:
    """Tell that something happens, in the session's transaction: nobody hears of what is rolled back.

    `data` has the keys of `schema.event.DATA` for its type and is JSON already: money as `{"amount": "12.50", "currency":
    "EUR"}`. With `once`, a second event of the kind with the same word is silently nothing, whoever emits it.
    """
    if set(data) != set(DATA[kind]):
        raise ValueError(f"The data of {kind} has the keys {sorted(DATA[kind])}, not {sorted(data)}.")
    marketplace = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == partner_id)
    event = insert(EventRow).values(
        key=f"evt_{uuid4().hex}",
        type=kind,
        partner_id=partner_id,
        marketplace_id=marketplace.scalar_subquery(),
        occurred_on=now(),
        subject=subject,
        data=dict(data),
        once=once,
        is_sorted=False,
    )
    unless_told = event.on_conflict_do_nothing(constraint="event_once_key")
    written = (await db.exec(unless_told.returning(col(EventRow.id)))).first()
    if written is not None:
        await enqueue(db, Job.SORT_EVENTS, {"id": written[0]})
