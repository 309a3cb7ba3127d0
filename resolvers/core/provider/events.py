"""The provider's events: notified, or read from its list. Each is a hint to read an object again, by a job."""

import datetime as dt
from contextlib import suppress

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.core.errors import Unavailable
from store.job.jobs import JobKind, enqueue_job
from store.providers.base import EventHint

HANDLED_LIFE = dt.timedelta(hours=4)
"""How long it is known that an event was handled: longer than the list of events is read back."""


async def enqueue_event(db: AsyncSession, hint: EventHint, *, notified: bool) -> None:
    """Enqueue an event in the session's transaction. One object has one waiting job."""
    payload = {"subject": hint.subject, "id": hint.resource_id, "event": hint.dedupe_id, "notified": notified}
    await enqueue_job(db, JobKind.PROVIDER_HINT, payload, unique_key=f"{hint.subject}:{hint.resource_id}")


async def note_handled(services: Services, event: str) -> None:
    """Note that an event was handled, so that it is not read from the list and handled again."""
    with suppress(Unavailable):
        await services.kv.write(_key(event), b"", HANDLED_LIFE)


async def is_handled(services: Services, event: str) -> bool:
    """True if an event was handled; False if that is not known."""
    with suppress(Unavailable):
        return await services.kv.get(_key(event)) is not None
    return False


def _key(event: str) -> str:
    return f"coffret:provider-event:{event}"
