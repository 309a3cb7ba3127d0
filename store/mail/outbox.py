"""Writing to somebody: a row and a job, in the transaction of whatever is told."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.job.jobs import Job, enqueue
from store.mail.content import content_of
from store.mail.rows import MailRow
from store.partner.partners import PartnerRow


async def post(
    db: AsyncSession,
    kind: MailKind,
    *,
    to: str,
    language: str,
    partner_id: int | None,
    about: Mapping[str, Any],
    once: str | None = None,
    marketplace_id: int | None = None,
) -> None:
    """Write to somebody once the session's transaction is committed; when it rolls back, nothing was written.

    `about` is what the kind's template shows, as its class in `store.mail.content` has it. `once` names what the message is
    about: of one kind there is one message of that name, however often it is posted. An empty `to` is written to by nobody.
    A message is seen by its partner and that one's marketplace; without a partner by `marketplace_id`.
    """
    content = content_of(kind, about).model_dump(mode="json", exclude_none=True)
    if not to:
        return
    now = clock.now()
    marketplace = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == partner_id).scalar_subquery()
    row = {
        "partner_id": partner_id,
        "marketplace_id": marketplace_id if partner_id is None else marketplace,
        "kind": kind,
        "recipient": to,
        "language": language if language in LANGUAGES else LANGUAGES[0],
        "content": content,
        "once": once and f"{kind}:{once}",
        "created_on": now,
        "due_on": now,
    }
    written = await db.exec(insert(MailRow).values(row).on_conflict_do_nothing().returning(col(MailRow.id)))
    mail_id = written.scalar_one_or_none()
    if mail_id is not None:
        await prompt(db, mail_id, 0)


async def prompt(
    db: AsyncSession, mail_id: int, tries: int, pause: dt.timedelta | None = None, *, swept: bool = False
) -> None:
    """Have a worker send a message, after a pause.

    A second prompt for the same try is none; one of the sweep is another, as the job it stands in for may be gone or late.
    """
    name = f"{mail_id}:{tries}:swept" if swept else f"{mail_id}:{tries}"
    await enqueue(db, Job.SEND_MAIL, {"id": mail_id}, after=pause, once=name)
