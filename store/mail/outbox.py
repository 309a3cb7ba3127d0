"""Queueing mail: a row and a job, in the transaction of the event that causes the message."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.job.jobs import JobKind, enqueue_job
from store.mail.content import content_of
from store.mail.rows import MailRow
from store.partner.partners import PartnerRow


async def enqueue_mail(
    db: AsyncSession,
    kind: MailKind,
    *,
    to: str,
    language: str,
    partner_id: int | None,
    about: Mapping[str, Any],
    unique_key: str | None = None,
    marketplace_id: int | None = None,
    send_on: dt.datetime | None = None,
) -> None:
    """Queue a message, which is sent after the commit of the session's transaction; a rollback discards it.

    `about` is the content in the form of the kind's class in `store.mail.content`. `unique_key` deduplicates: of each
    kind there is one message per key, however often it is queued. With an empty `to` nothing is queued. A message is
    visible to its partner and to that partner's marketplace; without a partner, to `marketplace_id`. It is not sent before
    `send_on`.
    """
    content = content_of(kind, about).model_dump(mode="json", exclude_none=True)
    if not to:
        return
    now = clock.now()
    due = now if send_on is None else max(now, send_on)
    marketplace = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == partner_id).scalar_subquery()
    row = {
        "partner_id": partner_id,
        "marketplace_id": marketplace_id if partner_id is None else marketplace,
        "kind": kind,
        "recipient": to,
        "language": language if language in LANGUAGES else LANGUAGES[0],
        "content": content,
        "once": unique_key and f"{kind}:{unique_key}",
        "created_on": now,
        "due_on": due,
    }
    written = await db.exec(insert(MailRow).values(row).on_conflict_do_nothing().returning(col(MailRow.id)))
    mail_id = written.scalar_one_or_none()
    if mail_id is not None:
        await schedule_delivery(db, mail_id, 0, due - now if due > now else None)


async def schedule_delivery(
    db: AsyncSession, mail_id: int, tries: int, pause: dt.timedelta | None = None, *, swept: bool = False
) -> None:
    """Enqueue the job that sends a message, after a pause.

    Only one job is enqueued per try, plus one by the sweep, as the job that this one replaces may be lost or late.
    """
    name = f"{mail_id}:{tries}:swept" if swept else f"{mail_id}:{tries}"
    await enqueue_job(db, JobKind.SEND_MAIL, {"id": mail_id}, after=pause, unique_key=name)
