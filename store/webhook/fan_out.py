"""Fan-out of events: each event becomes a message in the delivery queue of every endpoint that subscribes to it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, or_, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.webhook.webhook import DeliveryState
from store.core.clock import now
from store.database.loaders import is_any_of
from store.event.events import EventRow
from store.webhook.rows import WebhookDeliveryRow, WebhookEndpointRow

BATCH_SIZE = 200
"""Number of events per transaction."""
COLUMNS = (
    "key", "state", "tries", "last_error", "partner_id", "marketplace_id", "endpoint_id", "event_id", "event_type", "created_on",
)  # fmt: skip


def deliveries_for(*which: ColumnElement[bool]) -> Select[Any]:
    """The messages of events for the endpoints of their partner and of their marketplace, as `COLUMNS`.

    A message's id is derived from the endpoint's and the event's, so that it is the same whenever the message is
    created.
    """
    own = func.convert_to(func.concat(WebhookEndpointRow.uuid, ".", EventRow.key), "UTF8")
    query: Select[Any] = (
        select(  # type: ignore[call-overload]  # more columns than its declarations know
            literal("msg_").concat(func.left(func.encode(func.sha256(own), "hex"), 32)),
            literal(DeliveryState.WAITING.value),
            literal(0),
            literal(""),
            col(WebhookEndpointRow.partner_id),
            col(WebhookEndpointRow.marketplace_id),
            col(WebhookEndpointRow.id),
            col(EventRow.id),
            col(EventRow.type),
            literal(now()),
        )
        .select_from(EventRow)
        .join(
            WebhookEndpointRow,
            (col(WebhookEndpointRow.marketplace_id) == col(EventRow.marketplace_id))
            & or_(
                col(WebhookEndpointRow.partner_id).is_(None),
                col(WebhookEndpointRow.partner_id) == col(EventRow.partner_id),
            ),
        )
        .where(*which)
    )
    return query


def is_subscribed() -> ColumnElement[bool]:
    """True if the endpoint subscribes to events of this type."""
    types = col(WebhookEndpointRow.event_types)
    return or_(func.cardinality(types) == 0, col(EventRow.type) == types.any_())


async def fan_out_events(db: AsyncSession) -> tuple[int, Sequence[int]]:
    """Queue the oldest unprocessed events; returns their number and the endpoints with new messages.

    The rows are locked in ascending order of their ids, and concurrent callers wait. So an event is queued before any
    event that depends on it, whichever transaction was committed first. An event that is committed late is queued late
    and never skipped.
    """
    unsorted = select(EventRow.id).where(~col(EventRow.is_sorted)).order_by(col(EventRow.id)).limit(BATCH_SIZE)
    ids = (await db.exec(unsorted.with_for_update(key_share=True))).all()
    if not ids:
        return 0, []
    new = deliveries_for(is_any_of(col(EventRow.id), ids), is_subscribed()).order_by(col(EventRow.id))
    in_line = insert(WebhookDeliveryRow).from_select(COLUMNS, new).on_conflict_do_nothing()
    rows = (await db.exec(in_line.returning(col(WebhookDeliveryRow.endpoint_id)))).all()
    await db.exec(update(EventRow).where(is_any_of(col(EventRow.id), ids)).values(is_sorted=True))
    return len(ids), sorted({row[0] for row in rows})
