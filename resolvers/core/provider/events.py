"""The provider's events: notified, or read from its list. Each is a hint to read an object again, by a job."""

import datetime as dt
from contextlib import suppress

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.core.errors import Unavailable
from store.job.jobs import JobKind, enqueue_job
from store.providers.base import EventHint, Subject

HANDLED_LIFE = dt.timedelta(hours=4)
"""How long it is known that an event was handled: longer than the list of events is read back."""


async def enqueue_event(db: AsyncSession, hint: EventHint, *, notified: bool) -> None:
    """Enqueue an event in the session's transaction. One object has one waiting job."""
    await _enqueue(db, hint.subject, hint.resource_id, hint.dedupe_id, notified=notified)


async def enqueue_look_up(db: AsyncSession, subject: Subject, id: str) -> None:
    """Enqueue that an object is read from the provider, as after an event that was lost."""
    await _enqueue(db, subject, id, "", notified=False)


async def _enqueue(db: AsyncSession, subject: Subject, id: str, event: str, *, notified: bool) -> None:
    payload = {"subject": subject, "id": id, "event": event, "notified": notified}
    await enqueue_job(db, JobKind.PROVIDER_HINT, payload, unique_key=f"{subject}:{id}")


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
