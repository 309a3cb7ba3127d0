"""How a message is sent: claimed by one worker, rendered, handed to the mail server, and tried again when that says so."""

import datetime as dt
import time

import structlog
from prometheus_client import Counter, Histogram
from sqlalchemy import delete, update
from sqlmodel import col, select

from resolvers.core.context import Services
from schema.checkout.checkout import Brand
from schema.mail import MailKind, MailState
from schema.partner.partner import Partner
from store.core.mail_server import read_sender
from store.core.settings import Settings
from store.mail.attachments import brought_by
from store.mail.content import OrderContent, content_of
from store.mail.mailer import Deferred, Letter, MailError, Refused
from store.mail.message import Envelope, letter
from store.mail.outbox import prompt
from store.mail.render import rendered
from store.mail.rows import MailRow
from store.partner.brand import brand_of, branded
from store.partner.partners import PartnerRow

log = structlog.get_logger(__name__)

CLAIM = dt.timedelta(minutes=2)
"""How long a message belongs to the worker that sends it: longer than any sending takes. Then the worker has died."""
EARLY = dt.timedelta(seconds=5)
"""How far the database's clock, which says when a job runs, may be ahead of ours."""
PAUSES = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 20, 40, 60, 120, 180, 240, 240, 240, 240))
"""Between the tries: a little more than 23 hours in all."""
SWEPT = 500
"""Messages that one sweep has sent; the next is a minute later."""
TAKEN = Counter("coffret_mails_total", "Messages by what the mail server said.", ["kind", "outcome"])
SECONDS = Histogram("coffret_mail_seconds", "Time to hand a message over.")


async def send(services: Services, mail_id: int) -> None:
    """Hand a message over, unless it is sent, failed, or in another worker's hands.

    At least once: whoever dies between the server's answer and our note of it leaves the message to be sent again, with
    the same Message-ID. Without a mail server it stays as it is.
    """
    if services.mailer is None:
        return
    mail = await _claimed(services, mail_id)
    if mail is None:
        return
    begun = time.perf_counter()
    try:
        ready = await _letter(services, mail)
        await services.mailer.send(ready)
    except MailError as error:
        await _not_taken(services, mail, error)
    except Exception as error:  # a template or data that cannot be: told, and kept until it is repaired
        log.exception("a message could not be made", mail=mail.id, kind=mail.kind)
        await _not_taken(services, mail, Deferred(f"It could not be made: {type(error).__name__}: {error}"))
    else:
        SECONDS.observe(time.perf_counter() - begun)
        await _taken(services, mail)


async def _claimed(services: Services, mail_id: int) -> MailRow | None:
    """The message, if it is due and nobody has it: one statement, so that of two workers one gets it."""
    now = services.clock.now()
    claim = (
        update(MailRow)
        .where(col(MailRow.id) == mail_id, col(MailRow.state) == MailState.QUEUED, col(MailRow.due_on) <= now + EARLY)
        .values(due_on=now + CLAIM, tries=col(MailRow.tries) + 1)
        .returning(MailRow)
    )
    async with services.db.sessions() as db, db.begin():
        return (await db.exec(claim)).scalar_one_or_none()


async def _letter(services: Services, mail: MailRow) -> Letter:
    """The message as it travels. Its Message-ID and subject are noted, the first time, before it leaves."""
    settings = services.settings
    own_name, sender = read_sender(settings.mail_from)
    about = content_of(mail.kind, mail.content)
    brought = await brought_by(services.db, settings, services.files, mail.kind, about)
    async with services.db.sessions() as db, db.begin():
        partner = None if mail.partner_id is None else await db.get_one(PartnerRow, mail.partner_id)
        to_partner = mail.kind is MailKind.ENDPOINT_DISABLED  # which a shop would not write to itself
        brand = house_brand(settings, own_name) if partner is None or to_partner else brand_of(partner)
        addresses, attached = brought.addresses, brought.whole
        message = rendered(mail.kind, about, mail.language, brand, settings.public_url, addresses, attached=attached)
        mail.message_id = mail.message_id or f"<{mail.uuid}@{sender.partition('@')[2]}>"
        mail.subject = message.subject
        noted = {"message_id": mail.message_id, "subject": mail.subject[:998]}
        await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(noted))
    answers = about.email if mail.kind is MailKind.NEW_ORDER and isinstance(about, OrderContent) else brand.email
    written_on = services.clock.now()
    envelope = Envelope(mail.message_id, sender, brand.name, answers, mail.recipient, mail.language, written_on)
    return letter(envelope, message, brought.files)


def house_brand(settings: Settings, name: str) -> Brand:
    """How the installation itself looks: its own name, no logo, the colour of a partner that has chosen none."""
    accent = str(Partner.model_fields["accent_colour"].default)
    shown = name or settings.service_name.replace("_", " ").title()
    return branded(shown, accent)


async def _taken(services: Services, mail: MailRow) -> None:
    sent = {"state": MailState.SENT, "sent_on": services.clock.now(), "due_on": None, "last_error": ""}
    async with services.db.sessions() as db, db.begin():
        await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(sent))
    TAKEN.labels(mail.kind, "sent").inc()
    log.info("a message was sent", mail=mail.id, kind=mail.kind, tries=mail.tries)


async def _not_taken(services: Services, mail: MailRow, error: MailError) -> None:
    """Try again after a pause that grows, or keep it as failed. Nothing changes if somebody else has taken over."""
    ours = (col(MailRow.id) == mail.id, col(MailRow.tries) == mail.tries, col(MailRow.state) == MailState.QUEUED)
    given_up = isinstance(error, Refused) or mail.tries > len(PAUSES)
    pause = None if given_up else PAUSES[mail.tries - 1]
    due_on = None if pause is None else services.clock.now() + pause
    state = MailState.FAILED if given_up else MailState.QUEUED
    noted = {"state": state, "due_on": due_on, "last_error": str(error)[:500]}
    async with services.db.sessions() as db, db.begin():
        changed = await db.exec(update(MailRow).where(*ours).values(noted))
        if pause is not None and changed.rowcount:
            await prompt(db, mail.id, mail.tries, pause)
    TAKEN.labels(mail.kind, "failed" if given_up else "deferred").inc()
    log.warning("a message was not sent", mail=mail.id, kind=mail.kind, tries=mail.tries, state=state, error=str(error))


async def sweep(services: Services) -> None:
    """Have messages sent whose job was lost, whose worker died, or that waited for a mail server to be set up."""
    if services.mailer is None:
        return
    due = select(MailRow.id, MailRow.tries).where(
        col(MailRow.state) == MailState.QUEUED, col(MailRow.due_on) <= services.clock.now()
    )
    async with services.db.sessions() as db, db.begin():
        for mail_id, tries in (await db.exec(due.order_by(col(MailRow.due_on)).limit(SWEPT))).all():
            await prompt(db, mail_id, tries, swept=True)


async def prune(services: Services) -> int:
    """Delete messages, and with them the addresses, after `mail_days`. Answers how many."""
    oldest = services.clock.now() - dt.timedelta(days=services.settings.mail_days)
    async with services.db.sessions() as db, db.begin():
        return (await db.exec(delete(MailRow).where(col(MailRow.created_on) < oldest))).rowcount
